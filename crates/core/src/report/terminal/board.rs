//! Draws a board on a terminal: a column for each status, a card for each entity. Narrow terminals
//! get the columns stacked.

use crate::report::page::{BoardCard, BoardColumn};
use crate::report::terminal::blocks::ID_WIDTH;
use crate::report::terminal::layout::{
    FAINT, ID, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, hang_block,
};
use crate::report::terminal::page::shift_lines;
use crate::report::terminal::wrap::{fit_rich, wrap_line, wrap_rich};

/// Minimum width for columns side by side.
const BOARD_COLUMNS_MIN: usize = 100;

/// Columns of space between two lists of the board.
const BOARD_GUTTER: usize = 3;

/// Width of a column without cards: its longest title.
const EMPTY_COLUMN_WIDTH: usize = 14;

pub(crate) fn draw_board(
    columns: &[BoardColumn],
    indent: usize,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    if canvas.column_count() >= BOARD_COLUMNS_MIN {
        return draw_columns(columns, indent, canvas);
    }
    let room = canvas.text_width() - indent - MARGIN;
    let mut lines = Vec::new();
    for column in columns.iter().filter(|column| !column.cards.is_empty()) {
        if !lines.is_empty() {
            lines.push(StyledLine::blank());
        }
        lines.push(StyledLine::with_indent(indent).append_line(title_line(column)));
        let cards = column.cards.iter().flat_map(|card| draw_card(card, room, ID_WIDTH));
        lines.extend(shift_lines(cards.collect(), indent + MARGIN));
    }
    lines
}

/// The title of a column with the number of its cards.
fn title_line(column: &BoardColumn) -> StyledLine {
    let title = fit_rich(&column.title, PLAIN, usize::MAX);
    title.push_styled(&format!(" {}", column.cards.len()), FAINT)
}

fn draw_columns(columns: &[BoardColumn], indent: usize, canvas: PageCanvas) -> Vec<StyledLine> {
    let is_empty = |column: &&BoardColumn| column.cards.is_empty();
    let empty = columns.iter().filter(is_empty).count();
    let gutters = BOARD_GUTTER * columns.len().saturating_sub(1);
    let room = canvas.column_count() - indent - gutters - EMPTY_COLUMN_WIDTH * empty;
    let share = room / (columns.len() - empty).max(1);
    let mut start = indent;
    let mut drawn: Vec<(usize, Vec<StyledLine>)> = Vec::new();
    for column in columns {
        let width = if column.cards.is_empty() { EMPTY_COLUMN_WIDTH } else { share };
        drawn.push((start, draw_column(column, width)));
        start += width + BOARD_GUTTER;
    }
    let height = drawn.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let row = |place: usize| {
        drawn.iter().fold(StyledLine::blank(), |line, (start, cells)| {
            line.pad_to_column(*start).append_line(cells.get(place).cloned().unwrap_or_default())
        })
    };
    (0..height).map(row).collect()
}

fn draw_column(column: &BoardColumn, width: usize) -> Vec<StyledLine> {
    let mut lines =
        vec![title_line(column), StyledLine::blank().push_styled(&"─".repeat(width), FAINT)];
    for (place, card) in column.cards.iter().enumerate() {
        lines.extend((place > 0).then(StyledLine::blank));
        lines.extend(draw_card(card, width, MARGIN));
    }
    lines
}

/// Id and label, then the notes with this indent.
fn draw_card(card: &BoardCard, width: usize, indent: usize) -> Vec<StyledLine> {
    let id = StyledLine::blank().push_styled(&card.id.to_string(), ID).pad_to_column(ID_WIDTH);
    let mut lines = hang_block(id, &wrap_line(&card.title, width.saturating_sub(ID_WIDTH)), STRONG);
    let notes = card.notes.iter().flat_map(|note| wrap_rich(note, FAINT, width - indent));
    lines.extend(shift_lines(notes.collect(), indent));
    lines
}
