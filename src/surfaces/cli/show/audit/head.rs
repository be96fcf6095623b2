//! The start of the `audit` page: the period, the remarks, and the share of each verdict.

use anstyle::Style;

use super::grid::NONE;
use crate::export::wording;
use crate::operations::Audited;
use crate::record::gate_audit::{
    DriftVerdict, GateAudit, RemarkCode, Spread, VERDICTS_PER_WEEK_MIN, WEEKS,
};
use crate::record::share::percent;
use crate::surfaces::cli::show::bar::bar;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, hanging, heading};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{BAD, CAUTION, FAINT, GOOD, STRONG};
use crate::surfaces::cli::wrap::wrap_line;

/// Remarks on the page; `--json` prints all of them.
const REMARKS_SHOWN: usize = 8;

/// Below this width the heading omits the period.
const PERIOD_COLUMNS_MIN: usize = 60;

/// Width of the longest verdict, `INCOMPLETE`, with a gap.
const VERDICT: usize = 12;

/// Width of a right-aligned percentage such as `100.0 %`.
const NUMBER: usize = 8;

/// Width of a full bar, if the terminal has the space: four percent per column.
const BAR_MAX: usize = 25;

/// Width of the count after the bar, with a space.
const COUNT: usize = 7;

pub(super) fn draw(audited: &Audited, canvas: Canvas) -> Vec<Line> {
    let audit = &audited.audit;
    let mut lines = vec![Line::blank()];
    lines.extend(heading("AUDIT", &looked_at(audited, canvas), canvas));
    let said = said(audit);
    for (mark, text, style) in said.iter().take(REMARKS_SHOWN) {
        lines.extend(sentence(mark, text, *style, canvas));
    }
    if let Some(more @ 1..) = said.len().checked_sub(REMARKS_SHOWN) {
        lines.extend(sentence("○", &format!("{more} more with --json."), FAINT, canvas));
    }
    let left_out = audit.rehearsals_left_out;
    if left_out > 0 {
        let text = format!("{} left out.", wording::count(left_out, "rehearsal"));
        lines.extend(sentence("○", &text, FAINT, canvas));
    }
    if audit.spread.logged() > 0 {
        lines.push(Line::blank());
        lines.extend(shares(audit.spread, canvas));
    }
    lines
}

/// For example `128 verdicts on linkedin_post by ann since 2026-01-01`.
fn looked_at(audited: &Audited, canvas: Canvas) -> String {
    let window = &audited.window;
    let mut text = wording::count(audited.audit.spread.logged(), "verdict");
    if let Some(artifact_type) = &window.artifact_type {
        text.push_str(&format!(" on {artifact_type}"));
    }
    if let Some(producer) = &window.producer {
        text.push_str(&format!(" by {producer}"));
    }
    match (window.since, audited.audit.from, audited.audit.to) {
        (Some(since), ..) => text.push_str(&format!(" since {}", since.day())),
        (None, Some(from), Some(to)) if canvas.columns() >= PERIOD_COLUMNS_MIN => {
            text.push_str(&format!(", {} to {}", from.day(), to.day()));
        }
        (None, ..) => {}
    }
    text
}

fn said(audit: &GateAudit) -> Vec<(&'static str, String, Style)> {
    if audit.spread.logged() == 0 {
        return vec![("○", "There is no verdict to count.".to_owned(), CAUTION)];
    }
    let (drifts, others): (Vec<_>, Vec<_>) =
        audit.remarks.iter().partition(|remark| remark.code == RemarkCode::Drift);
    let mut said: Vec<_> = drifts
        .iter()
        .map(|remark| ("▲", format!("DRIFT: {}.", remark.message), BAD.bold()))
        .collect();
    let others_said = others.iter().map(|remark| ("◐", format!("{}.", remark.message), CAUTION));
    said.extend(others_said);
    match audit.drift.verdict {
        DriftVerdict::Drift => {}
        DriftVerdict::Steady if others.is_empty() => {
            said.push(("●", format!("Nothing stands out: no drift over {WEEKS} weeks."), GOOD));
        }
        DriftVerdict::Steady => {
            said.push(("●", format!("No drift over {WEEKS} weeks."), GOOD));
        }
        DriftVerdict::CannotTell => {
            let text = format!(
                "Too few to tell of drift: it takes {VERDICTS_PER_WEEK_MIN} verdicts of a type or a producer in each of {WEEKS} weeks."
            );
            said.push(("○", text, CAUTION));
        }
    }
    said
}

fn sentence(mark: &str, text: &str, style: Style, canvas: Canvas) -> Vec<Line> {
    let lead = Line::indented(MARGIN).styled(mark, style).plain(" ");
    let room = canvas.measure().saturating_sub(lead.width());
    hanging(lead, &wrap_line(text, room), style)
}

/// Draws each verdict as a share of the decided reviews; incomplete ones are only counted.
fn shares(spread: Spread, canvas: Canvas) -> Vec<Line> {
    let decided = spread.decided();
    let verdicts = [
        ("SHIP", spread.ship, GOOD),
        ("REVISE", spread.revise, CAUTION),
        ("HOLD", spread.hold, BAD),
    ];
    let mut lines: Vec<Line> = verdicts
        .into_iter()
        .map(|(verdict, count, style)| share(verdict, count, decided, style, canvas))
        .collect();
    if spread.incomplete > 0 {
        let line = Line::indented(MARGIN).styled("INCOMPLETE", STRONG);
        let line = line.pad_to(MARGIN + VERDICT + NUMBER).plain("  ");
        lines.push(line.styled(&format!(" {} apart", spread.incomplete), FAINT));
    }
    lines
}

fn share(verdict: &str, count: usize, decided: usize, style: Style, canvas: Canvas) -> Line {
    let told = percent(count, decided).map_or(NONE.to_owned(), |share| format!("{share:.1} %"));
    let line = Line::indented(MARGIN).styled(verdict, STRONG).pad_to(MARGIN + VERDICT);
    let line = line.plain(&format!("{told:>NUMBER$}  "));
    let room = canvas.columns().saturating_sub(line.width() + COUNT).min(BAR_MAX);
    let [part, whole] = [count, decided].map(|count| i64::try_from(count).unwrap_or(0));
    line.styled(&bar(part, whole, room), style).styled(&format!(" {count}"), FAINT)
}
