//! Builds the batch of a round from typed findings.
//!
//! [`BatchBuilder`] numbers the items of each seat, cuts texts to the size that a record accepts,
//! and counts what does not fit. Every protocol registers its rounds with it.

use std::collections::BTreeMap;

use crate::dialogue::register::batch::{RegisterBatch, RegisterItem, RegisterUpdate};
use crate::model::ids::{DialogueId, EntityId, EntityKind, ExpertSlug, LocalId, new_entity_id};
use crate::model::limits::ITEMS_PER_ROUND_MAX;
use crate::model::text::trim_and_truncate;

/// Lists show a label on one or two lines of a terminal.
pub(crate) const LABEL_CHARS_MAX: usize = 160;

/// Far below the limit of a record, and more than a person reads.
pub(crate) const TEXT_CHARS_MAX: usize = 20_000;

/// The items of one round, while a protocol collects them.
#[derive(Debug)]
pub struct BatchBuilder {
    dialogue_id: DialogueId,
    round: u8,
    by_kind: BTreeMap<EntityKind, Vec<RegisterItem>>,
    numbers: BTreeMap<(ExpertSlug, EntityKind), usize>,
    updates: Vec<RegisterUpdate>,
    left_out: usize,
}

impl BatchBuilder {
    pub fn new(dialogue_id: &DialogueId, round: u8) -> Self {
        Self {
            dialogue_id: dialogue_id.clone(),
            round,
            by_kind: BTreeMap::new(),
            numbers: BTreeMap::new(),
            updates: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds an item of a seat; `extend` adds references and parameters. An item with a blank label
    /// says nothing and is dropped; an item that exceeds the limit of the round is only counted.
    pub fn add_item(
        &mut self,
        seat: &ExpertSlug,
        kind: EntityKind,
        label: &str,
        text: &str,
        extend: impl FnOnce(RegisterItem) -> RegisterItem,
    ) {
        if label.trim().is_empty() {
            return;
        }
        let items = self.by_kind.entry(kind).or_default();
        if items.len() >= usize::from(ITEMS_PER_ROUND_MAX) {
            self.left_out += 1;
            return;
        }
        let number = self.numbers.entry((seat.clone(), kind)).or_default();
        *number += 1;
        let Some(id) = local_id(seat, kind, self.round, *number) else { return };
        let label = trim_and_truncate(label, LABEL_CHARS_MAX);
        let text = trim_and_truncate(text, TEXT_CHARS_MAX);
        items.push(extend(RegisterItem::new(id, label, text)));
    }

    pub fn add_update(&mut self, update: RegisterUpdate) {
        self.updates.push(update);
    }

    /// How many items did not fit into the round.
    pub fn omitted_count(&self) -> usize {
        self.left_out
    }

    /// The local ids of the tensions so far.
    pub fn tension_ids(&self) -> impl Iterator<Item = LocalId> {
        let tensions = self.by_kind.get(&EntityKind::Tension).into_iter().flatten();
        tensions.map(|item| item.local_id.clone())
    }

    pub fn build(self, title: String, summary: Option<String>) -> RegisterBatch {
        let items = self.by_kind.into_values().flatten().collect();
        RegisterBatch::of_round(self.dialogue_id, self.round, title, summary, items, self.updates)
    }
}

/// The local id of a seat's item, as [`BatchBuilder::add`] numbers them from 1.
pub fn local_id(seat: &ExpertSlug, kind: EntityKind, round: u8, number: usize) -> Option<LocalId> {
    let EntityId { kind, round, seq } = new_entity_id(kind, round, number)?;
    Some(LocalId { expert: seat.clone(), kind, round, seq })
}

/// The parts that are not blank, a line each.
pub(crate) fn join_lines(parts: &[String]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}
