//! The tension board of a dialogue page: a column for each status, a card for each tension. Narrow
//! terminals get the columns stacked.

use super::canvas::{Canvas, Detail};
use super::layout::{MARGIN, block, hanging, heading};
use super::line::Line;
use super::palette::{self, FAINT, ID, STRONG};
use crate::domain::entity::{Entity, Event};
use crate::domain::ids::EntityKind;
use crate::domain::lifecycle::{Status, statuses};
use crate::domain::record::Record;
use crate::export::wording;
use crate::surfaces::cli::wrap::{wrap_line, wrap_text};

/// Columns of space between two lists of the board.
const GUTTER: usize = 3;
/// Width of a column without cards: its longest title.
const EMPTY_WIDTH: usize = 14;
/// Width of an id and the space after it.
const ID_WIDTH: usize = 7;

pub(super) fn draw(record: &Record, canvas: Canvas) -> Vec<Line> {
    if record.tensions.is_empty() {
        return Vec::new();
    }
    let note = wording::count(record.tensions.len(), "tension");
    let mut lines = heading("TENSIONS", &note, canvas);
    let columns = statuses(EntityKind::Tension).iter().map(|status| Column::of(record, *status));
    if canvas.has_room_for_board() {
        lines.extend(side_by_side(&columns.collect::<Vec<_>>(), canvas));
    } else {
        lines.extend(columns.flat_map(|column| column.stacked(canvas)));
    }
    lines
}

/// All tensions with one status.
struct Column<'a> {
    record: &'a Record,
    status: Status,
    tensions: Vec<&'a Entity>,
}

impl<'a> Column<'a> {
    fn of(record: &'a Record, status: Status) -> Self {
        let tensions = record.tensions.iter().filter(|tension| tension.status == status).collect();
        Self { record, status, tensions }
    }

    fn title(&self) -> Line {
        let (mark, style) = palette::of_status(self.status);
        let name = self.status.name().to_uppercase();
        let style = if self.tensions.is_empty() { FAINT } else { style };
        let title = Line::blank().styled(mark, style).plain(" ").styled(&name, style.bold());
        title.plain(" ").styled(&self.tensions.len().to_string(), FAINT)
    }

    fn stacked(self, canvas: Canvas) -> Vec<Line> {
        if self.tensions.is_empty() {
            return Vec::new();
        }
        let indent = 2 * MARGIN;
        let room = canvas.measure() - indent;
        let card =
            Card { record: self.record, width: room, indent: ID_WIDTH, detail: canvas.detail };
        let cards = self.tensions.iter().flat_map(|tension| card.draw(tension));
        let mut lines = vec![Line::indented(MARGIN).join(self.title())];
        lines.extend(cards.map(|line| Line::indented(indent).join(line)));
        lines.push(Line::blank());
        lines
    }

    fn standing(&self, width: usize, detail: Detail) -> Vec<Line> {
        let card = Card { record: self.record, width, indent: MARGIN, detail };
        let mut lines = vec![self.title(), Line::blank().styled(&"─".repeat(width), FAINT)];
        for (place, tension) in self.tensions.iter().enumerate() {
            lines.extend((place > 0).then(Line::blank));
            lines.extend(card.draw(tension));
        }
        lines
    }
}

fn side_by_side(columns: &[Column<'_>], canvas: Canvas) -> Vec<Line> {
    let widths = widths(columns, canvas);
    let starts = widths.iter().scan(MARGIN, |next, width| {
        let start = *next;
        *next += width + GUTTER;
        Some(start)
    });
    let standing: Vec<(usize, Vec<Line>)> = starts
        .zip(columns.iter().zip(&widths))
        .map(|(start, (column, width))| (start, column.standing(*width, canvas.detail)))
        .collect();
    let height = standing.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let row = |place: usize| {
        standing.iter().fold(Line::blank(), |line, (start, cells)| {
            line.pad_to(*start).join(cells.get(place).cloned().unwrap_or_default())
        })
    };
    (0..height).map(row).chain([Line::blank()]).collect()
}

/// Widths of the board's columns. An empty column gets only the width of its title.
fn widths(columns: &[Column<'_>], canvas: Canvas) -> Vec<usize> {
    let is_empty = |column: &&Column<'_>| column.tensions.is_empty();
    let empty = columns.iter().filter(is_empty).count();
    let gutters = GUTTER * columns.len().saturating_sub(1);
    let room = canvas.columns() - MARGIN - gutters - EMPTY_WIDTH * empty;
    let width = room / (columns.len() - empty).max(1);
    columns.iter().map(|column| if is_empty(&column) { EMPTY_WIDTH } else { width }).collect()
}

/// Draws a tension: id and label, then the events that led to its status.
struct Card<'a> {
    record: &'a Record,
    width: usize,
    /// Indent of the history. A narrow column starts it left of the label.
    indent: usize,
    detail: Detail,
}

impl Card<'_> {
    fn draw(&self, tension: &Entity) -> Vec<Line> {
        let labels = wrap_line(&tension.label, self.width - ID_WIDTH);
        let id = Line::blank().styled(&tension.id.to_string(), ID).pad_to(ID_WIDTH);
        let mut lines = hanging(id, &labels, STRONG);
        match self.detail {
            Detail::Brief => {
                lines.extend(milestones(tension).into_iter().flat_map(|event| self.event(event)));
            }
            Detail::Full => {
                let told = |event| self.event(event).into_iter().chain(self.reason(event));
                lines.extend(tension.events.iter().flat_map(told));
            }
        }
        if let Some(accepted) = wording::accepted(self.record, tension.id) {
            lines.extend(self.note(&accepted));
        }
        lines
    }

    fn note(&self, told: &str) -> Vec<Line> {
        block(&wrap_line(told, self.width - self.indent), self.indent, FAINT)
    }

    fn event(&self, event: &Event) -> Vec<Line> {
        self.note(&wording::happened(EntityKind::Tension, event))
    }

    fn reason(&self, event: &Event) -> Vec<Line> {
        let indent = self.indent + MARGIN;
        let reason = event.reason.as_deref().unwrap_or_default();
        block(&wrap_text(reason, self.width - indent), indent, FAINT)
    }
}

/// The first event, and the last one that changed the status.
fn milestones(tension: &Entity) -> Vec<&Event> {
    let moved = |event: &&Event| event.event_type.status(EntityKind::Tension).is_some();
    let first = tension.events.first();
    let last = tension.events.iter().skip(1).rfind(moved);
    first.into_iter().chain(last).collect()
}
