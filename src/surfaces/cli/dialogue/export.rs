//! `export`, also as `dialogue export`.

use clap::Args;

use super::super::session::{Arguments, Done, Session};
use super::command::{Data, warn};
use crate::error::Error;
use crate::operations;

/// Print a dialogue as one document, or write it to a file
///
/// Without `--output` the document itself goes to standard output. The same
/// record gives the same bytes.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Write to this file, inside the working folder, the store's folder or one given with `--allow`.
    #[arg(long, short, value_name = "PATH")]
    output: Option<String>,
    /// json or markdown [default: json]
    #[arg(long)]
    format: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Export {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = Arguments::new(self.data.data.as_deref())?
            .with("dialogue_id", self.id)
            .with("output_path", self.output)
            .with("format", self.format);
        let workspace = session.for_reading()?;
        if arguments.value().get("output_path").is_none_or(serde_json::Value::is_null) {
            session.ui.print(&operations::exported_text(&workspace, arguments.value())?)?;
            return Ok(Done::Well);
        }
        let exported = operations::export(&workspace, arguments.value())?;
        session.ui.answer(&exported, |exported| format!("Wrote {}", exported.path))?;
        warn(session.ui, &exported.warnings);
        Ok(Done::Well)
    }
}
