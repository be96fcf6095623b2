//! The findings of a council that reviewed files, as merged by the chair.

use super::report::level;
use crate::domain::council::report::{CouncilFinalReport, MergedFinding};
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, beside, heading};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{FAINT, GOOD};

/// Indent of the text of a finding.
const INDENT: usize = MARGIN + 7;

pub(super) fn draw(given: &CouncilFinalReport, canvas: Canvas) -> Vec<Line> {
    let findings = &given.report.findings;
    if findings.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("FINDINGS", &format!("{}", findings.len()), canvas);
    for (place, merged) in findings.iter().enumerate() {
        if place > 0 {
            lines.push(Line::blank());
        }
        lines.extend(finding(merged, canvas.measure()));
    }
    lines
}

fn finding(merged: &MergedFinding, room: usize) -> Vec<Line> {
    let found = &merged.finding;
    let title = format!("{}  {}", found.id, found.title);
    let mut lines = beside(level(found.severity), &title, room);
    let under = |style, lead: &str| Line::indented(INDENT).styled(lead, style);
    if !found.location.trim().is_empty() {
        lines.extend(beside(under(FAINT, "at "), &found.location, room));
    }
    lines.extend(beside(Line::indented(INDENT), &found.description, room));
    if !found.fix_approach.trim().is_empty() {
        lines.extend(beside(under(GOOD, "→ "), &found.fix_approach, room));
    }
    let who = [
        ("reported by", &merged.reported_by),
        ("confirmed by", &merged.confirmed_by),
        ("disputed by", &merged.disputed_by),
    ];
    let who: Vec<String> = who
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what} {}", names.join(", ")))
        .collect();
    if !who.is_empty() {
        lines.extend(beside(Line::indented(INDENT), &who.join("; "), room));
    }
    lines
}
