//! [`Tool`]: the description of a tool and what it does; the list of all tools; arguments and
//! answer that the four run tools share.

use std::sync::Arc;
use std::time::Duration;

use plenary_engine::app::project::Project;
use plenary_engine::error::Error;
use rmcp::model::{JsonObject, Tool as Listed, ToolAnnotations};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::mcp::run_tools::RunAnswer;
use crate::mcp::schema::{answer_schema, keys};
use crate::mcp::tools::deliberation_tools::{INTERVENE_TOOL, STATUS_TOOL};
use crate::mcp::tools::record_tools::{
    CREATE_TOOL, EVOLVE_PANEL_TOOL, EXPERT_CREATE_TOOL, EXPORT_TOOL, PROGRESS_TOOL,
    ROUND_CONTEXT_TOOL, SEARCH_TOOL, VERDICT_REGISTER_TOOL,
};

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
    Run(RunTool),
}

/// An operation and its answer as JSON; the command line calls the same.
pub(crate) type Operation = fn(&Project, &Value) -> Result<String, Error>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunTool {
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

/// In the order in which a Judge needs them.
pub(crate) const TOOLS: [&Tool; 13] = [
    &CREATE_TOOL,
    &EVOLVE_PANEL_TOOL,
    &ROUND_CONTEXT_TOOL,
    &crate::mcp::tools::round_register::TOOL,
    &EXPERT_CREATE_TOOL,
    &PROGRESS_TOOL,
    &VERDICT_REGISTER_TOOL,
    &EXPORT_TOOL,
    &SEARCH_TOOL,
    &crate::mcp::tools::ask::TOOL,
    &crate::mcp::tools::review::TOOL,
    &STATUS_TOOL,
    &INTERVENE_TOOL,
];

pub(crate) const DELIBERATION: &[&str] =
    keys!(RunAnswer { dialogue_id, status, progress, result, suggestion });

/// How long the call waits for the run before it answers.
pub(crate) fn read_wait(seconds: Option<u32>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(0).into())
}

/// The schema of the budget of a run.
pub(crate) fn read_dollars(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "number",
        "minimum": 0.0,
        "x-expected": "an amount of dollars",
        "x-hint": "for example 0.5",
    })
}
