//! The deliberators of a review page: a row each with the verdicts of both rounds, then scores.

use anstyle::Style;

use crate::domain::gate::{BlockLevel, DeliberatorJudgement};
use crate::export::gate::ReviewDocument;
use crate::export::gate::words::{describe_blocks, score_name};
use crate::protocols::gate::{RoundResult, SeatResult};
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, indent_block};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{self, BAD, CAUTION, FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{wrap_items, wrap_line};

/// A longer name is cut; the record has all of it.
const NAME_WIDTH_MAX: usize = 18;

/// Indent of a name, after its mark.
const NAME_INDENT: usize = MARGIN + 2;

/// Width of `revise ■` and a gap.
const CELL: usize = 10;

/// Width of `block` and a gap.
const BLOCKS: usize = 8;

/// Width of `irreducible` and a gap.
const LASTS: usize = 13;

/// Beside a verdict that blocks.
const BLOCK_MARK: &str = "■";

pub(super) fn draw_seats(
    told: &ReviewDocument,
    positions: &[SeatResult<'_>],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let counted = told.policy.as_ref().map(|counted| counted.arithmetic);
    let note = counted.as_ref().map(describe_blocks).unwrap_or_default();
    let mut lines = draw_heading("DELIBERATORS", &note, canvas);
    let names = positions.iter().map(|one| one.seat.as_str().len());
    let column = NAME_INDENT + names.max().unwrap_or(0).min(NAME_WIDTH_MAX) + 2;
    lines.push(header_line(column, canvas));
    for position in positions {
        lines.push(draw_seat_row(position, positions, column, canvas));
        lines.extend(draw_absences(position, canvas));
        lines.extend(draw_scores(position, canvas));
    }
    lines
}

fn header_line(column: usize, canvas: PageCanvas) -> StyledLine {
    let titles =
        format!("{:<CELL$}{:<CELL$}{:<BLOCKS$}{:<LASTS$}", "R1", "R2", "block", "irreducible");
    StyledLine::with_indent(column).push_fitted(&titles, FAINT, canvas.column_count())
}

fn draw_seat_row(
    position: &SeatResult<'_>,
    all: &[SeatResult<'_>],
    column: usize,
    canvas: PageCanvas,
) -> StyledLine {
    let held = position.final_judgement();
    let (mark, style) = held.map_or(("×", BAD), |held| palette::leaning_mark(held.verdict));
    let edge = canvas.column_count();
    let mut line = StyledLine::with_indent(MARGIN)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_fitted(position.seat.as_str(), STRONG, column - 2)
        .pad_to_column(column);
    let (no, yes) = (("no", FAINT), ("yes", BAD));
    let [block, lasting] = match held.map(DeliberatorJudgement::block_level) {
        // An absent deliberator has no verdict.
        None => [("–", FAINT); 2],
        Some(BlockLevel::None) => [no, no],
        Some(BlockLevel::Reducible) => [yes, no],
        Some(BlockLevel::Irreducible) => [yes, yes],
    };
    let (first, second) = (round_cell(&position.first), round_cell(&position.second));
    let cells = [
        (first.0.as_str(), first.1, CELL),
        (second.0.as_str(), second.1, CELL),
        (block.0, block.1, BLOCKS),
        (lasting.0, lasting.1, LASTS),
    ];
    let mut end = column;
    for (text, style, width) in cells {
        end += width;
        line = line.push_fitted(text, style, edge.min(end)).pad_to_column(end.min(edge));
    }
    line.push_fitted(seat_note(position, all), CAUTION, edge)
}

fn round_cell(part: &RoundResult<'_>) -> (String, Style) {
    match part {
        RoundResult::Open => ("–".to_owned(), FAINT),
        RoundResult::Absent(_) => ("absent".to_owned(), BAD),
        RoundResult::Judged(judgement) => {
            let block = if judgement.would_block { BLOCK_MARK } else { "" };
            (format!("{} {block}", judgement.verdict), palette::leaning_mark(judgement.verdict).1)
        }
    }
}

/// A caution about this row.
fn seat_note(position: &SeatResult<'_>, all: &[SeatResult<'_>]) -> &'static str {
    if position.is_fallback() {
        "R1 counts"
    } else if position.is_uncited(all) {
        "uncited"
    } else {
        ""
    }
}

/// Says why each absent round failed.
fn draw_absences(position: &SeatResult<'_>, canvas: PageCanvas) -> Vec<StyledLine> {
    let parts = [&position.first, &position.second].into_iter();
    let told = parts.filter_map(|part| match part {
        RoundResult::Absent(failure) => {
            let why =
                format!("{} {}: {}", failure.round, failure.error_type, failure.error_message);
            Some(indent_block(
                &wrap_line(&why, canvas.text_width() - NAME_INDENT),
                NAME_INDENT,
                PLAIN,
            ))
        }
        RoundResult::Open | RoundResult::Judged(_) => None,
    });
    told.flatten().collect()
}

/// Draws the final scores; a changed score with its earlier value.
fn draw_scores(position: &SeatResult<'_>, canvas: PageCanvas) -> Vec<StyledLine> {
    let Some(held) = position.final_judgement() else { return Vec::new() };
    let before = position.first.judgement();
    let told = held.scores.iter().map(|(name, score)| {
        let was = before.and_then(|before| before.scores.get(name)).filter(|was| *was != score);
        let was = was.map(|was| format!("{was}→")).unwrap_or_default();
        format!("{} {was}{score}", score_name(name))
    });
    let told: Vec<String> = told.collect();
    indent_block(&wrap_items(&told, canvas.text_width() - NAME_INDENT), NAME_INDENT, FAINT)
}
