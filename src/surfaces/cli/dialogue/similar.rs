//! `dialogue similar`.

use clap::Args;

use super::super::session::{Done, Session};
use super::super::table::Table;
use super::command::{Data, warn};
use crate::error::Error;
use crate::operations::{self, Matched};

/// Find dialogues about something like this
///
/// Looks through titles, questions, tension labels, claims and verdicts.
#[derive(Debug, Args)]
pub(crate) struct Similar {
    /// Words to look for.
    query: Option<String>,
    /// At most this many [default: 10]
    #[arg(long, value_name = "N")]
    limit: Option<i64>,
    #[command(flatten)]
    data: Data,
}

impl Similar {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self.data.arguments()?.with("query", self.query).with("limit", self.limit);
        let matched = operations::similar(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &matched.warnings);
        let width = session.ui.table_width();
        if matched.results.is_empty() && !session.ui.json {
            session.ui.say("nothing similar");
            return Ok(Done::Well);
        }
        session.ui.answer(&matched, |matched| text(matched, width))?;
        Ok(Done::Well)
    }
}

fn text(matched: &Matched, width: usize) -> String {
    let mut table = Table::new(&["DIALOGUE", "SCORE", "MATCHED", "TEXT"]);
    for result in &matched.results {
        table.row([
            result.dialogue_id.as_str(),
            &format!("{:.2}", result.score),
            result.matched.name(),
            &result.snippet,
        ]);
    }
    table.draw(width)
}
