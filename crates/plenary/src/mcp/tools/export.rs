//! `blue_dialogue_export`

use plenary_engine::app::export_record::{ExportRequest, ExportResult, export_record};
use plenary_engine::error::to_json_text;
use plenary_engine::files::allowed_file::WritePermission;

use crate::mcp::schema::{argument_schema, keys};
use crate::mcp::tools::tool::{Tool, Work};

pub(crate) const TOOL: Tool = Tool {
    name: "blue_dialogue_export",
    about: "Write a whole record to a file, over an earlier one: JSON, or Markdown for people. \
        Returns its path.",
    arguments: argument_schema::<ExportRequest>,
    answer: keys!(ExportResult { status, path, stats, warnings }),
    work: Work::Replace(|project, arguments| {
        to_json_text(&export_record(project, arguments, WritePermission::Remote)?)
    }),
};
