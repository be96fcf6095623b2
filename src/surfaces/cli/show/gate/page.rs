//! Review page: which sections it has, in which order. Called by `review` and `show`.

use anstyle::Style;

use super::{changes, concerns, decision, headline, next, seats};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::Transcript;
use crate::export::gate::document;
use crate::protocols::gate::positions;
use crate::surfaces::cli::show::canvas::{Canvas, Detail};
use crate::surfaces::cli::show::council::{Foot, replies};
use crate::surfaces::cli::show::layout::{MARGIN, block, text_of};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::STRONG;
use crate::surfaces::cli::wrap::wrap_line;

/// Indent of the text under a deliberator's name.
pub(super) const INDENT: usize = MARGIN * 2;

/// Draws a review, decided or not, with ANSI colours.
pub(crate) fn draw(transcript: &Transcript, canvas: Canvas) -> String {
    text_of(&sections(transcript, Foot::Hint, canvas))
}

pub(in crate::surfaces::cli::show) fn sections(
    transcript: &Transcript,
    foot: Foot,
    canvas: Canvas,
) -> Vec<Vec<Line>> {
    let told = &document(transcript);
    let positions = &positions(transcript);
    let mut sections = vec![
        headline::draw(told, canvas),
        decision::brief(told, canvas),
        seats::draw(told, positions, canvas),
        concerns::draw(told, positions, canvas),
        changes::draw(told, positions, canvas),
        decision::draw(told, canvas),
        decision::priors(told, canvas),
        decision::missing_context(told, canvas),
    ];
    if canvas.detail == Detail::Full {
        sections.push(replies::draw(transcript, &[], canvas));
    }
    sections.push(next::draw(told, canvas));
    sections.push(headline::footer(transcript, told, foot, canvas));
    sections
}

/// Draws a deliberator and a text beside its name, or below it if the text does not fit.
pub(super) fn named(seat: &ExpertSlug, text: &str, style: Style, canvas: Canvas) -> Vec<Line> {
    let lead = Line::indented(MARGIN).styled(seat.as_str(), STRONG).plain("  ");
    let line = lead.clone().styled(text, style);
    if line.width() <= canvas.columns() {
        return vec![line];
    }
    let mut lines = vec![lead];
    lines.extend(block(&wrap_line(text, canvas.measure() - INDENT), INDENT, style));
    lines
}
