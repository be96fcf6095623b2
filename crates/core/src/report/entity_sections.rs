//! The entities of a record on a page: tensions, rounds with contributions, moves, references.

use std::collections::{HashSet, VecDeque};

use serde_json::Value;

use crate::model::entity::{Entity, EntityEvent, EntityReference, MoveType};
use crate::model::ids::{EntityId, EntityKind};
use crate::model::lifecycle::{EntityStatus, allowed_statuses};
use crate::model::record::{DialogueRecord, Expert, RoundRecord};
use crate::protocols::alignment::state::acceptance_of;
use crate::protocols::alignment::to_entities::UNMERGED_NOTE;
use crate::report::dialogue_facts::RoundContributions;
use crate::report::ethos_page::challenge_note;
use crate::report::marks::status_mark;
use crate::report::page::{
    BoardCard, BoardColumn, ColumnKind, PageBlock, PageDetail, PageEntry, PageScope, PageSection,
    PageTable, QuoteBlock, RichText, TableColumn, TableRow, TextTone, TreeNode,
};
use crate::report::phrases::{
    accepting_verdict, count_noun, entity_relations, event_phrase, reference_verb,
};
use crate::report::scoreboard_page::round_board;

/// Lines of a contribution on a page that is not complete.
const CONTRIBUTION_LINES_MAX: usize = 3;

/// Deeper branches become separate trees; a forty-column terminal fits no more levels.
const TREE_DEPTH_MAX: usize = 5;

/// A column for each status, a card for each tension.
pub(crate) fn tensions_section(record: &DialogueRecord, detail: PageDetail) -> PageSection {
    let note = count_noun(record.tensions.len(), "tension");
    if record.tensions.is_empty() {
        return PageSection::default();
    }
    let column = |(mark, tone), name: &str, belongs: &dyn Fn(&Entity) -> bool| {
        let tensions = record.tensions.iter().filter(|tension| belongs(tension));
        let cards: Vec<BoardCard> =
            tensions.map(|tension| tension_card(record, tension, detail)).collect();
        let tone = if cards.is_empty() { TextTone::Faint } else { tone };
        BoardColumn { title: RichText::marked((mark, tone), &name.to_uppercase()), cards }
    };
    // What only a verdict accepts says so on its card.
    let is_accepted = |tension: &Entity| {
        tension.status != EntityStatus::Resolved && acceptance_of(&tension.events).is_some()
    };
    let columns = allowed_statuses(EntityKind::Tension).iter().map(|status| {
        let belongs = |tension: &Entity| tension.status == *status && !is_accepted(tension);
        column(status_mark(*status), status.name(), &belongs)
    });
    let mut columns: Vec<BoardColumn> = columns.collect();
    if record.tensions.iter().any(is_accepted) {
        columns.push(column(status_mark(EntityStatus::Addressed), "accepted", &is_accepted));
    }
    PageSection::new("Tensions", vec![PageBlock::Board(columns)]).with_note(note)
}

