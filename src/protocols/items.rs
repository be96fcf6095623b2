//! What a round found, as the items of a batch: numbered as they come, cut to what a record
//! takes, and left out where a round has no more room.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::domain::ids::{EntityId, EntityKind, ExpertSlug, LocalId, entity_id};
use crate::domain::limits::ITEMS_PER_ROUND_MAX;
use crate::domain::shortened::trimmed_head;

/// A label is read in lists, one line of a terminal or two.
pub(super) const LABEL_CHARS_MAX: usize = 160;

/// Well below what a record takes, and more than a reader will read.
pub(super) const TEXT_CHARS_MAX: usize = 20_000;

#[derive(Debug, Default)]
pub(super) struct Items {
    round: u8,
    by_kind: BTreeMap<EntityKind, Vec<Value>>,
    numbers: BTreeMap<(ExpertSlug, EntityKind), usize>,
    /// The local ids of the tensions among them.
    pub tensions: Vec<String>,
    pub left_out: usize,
}

impl Items {
    pub(super) fn of(round: u8) -> Self {
        Self { round, ..Self::default() }
    }

    pub(super) fn add(
        &mut self,
        seat: &ExpertSlug,
        kind: EntityKind,
        label: &str,
        text: &str,
        more: Map<String, Value>,
    ) {
        // A model that left a point blank made none.
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
        let mut item = object(json!({
            "local_id": id,
            "label": trimmed_head(label, LABEL_CHARS_MAX),
            kind.text_field(): trimmed_head(text, TEXT_CHARS_MAX),
        }));
        item.extend(more);
        items.push(item.into());
        if kind == EntityKind::Tension {
            self.tensions.push(id);
        }
    }

    /// The sections of a batch.
    pub(super) fn sections(self) -> impl Iterator<Item = (String, Value)> {
        self.by_kind.into_iter().map(|(kind, items)| (kind.section().to_owned(), items.into()))
    }
}

pub(super) fn local_id(
    seat: &ExpertSlug,
    kind: EntityKind,
    round: u8,
    number: usize,
) -> Option<String> {
    let EntityId { kind, round, seq } = entity_id(kind, round, number)?;
    Some(LocalId { expert: seat.clone(), kind, round, seq }.to_string())
}

pub(super) fn lines(parts: &[String]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}
