//! `list`: the dialogues of the store with state, cost and age.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use plenary_core::model::dialogue::{DialogueStatus, ProtocolKind};
use plenary_core::model::limits::PAGE_ITEMS_MAX;
use plenary_core::model::queries::{DialogueSummary, RecordState};
use plenary_core::model::time::{Moment, SinceTime};
use plenary_core::protocols::review::phrases::shipped_blocks;
use plenary_core::report::record_page::NOT_CONVERGED;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_core::report::terminal::wrap::{cut_lines, wrap_line};
use plenary_engine::app::list_dialogues::{
    LISTED_PROTOCOLS, ListResult, ListedDialogue, list_dialogues,
};
use plenary_engine::app::project::Project;
use plenary_engine::error::Error;

use crate::cli::dialogue::command::{DataArgs, warn};
use crate::cli::dialogue::queries::mark_rehearsal;
use crate::cli::runs::value_parsers::{days_or, enum_parser, from_one_to};
use crate::cli::session::{CliArguments, CliSession, ExitStatus};

/// List councils, reviews and dialogues, newest first
///
/// Shows the short id, the state, the protocol, the cost, the age and the title of each. Every command
/// takes the short id, and also the beginning of an id, `latest` or `latest~2`.
///
/// $ plenary list
///
/// $ plenary list --state interrupted
///
/// $ plenary list --protocol council --since 7d --grep cache
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only this state
    #[arg(long, value_parser = enum_parser(RecordState::ALL, RecordState::name))]
    state: Option<RecordState>,
    /// List only this status of the record
    #[arg(long, value_parser = enum_parser(DialogueStatus::ALL, DialogueStatus::name))]
    status: Option<DialogueStatus>,
    /// List only this protocol
    #[arg(long, value_parser = enum_parser(LISTED_PROTOCOLS, ProtocolKind::name))]
    protocol: Option<ProtocolKind>,
    /// List only those since a day (2026-01-01) or within a time (24h, 30d)
    #[arg(long, value_name = "DAY|TIME", value_parser = check_since)]
    since: Option<String>,
    /// List only those with this text in the title or question
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    grep: Option<String>,
    /// List at most N [default: 50]
    #[arg(long, value_name = "N", value_parser = from_one_to(PAGE_ITEMS_MAX))]
    limit: Option<usize>,
    /// List all of them
    #[arg(long, conflicts_with_all = ["limit", "after"])]
    all: bool,
    /// Start after this id, the last one of the previous page
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Print only short ids and titles, with a tab between them, for scripts
    #[arg(long, conflicts_with = "json")]
    ids: bool,
    /// With `--ids`: the whole ids, which a shell completes when a person began to type one
    #[arg(long, hide = true, requires = "ids")]
    whole: bool,
    #[command(flatten)]
    data: DataArgs,
}

fn check_since(typed: &str) -> Result<String, String> {
    const EXPECTED: &str = "expected a day such as `2026-01-01`, or a time such as `24h` or `30d`";
    match typed.parse::<SinceTime>() {
        Ok(_) => Ok(typed.to_owned()),
        Err(_) => Err(days_or(typed, EXPECTED)),
    }
}

impl ListArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let since = self.since.clone();
        let arguments = self
            .data
            .arguments()?
            .set_field("state", self.state.map(RecordState::name))
            .set_field("status", self.status.map(DialogueStatus::name))
            .set_field("protocol", self.protocol.map(ProtocolKind::name))
            .set_field("since", self.since)
            .set_field("grep", self.grep)
            .set_field("limit", self.limit)
            .set_field("after", self.after);
        let project =
            if self.ids { session.open_if_present()? } else { session.open_existing()? };
        let now = project.ambient.now();
        let start = since.and_then(|since| since.parse::<SinceTime>().ok());
        if start.is_some_and(|start| start.start_moment(now) > now) {
            session.ui.print_note("`--since` is in the future");
        }
        let is_filtered = arguments.value().as_object().is_some_and(|given| !given.is_empty());
        let listed = match self.all {
            true => list_all(&project, arguments)?,
            false => list_dialogues(&project, arguments.value())?,
        };
        warn(session.ui, &listed.warnings);
        if self.ids {
            return print_ids(session, &listed, self.whole);
        }
        if listed.dialogues.is_empty() && !session.ui.json {
            session.ui.print_note(match is_filtered {
                true => "no dialogue fits these filters; `plenary list` shows all dialogues",
                false => {
                    "no dialogues yet; ask a council, or review a document:\n  plenary ask \
                     \"QUESTION\"\n  plenary review FILE"
                }
            });
            return Ok(ExitStatus::Ok);
        }
        let width = session.ui.table_width();
        session.ui.print_result(&listed, |listed| list_text(listed, width, now))?;
        if let (Some(next), false) = (&listed.next, session.ui.json) {
            session.ui.print_note(&format!("more: the same with `--after {next}`, or `--all`"));
        }
        Ok(ExitStatus::Ok)
    }
}

