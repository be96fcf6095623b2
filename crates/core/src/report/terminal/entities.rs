//! The tension board of a dialogue page: a column for each status, a card for each tension. Narrow
//! terminals get the columns stacked.

use std::collections::{HashSet, VecDeque};

use anstyle::Style;

use crate::model::entity::{Entity, EntityEvent, EntityReference};
use crate::model::ids::{EntityId, EntityKind};
use crate::model::lifecycle::{EntityStatus, allowed_statuses};
use crate::model::record::DialogueRecord;
use crate::report::phrases::{accepting_verdict, count_noun, event_phrase, reference_verb};
use crate::report::terminal::layout::{
    FAINT, ID, MARGIN, PLAIN, PageCanvas, PageDetail, STRONG, StyledLine, draw_heading, hang_block,
    indent_block, status_mark,
};
use crate::report::terminal::wrap::{wrap_line, wrap_text};

/// Columns of space between two lists of the board.
const BOARD_GUTTER: usize = 3;
/// Width of a column without cards: its longest title.
const EMPTY_COLUMN_WIDTH: usize = 14;
/// Width of an id and the space after it.
const ID_WIDTH: usize = 7;

pub(crate) fn draw_tension_board(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    if record.tensions.is_empty() {
        return Vec::new();
    }
    let note = count_noun(record.tensions.len(), "tension");
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
        let (mark, style) = status_mark(self.status);
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
        if let Some(accepted) = accepting_verdict(self.record, tension.id) {
            lines.extend(self.draw_note(&accepted));
        }
        lines
    }

    fn draw_note(&self, told: &str) -> Vec<StyledLine> {
        indent_block(&wrap_line(told, self.width - self.indent), self.indent, FAINT)
    }

    fn draw_event(&self, event: &EntityEvent) -> Vec<StyledLine> {
        self.draw_note(&event_phrase(EntityKind::Tension, event))
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

/// Deeper branches become separate trees below; a forty-column terminal fits no more levels.
const DEPTH_MAX: usize = 5;

pub(crate) fn draw_reference_tree(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    let sources: Vec<&Entity> = record
        .all_entities()
        .filter(|entity| canvas.shows_round(entity.id.round) && !entity.references.is_empty())
        .collect();
    let references: usize = sources.iter().map(|entity| entity.references.len()).sum();
    if references == 0 {
        return Vec::new();
    }
    let mut forest = ReferenceForest::new(record, canvas.column_count());
    for root in find_roots(&sources) {
        forest.draw_tree(root);
    }
    let mut lines = draw_heading("REFERENCES", &count_noun(references, "reference"), canvas);
    lines.append(&mut forest.lines);
    lines.push(StyledLine::blank());
    lines
}

/// Entities that no reference points at, then the others; those still undrawn by then are in a
/// cycle.
fn find_roots(sources: &[&Entity]) -> Vec<EntityId> {
    let targets: HashSet<EntityId> =
        sources.iter().flat_map(|entity| &entity.references).map(|made| made.target).collect();
    let ids = || sources.iter().map(|entity| entity.id);
    let (inner, outer): (Vec<_>, Vec<_>) = ids().partition(|id| targets.contains(id));
    outer.into_iter().chain(inner).collect()
}

struct ReferenceForest<'a> {
    record: &'a DialogueRecord,
    columns: usize,
    drawn: HashSet<EntityId>,
    /// Entities at the maximum depth, to be drawn as separate trees.
    pending_roots: VecDeque<EntityId>,
    lines: Vec<StyledLine>,
}

impl<'a> ReferenceForest<'a> {
    fn new(record: &'a DialogueRecord, columns: usize) -> Self {
        Self {
            record,
            columns,
            drawn: HashSet::new(),
            pending_roots: VecDeque::new(),
            lines: Vec::new(),
        }
    }

    /// Draws a tree, then the branches that were cut off from it.
    fn draw_tree(&mut self, root: EntityId) {
        self.pending_roots.push_back(root);
        while let Some(root) = self.pending_roots.pop_front() {
            if self.drawn.insert(root) {
                let line = self.draw_name(StyledLine::with_indent(MARGIN), root, STRONG);
                self.lines.push(line);
                self.draw_branches(root, "");
            }
        }
    }

    /// `rails` is the text left of the branches: three columns per level.
    fn draw_branches(&mut self, source: EntityId, rails: &str) {
        let references = self.references_of(source);
        let last = references.len().saturating_sub(1);
        for (place, reference) in references.iter().enumerate() {
            let (elbow, rail) =
                if place == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let start =
                StyledLine::with_indent(MARGIN).push_styled(&format!("{rails}{elbow}"), FAINT);
            let start =
                start.push_styled(reference_verb(reference.ref_type), FAINT).push_plain(" ");
            self.draw_branch(start, reference.target, &format!("{rails}{rail}"));
        }
    }

    fn draw_branch(&mut self, start: StyledLine, target: EntityId, rails: &str) {
        if self.drawn.contains(&target) {
            self.lines.push(start.push_styled(&target.to_string(), ID).push_styled(" ↑", FAINT));
        } else if rails.chars().count() / 3 > DEPTH_MAX && !self.references_of(target).is_empty() {
            self.lines.push(start.push_styled(&target.to_string(), ID).push_styled(" ↓", FAINT));
            self.pending_roots.push_back(target);
        } else {
            self.drawn.insert(target);
            let line = self.draw_name(start, target, PLAIN);
            self.lines.push(line);
            self.draw_branches(target, rails);
        }
    }

    fn draw_name(&self, start: StyledLine, id: EntityId, style: Style) -> StyledLine {
        let line = start.push_styled(&id.to_string(), ID).push_plain("  ");
        let label = self.record.find_entity(id).map_or("", |entity| entity.label.as_str());
        line.push_fitted(label, style, self.columns)
    }

    fn references_of(&self, id: EntityId) -> &'a [EntityReference] {
        self.record.find_entity(id).map_or(&[], |entity| entity.references.as_slice())
    }
}
