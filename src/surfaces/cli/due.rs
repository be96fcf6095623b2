//! `due` lists conclusions to revisit; `due record` stores an outcome.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::session::{Arguments, Done, Session};
use super::show;
use crate::domain::conclusion::OutcomeWord;
use crate::domain::stretch::Stretch;
use crate::error::Error;
use crate::operations;

/// List conclusions whose day has come, and record what became of them
///
/// Every conclusion says when it should be looked at again. `plenary due` lists those whose
/// day is today or past and of which nobody has said yet what became of them, the longest
/// overdue first. Unconverged ones and rehearsals are left out.
///
/// `plenary due record ID held` takes one off the list; the outcome is kept with the
/// conclusion.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Due {
    #[command(subcommand)]
    record: Option<DueCommand>,
    /// Also what falls due in this time: 30d, 4w.
    #[arg(long, value_name = "TIME", value_parser = stretch)]
    within: Option<Stretch>,
}

#[derive(Debug, Subcommand)]
enum DueCommand {
    Record(Record),
}

/// Record what became of a conclusion
///
/// It need not be due. More can be recorded later: every outcome is kept, with its day.
#[derive(Debug, Args)]
struct Record {
    /// The dialogue.
    id: String,
    /// Whether the recommendation held.
    #[arg(value_parser = outcome_parser())]
    outcome: OutcomeWord,
    /// What was seen, in your own words.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

fn stretch(typed: &str) -> Result<Stretch, &'static str> {
    typed.parse().map_err(|_| "write a time such as `30d` or `4w`, a hundred years at most")
}

fn outcome_parser() -> impl TypedValueParser<Value = OutcomeWord> {
    let names = OutcomeWord::ALL.iter().map(|word| word.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse().map_err(|_| "no outcome"))
}

impl Due {
    pub(super) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        match self.record {
            Some(DueCommand::Record(record)) => record.run(session),
            None => list(session, self.within),
        }
    }
}

fn list(session: &Session<'_>, within: Option<Stretch>) -> Result<Done, Error> {
    let all = operations::due(&session.for_existing()?, within.unwrap_or_default())?;
    if all.due.is_empty() && !session.ui.json {
        session.ui.say(match within {
            Some(_) => "nothing is due, nor falls due in that time",
            None => "nothing is due; `--within 30d` also shows what falls due soon",
        });
        return Ok(Done::Well);
    }
    let canvas = session.ui.canvas();
    session.ui.answer(&all, |all| show::due::draw(all, canvas))?;
    if all.more && !session.ui.json {
        session.ui.say("there are more; record what became of these to see them");
    }
    Ok(Done::Well)
}

impl Record {
    fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = Arguments::new(None)?
            .with("dialogue_id", Some(self.id))
            .with("outcome", Some(self.outcome.name()))
            .with("note", self.note);
        let recorded = operations::record_outcome(&session.for_existing()?, arguments.value())?;
        session.ui.answer(&recorded, |recorded| {
            format!("Recorded: {} {}", recorded.dialogue_id, recorded.outcome)
        })?;
        Ok(Done::Well)
    }
}
