//! Builds the batch that registers a round: what the experts marked, with the Judge's merges,
//! updates and scores. The batch is the request of `round_register`, read by its parser.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::dialogue::diagnostics::RequestWarning;
use crate::dialogue::register::batch::RegisterBatch;
use crate::dialogue::register::parse::parse_batch;
use crate::markers::batch::build_round_batch;
use crate::markers::extraction::{EntityContribution, MoveContribution, ReplyExtraction};
use crate::model::entity::MoveType;
use crate::model::hash::canonical_sha256;
use crate::model::ids::{EntityId, EntityKind, EntityTarget, ExpertSlug, JUDGE_SLUG, LocalId};
use crate::model::limits::{ITEMS_PER_ROUND_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::run_state::RunState;
use crate::model::text::{to_one_line, trim_and_truncate, truncate_within};
use crate::model::validation_error::ValidationErrors;
use crate::protocols::alignment::answers::{HeardReply, list_silent};
use crate::protocols::alignment::reconcile::CheckedReconciliation;
use crate::protocols::alignment::state::{ACCEPTED_PREFIX, AlignmentState, UNCITED_PREFIX};
use crate::protocols::alignment::types::ScoreComponents;

/// Warnings about one reply; a reader needs no more.
const MARKER_WARNINGS_MAX: usize = 20;

const TOO_MANY_ITEMS: (&str, &str) =
    ("round_capacity", "items over the 99 of a kind that a round holds were left out");
const UNKNOWN_TARGETS: (&str, &str) =
    ("unknown_target", "references or moves that name nothing in the record were left out");

/// Begins the summary of a round that was registered without the Judge's part.
pub const UNMERGED_NOTE: &str = "The record refused the Judge's reconciliation, so Plenary keeps the round as the experts wrote it.";

/// The batch with the Judge's part.
pub fn build_batch(
    state: &RunState,
    round: u8,
    heard: Vec<HeardReply<'_>>,
    judged: &CheckedReconciliation,
) -> Result<RegisterBatch, ValidationErrors> {
    let (mut request, warnings) = contributed_request(state, round, heard, Some(judged));
    let summary = match judged.summary.trim() {
        "" => None,
        text => Some(with_absences(state, round, text)),
    };
    request.insert("title".to_owned(), json!(title_of(&judged.title, round)));
    request.insert("summary".to_owned(), json!(summary));
    add_updates(&mut request, judged);
    parse_request(request, &judged.scores, warnings)
}

/// The batch as the experts wrote it, with the fault of what the Judge made of it.
pub fn build_unmerged_batch(
    state: &RunState,
    round: u8,
    heard: Vec<HeardReply<'_>>,
    scores: &[(ExpertSlug, ScoreComponents)],
    fault: &str,
) -> Result<RegisterBatch, ValidationErrors> {
    let (mut request, mut warnings) = contributed_request(state, round, heard, None);
    let fault = trim_and_truncate(&to_one_line(fault), LINE_CHARS_MAX);
    let message = format!("the Judge's last reconciliation was refused: {fault}");
    warnings.push(RequestWarning::new("unmerged", message));
    request.insert("title".to_owned(), json!(title_of("", round)));
    let summary = with_absences(state, round, UNMERGED_NOTE);
    request.insert("summary".to_owned(), json!(summary));
    parse_request(request, scores, warnings)
}

/// Reads the request. The scores follow as the Judge's marks have them: a request may not type
/// all their parts.
fn parse_request(
    mut request: Map<String, Value>,
    scores: &[(ExpertSlug, ScoreComponents)],
    warnings: Vec<RequestWarning>,
) -> Result<RegisterBatch, ValidationErrors> {
    let total: i64 = scores.iter().map(|(_, score)| score.total()).sum();
    request.insert("score".to_owned(), json!(total));
    request.retain(|_, value| !value.is_null());
    let request = Value::Object(request);
    let digest = canonical_sha256(&json!([request, scores]));
    let mut batch = parse_batch(&request, digest)?;
    let named = scores.iter().map(|(slug, score)| (slug.to_string(), score));
    batch.expert_scores = named.clone().map(|(slug, score)| (slug, score.total())).collect();
    batch.score_components = named.map(|(slug, score)| (slug, score.clone())).collect();
    batch.notes.warnings.extend(warnings);
    Ok(batch)
}

fn title_of(title: &str, round: u8) -> String {
    match title.trim() {
        "" if round == 0 => "Opening Arguments".to_owned(),
        "" => format!("Round {round}"),
        title => title.to_owned(),
    }
}

/// The summary, with the experts who gave no usable reply.
fn with_absences(state: &RunState, round: u8, summary: &str) -> String {
    let silent: Vec<String> =
        list_silent(state, round).iter().map(ExpertSlug::display_name).collect();
    let text = match silent.as_slice() {
        [] => summary.to_owned(),
        names => format!("{summary}\n\nNo usable reply from: {}.", names.join(", ")),
    };
    truncate_within(&text, TEXT_CHARS_MAX)
}

/// What the experts contributed, without references that lead nowhere.
fn contributed_request(
    state: &RunState,
    round: u8,
    heard: Vec<HeardReply<'_>>,
    judged: Option<&CheckedReconciliation>,
) -> (Map<String, Value>, Vec<RequestWarning>) {
    let raw = heard.iter().map(|reply| (reply.expert().clone(), reply.text.to_owned())).collect();
    let uncited = list_uncited(state, round, &heard, judged);
    let mut replies: Vec<ReplyExtraction> = heard.into_iter().map(|reply| reply.read).collect();
    let mut warnings: Vec<RequestWarning> = replies.iter().flat_map(marker_warnings).collect();
    let written = count_parts(&replies);
    limit_items(&mut replies);
    warnings.extend(left_out(written.0, count_parts(&replies).0, TOO_MANY_ITEMS));
    let merged = judged.map(|judged| merge_items(&mut replies, judged)).unwrap_or_default();
    let named = count_parts(&replies).1;
    drop_unknown_targets(state, &mut replies);
    warnings.extend(left_out(named, count_parts(&replies).1, UNKNOWN_TARGETS));
    let Value::Object(mut request) = build_round_batch(round, &replies, &raw) else {
        return (Map::new(), warnings);
    };
    for section in EntityKind::ALL.iter().map(|kind| kind.section_name()) {
        let items = request.get_mut(section).and_then(Value::as_array_mut);
        for item in items.into_iter().flatten() {
            let id = item.get("local_id").and_then(Value::as_str).unwrap_or_default();
            let contributors = merged.get(id).map(|contributors| json!(contributors));
            if let (Some(contributors), Some(item)) = (contributors, item.as_object_mut()) {
                item.insert("contributors".to_owned(), contributors);
            }
        }
    }
    mark_uncited(&mut request, &uncited);
    request.insert("dialogue_id".to_owned(), json!(state.opening.dialogue_id));
    (request, warnings)
}

/// What could not be read in a reply, or was read in spite of a slip.
fn marker_warnings(reply: &ReplyExtraction) -> impl Iterator<Item = RequestWarning> {
    let warnings = reply.warnings.iter().map(|warning| {
        let line = warning.line.map_or_else(String::new, |line| format!(", line {line}"));
        let message = format!("{}{line}: {}", reply.expert, warning.message);
        RequestWarning::new(warning.kind.name(), message)
    });
    warnings.take(MARKER_WARNINGS_MAX)
}

/// The numbers of items, and of targets that they and the moves name.
fn count_parts(replies: &[ReplyExtraction]) -> (usize, usize) {
    let items = replies.iter().flat_map(|reply| &reply.contributions);
    let moves = replies.iter().flat_map(|reply| &reply.moves);
    let targets = items.clone().map(|item| item.references.len());
    let targets = targets.chain(moves.map(|made| made.targets.len() + 1)).sum();
    (items.count(), targets)
}

/// A warning if something was left out.
fn left_out(
    before: usize,
    after: usize,
    (code, why): (&'static str, &str),
) -> Option<RequestWarning> {
    let count = before.checked_sub(after).filter(|count| *count > 0)?;
    Some(RequestWarning::new(code, format!("{count} {why}")))
}

/// A round has room for 99 items of each kind; the last ones are left out.
fn limit_items(replies: &mut [ReplyExtraction]) {
    let mut counts: BTreeMap<EntityKind, u8> = BTreeMap::new();
    for reply in replies {
        reply.contributions.retain(|item| {
            let count = counts.entry(item.local_id.kind).or_default();
            *count = count.saturating_add(1);
            *count <= ITEMS_PER_ROUND_MAX
        });
    }
}

/// Joins the items of each merge into the first one, and returns the contributors of the joined
/// items.
fn merge_items(
    replies: &mut [ReplyExtraction],
    judged: &CheckedReconciliation,
) -> BTreeMap<String, Vec<ExpertSlug>> {
    let mut becomes: BTreeMap<LocalId, LocalId> = BTreeMap::new();
    let mut contributors = BTreeMap::new();
    for merge in &judged.merges {
        let Some((first, others)) = merge.ids.split_first() else { continue };
        let mut experts: Vec<ExpertSlug> = Vec::new();
        for id in &merge.ids {
            if !experts.contains(&id.expert) {
                experts.push(id.expert.clone());
            }
        }
        contributors.insert(first.to_string(), experts);
        becomes.extend(others.iter().map(|other| (other.clone(), first.clone())));
        let moved: Vec<_> = items_of(replies)
            .filter(|item| others.contains(&item.local_id))
            .flat_map(|item| item.references.clone())
            .collect();
        let kept = items_of(replies).find(|item| item.local_id == *first);
        if let Some(kept) = kept {
            kept.label.clone_from(&merge.label);
            kept.text.clone_from(&merge.content);
            kept.references.extend(moved);
        }
    }
    for reply in replies.iter_mut() {
        reply.contributions.retain(|item| !becomes.contains_key(&item.local_id));
        let follow = |target: &mut EntityTarget| {
            if let EntityTarget::Local(id) = target
                && let Some(kept) = becomes.get(id)
            {
                *id = kept.clone();
            }
        };
        for item in &mut reply.contributions {
            item.references.iter_mut().for_each(|made| follow(&mut made.target));
            let own = EntityTarget::Local(item.local_id.clone());
            item.references.retain(|made| made.target != own);
            // A merged perspective may be its author's latest one, and then `@author` is itself.
            if contributors.contains_key(&item.local_id.to_string()) {
                let latest = EntityTarget::Position(item.local_id.expert.clone());
                item.references.retain(|made| made.target != latest);
            }
        }
        for made in &mut reply.moves {
            made.targets.iter_mut().for_each(follow);
        }
    }
    contributors
}

fn items_of(replies: &mut [ReplyExtraction]) -> impl Iterator<Item = &mut EntityContribution> {
    replies.iter_mut().flat_map(|reply| &mut reply.contributions)
}

/// Removes references and moves whose target is neither in the record nor in this batch: one of
/// them would refuse the whole round.
fn drop_unknown_targets(state: &RunState, replies: &mut [ReplyExtraction]) {
    let Some(judged) = state.alignment.as_deref() else { return };
    let fresh: BTreeSet<LocalId> = items_of(replies).map(|item| item.local_id.clone()).collect();
    let has_position = |slug: &ExpertSlug| {
        let is_own = |id: &LocalId| id.expert == *slug && id.kind == EntityKind::Perspective;
        fresh.iter().any(is_own) || judged.local_ids.keys().any(is_own)
    };
    let is_known = |target: &EntityTarget| match target {
        EntityTarget::Global(id) => judged.statuses.contains_key(id),
        EntityTarget::Local(id) => fresh.contains(id) || judged.local_ids.contains_key(id),
        EntityTarget::Position(slug) => has_position(slug),
    };
    for reply in replies {
        for item in &mut reply.contributions {
            let kind = item.local_id.kind;
            item.references.retain(|made| {
                let fits = made.ref_type.check_kinds(kind, made.target.entity_kind()).is_ok();
                fits && is_known(&made.target)
            });
        }
        reply.moves.retain_mut(|made| {
            made.targets.retain(is_known);
            made.targets.len() >= made.move_type.targets_min()
        });
    }
}

/// A tension that is accepted keeps its status, with a comment of the Judge.
fn add_updates(request: &mut Map<String, Value>, judged: &CheckedReconciliation) {
    let updates = judged.updates.iter().map(|update| {
        let prefix = if update.is_accepted { ACCEPTED_PREFIX } else { "" };
        let mut result = Map::from_iter([
            ("id".to_owned(), json!(update.id)),
            ("status".to_owned(), json!(update.status)),
            ("by".to_owned(), json!([JUDGE_SLUG])),
            ("reason".to_owned(), json!(format!("{prefix}{}", update.reason))),
        ]);
        result.extend(update.via.iter().map(|via| ("via".to_owned(), json!(via))));
        Value::Object(result)
    });
    request.insert("tension_updates".to_owned(), updates.collect());
}

/// Experts who signal convergence without saying what became of their own active tension, with
/// those tensions.
pub fn list_uncited(
    state: &RunState,
    round: u8,
    heard: &[HeardReply<'_>],
    judged: Option<&CheckedReconciliation>,
) -> BTreeMap<ExpertSlug, Vec<EntityId>> {
    let Some(record) = state.alignment.as_deref().filter(|_| round > 0) else {
        return BTreeMap::new();
    };
    let mut uncited = BTreeMap::new();
    for reply in heard {
        let converges = |made: &MoveContribution| made.move_type == MoveType::Converge;
        if !reply.read.moves.iter().any(converges) {
            continue;
        }
        let own = record.active_tensions();
        let own = own.filter(|(_, tension)| tension.raised_by.contains(reply.expert()));
        let missing: Vec<EntityId> =
            own.map(|(id, _)| id).filter(|id| !cites(record, reply, *id, judged)).collect();
        if !missing.is_empty() {
            uncited.insert(reply.expert().clone(), missing);
        }
    }
    uncited
}

/// Whether a reply names a tension or an item that settles it.
fn cites(
    record: &AlignmentState,
    reply: &HeardReply<'_>,
    tension: EntityId,
    judged: Option<&CheckedReconciliation>,
) -> bool {
    let updates = judged.iter().flat_map(|judged| &judged.updates);
    let settled_now = updates
        .filter(|update| update.id == EntityTarget::Global(tension))
        .filter_map(|update| update.via.as_ref());
    let settled = record.tensions.get(&tension).into_iter().flat_map(|result| &result.settled_by);
    let mut ids: Vec<EntityId> = std::iter::once(&tension).chain(settled).copied().collect();
    let mut names = BTreeSet::new();
    for via in settled_now {
        match via {
            EntityTarget::Global(id) => ids.push(*id),
            // The expert knows the own item, and not which one it was merged into.
            EntityTarget::Local(id) => {
                let merges = judged.iter().flat_map(|judged| &judged.merges);
                let merged = merges.filter(|merge| merge.ids.contains(id));
                names.extend(merged.flat_map(|merge| &merge.ids).map(ToString::to_string));
                names.insert(id.to_string());
            }
            EntityTarget::Position(_) => {}
        }
    }
    for id in &ids {
        names.insert(id.to_string());
        let local = record.local_ids.iter().filter(|(_, known)| *known == id);
        names.extend(local.map(|(local, _)| local.to_string()));
    }
    let words =
        reply.text.split(|letter: char| !letter.is_alphanumeric() && !"-_".contains(letter));
    // Local ids and ids are written in capitals; a reader takes both forms.
    words.into_iter().any(|word| names.contains(&word.to_ascii_uppercase()))
}

fn mark_uncited(request: &mut Map<String, Value>, uncited: &BTreeMap<ExpertSlug, Vec<EntityId>>) {
    let moves = request.get_mut("moves").and_then(Value::as_array_mut);
    for made in moves.into_iter().flatten() {
        let expert = made.get("expert").and_then(Value::as_str).unwrap_or_default();
        let is_signal = made.get("type").and_then(Value::as_str) == Some(MoveType::Converge.name());
        let tensions = uncited.iter().find(|(slug, _)| slug.as_str() == expert);
        if let Some((_, tensions)) = tensions.filter(|_| is_signal) {
            let ids: Vec<String> = tensions.iter().map(ToString::to_string).collect();
            let context = json!(format!("{UNCITED_PREFIX}{}", ids.join(", ")));
            if let Some(made) = made.as_object_mut() {
                made.insert("context".to_owned(), context);
            }
        }
    }
}
