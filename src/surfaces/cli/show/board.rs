//! The tension board of a dialogue page: a column for each status, a card for each tension. Narrow
//! terminals get the columns stacked.

use super::canvas::{PageCanvas, PageDetail};
use super::layout::{MARGIN, draw_heading, hang_block, indent_block};
use super::line::StyledLine;
use super::palette::{self, FAINT, ID, STRONG};
use crate::domain::entity::{Entity, EntityEvent};
use crate::domain::ids::EntityKind;
use crate::domain::lifecycle::{EntityStatus, allowed_statuses};
use crate::domain::record::DialogueRecord;
use crate::export::wording;
use crate::surfaces::cli::wrap::{wrap_line, wrap_text};

/// Columns of space between two lists of the board.
const BOARD_GUTTER: usize = 3;
/// Width of a column without cards: its longest title.
const EMPTY_COLUMN_WIDTH: usize = 14;
/// Width of an id and the space after it.
const ID_WIDTH: usize = 7;

pub(super) fn draw_tension_board(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    if record.tensions.is_empty() {
        return Vec::new();
    }
    let note = wording::count_noun(record.tensions.len(), "tension");
    let mut lines = draw_heading("TENSIONS", &note, canvas);
    let columns = allowed_statuses(EntityKind::Tension)
        .iter()
        .map(|status| TensionColumn::for_status(record, *status));
    if canvas.fits_board() {
        lines.extend(draw_columns(&columns.collect::<Vec<_>>(), canvas));
    } else {
        lines.extend(columns.flat_map(|column| column.draw_stacked(canvas)));
    }
    lines
}

/// All tensions with one status.
struct TensionColumn<'a> {
    record: &'a DialogueRecord,
    status: EntityStatus,
    tensions: Vec<&'a Entity>,
}

impl<'a> TensionColumn<'a> {
    fn for_status(record: &'a DialogueRecord, status: EntityStatus) -> Self {
        let tensions = record.tensions.iter().filter(|tension| tension.status == status).collect();
        Self { record, status, tensions }
    }

    fn title_line(&self) -> StyledLine {
        let (mark, style) = palette::status_mark(self.status);
        let name = self.status.name().to_uppercase();
        let style = if self.tensions.is_empty() { FAINT } else { style };
        let title = StyledLine::blank()
            .push_styled(mark, style)
            .push_plain(" ")
            .push_styled(&name, style.bold());
        title.push_plain(" ").push_styled(&self.tensions.len().to_string(), FAINT)
    }

    fn draw_stacked(self, canvas: PageCanvas) -> Vec<StyledLine> {
        if self.tensions.is_empty() {
            return Vec::new();
        }
        let indent = 2 * MARGIN;
        let room = canvas.text_width() - indent;
        let card = TensionCard {
            record: self.record,
            width: room,
            indent: ID_WIDTH,
            detail: canvas.detail,
        };
        let cards = self.tensions.iter().flat_map(|tension| card.draw_card(tension));
        let mut lines = vec![StyledLine::with_indent(MARGIN).append_line(self.title_line())];
        lines.extend(cards.map(|line| StyledLine::with_indent(indent).append_line(line)));
        lines.push(StyledLine::blank());
        lines
    }

    fn draw_column(&self, width: usize, detail: PageDetail) -> Vec<StyledLine> {
        let card = TensionCard { record: self.record, width, indent: MARGIN, detail };
        let mut lines =
            vec![self.title_line(), StyledLine::blank().push_styled(&"─".repeat(width), FAINT)];
        for (place, tension) in self.tensions.iter().enumerate() {
            lines.extend((place > 0).then(StyledLine::blank));
            lines.extend(card.draw_card(tension));
        }
        lines
    }
}

fn draw_columns(columns: &[TensionColumn<'_>], canvas: PageCanvas) -> Vec<StyledLine> {
    let widths = column_widths(columns, canvas);
    let starts = widths.iter().scan(MARGIN, |next, width| {
        let start = *next;
        *next += width + BOARD_GUTTER;
        Some(start)
    });
    let standing: Vec<(usize, Vec<StyledLine>)> = starts
        .zip(columns.iter().zip(&widths))
        .map(|(start, (column, width))| (start, column.draw_column(*width, canvas.detail)))
        .collect();
    let height = standing.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let row = |place: usize| {
        standing.iter().fold(StyledLine::blank(), |line, (start, cells)| {
            line.pad_to_column(*start).append_line(cells.get(place).cloned().unwrap_or_default())
        })
    };
    (0..height).map(row).chain([StyledLine::blank()]).collect()
}

/// Widths of the board's columns. An empty column gets only the width of its title.
fn column_widths(columns: &[TensionColumn<'_>], canvas: PageCanvas) -> Vec<usize> {
    let is_empty = |column: &&TensionColumn<'_>| column.tensions.is_empty();
    let empty = columns.iter().filter(is_empty).count();
    let gutters = BOARD_GUTTER * columns.len().saturating_sub(1);
    let room = canvas.column_count() - MARGIN - gutters - EMPTY_COLUMN_WIDTH * empty;
    let width = room / (columns.len() - empty).max(1);
    columns
        .iter()
        .map(|column| if is_empty(&column) { EMPTY_COLUMN_WIDTH } else { width })
        .collect()
}

/// Draws a tension: id and label, then the events that led to its status.
struct TensionCard<'a> {
    record: &'a DialogueRecord,
    width: usize,
    /// Indent of the history. A narrow column starts it left of the label.
    indent: usize,
    detail: PageDetail,
}

impl TensionCard<'_> {
    fn draw_card(&self, tension: &Entity) -> Vec<StyledLine> {
        let labels = wrap_line(&tension.label, self.width - ID_WIDTH);
        let id =
            StyledLine::blank().push_styled(&tension.id.to_string(), ID).pad_to_column(ID_WIDTH);
        let mut lines = hang_block(id, &labels, STRONG);
        match self.detail {
            PageDetail::Brief => {
                lines.extend(
                    key_events(tension).into_iter().flat_map(|event| self.draw_event(event)),
                );
            }
            PageDetail::Full => {
                let told =
                    |event| self.draw_event(event).into_iter().chain(self.draw_reason(event));
                lines.extend(tension.events.iter().flat_map(told));
            }
        }
        if let Some(accepted) = wording::accepting_verdict(self.record, tension.id) {
            lines.extend(self.draw_note(&accepted));
        }
        lines
    }

    fn draw_note(&self, told: &str) -> Vec<StyledLine> {
        indent_block(&wrap_line(told, self.width - self.indent), self.indent, FAINT)
    }

    fn draw_event(&self, event: &EntityEvent) -> Vec<StyledLine> {
        self.draw_note(&wording::event_phrase(EntityKind::Tension, event))
    }

    fn draw_reason(&self, event: &EntityEvent) -> Vec<StyledLine> {
        let indent = self.indent + MARGIN;
        let reason = event.reason.as_deref().unwrap_or_default();
        indent_block(&wrap_text(reason, self.width - indent), indent, FAINT)
    }
}

/// The first event, and the last one that changed the status.
fn key_events(tension: &Entity) -> Vec<&EntityEvent> {
    let moved =
        |event: &&EntityEvent| event.event_type.resulting_status(EntityKind::Tension).is_some();
    let first = tension.events.first();
    let last = tension.events.iter().skip(1).rfind(moved);
    first.into_iter().chain(last).collect()
}
