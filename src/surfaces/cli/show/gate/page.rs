//! Review page: which sections it has, in which order. Called by `review` and `show`.

use anstyle::Style;

use super::{changes, concerns, decision, headline, next, seats};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::RunState;
use crate::export::gate::review_document;
use crate::protocols::gate::list_seat_results;
use crate::surfaces::cli::show::canvas::{PageCanvas, PageDetail};
use crate::surfaces::cli::show::council::{PageFoot, replies};
use crate::surfaces::cli::show::layout::{MARGIN, indent_block, join_sections};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::STRONG;
use crate::surfaces::cli::wrap::wrap_line;

/// Indent of the text under a deliberator's name.
pub(super) const SEAT_INDENT: usize = MARGIN * 2;

/// Draws a review, decided or not, with ANSI colours.
pub(crate) fn draw_review_page(transcript: &RunState, canvas: PageCanvas) -> String {
    join_sections(&review_sections(transcript, PageFoot::Hint, canvas))
}

pub(in crate::surfaces::cli::show) fn review_sections(
    transcript: &RunState,
    foot: PageFoot,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let told = &review_document(transcript);
    let positions = &list_seat_results(transcript);
    let mut sections = vec![
        headline::draw_headline(told, canvas),
        decision::draw_brief(told, canvas),
        seats::draw_seats(told, positions, canvas),
        concerns::draw_concerns(told, positions, canvas),
        changes::draw_changes(told, positions, canvas),
        decision::draw_decision(told, canvas),
        decision::draw_prior_verdicts(told, canvas),
        decision::draw_missing_context(told, canvas),
    ];
    if canvas.detail == PageDetail::Full {
        sections.push(replies::draw_replies(transcript, &[], canvas));
    }
    sections.push(next::draw_next_steps(told, canvas));
    sections.push(headline::draw_footer(transcript, told, foot, canvas));
    sections
}

/// Draws a deliberator and a text beside its name, or below it if the text does not fit.
pub(super) fn draw_named(
    seat: &ExpertSlug,
    text: &str,
    style: Style,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let lead = StyledLine::with_indent(MARGIN).push_styled(seat.as_str(), STRONG).push_plain("  ");
    let line = lead.clone().push_styled(text, style);
    if line.width() <= canvas.column_count() {
        return vec![line];
    }
    let mut lines = vec![lead];
    lines.extend(indent_block(
        &wrap_line(text, canvas.text_width() - SEAT_INDENT),
        SEAT_INDENT,
        style,
    ));
    lines
}
