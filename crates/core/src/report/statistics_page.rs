//! Sections of the `audit` page: drift, verdicts by group, deliberators, scores and overrides.

use crate::dialogue::health::percent_of;
use crate::protocols::review::drift::{
    DriftMeasure, DriftMovement, DriftSubject, DriftSubjectKind, DriftVerdict,
};
use crate::protocols::review::statistics::{ReviewStatistics, ScoreSeries};
use crate::protocols::review::verdict_counts::MindChange;
use crate::protocols::review::verdict_counts::{OverrideCounts, VerdictTally};
use crate::report::page::{
    ColumnKind, PageBlock, PageSection, PageTable, RichText, ShareBar, TableColumn, TableRow,
    TextTone,
};
use crate::report::phrases::count_noun;

/// Rows per table; `--json` prints all of them.
const ROWS_SHOWN: usize = 15;

/// A quarter of a year.
const WEEKS_SHOWN: usize = 13;

/// Weeks of scores that fit side by side.
const SCORE_WEEKS_SHOWN: usize = 6;

/// Shown for a number that cannot be computed.
pub const NO_VALUE: &str = "–";

/// All tables; a table without rows is left out when it is drawn.
pub fn statistics_sections(audit: &ReviewStatistics) -> Vec<PageSection> {
    let by_type = audit.by_type.iter().map(|group| (&group.artifact_type, &group.spread));
    let by_producer = audit.by_producer.iter().map(|group| (&group.producer, &group.spread));
    let by_week = audit.by_week.iter().map(|group| (&group.week, &group.spread));
    vec![
        drift_section(audit),
        spread_section("By type", by_type, ROWS_SHOWN),
        spread_section("By producer", by_producer, ROWS_SHOWN),
        spread_section("By week", by_week, WEEKS_SHOWN),
        deliberators_section(audit),
        changes_section(audit),
        scores_section(audit),
        overrides_section(audit),
    ]
}

fn table_section(title: &str, headings: &[&str], rows: Vec<TableRow>) -> PageSection {
    if rows.is_empty() {
        return PageSection::default();
    }
    let columns = headings.iter().enumerate().map(|(place, heading)| {
        let kind = if place == 0 { ColumnKind::Short } else { ColumnKind::Number };
        TableColumn::new(*heading, kind)
    });
    let table = PageTable { columns: columns.collect(), rows };
    PageSection::new(title, vec![PageBlock::Table(table)])
}

/// A row of numbers after a name.
fn number_row(name: &str, numbers: impl IntoIterator<Item = String>) -> TableRow {
    let number = |text: String| match text.as_str() {
        "0" | "0.0 %" | NO_VALUE => RichText::toned(text, TextTone::Faint),
        _ => text.into(),
    };
    let cells = std::iter::once(RichText::strong(name)).chain(numbers.into_iter().map(number));
    TableRow::new(cells.collect())
}

fn share_bar(part: usize, whole: usize, tone: TextTone) -> Option<ShareBar> {
    let [part, whole] = [part, whole].map(|count| i64::try_from(count).unwrap_or(0));
    Some(ShareBar { part, whole, tone })
}

fn spread_section<'a>(
    title: &str,
    groups: impl ExactSizeIterator<Item = (&'a String, &'a VerdictTally)>,
    shown: usize,
) -> PageSection {
    let headings = ["", "all", "SHIP", "REVISE", "HOLD", "INCOMPLETE", "not SHIP"];
    let note = more_note(groups.len(), shown);
    let rows = groups.take(shown).map(|(name, spread)| {
        let (not_ship, decided) = (spread.count_not_ship(), spread.count_decided());
        let counts =
            [spread.count_logged(), spread.ship, spread.revise, spread.hold, spread.incomplete];
        let cells = counts.map(|count| count.to_string()).into_iter();
        let row = number_row(name, cells.chain([format_percent(not_ship, decided)]));
        TableRow { bar: share_bar(not_ship, decided, TextTone::Caution), ..row }
    });
    table_section(title, &headings, rows.collect()).with_note(note)
}

fn deliberators_section(audit: &ReviewStatistics) -> PageSection {
    let rows = audit.deliberators.iter().take(ROWS_SHOWN).map(|seat| {
        let cells = [
            seat.answered.to_string(),
            format_percent(seat.irreducible, seat.answered),
            format_percent(seat.absent, seat.asked),
            format_percent(seat.blocks, seat.answered),
        ];
        let row = number_row(&seat.deliberator, cells);
        TableRow { bar: share_bar(seat.blocks, seat.answered, TextTone::Bad), ..row }
    });
    let headings = ["", "answered", "irreducible", "absent", "blocks"];
    table_section("Deliberators", &headings, rows.collect())
        .with_note(more_note(audit.deliberators.len(), ROWS_SHOWN))
}

