//! Tables of the `audit` page: drift, verdicts by group, deliberators, scores and overrides.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::dialogue::health::percent_of;
use crate::protocols::review::drift::{
    DriftMeasure, DriftMovement, DriftSubject, DriftSubjectKind, DriftVerdict,
};
use crate::protocols::review::statistics::{ReviewStatistics, ScoreSeries};
use crate::protocols::review::verdict_counts::{DeliberatorStatistics, MindChange};
use crate::protocols::review::verdict_counts::{OverrideCounts, VerdictTally};
use crate::report::phrases::count_noun;
use crate::report::terminal::layout::{
    BAD, CAUTION, FAINT, GOOD, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, draw_bar,
    draw_heading, hang_block, indent_block, indent_prose,
};
use crate::report::terminal::wrap::{fit_width, wrap_items, wrap_line};

/// Rows drawn per table; `--json` prints all of them.
const ROWS_SHOWN: usize = 15;

/// A quarter of a year.
const WEEKS_SHOWN: usize = 13;

/// Weeks of scores that fit side by side.
const SCORE_WEEKS_SHOWN: usize = 6;

const SPREAD_HEADINGS: [&str; 6] = ["all", "SHIP", "REVISE", "HOLD", "INCOMPLETE", "not SHIP"];

pub fn draw_by_type(audit: &ReviewStatistics, canvas: PageCanvas) -> Vec<StyledLine> {
    let groups = audit.by_type.iter().map(|group| (group.artifact_type.clone(), group.spread));
    draw_spreads("BY TYPE", &groups.collect::<Vec<_>>(), ROWS_SHOWN, canvas)
}

pub fn draw_by_producer(audit: &ReviewStatistics, canvas: PageCanvas) -> Vec<StyledLine> {
    let groups = audit.by_producer.iter().map(|group| (group.producer.clone(), group.spread));
    draw_spreads("BY PRODUCER", &groups.collect::<Vec<_>>(), ROWS_SHOWN, canvas)
}

pub fn draw_by_week(audit: &ReviewStatistics, canvas: PageCanvas) -> Vec<StyledLine> {
    let groups = audit.by_week.iter().map(|group| (group.week.clone(), group.spread));
    draw_spreads("BY WEEK", &groups.collect::<Vec<_>>(), WEEKS_SHOWN, canvas)
}

fn draw_spreads(
    title: &'static str,
    groups: &[(String, VerdictTally)],
    shown: usize,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let row = |(name, spread): &(String, VerdictTally)| {
        let (not_ship, decided) = (spread.count_not_ship(), spread.count_decided());
        let counts =
            [spread.count_logged(), spread.ship, spread.revise, spread.hold, spread.incomplete];
        let mut cells: Vec<String> = counts.map(|count| count.to_string()).into();
        cells.push(format_percent(not_ship, decided));
        let bar = ShareBar { part: not_ship, whole: decided, style: CAUTION };
        StatisticsRow { indent: 0, name: name.clone(), cells, bar: Some(bar) }
    };
    StatisticsTable {
        title,
        note: more_note(groups.len(), shown),
        headings: SPREAD_HEADINGS.map(str::to_owned).into(),
        rows: groups.iter().take(shown).map(row).collect(),
    }
    .draw_table(canvas)
}

pub fn draw_deliberators(audit: &ReviewStatistics, canvas: PageCanvas) -> Vec<StyledLine> {
    let row = |seat: &DeliberatorStatistics| {
        let cells = vec![
            seat.answered.to_string(),
            format_percent(seat.irreducible, seat.answered),
            format_percent(seat.absent, seat.asked),
            format_percent(seat.blocks, seat.answered),
        ];
        let bar = ShareBar { part: seat.blocks, whole: seat.answered, style: BAD };
        StatisticsRow { indent: 0, name: seat.deliberator.clone(), cells, bar: Some(bar) }
    };
    StatisticsTable {
        title: "DELIBERATORS",
        note: more_note(audit.deliberators.len(), ROWS_SHOWN),
        headings: ["heard", "irreducible", "absent", "blocks"].map(str::to_owned).into(),
        rows: audit.deliberators.iter().take(ROWS_SHOWN).map(row).collect(),
    }
    .draw_table(canvas)
}

