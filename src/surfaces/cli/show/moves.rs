//! The moves section of a dialogue page: what each expert did with another expert's position.

use unicode_width::UnicodeWidthStr;

use super::canvas::Canvas;
use super::layout::{MARGIN, block, heading};
use super::line::Line;
use super::palette::{FAINT, ID, PLAIN, STRONG};
use crate::domain::record::Record;
use crate::domain::reference::{Move, MoveType};
use crate::export::wording;
use crate::surfaces::cli::wrap::wrap_line;

const NAME_MAX: usize = 14;
/// Width of the longest move name, `challenge`.
const MOVE: usize = 9;
/// Width of two ids and their joiner; more targets wrap.
const TARGETS: usize = 13;
const GAP: usize = 2;
/// With less space than this beside the move, its context goes below.
const CONTEXT_MIN: usize = 28;

pub(super) fn draw(record: &Record, canvas: Canvas) -> Vec<Line> {
    let moves: Vec<&Move> =
        record.moves.iter().filter(|made| canvas.shows_round(made.round)).collect();
    if moves.is_empty() {
        return Vec::new();
    }
    let table = Table::new(&moves, canvas);
    let mut lines = heading("MOVES", &wording::count(moves.len(), "move"), canvas);
    for made in moves {
        lines.extend(table.rows(made));
    }
    lines.push(Line::blank());
    lines
}

/// The column at which each cell starts.
struct Table {
    name: usize,
    made: usize,
    targets: usize,
    context: usize,
    measure: usize,
}

impl Table {
    fn new(moves: &[&Move], canvas: Canvas) -> Self {
        let widths = moves.iter().map(|made| made.expert.as_str().width());
        let name = MARGIN + "r0".len() + GAP;
        let made = name + widths.max().unwrap_or(0).min(NAME_MAX) + GAP;
        let targets = made + MOVE + GAP;
        Self { name, made, targets, context: targets + TARGETS + GAP, measure: canvas.measure() }
    }

    fn rows(&self, made: &Move) -> Vec<Line> {
        let context = made.context.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let room = self.measure.saturating_sub(self.context);
        if room >= CONTEXT_MIN {
            let context = context.map(|text| wrap_line(text, room)).unwrap_or_default();
            self.beside(self.start(made), &targets(made, TARGETS), &context)
        } else {
            let ids = targets(made, self.measure.saturating_sub(self.targets));
            let mut lines = self.beside(self.start(made), &ids, &[]);
            let below = context.map(|text| wrap_line(text, self.measure - self.name));
            lines.extend(block(&below.unwrap_or_default(), self.name, PLAIN));
            lines
        }
    }

    /// For example `r1  Donut  bridge`.
    fn start(&self, made: &Move) -> Line {
        Line::indented(MARGIN)
            .styled(&format!("r{}", made.round), FAINT)
            .pad_to(self.name)
            .fitted(&made.expert.display_name(), STRONG, self.made - GAP)
            .pad_to(self.made)
            .plain(made.move_type.name())
    }

    fn beside(&self, start: Line, targets: &[String], context: &[String]) -> Vec<Line> {
        let height = targets.len().max(context.len()).max(1);
        let cell = |column: &[String], row: usize| column.get(row).cloned().unwrap_or_default();
        let mut starts = Some(start).into_iter();
        let row = |row: usize| {
            let line = starts.next().unwrap_or_default().pad_to(self.targets);
            let line = line.styled(&cell(targets, row), ID);
            if context.is_empty() {
                line
            } else {
                line.pad_to(self.context).plain(&cell(context, row))
            }
        };
        (0..height).map(row).collect()
    }
}

fn targets(made: &Move, width: usize) -> Vec<String> {
    let ids: Vec<String> = made.targets.iter().map(ToString::to_string).collect();
    wrap_line(&ids.join(if made.move_type == MoveType::Bridge { " + " } else { " " }), width)
}
