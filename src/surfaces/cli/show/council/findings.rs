//! The findings of a council that reviewed files, as merged by the chair.

use super::report::severity_label;
use crate::domain::council::report::{CouncilFinalReport, MergedFinding};
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, hang_text};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{FAINT, GOOD};

/// Indent of the text of a finding.
const FINDING_INDENT: usize = MARGIN + 7;

pub(super) fn draw_findings(given: &CouncilFinalReport, canvas: PageCanvas) -> Vec<StyledLine> {
    let findings = &given.report.findings;
    if findings.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("FINDINGS", &format!("{}", findings.len()), canvas);
    for (place, merged) in findings.iter().enumerate() {
        if place > 0 {
            lines.push(StyledLine::blank());
        }
        lines.extend(draw_finding(merged, canvas.text_width()));
    }
    lines
}

fn draw_finding(merged: &MergedFinding, room: usize) -> Vec<StyledLine> {
    let found = &merged.finding;
    let title = format!("{}  {}", found.id, found.title);
    let mut lines = hang_text(severity_label(found.severity), &title, room);
    let under =
        |style, lead: &str| StyledLine::with_indent(FINDING_INDENT).push_styled(lead, style);
    if !found.location.trim().is_empty() {
        lines.extend(hang_text(under(FAINT, "at "), &found.location, room));
    }
    lines.extend(hang_text(StyledLine::with_indent(FINDING_INDENT), &found.description, room));
    if !found.fix_approach.trim().is_empty() {
        lines.extend(hang_text(under(GOOD, "→ "), &found.fix_approach, room));
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
        lines.extend(hang_text(StyledLine::with_indent(FINDING_INDENT), &who.join("; "), room));
    }
    lines
}
