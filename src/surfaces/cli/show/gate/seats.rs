//! The deliberators of a review page: a row each with the verdicts of both rounds, then scores.

use anstyle::Style;

use crate::domain::gate::{Block, Judgement};
use crate::export::gate::ReviewDocument;
use crate::export::gate::words::{all_blocks, score_name};
use crate::protocols::gate::{Part, Position};
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, block, heading};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{self, BAD, CAUTION, FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{wrap_items, wrap_line};

/// A longer name is cut; the record has all of it.
const NAME_MAX: usize = 18;

/// Indent of a name, after its mark.
const INDENT: usize = MARGIN + 2;

/// Width of `revise ■` and a gap.
const CELL: usize = 10;

/// Width of `block` and a gap.
const BLOCKS: usize = 8;

/// Width of `irreducible` and a gap.
const LASTS: usize = 13;

/// Beside a verdict that blocks.
const BLOCK: &str = "■";

pub(super) fn draw(told: &ReviewDocument, positions: &[Position<'_>], canvas: Canvas) -> Vec<Line> {
    let counted = told.policy.as_ref().map(|counted| counted.arithmetic);
    let note = counted.as_ref().map(all_blocks).unwrap_or_default();
    let mut lines = heading("DELIBERATORS", &note, canvas);
    let names = positions.iter().map(|one| one.seat.as_str().len());
    let column = INDENT + names.max().unwrap_or(0).min(NAME_MAX) + 2;
    lines.push(head(column, canvas));
    for position in positions {
        lines.push(row(position, positions, column, canvas));
        lines.extend(absences(position, canvas));
        lines.extend(scores(position, canvas));
    }
    lines
}

fn head(column: usize, canvas: Canvas) -> Line {
    let titles =
        format!("{:<CELL$}{:<CELL$}{:<BLOCKS$}{:<LASTS$}", "R1", "R2", "block", "irreducible");
    Line::indented(column).fitted(&titles, FAINT, canvas.columns())
}

fn row(position: &Position<'_>, all: &[Position<'_>], column: usize, canvas: Canvas) -> Line {
    let held = position.held();
    let (mark, style) = held.map_or(("×", BAD), |held| palette::of_leaning(held.verdict));
    let edge = canvas.columns();
    let mut line = Line::indented(MARGIN)
        .styled(mark, style)
        .plain(" ")
        .fitted(position.seat.as_str(), STRONG, column - 2)
        .pad_to(column);
    let (no, yes) = (("no", FAINT), ("yes", BAD));
    let [block, lasting] = match held.map(Judgement::block) {
        // An absent deliberator has no verdict.
        None => [("–", FAINT); 2],
        Some(Block::None) => [no, no],
        Some(Block::Reducible) => [yes, no],
        Some(Block::Irreducible) => [yes, yes],
    };
    let (first, second) = (cell(&position.first), cell(&position.second));
    let cells = [
        (first.0.as_str(), first.1, CELL),
        (second.0.as_str(), second.1, CELL),
        (block.0, block.1, BLOCKS),
        (lasting.0, lasting.1, LASTS),
    ];
    let mut end = column;
    for (text, style, width) in cells {
        end += width;
        line = line.fitted(text, style, edge.min(end)).pad_to(end.min(edge));
    }
    line.fitted(note(position, all), CAUTION, edge)
}

fn cell(part: &Part<'_>) -> (String, Style) {
    match part {
        Part::Open => ("–".to_owned(), FAINT),
        Part::Absent(_) => ("absent".to_owned(), BAD),
        Part::Held(judgement) => {
            let block = if judgement.would_block { BLOCK } else { "" };
            (format!("{} {block}", judgement.verdict), palette::of_leaning(judgement.verdict).1)
        }
    }
}

/// A caution about this row.
fn note(position: &Position<'_>, all: &[Position<'_>]) -> &'static str {
    if position.is_fallback() {
        "R1 counts"
    } else if position.is_uncited(all) {
        "uncited"
    } else {
        ""
    }
}

/// Says why each absent round failed.
fn absences(position: &Position<'_>, canvas: Canvas) -> Vec<Line> {
    let parts = [&position.first, &position.second].into_iter();
    let told = parts.filter_map(|part| match part {
        Part::Absent(failure) => {
            let why =
                format!("{} {}: {}", failure.round, failure.error_type, failure.error_message);
            Some(block(&wrap_line(&why, canvas.measure() - INDENT), INDENT, PLAIN))
        }
        Part::Open | Part::Held(_) => None,
    });
    told.flatten().collect()
}

/// Draws the final scores; a changed score with its earlier value.
fn scores(position: &Position<'_>, canvas: Canvas) -> Vec<Line> {
    let Some(held) = position.held() else { return Vec::new() };
    let before = position.first.held();
    let told = held.scores.iter().map(|(name, score)| {
        let was = before.and_then(|before| before.scores.get(name)).filter(|was| *was != score);
        let was = was.map(|was| format!("{was}→")).unwrap_or_default();
        format!("{} {was}{score}", score_name(name))
    });
    let told: Vec<String> = told.collect();
    block(&wrap_items(&told, canvas.measure() - INDENT), INDENT, FAINT)
}