pub fn draw_mind_changes(audit: &ReviewStatistics, canvas: PageCanvas) -> Vec<StyledLine> {
    if audit.change.compared + audit.change.fallback == 0 {
        return Vec::new();
    }
    let row = |name: &str, change: &MindChange| {
        let counts = [change.softened, change.hardened, change.uncited, change.fallback];
        let mut cells =
            vec![change.compared.to_string(), format_percent(change.changed, change.compared)];
        cells.extend(counts.map(|count| count.to_string()));
        StatisticsRow { indent: 0, name: name.to_owned(), cells, bar: None }
    };
    let seats = audit.deliberators.iter().take(ROWS_SHOWN);
    let mut rows: Vec<StatisticsRow> =
        seats.map(|seat| row(&seat.deliberator, &seat.change)).collect();
    rows.push(row("all", &audit.change));
    let headings = ["compared", "changed", "softened", "hardened", "uncited", "fallback"];
    StatisticsTable {
        title: "FROM ROUND 1 TO ROUND 2",
        note: more_note(audit.deliberators.len(), ROWS_SHOWN),
        headings: headings.map(str::to_owned).into(),
        rows,
    }
    .draw_table(canvas)
}

/// Mean scores of the newest weeks, oldest first.
pub fn draw_scores(audit: &ReviewStatistics, canvas: PageCanvas) -> Vec<StyledLine> {
    let weeks: Vec<&str> = audit.by_week.iter().map(|group| group.week.as_str()).collect();
    let is_scored = |week: &&&str| {
        audit.scores.iter().any(|score| score.by_week.iter().any(|one| one.week == **week))
    };
    let mut weeks: Vec<&str> =
        weeks.iter().filter(is_scored).take(SCORE_WEEKS_SHOWN).copied().collect();
    weeks.reverse();
    let mut rows = Vec::new();
    for of_one in audit.scores.chunk_by(|a, b| a.deliberator == b.deliberator).take(ROWS_SHOWN) {
        let name = of_one.first().map_or("", |score| score.deliberator.as_str());
        rows.push(StatisticsRow { indent: 0, name: name.to_owned(), cells: Vec::new(), bar: None });
        rows.extend(of_one.iter().take(ROWS_SHOWN).map(|score| to_score_row(score, &weeks)));
    }
    let short = |week: &&str| week.rsplit_once('-').map_or(*week, |(_, week)| week).to_owned();
    let span = match (weeks.first(), weeks.last()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => String::new(),
    };
    let headings = ["all".to_owned()].into_iter().chain(weeks.iter().map(short));
    StatisticsTable { title: "MEAN SCORES", note: span, headings: headings.collect(), rows }
        .draw_table(canvas)
}

fn to_score_row(score: &ScoreSeries, weeks: &[&str]) -> StatisticsRow {
    let in_week = |week: &&str| score.by_week.iter().find(|one| one.week == **week);
    let means = weeks.iter().map(|week| in_week(week).and_then(|one| one.mean));
    let told = |mean: Option<f64>| mean.map_or(NO_VALUE.to_owned(), |mean| format!("{mean:.1}"));
    let cells = [score.mean].into_iter().chain(means).map(told).collect();
    StatisticsRow { indent: MARGIN, name: score.score.clone(), cells, bar: None }
}

/// Draws each type and producer, drift first, with its weekly shares.
pub fn draw_drift(audit: &ReviewStatistics, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut subjects: Vec<&DriftSubject> = audit.drift.subjects.iter().collect();
    subjects.sort_by_key(|subject| subject.verdict);
    if subjects.is_empty() {
        return Vec::new();
    }
    let names = subjects.iter().take(ROWS_SHOWN).map(|subject| subject_name(subject));
    let names: Vec<String> =
        names.map(|name| fit_width(&name, canvas.column_count() / 3)).collect();
    let name = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let note = match more_note(subjects.len(), ROWS_SHOWN) {
        more if more.is_empty() => "not SHIP, week by week".to_owned(),
        more => more,
    };
    let mut lines = draw_heading("DRIFT", &note, canvas);
    for (subject, named) in subjects.iter().zip(names) {
        let (mark, style) = match subject.verdict {
            DriftVerdict::Drift => ("▲", BAD),
            DriftVerdict::Steady => ("●", GOOD),
            DriftVerdict::CannotTell => ("○", CAUTION),
        };
        let lead = StyledLine::with_indent(MARGIN)
            .push_styled(&named, STRONG)
            .pad_to_column(MARGIN + name + MARGIN);
        let lead = lead.push_styled(mark, style).push_plain(" ");
        let room = canvas.text_width().saturating_sub(lead.width());
        lines.extend(hang_block(lead, &wrap_line(&describe_drift(subject), room), PLAIN));
    }
    lines
}

