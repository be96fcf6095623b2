//! `dialogue register`.

use clap::Args;

use super::super::session::{Done, Session};
use super::super::table::Table;
use super::command::{Data, warn};
use crate::error::Error;
use crate::operations;
use crate::record::register::Answer;

/// Register a round: entities, references, moves, updates and scores in one batch
///
/// The batch is taken whole or not at all; when it is refused, every fault is
/// named at once. The same batch again gets the same answer again.
#[derive(Debug, Args)]
pub(crate) struct Register {
    /// The dialogue.
    id: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Register {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments =
            self.data.arguments().map_err(Error::of_batch)?.with("dialogue_id", self.id);
        let answer = operations::register(&session.for_existing()?, arguments.value())?;
        let width = session.ui.table_width();
        session.ui.answer(&answer, |answer| text(answer, width))?;
        warn(session.ui, &answer.warnings);
        Ok(Done::Well)
    }
}

fn text(answer: &Answer, width: usize) -> String {
    let mut table = Table::new(&["ID", "LOCAL ID", "LABEL"]);
    for item in answer.registered() {
        table.row([item.id.to_string(), item.local_id.to_string(), item.label.clone()]);
    }
    let again = if answer.replayed { " (already registered, with the same batch)" } else { "" };
    let mut text = format!("Registered round {}{again}\n\n{}", answer.round, table.draw(width));
    let changed = answer.tension_updates.iter().chain(&answer.updates).chain(&answer.effects);
    for update in changed {
        let via = update.via.map_or_else(String::new, |id| format!(" via {id}"));
        text.push_str(&format!("{} is {}{via}\n", update.id, update.status));
    }
    text
}
