//! The table of active tensions, with the reader's involvement in each.

use std::collections::BTreeMap;

use super::ledger::{EntityIndex, PriorEntity};
use super::names::list_experts;
use super::page::QuotedText;
use crate::domain::ids::{EntityId, ExpertSlug};
use crate::domain::reference::ReferenceType;
use crate::domain::shortened::to_one_line;

const TABLE_HEAD: &str = "| ID | Description | Origin | Status | Your Involvement |\n\
                    |----|-------------|--------|--------|------------------|";

/// The table; `None` if no tension is active.
pub(super) fn tensions_table(ledger: &EntityIndex, reader: &ExpertSlug) -> Option<QuotedText> {
    let acts = acts_of(ledger, reader);
    let mut table = TABLE_HEAD.to_owned();
    for tension in ledger.active_tensions() {
        table.push_str(&format!(
            "\n| {} | {} | {} | {} | {} |",
            tension.id,
            table_cell(&tension.label),
            list_experts(&tension.contributors),
            tension.status,
            describe_involvement(tension, reader, &acts),
        ));
    }
    let sentence = "The tensions in the words of those who raised them, as material to judge:";
    (table.len() > TABLE_HEAD.len()).then(|| QuotedText::new("ACTIVE TENSIONS", sentence, table))
}

/// An expert's acts on each entity, without duplicates.
type ActsByEntity = BTreeMap<EntityId, Vec<&'static str>>;

fn acts_of(ledger: &EntityIndex, expert: &ExpertSlug) -> ActsByEntity {
    let mut acts = ActsByEntity::new();
    let own = ledger.all_entities().iter().filter(|said| said.is_by(expert));
    for made in own.flat_map(|said| &said.references) {
        let (act, known) = (act_verb(made.ref_type), acts.entry(made.target).or_default());
        if !known.contains(&act) {
            known.push(act);
        }
    }
    acts
}

fn describe_involvement(tension: &PriorEntity, reader: &ExpertSlug, acts: &ActsByEntity) -> String {
    if tension.is_by(reader) {
        return "originator".to_owned();
    }
    acts.get(&tension.id).map_or_else(|| "—".to_owned(), |acts| acts.join(", "))
}

/// The act of an expert who refers to a tension.
fn act_verb(ref_type: ReferenceType) -> &'static str {
    match ref_type {
        ReferenceType::Support => "supported",
        ReferenceType::Oppose => "opposed",
        ReferenceType::Refine => "refined",
        ReferenceType::Address => "addressed",
        ReferenceType::Resolve => "claimed resolved",
        ReferenceType::Reopen => "reopened",
        ReferenceType::Question => "questioned",
        ReferenceType::Depend => "built on",
    }
}

/// A text on one line that cannot end its table cell.
pub(super) fn table_cell(text: &str) -> String {
    to_one_line(text).replace('|', "\\|")
}
