//! The moves section of a dialogue page: what each expert did with another expert's position.

use unicode_width::UnicodeWidthStr;

use super::canvas::PageCanvas;
use super::layout::{MARGIN, draw_heading, indent_block};
use super::line::StyledLine;
use super::palette::{FAINT, ID, PLAIN, STRONG};
use crate::domain::record::DialogueRecord;
use crate::domain::reference::{ExpertMove, MoveType};
use crate::export::wording;
use crate::surfaces::cli::wrap::wrap_line;

const MOVE_NAME_MAX: usize = 14;
/// Width of the longest move name, `challenge`.
const MOVE_WIDTH: usize = 9;
/// Width of two ids and their joiner; more targets wrap.
const TARGETS_WIDTH: usize = 13;
const MOVE_GAP: usize = 2;
/// With less space than this beside the move, its context goes below.
const CONTEXT_WIDTH_MIN: usize = 28;

pub(super) fn draw_moves(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    let moves: Vec<&ExpertMove> =
        record.moves.iter().filter(|made| canvas.shows_round(made.round)).collect();
    if moves.is_empty() {
        return Vec::new();
    }
    let table = MoveTable::new(&moves, canvas);
    let mut lines = draw_heading("MOVES", &wording::count_noun(moves.len(), "move"), canvas);
    for made in moves {
        lines.extend(table.draw_move(made));
    }
    lines.push(StyledLine::blank());
    lines
}

/// The column at which each cell starts.
struct MoveTable {
    name: usize,
    made: usize,
    targets: usize,
    context: usize,
    measure: usize,
}

impl MoveTable {
    fn new(moves: &[&ExpertMove], canvas: PageCanvas) -> Self {
        let widths = moves.iter().map(|made| made.expert.as_str().width());
        let name = MARGIN + "r0".len() + MOVE_GAP;
        let made = name + widths.max().unwrap_or(0).min(MOVE_NAME_MAX) + MOVE_GAP;
        let targets = made + MOVE_WIDTH + MOVE_GAP;
        Self {
            name,
            made,
            targets,
            context: targets + TARGETS_WIDTH + MOVE_GAP,
            measure: canvas.text_width(),
        }
    }

    fn draw_move(&self, made: &ExpertMove) -> Vec<StyledLine> {
        let context = made.context.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let room = self.measure.saturating_sub(self.context);
        if room >= CONTEXT_WIDTH_MIN {
            let context = context.map(|text| wrap_line(text, room)).unwrap_or_default();
            self.draw_cells(self.start_line(made), &wrap_targets(made, TARGETS_WIDTH), &context)
        } else {
            let ids = wrap_targets(made, self.measure.saturating_sub(self.targets));
            let mut lines = self.draw_cells(self.start_line(made), &ids, &[]);
            let below = context.map(|text| wrap_line(text, self.measure - self.name));
            lines.extend(indent_block(&below.unwrap_or_default(), self.name, PLAIN));
            lines
        }
    }

    /// For example `r1  Donut  bridge`.
    fn start_line(&self, made: &ExpertMove) -> StyledLine {
        StyledLine::with_indent(MARGIN)
            .push_styled(&format!("r{}", made.round), FAINT)
            .pad_to_column(self.name)
            .push_fitted(&made.expert.display_name(), STRONG, self.made - MOVE_GAP)
            .pad_to_column(self.made)
            .push_plain(made.move_type.name())
    }

    fn draw_cells(
        &self,
        start: StyledLine,
        targets: &[String],
        context: &[String],
    ) -> Vec<StyledLine> {
        let height = targets.len().max(context.len()).max(1);
        let cell = |column: &[String], row: usize| column.get(row).cloned().unwrap_or_default();
        let mut starts = Some(start).into_iter();
        let row = |row: usize| {
            let line = starts.next().unwrap_or_default().pad_to_column(self.targets);
            let line = line.push_styled(&cell(targets, row), ID);
            if context.is_empty() {
                line
            } else {
                line.pad_to_column(self.context).push_plain(&cell(context, row))
            }
        };
        (0..height).map(row).collect()
    }
}

fn wrap_targets(made: &ExpertMove, width: usize) -> Vec<String> {
    let ids: Vec<String> = made.targets.iter().map(ToString::to_string).collect();
    wrap_line(&ids.join(if made.move_type == MoveType::Bridge { " + " } else { " " }), width)
}
