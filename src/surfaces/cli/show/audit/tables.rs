//! Tables of the `audit` page: drift, verdicts by group, deliberators, scores and overrides.

use unicode_width::UnicodeWidthStr;

use super::grid::{Bar, Grid, NONE, Row};
use crate::export::wording;
use crate::record::gate_audit::{
    DeliberatorCount, DriftVerdict, GateAudit, Measure, MindChange, Movement, OfScore, Overrules,
    Spread, Subject, SubjectKind,
};
use crate::record::share::percent;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, hanging, heading, prose};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{BAD, CAUTION, GOOD, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{fit, wrap_line};

/// Rows drawn per table; `--json` prints all of them.
const ROWS_SHOWN: usize = 15;

/// A quarter of a year.
const WEEKS_SHOWN: usize = 13;

/// Weeks of scores that fit side by side.
const SCORE_WEEKS_SHOWN: usize = 6;

const SPREAD: [&str; 6] = ["all", "SHIP", "REVISE", "HOLD", "INCOMPLETE", "not SHIP"];

pub(super) fn by_type(audit: &GateAudit, canvas: Canvas) -> Vec<Line> {
    let groups = audit.by_type.iter().map(|group| (group.artifact_type.clone(), group.spread));
    spreads("BY TYPE", &groups.collect::<Vec<_>>(), ROWS_SHOWN, canvas)
}

pub(super) fn by_producer(audit: &GateAudit, canvas: Canvas) -> Vec<Line> {
    let groups = audit.by_producer.iter().map(|group| (group.producer.clone(), group.spread));
    spreads("BY PRODUCER", &groups.collect::<Vec<_>>(), ROWS_SHOWN, canvas)
}

pub(super) fn by_week(audit: &GateAudit, canvas: Canvas) -> Vec<Line> {
    let groups = audit.by_week.iter().map(|group| (group.week.clone(), group.spread));
    spreads("BY WEEK", &groups.collect::<Vec<_>>(), WEEKS_SHOWN, canvas)
}

fn spreads(
    title: &'static str,
    groups: &[(String, Spread)],
    shown: usize,
    canvas: Canvas,
) -> Vec<Line> {
    let row = |(name, spread): &(String, Spread)| {
        let (not_ship, decided) = (spread.not_ship(), spread.decided());
        let counts = [spread.logged(), spread.ship, spread.revise, spread.hold, spread.incomplete];
        let mut cells: Vec<String> = counts.map(|count| count.to_string()).into();
        cells.push(share(not_ship, decided));
        let bar = Bar { part: not_ship, whole: decided, style: CAUTION };
        Row { indent: 0, name: name.clone(), cells, bar: Some(bar) }
    };
    Grid {
        title,
        note: more(groups.len(), shown),
        headings: SPREAD.map(str::to_owned).into(),
        rows: groups.iter().take(shown).map(row).collect(),
    }
    .draw(canvas)
}

pub(super) fn deliberators(audit: &GateAudit, canvas: Canvas) -> Vec<Line> {
    let row = |seat: &DeliberatorCount| {
        let cells = vec![
            seat.heard.to_string(),
            share(seat.irreducible, seat.heard),
            share(seat.absent, seat.asked),
            share(seat.blocks, seat.heard),
        ];
        let bar = Bar { part: seat.blocks, whole: seat.heard, style: BAD };
        Row { indent: 0, name: seat.deliberator.clone(), cells, bar: Some(bar) }
    };
    Grid {
        title: "DELIBERATORS",
        note: more(audit.deliberators.len(), ROWS_SHOWN),
        headings: ["heard", "irreducible", "absent", "blocks"].map(str::to_owned).into(),
        rows: audit.deliberators.iter().take(ROWS_SHOWN).map(row).collect(),
    }
    .draw(canvas)
}

pub(super) fn change(audit: &GateAudit, canvas: Canvas) -> Vec<Line> {
    if audit.change.compared + audit.change.fallback == 0 {
        return Vec::new();
    }
    let row = |name: &str, change: &MindChange| {
        let counts = [change.softened, change.hardened, change.uncited, change.fallback];
        let mut cells = vec![change.compared.to_string(), share(change.changed, change.compared)];
        cells.extend(counts.map(|count| count.to_string()));
        Row { indent: 0, name: name.to_owned(), cells, bar: None }
    };
    let seats = audit.deliberators.iter().take(ROWS_SHOWN);
    let mut rows: Vec<Row> = seats.map(|seat| row(&seat.deliberator, &seat.change)).collect();
    rows.push(row("all", &audit.change));
    let headings = ["compared", "changed", "softened", "hardened", "uncited", "fallback"];
    Grid {
        title: "FROM ROUND 1 TO ROUND 2",
        note: more(audit.deliberators.len(), ROWS_SHOWN),
        headings: headings.map(str::to_owned).into(),
        rows,
    }
    .draw(canvas)
}

/// Mean scores of the newest weeks, oldest first.
pub(super) fn scores(audit: &GateAudit, canvas: Canvas) -> Vec<Line> {
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
        rows.push(Row { indent: 0, name: name.to_owned(), cells: Vec::new(), bar: None });
        rows.extend(of_one.iter().take(ROWS_SHOWN).map(|score| score_row(score, &weeks)));
    }
    let short = |week: &&str| week.rsplit_once('-').map_or(*week, |(_, week)| week).to_owned();
    let span = match (weeks.first(), weeks.last()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => String::new(),
    };
    let headings = ["all".to_owned()].into_iter().chain(weeks.iter().map(short));
    Grid { title: "MEAN SCORES", note: span, headings: headings.collect(), rows }.draw(canvas)
}