fn changes_section(audit: &ReviewStatistics) -> PageSection {
    if audit.change.compared + audit.change.fallback == 0 {
        return PageSection::default();
    }
    let row = |name: &str, change: &MindChange| {
        let counts = [change.softened, change.hardened, change.uncited, change.fallback];
        let share = [change.compared.to_string(), format_percent(change.changed, change.compared)];
        number_row(name, share.into_iter().chain(counts.map(|count| count.to_string())))
    };
    let seats = audit.deliberators.iter().take(ROWS_SHOWN);
    let rows = seats.map(|seat| row(&seat.deliberator, &seat.change));
    let rows = rows.chain([row("all", &audit.change)]);
    let headings = ["", "compared", "changed", "softened", "hardened", "uncited", "fallback"];
    table_section("From round 1 to round 2", &headings, rows.collect())
        .with_note(more_note(audit.deliberators.len(), ROWS_SHOWN))
}

/// Mean scores of the newest weeks, oldest first.
fn scores_section(audit: &ReviewStatistics) -> PageSection {
    let is_scored = |week: &&str| {
        audit.scores.iter().any(|score| score.by_week.iter().any(|one| one.week == **week))
    };
    let weeks = audit.by_week.iter().map(|group| group.week.as_str());
    let mut weeks: Vec<&str> = weeks.filter(is_scored).take(SCORE_WEEKS_SHOWN).collect();
    weeks.reverse();
    let mut rows = Vec::new();
    for of_one in audit.scores.chunk_by(|a, b| a.deliberator == b.deliberator).take(ROWS_SHOWN) {
        let name = of_one.first().map_or("", |score| score.deliberator.as_str());
        rows.push(number_row(name, []));
        rows.extend(of_one.iter().take(ROWS_SHOWN).map(|score| score_row(score, &weeks)));
    }
    let span = match (weeks.first(), weeks.last()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => String::new(),
    };
    let short = weeks.iter().map(|week| week.rsplit_once('-').map_or(*week, |(_, week)| week));
    let headings: Vec<&str> = ["", "all"].into_iter().chain(short).collect();
    table_section("Mean scores", &headings, rows).with_note(span)
}

fn score_row(score: &ScoreSeries, weeks: &[&str]) -> TableRow {
    let in_week = |week: &&str| score.by_week.iter().find(|one| one.week == **week);
    let means = weeks.iter().map(|week| in_week(week).and_then(|one| one.mean));
    let format = |mean: Option<f64>| mean.map_or(NO_VALUE.to_owned(), |mean| format!("{mean:.1}"));
    let cells = [score.mean].into_iter().chain(means).map(format);
    let mut row = number_row("", cells);
    if let Some(name) = row.cells.first_mut() {
        *name = score.score.as_str().into();
    }
    TableRow { is_nested: true, ..row }
}

/// Each type and producer, drift first, with its weekly shares.
fn drift_section(audit: &ReviewStatistics) -> PageSection {
    let mut subjects: Vec<&DriftSubject> = audit.drift.subjects.iter().collect();
    subjects.sort_by_key(|subject| subject.verdict);
    let note = match more_note(subjects.len(), ROWS_SHOWN) {
        more if more.is_empty() => "not SHIP, week by week".to_owned(),
        more => more,
    };
    let rows = subjects.iter().take(ROWS_SHOWN).map(|subject| {
        let (mark, tone) = match subject.verdict {
            DriftVerdict::Drift => ("▲", TextTone::Bad),
            DriftVerdict::Steady => ("●", TextTone::Good),
            DriftVerdict::CannotTell => ("○", TextTone::Caution),
        };
        let name = match subject.of {
            DriftSubjectKind::Type => subject.name.clone(),
            DriftSubjectKind::Producer => format!("by {}", subject.name),
        };
        let text = RichText::toned(format!("{mark} "), tone);
        let text = text.push(describe_drift(subject), TextTone::Plain);
        TableRow::new(vec![RichText::strong(name), text])
    });
    let columns =
        vec![TableColumn::new("", ColumnKind::Short), TableColumn::new("", ColumnKind::Wrap)];
    let rows: Vec<TableRow> = rows.collect();
    if rows.is_empty() {
        return PageSection::default();
    }
    PageSection::new("Drift", vec![PageBlock::Table(PageTable { columns, rows })]).with_note(note)
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

fn overrides_section(audit: &ReviewStatistics) -> PageSection {
    let OverrideCounts {
        decided, overridden, softened, hardened, confirmed, of_incomplete, ..
    } = audit.overrides;
    if decided + of_incomplete == 0 {
        return PageSection::default();
    }
    let verdicts = count_noun(decided, "decided verdict");
    let mut text = match overridden {
        0 => format!("People overrode none of {verdicts}."),
        _ => format!(
            "People overrode {overridden} of {verdicts} ({}): {softened} softened, \
             {hardened} hardened, {confirmed} confirmed.",
            format_percent(overridden, decided)
        ),
    };
    if of_incomplete > 0 {
        let those = count_noun(of_incomplete, "INCOMPLETE review");
        text.push_str(&format!(" People decided {those}."));
    }
    PageSection::new("Overridden by people", vec![PageBlock::Paragraph(text.into())])
}

fn format_percent(part: usize, whole: usize) -> String {
    percent_of(part, whole).map_or(NO_VALUE.to_owned(), |share| format!("{share:.1} %"))
}

/// For example `3 more with --json`; empty if all rows are shown.
fn more_note(count: usize, shown: usize) -> String {
    match count.checked_sub(shown) {
        Some(more @ 1..) => format!("{more} more with --json"),
        Some(0) | None => String::new(),
    }
}
