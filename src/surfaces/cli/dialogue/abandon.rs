//! `dialogue abandon`.

use clap::Args;

use super::super::session::{Done, Session};
use super::command::Data;
use crate::error::Error;
use crate::operations;

/// Close a dialogue that will not be concluded
///
/// Nothing is deleted; the record stays readable.
#[derive(Debug, Args)]
pub(crate) struct Abandon {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Why; it is kept in the journal.
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Abandon {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments =
            self.data.arguments()?.with("dialogue_id", self.id).with("reason", self.why);
        let abandoned = operations::abandon(&session.for_existing()?, arguments.value())?;
        session
            .ui
            .answer(&abandoned, |abandoned| format!("Abandoned {}", abandoned.dialogue_id))?;
        Ok(Done::Well)
    }
}
