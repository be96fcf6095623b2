//! `export`, also as `dialogue export`.

use clap::Args;
use serde_json::json;

use super::super::session::{Done, Session};
use super::super::terminal_text::DataForm;
use super::super::ui::Ui;
use super::command::{Data, warn};
use crate::error::{Error, document_text};
use crate::export::safe_text;
use crate::files::WritePermission;
use crate::operations::{self, Format, Printed};

/// Print a dialogue as one document, or write it to a file
///
/// Without `--output` the document itself goes to standard output. The same
/// record gives the same bytes. A file that exists is replaced only if it is an
/// export; `--force` replaces any file but those of the store and those that
/// council.yaml names.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Write to this file, inside the working folder, the store's folder or one given with `--allow`.
    #[arg(long, short, value_name = "PATH")]
    output: Option<String>,
    /// Replace a file that Plenary did not write.
    #[arg(long)]
    force: bool,
    /// json or markdown [default: json]
    #[arg(long)]
    format: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Export {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.id)
            .with("output_path", self.output)
            .with("format", self.format);
        let workspace = session.for_existing()?;
        if arguments.value().get("output_path").is_none_or(serde_json::Value::is_null) {
            let printed = operations::printed(&workspace, arguments.value())?;
            warn(session.ui, &printed.warnings);
            let form = match printed.format {
                Format::Markdown if !session.ui.json => DataForm::Text,
                Format::Json | Format::Markdown => DataForm::Json,
            };
            session.ui.print_data(&as_asked(session.ui, printed)?, form)?;
            return Ok(Done::Well);
        }
        let permission = permission(self.force);
        let exported = operations::export(&workspace, arguments.value(), permission)?;
        session
            .ui
            .answer(&exported, |exported| format!("Wrote {}", safe_text::line(&exported.path)))?;
        warn(session.ui, &exported.warnings);
        Ok(Done::Well)
    }
}

/// What `--force` allows.
pub(crate) fn permission(force: bool) -> WritePermission {
    if force { WritePermission::Forced } else { WritePermission::Local }
}

/// With `--json` one JSON document is promised, so Markdown is wrapped in one.
fn as_asked(ui: &Ui, printed: Printed) -> Result<String, Error> {
    match printed.format {
        Format::Markdown if ui.json => document_text(
            &json!({ "status": "success", "format": "markdown", "document": printed.text }),
        ),
        Format::Json | Format::Markdown => Ok(printed.text),
    }
}
