//! The references of a dialogue page, drawn as trees.
//!
//! **Invariant:** an entity is drawn with its branches once; later occurrences are an arrow to it.
//! Cycles therefore end.

use std::collections::{HashSet, VecDeque};

use anstyle::Style;

use super::canvas::PageCanvas;
use super::layout::{MARGIN, draw_heading};
use super::line::StyledLine;
use super::palette::{FAINT, ID, PLAIN, STRONG};
use crate::domain::entity::Entity;
use crate::domain::ids::EntityId;
use crate::domain::record::DialogueRecord;
use crate::domain::reference::EntityReference;
use crate::export::wording;

/// Deeper branches become separate trees below; a forty-column terminal fits no more levels.
const DEPTH_MAX: usize = 5;

pub(super) fn draw_reference_tree(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
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
    let mut lines =
        draw_heading("REFERENCES", &wording::count_noun(references, "reference"), canvas);
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
            let start = start
                .push_styled(wording::reference_verb(reference.ref_type), FAINT)
                .push_plain(" ");
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
