//! `blue_dialogue_export`

use schemars::JsonSchema;

use super::tool::{Tool, Work};
use crate::error::document_text;
use crate::files::WritePermission;
use crate::operations::{self, Exported, Format};
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_export",
    about: "Write a whole record to a file, over an earlier one: JSON, or Markdown for people. \
        Returns its path.",
    arguments: schema::arguments::<Arguments>,
    answer: keys!(Exported { status, path, stats, warnings }),
    work: Work::Replace(|project, arguments| {
        document_text(&operations::export(project, arguments, WritePermission::Remote)?)
    }),
};

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Arguments {
    dialogue_id: String,
    /// Inside the working folder [the dialogue's own folder].
    output_path: Option<String>,
    #[schemars(schema_with = "schema::word::<Format>", default)]
    format: Option<Format>,
}
