//! [`Tool`]: the description of a tool and what it does.

use std::sync::Arc;

use plenary_engine::app::project::Project;
use plenary_engine::error::Error;
use rmcp::model::{JsonObject, Tool as Listed, ToolAnnotations};
use serde_json::Value;

use crate::mcp::schema::answer_schema;

/// A tool of the server.
#[derive(Debug)]
pub(crate) struct Tool {
    pub name: &'static str,
    /// Description for agents that do not know Plenary.
    pub about: &'static str,
    pub arguments: fn() -> JsonObject,
    /// The top-level keys of its answer.
    pub answer: &'static [&'static str],
    pub work: Work,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// Reads a record.
    Look(Operation),
    /// Adds to an existing record.
    Add(Operation),
    /// Writes a file, replacing an earlier one.
    Replace(Operation),
    /// Creates a record, and the store if there is none.
    Open(Operation),
    /// Starts or controls a run.
    Run(Run),
}

/// An operation and its answer as JSON; the command line calls the same.
pub(crate) type Operation = fn(&Project, &Value) -> Result<String, Error>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    Ask,
    Review,
    Status,
    Intervene,
}

impl Tool {
    /// Its entry in `tools/list`.
    pub(crate) fn listed(&self) -> Listed {
        let hints = match self.work {
            Work::Look(_) => ToolAnnotations::new().read_only(true),
            // Codex asks a person before it calls a tool that may reach out of the machine.
            Work::Add(_) | Work::Open(_) => {
                ToolAnnotations::new().destructive(false).open_world(false)
            }
            Work::Replace(_) => ToolAnnotations::new().destructive(true).open_world(false),
            Work::Run(_) => ToolAnnotations::new().destructive(false),
        };
        let mut listed = Listed::new(self.name, self.about, Arc::new((self.arguments)()));
        listed.output_schema = Some(Arc::new(answer_schema(self.answer)));
        listed.annotations = Some(hints);
        listed
    }
}
