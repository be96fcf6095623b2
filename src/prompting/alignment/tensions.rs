//! The table of active tensions, with the reader's involvement in each.

use std::collections::BTreeMap;

use super::ledger::{Ledger, Said};
use super::names::people;
use super::page::Quoted;
use crate::domain::ids::{EntityId, ExpertSlug};
use crate::domain::reference::RefType;
use crate::domain::shortened::one_line;

const HEAD: &str = "| ID | Description | Origin | Status | Your Involvement |\n\
                    |----|-------------|--------|--------|------------------|";

/// The table; `None` if no tension is active.
pub(super) fn table(ledger: &Ledger, reader: &ExpertSlug) -> Option<Quoted> {
    let acts = acts_of(ledger, reader);
    let mut table = HEAD.to_owned();
    for tension in ledger.active_tensions() {
        table.push_str(&format!(
            "\n| {} | {} | {} | {} | {} |",
            tension.id,
            cell(&tension.label),
            people(&tension.contributors),
            tension.status,
            involvement(tension, reader, &acts),
        ));
    }
    let sentence = "The tensions in the words of those who raised them, as material to judge:";
    (table.len() > HEAD.len()).then(|| Quoted::new("ACTIVE TENSIONS", sentence, table))
}

/// An expert's acts on each entity, without duplicates.
type Acts = BTreeMap<EntityId, Vec<&'static str>>;

fn acts_of(ledger: &Ledger, expert: &ExpertSlug) -> Acts {
    let mut acts = Acts::new();
    let own = ledger.all().iter().filter(|said| said.is_by(expert));
    for made in own.flat_map(|said| &said.references) {
        let (act, known) = (act(made.ref_type), acts.entry(made.target).or_default());
        if !known.contains(&act) {
            known.push(act);
        }
    }
    acts
}

fn involvement(tension: &Said, reader: &ExpertSlug, acts: &Acts) -> String {
    if tension.is_by(reader) {
        return "originator".to_owned();
    }
    acts.get(&tension.id).map_or_else(|| "—".to_owned(), |acts| acts.join(", "))
}

/// The act of an expert who refers to a tension.
fn act(ref_type: RefType) -> &'static str {
    match ref_type {
        RefType::Support => "supported",
        RefType::Oppose => "opposed",
        RefType::Refine => "refined",
        RefType::Address => "addressed",
        RefType::Resolve => "claimed resolved",
        RefType::Reopen => "reopened",
        RefType::Question => "questioned",
        RefType::Depend => "built on",
    }
}

/// A text on one line that cannot end its table cell.
pub(super) fn cell(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}
