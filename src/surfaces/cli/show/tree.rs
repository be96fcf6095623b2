//! The references of a dialogue page, drawn as trees.
//!
//! **Invariant:** an entity is drawn with its branches once; later occurrences are an arrow to it.
//! Cycles therefore end.

use std::collections::{HashSet, VecDeque};

use anstyle::Style;

use super::canvas::Canvas;
use super::layout::{MARGIN, heading};
use super::line::Line;
use super::palette::{FAINT, ID, PLAIN, STRONG};
use crate::domain::entity::Entity;
use crate::domain::ids::EntityId;
use crate::domain::record::Record;
use crate::domain::reference::Reference;
use crate::export::wording;

/// Deeper branches become separate trees below; a forty-column terminal fits no more levels.
const DEPTH_MAX: usize = 5;

pub(super) fn draw(record: &Record, canvas: Canvas) -> Vec<Line> {
    let sources: Vec<&Entity> = record
        .all_entities()
        .filter(|entity| canvas.shows_round(entity.id.round) && !entity.references.is_empty())
        .collect();
    let references: usize = sources.iter().map(|entity| entity.references.len()).sum();
    if references == 0 {
        return Vec::new();
    }
    let mut forest = Forest::new(record, canvas.columns());
    for root in roots(&sources) {
        forest.plant(root);
    }
    let mut lines = heading("REFERENCES", &wording::count(references, "reference"), canvas);
    lines.append(&mut forest.lines);
    lines.push(Line::blank());
    lines
}

/// Entities that no reference points at, then the others; those still undrawn by then are in a
/// cycle.
fn roots(sources: &[&Entity]) -> Vec<EntityId> {
    let targets: HashSet<EntityId> =
        sources.iter().flat_map(|entity| &entity.references).map(|made| made.target).collect();
    let ids = || sources.iter().map(|entity| entity.id);
    let (inner, outer): (Vec<_>, Vec<_>) = ids().partition(|id| targets.contains(id));
    outer.into_iter().chain(inner).collect()
}

struct Forest<'a> {
    record: &'a Record,
    columns: usize,
    drawn: HashSet<EntityId>,
    /// Entities at the maximum depth, to be drawn as separate trees.
    waiting: VecDeque<EntityId>,
    lines: Vec<Line>,
}

impl<'a> Forest<'a> {
    fn new(record: &'a Record, columns: usize) -> Self {
        Self { record, columns, drawn: HashSet::new(), waiting: VecDeque::new(), lines: Vec::new() }
    }

    /// Draws a tree, then the branches that were cut off from it.
    fn plant(&mut self, root: EntityId) {
        self.waiting.push_back(root);
        while let Some(root) = self.waiting.pop_front() {
            if self.drawn.insert(root) {
                let line = self.named(Line::indented(MARGIN), root, STRONG);
                self.lines.push(line);
                self.branch(root, "");
            }
        }
    }

    /// `rails` is the text left of the branches: three columns per level.
    fn branch(&mut self, source: EntityId, rails: &str) {
        let references = self.references(source);
        let last = references.len().saturating_sub(1);
        for (place, reference) in references.iter().enumerate() {
            let (elbow, rail) =
                if place == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let start = Line::indented(MARGIN).styled(&format!("{rails}{elbow}"), FAINT);
            let start = start.styled(wording::verb(reference.ref_type), FAINT).plain(" ");
            self.twig(start, reference.target, &format!("{rails}{rail}"));
        }
    }

    fn twig(&mut self, start: Line, target: EntityId, rails: &str) {
        if self.drawn.contains(&target) {
            self.lines.push(start.styled(&target.to_string(), ID).styled(" ↑", FAINT));
        } else if rails.chars().count() / 3 > DEPTH_MAX && !self.references(target).is_empty() {
            self.lines.push(start.styled(&target.to_string(), ID).styled(" ↓", FAINT));
            self.waiting.push_back(target);
        } else {
            self.drawn.insert(target);
            let line = self.named(start, target, PLAIN);
            self.lines.push(line);
            self.branch(target, rails);
        }
    }

    fn named(&self, start: Line, id: EntityId, style: Style) -> Line {
        let line = start.styled(&id.to_string(), ID).plain("  ");
        let label = self.record.entity(id).map_or("", |entity| entity.label.as_str());
        line.fitted(label, style, self.columns)
    }

    fn references(&self, id: EntityId) -> &'a [Reference] {
        self.record.entity(id).map_or(&[], |entity| entity.references.as_slice())
    }
}