fn subject_name(subject: &DriftSubject) -> String {
    match subject.of {
        DriftSubjectKind::Type => subject.name.clone(),
        DriftSubjectKind::Producer => format!("by {}", subject.name),
    }
}

fn describe_drift(subject: &DriftSubject) -> String {
    let verdict = match subject.verdict {
        DriftVerdict::Drift => "drift",
        DriftVerdict::Steady => "steady",
        DriftVerdict::CannotTell => "cannot tell",
    };
    if let Some(reason) = &subject.reason {
        return format!("{verdict}: {reason}");
    }
    let shares = subject.weeks.iter().filter_map(|point| point.not_ship_percent);
    let shares: Vec<String> = shares.map(|share| format!("{share:.0} %")).collect();
    let is_score = |movement: &&DriftMovement| movement.measure != DriftMeasure::NotShip;
    let moved = match subject.movements.iter().filter(is_score).count() {
        0 => String::new(),
        scores => format!("; {} moved", count_noun(scores, "score")),
    };
    format!("{verdict}: {}{moved}", shares.join(" → "))
}

pub fn draw_overrides(audit: &ReviewStatistics, canvas: PageCanvas) -> Vec<StyledLine> {
    let OverrideCounts {
        decided, overridden, softened, hardened, confirmed, of_incomplete, ..
    } = audit.overrides;
    if decided + of_incomplete == 0 {
        return Vec::new();
    }
    let mut text = match overridden {
        0 => format!("None of {decided} decided verdicts was overridden."),
        _ => format!(
            "{overridden} of {decided} decided verdicts ({}): {softened} softened, {hardened} hardened, {confirmed} confirmed.",
            format_percent(overridden, decided)
        ),
    };
    if of_incomplete > 0 {
        let those = count_noun(of_incomplete, "review");
        text.push_str(&format!(" People decided {those} that the gate left INCOMPLETE."));
    }
    let mut lines = draw_heading("OVERRIDDEN BY PEOPLE", "", canvas);
    lines.extend(indent_prose(
        &wrap_line(&text, canvas.text_width().saturating_sub(MARGIN)),
        MARGIN,
    ));
    lines
}

fn format_percent(part: usize, whole: usize) -> String {
    percent_of(part, whole).map_or(NO_VALUE.to_owned(), |share| format!("{share:.1} %"))
}

/// For example `3 more with --json`; empty if all rows are drawn.
fn more_note(count: usize, shown: usize) -> String {
    match count.checked_sub(shown) {
        Some(more @ 1..) => format!("{more} more with --json"),
        Some(0) | None => String::new(),
    }
}

/// Longer names are cut, so that a table fits eighty columns.
const NAME_MAX: usize = 26;

/// With less space than this for names, the numbers go below each name.
const NAME_MIN: usize = 12;

/// Columns of space between cells.
const GUTTER: usize = 2;

/// Maximum width of a full bar.
const BAR_MAX: usize = 20;

/// Preferred width of a full bar; it shows steps of about a tenth.
const BAR_WANTED: usize = 8;

/// A shorter bar shows no difference, so it is left out.
const BAR_MIN: usize = 5;

/// Shown for a number that cannot be computed.
pub const NO_VALUE: &str = "–";

#[derive(Debug)]
pub(crate) struct StatisticsTable {
    pub title: &'static str,
    pub note: String,
    pub headings: Vec<String>,
    pub rows: Vec<StatisticsRow>,
}

