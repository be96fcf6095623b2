//! `blue_dialogue_export`

use super::tool::{Tool, Work};
use crate::error::to_json_text;
use crate::files::WritePermission;
use crate::operations::{self, ExportRequest, ExportResult};
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_export",
    about: "Write a whole record to a file, over an earlier one: JSON, or Markdown for people. \
        Returns its path.",
    arguments: schema::argument_schema::<ExportRequest>,
    answer: keys!(ExportResult { status, path, stats, warnings }),
    work: Work::Replace(|project, arguments| {
        to_json_text(&operations::export_record(project, arguments, WritePermission::Remote)?)
    }),
};
