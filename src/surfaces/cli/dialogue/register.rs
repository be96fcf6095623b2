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
/// named at once. The same batch again gets the same answer again. `--data` also
/// takes what `dialogue extract --json` printed; the scores then come from here.
#[derive(Debug, Args)]
pub(crate) struct Register {
    /// The dialogue.
    id: Option<String>,
    /// The round's ALIGNMENT as a whole.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    score: Option<i64>,
    /// What an expert earned in the round. May be repeated.
    #[arg(long = "expert-score", value_name = "SLUG=N", value_parser = expert_score)]
    expert_scores: Vec<(String, i64)>,
    /// The Judge's synthesis of the round.
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Register {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()
            .map_err(Error::of_batch)?
            .unwrapped()
            .with("dialogue_id", self.id)
            .with("score", self.score)
            .with("summary", self.summary)
            .with_entries("expert_scores", self.expert_scores);
        let answer = operations::register(&session.for_existing()?, arguments.value())?;
        let width = session.ui.table_width();
        session.ui.answer(&answer, |answer| text(answer, width))?;
        warn(session.ui, &answer.warnings);
        Ok(Done::Well)
    }
}

fn expert_score(text: &str) -> Result<(String, i64), String> {
    let read = text.split_once('=').and_then(|(slug, score)| Some((slug, score.parse().ok()?)));
    let (slug, score) = read.ok_or("write it as `muffin=8`")?;
    Ok((slug.to_owned(), score))
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
