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

/// A phrase that a list shows on one line.
const PHRASE_CHARS_MAX: usize = 70;

/// Below this length a clause says too little to be a label.
const CLAUSE_CHARS_MIN: usize = 16;

/// A sentence says something sooner: `Yes, in steps.`
const SENTENCE_CHARS_MIN: usize = 10;

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

/// The beginning of a text as a label: its first clause, or as much of it as fits on a line.
pub(crate) fn short_phrase(text: &str) -> String {
    let text = text.replace("**", "");
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = trim_list_mark(line);
    // What stands before a colon only introduces the rest.
    let ends = [". ", "! ", "? ", "; ", " — ", " – ", ", "];
    let is_short = line.chars().count() <= PHRASE_CHARS_MAX;
    // A short line is a phrase already, unless a second sentence follows.
    let (sentences, clauses) = ends.split_at(3);
    let first_end = |marks: &[&str], least: usize| {
        let at = marks.iter().flat_map(|mark| line.match_indices(mark).map(|(at, _)| at));
        let at = at.filter(|at| (least..=PHRASE_CHARS_MAX).contains(at));
        at.filter(|at| line.split_at_checked(*at).is_some_and(ends_phrase)).min()
    };
    let clause = || if is_short { None } else { first_end(clauses, CLAUSE_CHARS_MIN) };
    let cut = first_end(sentences, SENTENCE_CHARS_MIN).or_else(clause);
    match cut {
        Some(at) => line.get(..at).unwrap_or(line).trim_end().to_owned(),
        None if is_short => line.trim_end_matches('.').to_owned(),
        None => {
            let kept: String = line.chars().take(PHRASE_CHARS_MAX).collect();
            let kept = kept.rsplit_once(' ').map_or(kept.as_str(), |(kept, _)| kept);
            format!("{}…", kept.trim_end_matches([',', ';', ':', '.']))
        }
    }
}

/// Removes `- `, `## ` or `1. ` before a text.
fn trim_list_mark(line: &str) -> &str {
    let line = line.trim_start_matches(['-', '*', '#', '•']).trim_start();
    let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let numbered = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    numbered.filter(|_| rest.len() < line.len()).map_or(line, str::trim_start)
}

/// Abbreviations that a capital letter may follow.
const ABBREVIATIONS: [&str; 10] =
    ["approx", "e.g", "i.e", "vs", "cf", "ca", "incl", "z.b", "d.h", "bzw"];

/// Whether a phrase ends between these parts: no bracket or quote is open, and the dot is not that of
/// an abbreviation.
fn ends_phrase((before, after): (&str, &str)) -> bool {
    let count = |signs: &[char]| before.matches(signs).count();
    let is_open = count(&['(', '[', '{']) > count(&[')', ']', '}'])
        // German closes with the sign that opens in English.
        || count(&['“', '”', '„', '«', '»', '"']) % 2 == 1
        || count(&['`']) % 2 == 1;
    let word = before.rsplit(' ').next().unwrap_or_default().trim_start_matches(['(', '[']);
    let is_letter = word.chars().count() == 1;
    let goes_on = || {
        let next = after.trim_start_matches(['.', ' ']).chars().next();
        next.is_some_and(|next| next.is_lowercase() || next.is_ascii_digit())
            || is_letter && word.starts_with(char::is_lowercase)
            // The second letter of `z. B.`
            || is_letter && before.trim_end_matches(word).ends_with(". ")
            || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
    };
    !(is_open || after.starts_with(". ") && goes_on())
}

#[cfg(test)]
mod tests {
    use super::short_phrase;

    #[test]
    fn a_label_is_a_phrase_and_not_a_sentence() {
        let check = |text: &str, expected: &str| assert_eq!(short_phrase(text), expected, "{text}");
        check("It cannot be undone.", "It cannot be undone");
        check("Who pays?", "Who pays?");
        check("Go ahead in small steps. Then wait.", "Go ahead in small steps");
        check("- Talent\n- Cost", "Talent");
        check(
            "Yes, in steps. Use Claude from Anthropic for it. As Claude, I would wait a month.",
            "Yes, in steps",
        );
        check(
            "No. Keep the old cluster. It is paid until the end of next year.",
            "No. Keep the old cluster",
        );
        check(
            "Put a read-through cache before the catalogue, with a lifetime of 30 s, and measure the hit rate.",
            "Put a read-through cache before the catalogue",
        );
        check(
            "The migration of all forty tables to the managed cluster takes the whole team two weeks of work",
            "The migration of all forty tables to the managed cluster takes the…",
        );
        check(
            "On “Should we move the shop to microservices?”: try the most direct answer first, then wait.",
            "On “Should we move the shop to microservices?”: try the most direct…",
        );
        check("Keep 16.2, i.e. do not move. Then wait.", "Keep 16.2, i.e. do not move");
        check(
            "Move the orders (40 GB, approx. 2 million rows). Wait.",
            "Move the orders (40 GB, approx. 2 million rows)",
        );
        check("Use a queue, z. B. Kafka. Wait.", "Use a queue, z. B. Kafka");
        check("Compare it with e.g. Kafka. Wait.", "Compare it with e.g. Kafka");
        check(
            "On “Should we move to a cluster? Or stay?”: wait. Then decide.",
            "On “Should we move to a cluster? Or stay?”: wait",
        );
        check("1. Move in May. Wait.", "Move in May");
        check("**Do not move.** Fix the locks.", "Do not move");
        check("2026 is too early.", "2026 is too early");
        check("", "");
        check("数据库迁移", "数据库迁移");
    }
}