/// Reads page after page.
pub(crate) fn list_all(project: &Project, arguments: CliArguments) -> Result<ListResult, Error> {
    let mut arguments = arguments.set_field("limit", Some(PAGE_ITEMS_MAX));
    let mut all = list_dialogues(project, arguments.value())?;
    while let Some(next) = all.next.take() {
        arguments = arguments.set_field("after", Some(next.to_string()));
        let page = list_dialogues(project, arguments.value())?;
        all.dialogues.extend(page.dialogues);
        all.next = page.next;
    }
    Ok(all)
}

fn print_ids(
    session: &CliSession<'_>,
    listed: &ListResult,
    are_whole: bool,
) -> Result<ExitStatus, Error> {
    let line = |one: &ListedDialogue| {
        let id = if are_whole { one.summary.dialogue_id.as_str() } else { &one.short_id };
        format!("{id}\t{}\n", safe_line(&one.summary.title))
    };
    let lines: String = listed.dialogues.iter().map(line).collect();
    if !lines.is_empty() {
        session.ui.print_page(&lines)?;
    }
    Ok(ExitStatus::Ok)
}

/// With less space than this for titles, each title goes below its row.
const TITLE_WIDTH_MIN: usize = 20;

/// Indent of a title below its row.
const TITLE_INDENT: usize = 2;

/// Space between two columns.
const COLUMN_GAP: usize = 2;

const HEADINGS: [&str; 6] = ["ID", "STATE", "PROTOCOL", "COST", "AGE", "TITLE"];

fn list_text(listed: &ListResult, width: usize, now: Moment) -> String {
    let rows: Vec<([String; 5], String)> =
        listed.dialogues.iter().map(|one| (list_cells(one, now), list_title(one))).collect();
    draw_rows(&rows, width)
}

/// The rows with their titles: beside them, below them, or each row as a list.
fn draw_rows(rows: &[([String; 5], String)], width: usize) -> String {
    let column = |place: usize| {
        let cells = rows.iter().filter_map(|(cells, _)| cells.get(place));
        let heading = HEADINGS.get(place).map_or(0, |heading| heading.len());
        cells.map(|cell| cell.chars().count()).chain([heading]).max().unwrap_or(0) + COLUMN_GAP
    };
    let used: usize = (0..HEADINGS.len() - 1).map(column).sum();
    let room = width.saturating_sub(used);
    if room >= TITLE_WIDTH_MIN {
        let mut table = TextTable::new(&HEADINGS);
        for (cells, title) in rows {
            let title = fit_title(title, room);
            table.add_row(cells.iter().chain([&title]));
        }
        return table.draw_table(width);
    }
    // Too narrow for a row on one line: each row is a list with its title.
    if used.saturating_sub(COLUMN_GAP) > width {
        let mut table = TextTable::new(&HEADINGS);
        rows.iter().for_each(|(cells, title)| table.add_row(cells.iter().chain([title])));
        return table.draw_table(width);
    }
    let [id, state, protocol, cost, age, _] = HEADINGS;
    let mut table = TextTable::new(&[id, state, protocol, cost, age]);
    rows.iter().for_each(|(cells, _)| table.add_row(cells));
    let drawn = table.draw_table(width);
    let mut lines = drawn.lines();
    let mut text = lines.next().map(|heading| format!("{heading}\n")).unwrap_or_default();
    for (line, (_, title)) in lines.zip(rows) {
        let title = fit_title(title, width.saturating_sub(TITLE_INDENT));
        text.push_str(&format!("{line}\n{}{title}\n", " ".repeat(TITLE_INDENT)));
    }
    text
}

/// Cuts a title after a whole word.
fn fit_title(title: &str, room: usize) -> String {
    if room > TITLE_WIDTH_MIN * 20 {
        return safe_line(title);
    }
    cut_lines(wrap_line(title, room), 1, room).join(" ")
}

