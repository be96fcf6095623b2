//! The page: which sections are drawn, in which order.

use super::super::canvas::Canvas;
use super::super::line::Line;
use super::{findings, headline, panel, report};
use crate::domain::transcript::Transcript;
use crate::export::council::{Deliberated, document};

/// Draws a run, finished or not, as lines with ANSI colours.
pub(crate) fn draw(transcript: &Transcript, canvas: Canvas) -> String {
    let told = document(transcript);
    let sections = sections(transcript, &told, canvas);
    let drawn: Vec<String> =
        sections.iter().filter(|lines| !lines.is_empty()).map(|lines| text(lines)).collect();
    drawn.join("\n")
}

fn sections(transcript: &Transcript, told: &Deliberated, canvas: Canvas) -> Vec<Vec<Line>> {
    let mut sections = vec![headline::draw(transcript, told, canvas)];
    if let Some(given) = &told.report {
        sections.push(report::answer(given, canvas));
        sections.push(report::reasons(given, canvas));
    }
    sections.push(panel::draw(told, canvas));
    if let Some(given) = &told.report {
        sections.push(report::disagreements(given, canvas));
        sections.push(findings::draw(given, canvas));
        sections.push(report::risks(given, canvas));
        sections.push(report::uncertainties(given, canvas));
        sections.push(report::list("ALTERNATIVES", &given.report.alternatives, canvas));
        sections.push(report::list("HOW TO CHECK", &given.report.verification_plan, canvas));
        sections.push(report::next_actions(given, canvas));
    }
    sections.push(headline::footer(transcript, told, canvas));
    sections
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
