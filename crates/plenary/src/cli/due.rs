//! `due` lists conclusions to revisit; `due record` stores an outcome.

use anstyle::Style;
use clap::{Args, Subcommand};
use plenary_core::model::time::DayCount;
use plenary_core::protocols::conclusion::phrases::state_name;
use plenary_core::protocols::conclusion::types::OutcomeKind;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::terminal::layout::{
    BAD, CAUTION, FAINT, ID, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, draw_heading,
    hang_block, indent_prose, join_sections,
};
use plenary_core::report::terminal::wrap::{cut_lines, wrap_line, wrap_text};
use plenary_engine::app::checks::{DueItem, DueResult, record_outcome};
use plenary_engine::error::Error;

use crate::cli::runs::value_parsers::{days_or, enum_parser};
use crate::cli::session::{CliArguments, CliSession, ExitStatus};

/// List conclusions to revisit, and record their outcomes
///
/// Every conclusion has a day on which you should check it. `plenary due` lists the conclusions
/// whose day has come and that have no recorded outcome, the most overdue first. It leaves out
/// unconverged conclusions and rehearsals. `plenary due record` stores an outcome.
///
/// $ plenary due --within 30d
///
/// $ plenary due record tea-or-coffee-1a2b3c4d held --note "Everyone likes it."
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DueArgs {
    #[command(subcommand)]
    record: Option<DueCommand>,
    /// Also list conclusions that are due within this time, such as `30d` or `4w`
    #[arg(long, value_name = "TIME", value_parser = parse_days)]
    within: Option<DayCount>,
}

#[derive(Debug, Subcommand)]
enum DueCommand {
    Record(DueRecordArgs),
}

/// Record the outcome of a conclusion
///
/// The conclusion need not be due. You can record several outcomes; each keeps its day.
///
/// $ plenary due record tea-or-coffee-1a2b3c4d held
///
/// $ plenary due record tea-or-coffee-1a2b3c4d mixed --note "Costs rose."
#[derive(Debug, Args)]
struct DueRecordArgs {
    /// The id of the dialogue
    id: String,
    /// Whether the recommendation held
    #[arg(value_parser = enum_parser(OutcomeKind::ALL, OutcomeKind::name))]
    outcome: OutcomeKind,
    /// What you observed
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

fn parse_days(typed: &str) -> Result<DayCount, String> {
    const EXPECTED: &str = "expected a time such as `30d` or `4w`, at most a hundred years";
    typed.parse().map_err(|_| days_or(typed, EXPECTED))
}

impl DueArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        match self.record {
            Some(DueCommand::Record(record)) => record.run(session),
            None => list_due(session, self.within),
        }
    }
}

fn list_due(session: &CliSession<'_>, within: Option<DayCount>) -> Result<ExitStatus, Error> {
    let all = plenary_engine::app::checks::list_due(
        &session.open_existing()?,
        within.unwrap_or_default(),
    )?;
    if all.due.is_empty() && !session.ui.json {
        session.ui.print_note(match within {
            Some(_) => "no conclusion is due within this time",
            None => "no conclusion is due; `--within 30d` also lists those that are due soon",
        });
        return Ok(ExitStatus::Ok);
    }
    let canvas = session.ui.page_canvas();
    session.ui.print_result(&all, |all| draw_due_page(all, canvas))?;
    if all.more && !session.ui.json {
        session
            .ui
            .print_note("more conclusions are due; record outcomes of these to see the others");
    }
    Ok(ExitStatus::Ok)
}

impl DueRecordArgs {
    fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = CliArguments::new(None)?
            .set_field("dialogue_id", Some(self.id))
            .set_field("outcome", Some(self.outcome.name()))
            .set_field("note", self.note);
        let project = session.open_existing()?;
        let recorded = record_outcome(&project, arguments.value())?;
        let dialogue = project.store.load_dialogue(&recorded.dialogue_id)?;
        if dialogue.is_some_and(|dialogue| dialogue.opening.rehearsal) {
            session
                .ui
                .print_note("this conclusion is a rehearsal; `health` and `due` leave it out");
        }
        session.ui.print_result(&recorded, |recorded| {
            format!("Recorded: {} {}", recorded.dialogue_id, recorded.outcome)
        })?;
        Ok(ExitStatus::Ok)
    }
}

/// Enough to recognise the recommendation; `show` prints all of it.
const RECOMMENDATION_LINES_MAX: usize = 3;

/// Indent of the lines under the day of an item.
const DUE_INDENT: usize = 2 * MARGIN;

pub(crate) fn draw_due_page(all: &DueResult, canvas: PageCanvas) -> String {
    let mut lines = vec![StyledLine::blank()];
    let note = format!("{} · {}", count_noun(all.due.len(), "conclusion"), all.today);
    lines.extend(draw_heading("DUE", &note, canvas));
    for (place, due) in all.due.iter().enumerate() {
        if place > 0 {
            lines.push(StyledLine::blank());
        }
        lines.extend(draw_due_item(due, canvas));
    }
    lines.push(StyledLine::blank());
    let hint = "plenary due record ID held|failed|mixed [--note TEXT]";
    lines.push(StyledLine::with_indent(MARGIN).push_styled(hint, FAINT));
    join_sections(&[lines])
}

fn draw_due_item(due: &DueItem, canvas: PageCanvas) -> Vec<StyledLine> {
    let (mark, message, style) = describe_due_day(due.days_overdue);
    let state = state_name(due.terminal_state);
    let room = canvas.text_width() - DUE_INDENT;
    let lead = StyledLine::with_indent(MARGIN).push_styled(mark, style).push_plain(" ");
    let lead = lead.push_plain(&format!("{}  ", due.review_by)).push_styled(&message, style);
    let mut lines = vec![lead.push_styled(&format!("  {state}"), FAINT)];
    lines.extend(hang_block(
        StyledLine::with_indent(DUE_INDENT),
        &wrap_line(&due.title, room),
        STRONG,
    ));
    let recommendation =
        cut_lines(wrap_text(&due.recommendation, room), RECOMMENDATION_LINES_MAX, room);
    lines.extend(indent_prose(&recommendation, DUE_INDENT));
    // The reader copies the id, so it is never wrapped.
    lines.push(StyledLine::with_indent(DUE_INDENT).push_styled(due.dialogue_id.as_str(), ID));
    lines
}

fn describe_due_day(days_overdue: i64) -> (&'static str, String, Style) {
    let days = count_noun(usize::try_from(days_overdue.unsigned_abs()).unwrap_or(0), "day");
    match days_overdue {
        1.. => ("▲", format!("{days} overdue"), BAD),
        0 => ("●", "today".to_owned(), CAUTION),
        ..0 => ("○", format!("in {days}"), PLAIN),
    }
}