#[derive(Debug)]
pub(crate) struct StatisticsRow {
    /// Indent of a row that belongs to a group.
    pub indent: usize,
    pub name: String,
    /// Empty for a group's own row.
    pub cells: Vec<String>,
    pub bar: Option<ShareBar>,
}

/// A part of a whole, drawn as a bar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShareBar {
    pub part: usize,
    pub whole: usize,
    pub style: Style,
}

impl StatisticsTable {
    pub(crate) fn draw_table(&self, canvas: PageCanvas) -> Vec<StyledLine> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let widths = self.column_widths();
        let numbers: usize = widths.iter().map(|width| width + GUTTER).sum();
        let names = self.rows.iter().map(|row| row.indent + fit_width(&row.name, NAME_MAX).width());
        let widest = names.max().unwrap_or(0);
        let room = canvas.column_count().saturating_sub(MARGIN + numbers);
        let mut lines = draw_heading(self.title, &self.note, canvas);
        if room < widest.min(NAME_MIN) {
            lines.extend(self.rows.iter().flat_map(|row| self.draw_stacked(row, canvas)));
            return lines;
        }
        // Names give up width for the bars, down to the minimum.
        let wanted =
            if self.rows.iter().any(|row| row.bar.is_some()) { GUTTER + BAR_WANTED } else { 0 };
        let name = room.saturating_sub(wanted).max(NAME_MIN.min(room)).min(widest);
        lines.push(add_cells(
            StyledLine::with_indent(MARGIN + name),
            &self.headings,
            &widths,
            |_| FAINT,
        ));
        lines.extend(self.rows.iter().map(|row| draw_row(row, name, &widths, canvas)));
        lines
    }

    fn column_widths(&self) -> Vec<usize> {
        let cells = |place: usize| self.rows.iter().filter_map(move |row| row.cells.get(place));
        let widest = |(place, heading): (usize, &String)| {
            cells(place).map(|cell| cell.width()).chain([heading.width()]).max().unwrap_or(0)
        };
        self.headings.iter().enumerate().map(widest).collect()
    }

    fn draw_stacked(&self, row: &StatisticsRow, canvas: PageCanvas) -> Vec<StyledLine> {
        let named =
            row.start_line().push_fitted(&row.name, row.name_style(), canvas.column_count());
        let told = self.headings.iter().zip(&row.cells);
        let told: Vec<String> = told.map(|(heading, cell)| format!("{heading} {cell}")).collect();
        let indent = MARGIN + row.indent + MARGIN;
        let set = wrap_items(&told, canvas.column_count().saturating_sub(indent));
        let mut lines = vec![named];
        lines.extend(indent_block(&set, indent, PLAIN));
        lines
    }
}

impl StatisticsRow {
    fn start_line(&self) -> StyledLine {
        StyledLine::with_indent(MARGIN + self.indent)
    }

    fn name_style(&self) -> Style {
        if self.indent == 0 { STRONG } else { PLAIN }
    }
}

fn draw_row(row: &StatisticsRow, name: usize, widths: &[usize], canvas: PageCanvas) -> StyledLine {
    let named = row.start_line().push_fitted(&row.name, row.name_style(), MARGIN + name);
    let line = add_cells(named.pad_to_column(MARGIN + name), &row.cells, widths, |cell| {
        if matches!(cell, "0" | "0.0 %" | NO_VALUE) { FAINT } else { PLAIN }
    });
    let room = canvas.column_count().saturating_sub(line.width() + GUTTER).min(BAR_MAX);
    match row.bar.filter(|_| room >= BAR_MIN) {
        Some(ShareBar { part, whole, style }) => {
            let [part, whole] = [part, whole].map(|count| i64::try_from(count).unwrap_or(0));
            line.push_plain(&" ".repeat(GUTTER)).push_styled(&draw_bar(part, whole, room), style)
        }
        None => line,
    }
}

/// Appends right-aligned cells.
fn add_cells(
    start: StyledLine,
    cells: &[String],
    widths: &[usize],
    style: impl Fn(&str) -> Style,
) -> StyledLine {
    cells.iter().zip(widths).fold(start, |line, (cell, width)| {
        let end = line.width() + GUTTER + width;
        line.append_right(StyledLine::blank().push_styled(cell, style(cell)), end)
    })
}
