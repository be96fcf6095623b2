//! `dialogue context`.

use clap::Args;

use super::super::session::{Arguments, Done, Session};
use super::command::Data;
use crate::error::Error;
use crate::operations;

/// Print what the experts of a round may read, as JSON
///
/// One document for the whole panel: the question and its background, all prior
/// rounds with full content, the active tensions, and each expert's own part.
#[derive(Debug, Args)]
pub(crate) struct Context {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// The round to prepare [default: the next one]
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    #[command(flatten)]
    data: Data,
}

impl Context {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = Arguments::new(self.data.data.as_deref())?
            .with("dialogue_id", self.id)
            .with("round", self.round);
        let document = operations::context(&session.for_reading()?, arguments.value())?;
        session.ui.print(&document)?;
        Ok(Done::Well)
    }
}
