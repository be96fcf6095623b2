//! The page: which sections are drawn, in which order.

use super::super::canvas::Canvas;
use super::super::line::Line;
use super::super::page::text_of;
use super::{findings, headline, panel, replies, report};
use crate::domain::transcript::Transcript;
use crate::export::council::document;

/// What the page ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Ending {
    /// The command that shows more.
    Hint,
    /// The id alone: what follows is more.
    Id,
}

/// Draws a run, finished or not, as lines with ANSI colours.
pub(crate) fn draw(transcript: &Transcript, canvas: Canvas) -> String {
    text_of(&sections(transcript, Ending::Hint, canvas))
}

pub(in super::super) fn sections(
    transcript: &Transcript,
    ending: Ending,
    canvas: Canvas,
) -> Vec<Vec<Line>> {
    let told = &document(transcript);
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
    sections.push(replies::draw(transcript, canvas));
    sections.push(headline::footer(transcript, told, ending, canvas));
    sections
}
