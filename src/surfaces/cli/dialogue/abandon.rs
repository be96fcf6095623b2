//! `dialogue abandon`.

use clap::Args;

use super::super::session::{Done, Session};
use crate::domain::ids::DialogueId;
use crate::error::Error;
use crate::operations;
use crate::record::no_dialogue;

/// Close a dialogue that will not be concluded
///
/// Nothing is deleted; the record stays readable.
#[derive(Debug, Args)]
pub(crate) struct Abandon {
    /// The dialogue.
    id: String,
    /// Why; it is kept in the journal.
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

impl Abandon {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| no_dialogue(&self.id))?;
        let abandoned = operations::abandon(&session.for_writing()?, &id, self.why.as_deref())?;
        session
            .ui
            .answer(&abandoned, |abandoned| format!("Abandoned {}", abandoned.dialogue_id))?;
        Ok(Done::Well)
    }
}