fn list_cells(listed: &ListedDialogue, now: Moment) -> [String; 5] {
    [
        listed.short_id.clone(),
        describe_state(listed.state, &listed.summary),
        listed.summary.protocol.to_string(),
        listed.cost_usd.map(describe_cost).unwrap_or_default(),
        describe_age(now.millis_since(listed.summary.created_at)),
    ]
}

fn list_title(listed: &ListedDialogue) -> String {
    let title = mark_rehearsal(listed.summary.rehearsal, &listed.summary.title);
    let summary = &listed.summary;
    let blocks = summary.verdict.zip(summary.policy.as_ref());
    let blocks = blocks.and_then(|(verdict, policy)| shipped_blocks(verdict, policy));
    match blocks.filter(|_| summary.overridden.is_none()) {
        Some(blocks) => format!("{title} ({blocks})"),
        None => title,
    }
}

/// The state, and how a finished run ended.
fn describe_state(state: RecordState, summary: &DialogueSummary) -> String {
    let ending = match (summary.overridden, summary.verdict, summary.terminal_state) {
        (Some(decision), ..) => Some(format!("{decision}, overridden")),
        (None, Some(verdict), _) => Some(verdict.to_string()),
        (None, None, state) => state.map(|state| state.to_string()),
    };
    match (state, ending) {
        (state, _) if summary.forced => format!("{state} · {NOT_CONVERGED}"),
        (RecordState::Done, Some(ending)) => format!("done · {ending}"),
        (state, Some(ending)) if summary.overridden.is_some() => format!("{state} · {ending}"),
        (state, _) => state.to_string(),
    }
}

fn describe_cost(usd: f64) -> String {
    match usd {
        usd if usd > 0.0 && usd < 0.01 => "<$0.01".to_owned(),
        usd => format!("${usd:.2}"),
    }
}

/// The age in its largest unit.
fn describe_age(millis: u64) -> String {
    let seconds = millis / 1_000;
    let units = [(31_536_000, "y"), (604_800, "w"), (86_400, "d"), (3_600, "h"), (60, "m")];
    let unit = units.iter().find(|(length, _)| seconds >= *length);
    unit.map_or_else(
        || format!("{seconds}s"),
        |(length, name)| format!("{}{name}", seconds / length),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forced_verdict_is_named_in_each_state() {
        let summary = DialogueSummary {
            dialogue_id: "talk".parse().unwrap(),
            title: "Talk".to_owned(),
            protocol: ProtocolKind::Alignment,
            status: DialogueStatus::Converged,
            terminal_state: None,
            verdict: None,
            policy: None,
            overridden: None,
            rounds: 1,
            forced: true,
            rehearsal: false,
            created_at: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        for state in [RecordState::Done, RecordState::Incomplete] {
            assert_eq!(describe_state(state, &summary), format!("{state} · NOT CONVERGED"));
        }
    }

    #[test]
    fn an_age_has_one_unit() {
        let ages =
            [(0, "0s"), (59, "59s"), (60, "1m"), (7_199, "1h"), (200_000, "2d"), (700_000, "1w")];
        for (seconds, expected) in ages {
            assert_eq!(describe_age(seconds * 1_000), expected);
        }
    }

    #[test]
    fn every_row_keeps_its_id_and_its_title_at_each_width() {
        let row = |id: &str, title: &str| {
            let cells = [id, "done · revised", "council", "$0.00", "33s"].map(str::to_owned);
            (cells, title.to_owned())
        };
        let rows = [row("0dcddf25", "Shall we?"), row("4b8cc885", "A longer question of two")];
        for width in [30, 40, 45, 60, 90] {
            let drawn = anstream::adapter::strip_str(&draw_rows(&rows, width)).to_string();
            for part in ["0dcddf25", "4b8cc885", "Shall we?", "A longer"] {
                assert_eq!(drawn.matches(part).count(), 1, "{part} at {width}:\n{drawn}");
            }
        }
        let drawn = anstream::adapter::strip_str(&draw_rows(&rows, 40)).to_string();
        insta::assert_snapshot!(drawn, @"
        0dcddf25
          state done · revised
          protocol council · cost $0.00
          age 33s · title Shall we?
        4b8cc885
          state done · revised
          protocol council · cost $0.00
          age 33s
          title A longer question of two
        ");
    }

    #[test]
    fn a_small_cost_is_not_nothing() {
        assert_eq!(
            [0.0, 0.004, 0.01, 2.345].map(describe_cost),
            ["$0.00", "<$0.01", "$0.01", "$2.35"]
        );
    }
}
