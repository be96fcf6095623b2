//! `list`, also as `dialogue list`.

use clap::Args;

use super::super::session::{Done, Session};
use super::super::table::Table;
use super::command::{Data, warn};
use crate::error::Error;
use crate::operations::{self, Listed};

/// List dialogues, newest first
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only those that are open, converging, converged or abandoned.
    #[arg(long)]
    status: Option<String>,
    /// Only those of this protocol: alignment, council or review.
    #[arg(long)]
    protocol: Option<String>,
    /// At most this many [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<i64>,
    /// Read on after this dialogue, the last one of the page before.
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl List {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()?
            .with("status", self.status)
            .with("protocol", self.protocol)
            .with("limit", self.limit)
            .with("after", self.after);
        let listed = operations::list(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &listed.warnings);
        let width = session.ui.table_width();
        if listed.dialogues.is_empty() && !session.ui.json {
            session.ui.say("no dialogues; `plenary dialogue create TITLE` opens one");
            return Ok(Done::Well);
        }
        session.ui.answer(&listed, |listed| text(listed, width))?;
        if let (Some(next), false) = (&listed.next, session.ui.json) {
            session.ui.say(&format!("more: the same with `--after {next}`"));
        }
        Ok(Done::Well)
    }
}

fn text(listed: &Listed, width: usize) -> String {
    let mut table = Table::new(&["DIALOGUE", "STATUS", "ROUNDS", "CREATED", "TITLE"]);
    for dialogue in &listed.dialogues {
        let day = dialogue.created_at.day().to_string();
        let ended = match (dialogue.terminal_state, dialogue.verdict) {
            (Some(state), _) => format!("{} · {state}", dialogue.status),
            // That a review came to its end says nothing; what it came to does.
            (None, Some(verdict)) => verdict.to_string(),
            (None, None) => dialogue.status.to_string(),
        };
        let rehearsal = if dialogue.rehearsal { "rehearsal: " } else { "" };
        table.row([
            dialogue.dialogue_id.as_str(),
            &ended,
            &dialogue.rounds.to_string(),
            &day,
            &format!("{rehearsal}{}", dialogue.title),
        ]);
    }
    table.draw(width)
}