fn score_row(score: &OfScore, weeks: &[&str]) -> Row {
    let in_week = |week: &&str| score.by_week.iter().find(|one| one.week == **week);
    let means = weeks.iter().map(|week| in_week(week).and_then(|one| one.mean));
    let told = |mean: Option<f64>| mean.map_or(NONE.to_owned(), |mean| format!("{mean:.1}"));
    let cells = [score.mean].into_iter().chain(means).map(told).collect();
    Row { indent: MARGIN, name: score.score.clone(), cells, bar: None }
}

/// Draws each type and producer, drift first, with its weekly shares.
pub(super) fn drift(audit: &GateAudit, canvas: Canvas) -> Vec<Line> {
    let mut subjects: Vec<&Subject> = audit.drift.subjects.iter().collect();
    subjects.sort_by_key(|subject| subject.verdict);
    if subjects.is_empty() {
        return Vec::new();
    }
    let names = subjects.iter().take(ROWS_SHOWN).map(|subject| named(subject));
    let names: Vec<String> = names.map(|name| fit(&name, canvas.columns() / 3)).collect();
    let name = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let note = match more(subjects.len(), ROWS_SHOWN) {
        more if more.is_empty() => "not SHIP, week by week".to_owned(),
        more => more,
    };
    let mut lines = heading("DRIFT", &note, canvas);
    for (subject, named) in subjects.iter().zip(names) {
        let (mark, style) = match subject.verdict {
            DriftVerdict::Drift => ("▲", BAD),
            DriftVerdict::Steady => ("●", GOOD),
            DriftVerdict::CannotTell => ("○", CAUTION),
        };
        let lead = Line::indented(MARGIN).styled(&named, STRONG).pad_to(MARGIN + name + MARGIN);
        let lead = lead.styled(mark, style).plain(" ");
        let room = canvas.measure().saturating_sub(lead.width());
        lines.extend(hanging(lead, &wrap_line(&told(subject), room), PLAIN));
    }
    lines
}

fn named(subject: &Subject) -> String {
    match subject.of {
        SubjectKind::Type => subject.name.clone(),
        SubjectKind::Producer => format!("by {}", subject.name),
    }
}

fn told(subject: &Subject) -> String {
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
    let is_score = |movement: &&Movement| movement.measure != Measure::NotShip;
    let moved = match subject.movements.iter().filter(is_score).count() {
        0 => String::new(),
        scores => format!("; {} moved", wording::count(scores, "score")),
    };
    format!("{verdict}: {}{moved}", shares.join(" → "))
}

pub(super) fn overrides(audit: &GateAudit, canvas: Canvas) -> Vec<Line> {
    let Overrules { decided, overridden, softened, hardened, confirmed, of_incomplete, .. } =
        audit.overrides;
    if decided + of_incomplete == 0 {
        return Vec::new();
    }
    let mut text = match overridden {
        0 => format!("None of {decided} decided verdicts was overridden."),
        _ => format!(
            "{overridden} of {decided} decided verdicts ({}): {softened} softened, {hardened} hardened, {confirmed} confirmed.",
            share(overridden, decided)
        ),
    };
    if of_incomplete > 0 {
        let those = wording::count(of_incomplete, "review");
        text.push_str(&format!(" People decided {those} that the gate left INCOMPLETE."));
    }
    let mut lines = heading("OVERRIDDEN BY PEOPLE", "", canvas);
    lines.extend(prose(&wrap_line(&text, canvas.measure().saturating_sub(MARGIN)), MARGIN));
    lines
}

fn share(part: usize, whole: usize) -> String {
    percent(part, whole).map_or(NONE.to_owned(), |share| format!("{share:.1} %"))
}

/// For example `3 more with --json`; empty if all rows are drawn.
fn more(count: usize, shown: usize) -> String {
    match count.checked_sub(shown) {
        Some(more @ 1..) => format!("{more} more with --json"),
        Some(0) | None => String::new(),
    }
}
