//! `blue_dialogue_export`

use super::tool::{Tool, Work};
use crate::error::document_text;
use crate::files::WritePermission;
use crate::operations::{self, ExportRequest, Exported};
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_export",
    about: "Write a whole record to a file, over an earlier one: JSON, or Markdown for people. \
        Returns its path.",
    arguments: schema::arguments::<ExportRequest>,
    answer: keys!(Exported { status, path, stats, warnings }),
    work: Work::Replace(|project, arguments| {
        document_text(&operations::export(project, arguments, WritePermission::Remote)?)
    }),
};
