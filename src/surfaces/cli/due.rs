//! `due` lists conclusions to revisit; `due record` stores an outcome.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::session::{CliArguments, CliSession, ExitStatus};
use super::show;
use crate::domain::conclusion::OutcomeKind;
use crate::domain::stretch::DayCount;
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
pub(super) struct DueArgs {
    #[command(subcommand)]
    record: Option<DueCommand>,
    /// Also what falls due in this time: 30d, 4w.
    #[arg(long, value_name = "TIME", value_parser = parse_days)]
    within: Option<DayCount>,
}

#[derive(Debug, Subcommand)]
enum DueCommand {
    Record(DueRecordArgs),
}

/// Record what became of a conclusion
///
/// It need not be due. More can be recorded later: every outcome is kept, with its day.
#[derive(Debug, Args)]
struct DueRecordArgs {
    /// The dialogue.
    id: String,
    /// Whether the recommendation held.
    #[arg(value_parser = outcome_parser())]
    outcome: OutcomeKind,
    /// What was seen, in your own words.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

fn parse_days(typed: &str) -> Result<DayCount, &'static str> {
    typed.parse().map_err(|_| "write a time such as `30d` or `4w`, a hundred years at most")
}

fn outcome_parser() -> impl TypedValueParser<Value = OutcomeKind> {
    let names = OutcomeKind::ALL.iter().map(|word| word.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse().map_err(|_| "no outcome"))
}

impl DueArgs {
    pub(super) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        match self.record {
            Some(DueCommand::Record(record)) => record.run(session),
            None => list_due(session, self.within),
        }
    }
}

fn list_due(session: &CliSession<'_>, within: Option<DayCount>) -> Result<ExitStatus, Error> {
    let all = operations::list_due(&session.open_existing()?, within.unwrap_or_default())?;
    if all.due.is_empty() && !session.ui.json {
        session.ui.print_note(match within {
            Some(_) => "nothing is due, nor falls due in that time",
            None => "nothing is due; `--within 30d` also shows what falls due soon",
        });
        return Ok(ExitStatus::Ok);
    }
    let canvas = session.ui.page_canvas();
    session.ui.print_result(&all, |all| show::due::draw_due_page(all, canvas))?;
    if all.more && !session.ui.json {
        session.ui.print_note("there are more; record what became of these to see them");
    }
    Ok(ExitStatus::Ok)
}

impl DueRecordArgs {
    fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = CliArguments::new(None)?
            .set_field("dialogue_id", Some(self.id))
            .set_field("outcome", Some(self.outcome.name()))
            .set_field("note", self.note);
        let recorded = operations::record_outcome(&session.open_existing()?, arguments.value())?;
        session.ui.print_result(&recorded, |recorded| {
            format!("Recorded: {} {}", recorded.dialogue_id, recorded.outcome)
        })?;
        Ok(ExitStatus::Ok)
    }
}