fn tension_card(record: &DialogueRecord, tension: &Entity, detail: PageDetail) -> BoardCard {
    let events: Vec<&EntityEvent> = match detail.is_complete() {
        true => tension.events.iter().collect(),
        false => key_events(tension),
    };
    let describe = |event: &EntityEvent| {
        let phrase = event_phrase(EntityKind::Tension, event);
        let reason =
            event.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        RichText::with_ids(&phrase, TextTone::Faint).push(reason, TextTone::Faint)
    };
    let accepted = accepting_verdict(record, tension.id);
    let reason = acceptance_of(&tension.events).map(|reason| format!("accepted: {reason}"));
    let owner = record.owner_of(tension.id).map(|slug| format!("owner: {}", slug.display_name()));
    let accepted = owner.into_iter().chain(reason).chain(accepted);
    let accepted = accepted.map(|text| RichText::toned(text, TextTone::Faint));
    let challenge = challenge_note(record, tension.id);
    let challenge = challenge.map(|text| RichText::toned(text, TextTone::Caution));
    BoardCard {
        id: tension.id,
        title: tension.label.clone(),
        notes: events.into_iter().map(describe).chain(challenge).chain(accepted).collect(),
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

/// Each round as a section, with a part for each expert.
pub(crate) fn rounds_sections(record: &DialogueRecord, scope: PageScope) -> Vec<PageSection> {
    let brought = RoundContributions::from_record(record);
    let rounds = record.rounds.iter().filter(|round| scope.shows_round(round.round));
    rounds.map(|round| round_section(record, round, &brought, scope.detail)).collect()
}

fn round_section(
    record: &DialogueRecord,
    round: &RoundRecord,
    brought: &RoundContributions<'_>,
    detail: PageDetail,
) -> PageSection {
    // Only alignment rounds have a score.
    let is_judged = record.dialogue.opening.protocol.is_judged();
    let score = if is_judged { format!("ALIGNMENT {}", round.score) } else { String::new() };
    let mut blocks = Vec::new();
    if let Some(summary) = &round.summary {
        let author =
            if summary.starts_with(UNMERGED_NOTE) { "Note" } else { "The Judge's summary" };
        let judge = PageBlock::Facts(vec![author.into()]);
        blocks.extend(is_judged.then_some(judge));
        blocks.push(PageBlock::prose(summary));
    }
    blocks.extend(round_board(record, round.round));
    let experts = record.experts.iter();
    let mut parts: Vec<PageSection> =
        experts.filter_map(|expert| expert_section(round.round, expert, brought, detail)).collect();
    let stray = brought.without_expert(round.round);
    if !stray.is_empty() {
        parts.push(PageSection::new("Without a seat", entry_blocks(stray, detail)));
    }
    let scored = brought.only_scored(record, round.round);
    if !scored.is_empty() {
        let facts = scored.into_iter().map(RichText::from).collect();
        parts.push(PageSection::new("Also scored", vec![PageBlock::Facts(facts)]));
    }
    PageSection::new(format!("Round {}", round.round), blocks)
        .with_subject(round.title.clone())
        .with_note(score)
        .with_sections(parts)
}

/// An expert's contributions, or its reply if none was recorded.
fn expert_section(
    round: u8,
    expert: &Expert,
    brought: &RoundContributions<'_>,
    detail: PageDetail,
) -> Option<PageSection> {
    let slug = &expert.profile.expert_slug;
    let blocks = match (brought.by_expert(round, slug), expert.replies.get(&round)) {
        ([], None) => return None,
        ([], Some(reply)) => vec![PageBlock::Quote(contribution_quote(reply, detail))],
        (entities, _) => entry_blocks(entities, detail),
    };
    let note = RichText::toned(expert.profile.role.as_str(), TextTone::Faint);
    let score = expert.scores.get(&round).map(|score| format!("{score:+}"));
    let note = match score {
        Some(score) => note.push(" · ", TextTone::Faint).push_strong(score, TextTone::Plain),
        None => note,
    };
    Some(PageSection::new(slug.display_name(), blocks).with_note(note))
}

fn contribution_quote(text: &str, detail: PageDetail) -> QuoteBlock {
    let lines_max = (!detail.is_complete()).then_some(CONTRIBUTION_LINES_MAX);
    QuoteBlock { text: text.to_owned(), bar: None, lines_max }
}

fn entry_blocks(entities: &[&Entity], detail: PageDetail) -> Vec<PageBlock> {
    let entry = |entity: &&Entity| {
        let mut notes = vec![faint_facts(&entity_relations(entity))];
        if detail.is_complete() {
            let history = entity.events.iter().skip(1);
            let history: Vec<String> =
                history.map(|event| event_phrase(entity.id.kind, event)).collect();
            let adopted = entity.adopted_in_verdict.as_ref();
            notes.push(list_parameters(entity));
            notes.push(faint_facts(&history));
            notes.extend(adopted.map(|id| vec![format!("adopted in {id}").into()]));
        }
        notes.retain(|facts| !facts.is_empty());
        let (mark, tone) = status_mark(entity.status);
        let state = RichText::toned(mark, tone).push(" ", tone).push(entity.status.name(), tone);
        PageBlock::Entry(PageEntry {
            id: entity.id,
            title: entity.label.clone(),
            state,
            quote: contribution_quote(text_beyond_label(entity), detail),
            notes,
        })
    };
    entities.iter().map(entry).collect()
}

fn faint_facts(phrases: &[String]) -> Vec<RichText> {
    phrases.iter().map(|phrase| RichText::with_ids(phrase, TextTone::Faint)).collect()
}

/// The text without the label at its start. A label with an ellipsis is cut, so the text keeps it.
/// The label of a critique has its kind before the sentence: `risk: It has no owner.`
fn text_beyond_label(entity: &Entity) -> &str {
    let label = entity.label.trim();
    let sentence = label.split_once(": ").map(|(_, sentence)| sentence);
    let text = entity.text.trim_start();
    let rest = [Some(label), sentence].into_iter().flatten().find_map(|message| {
        let rest = text.strip_prefix(message).filter(|_| !message.ends_with('…'))?;
        (rest.is_empty() || rest.starts_with('\n')).then(|| rest.trim_start())
    });
    rest.unwrap_or(&entity.text)
}

/// For example `steps 6` and `delta 0.20-0.25`.
fn list_parameters(entity: &Entity) -> Vec<RichText> {
    let Some(parameters) = &entity.parameters else { return Vec::new() };
    let Some(fields) = parameters.as_object() else { return vec![parameters.to_string().into()] };
    let describe = |(name, value): (&String, &Value)| match value.as_str() {
        Some(text) => format!("{name} {text}").into(),
        None => format!("{name} {value}").into(),
    };
    fields.iter().map(describe).collect()
}

pub(crate) fn moves_section(record: &DialogueRecord, scope: PageScope) -> PageSection {
    let columns = [
        ("Expert", ColumnKind::Short),
        ("Move", ColumnKind::Short),
        ("Targets", ColumnKind::Short),
        ("Context", ColumnKind::Wrap),
    ];
    let moves = record.moves.iter().filter(|made| scope.shows_round(made.round));
    let rows = moves.map(|made| {
        let joiner = if made.move_type == MoveType::Bridge { " + " } else { " " };
        let ids: Vec<String> = made.targets.iter().map(ToString::to_string).collect();
        TableRow::new(vec![
            RichText::strong(made.expert.display_name()),
            RichText::toned(format!("r{} ", made.round), TextTone::Faint)
                .push(made.move_type.name(), TextTone::Plain),
            RichText::with_ids(&ids.join(joiner), TextTone::Faint),
            made.context.as_deref().unwrap_or_default().into(),
        ])
    });
    let rows: Vec<TableRow> = rows.collect();
    let note = count_noun(rows.len(), "move");
    if rows.is_empty() {
        return PageSection::default();
    }
    let columns = columns.map(|(heading, kind)| TableColumn::new(heading, kind)).into();
    let table = PageBlock::Table(PageTable { columns, rows });
    PageSection::new("Moves", vec![table]).with_note(note)
}

/// The references between entities as trees.
pub(crate) fn references_section(record: &DialogueRecord, scope: PageScope) -> PageSection {
    let sources: Vec<&Entity> = record
        .all_entities()
        .filter(|entity| scope.shows_round(entity.id.round) && !entity.references.is_empty())
        .collect();
    let references: usize = sources.iter().map(|entity| entity.references.len()).sum();
    if references == 0 {
        return PageSection::default();
    }
    let mut forest = ReferenceForest { record, seen: HashSet::new(), pending: VecDeque::new() };
    let trees = find_roots(&sources).into_iter().flat_map(|root| forest.build_trees(root));
    let block = PageBlock::Tree(trees.collect());
    PageSection::new("References", vec![block]).with_note(count_noun(references, "reference"))
}

/// Entities that no reference points at, then the others; those still unseen by then are in a
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
    seen: HashSet<EntityId>,
    /// Entities at the maximum depth, which become separate trees.
    pending: VecDeque<EntityId>,
}

impl<'a> ReferenceForest<'a> {
    /// A tree, then the branches that were cut off from it.
    fn build_trees(&mut self, root: EntityId) -> Vec<TreeNode> {
        let mut trees = Vec::new();
        self.pending.push_back(root);
        while let Some(root) = self.pending.pop_front() {
            if self.seen.insert(root) {
                let label = self.name_entity(RichText::default(), root);
                trees.push(TreeNode { label, children: self.build_branches(root, 1) });
            }
        }
        trees
    }

    fn build_branches(&mut self, source: EntityId, depth: usize) -> Vec<TreeNode> {
        let references = self.references_of(source);
        references.iter().map(|made| self.build_branch(made, depth)).collect()
    }

    fn build_branch(&mut self, made: &EntityReference, depth: usize) -> TreeNode {
        let target = made.target;
        let verb = format!("{} ", reference_verb(made.ref_type));
        let start = RichText::toned(verb, TextTone::Faint);
        let cut_here = |start: RichText, arrow: &str| TreeNode {
            label: start.push(target.to_string(), TextTone::Id).push(arrow, TextTone::Faint),
            children: Vec::new(),
        };
        if self.seen.contains(&target) {
            return cut_here(start, " ↑");
        }
        if depth > TREE_DEPTH_MAX && !self.references_of(target).is_empty() {
            self.pending.push_back(target);
            return cut_here(start, " ↓");
        }
        self.seen.insert(target);
        let label = self.name_entity(start, target);
        TreeNode { label, children: self.build_branches(target, depth + 1) }
    }

    fn name_entity(&self, start: RichText, id: EntityId) -> RichText {
        let label = self.record.find_entity(id).map_or("", |entity| entity.label.as_str());
        let named = start.push(id.to_string(), TextTone::Id).push("  ", TextTone::Plain);
        named.push(label, TextTone::Plain)
    }

    fn references_of(&self, id: EntityId) -> &'a [EntityReference] {
        self.record.find_entity(id).map_or(&[], |entity| entity.references.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_does_not_repeat_the_label_in_the_text() {
        let mut entity = crate::report::sample::record().perspectives[0].clone();
        let mut check = |label: &str, text: &str, expected: &str| {
            (entity.label, entity.text) = (label.to_owned(), text.to_owned());
            assert_eq!(text_beyond_label(&entity), expected, "{label}");
        };
        check("It has no owner.", "It has no owner.\nSeverity: low", "Severity: low");
        check("risk: It has no owner.", "It has no owner.\nSeverity: low", "Severity: low");
        check("risk: It has no owner.", "It has no owner.", "");
        check("risk: It has no…", "It has no owner.", "It has no owner.");
        check("It has", "It has no owner.", "It has no owner.");
    }
}
