//! Combines the replies of one round into the batch that `register` takes.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::markers::extraction::{
    EntityContribution, MarkerWarning, MoveContribution, ReplyExtraction, WarningKind,
};
use crate::model::ids::{EntityKind, EntityTarget, ExpertSlug, LocalId};
use crate::model::limits::ITEMS_PER_ROUND_MAX;

/// Full reply texts by expert, unchanged.
pub type RawReplies = BTreeMap<ExpertSlug, String>;

/// Builds the request body of `register` in the order of the replies, without the fields that only
/// the Judge can fill in: dialogue, scores, summary.
pub fn build_round_batch(
    round: u8,
    replies: &[ReplyExtraction],
    raw_content: &RawReplies,
) -> Value {
    let mut batch = Map::from_iter([("round".to_owned(), json!(round))]);
    if !raw_content.is_empty() {
        batch.insert("raw_content".to_owned(), json!(raw_content));
    }
    for kind in EntityKind::ALL {
        let items = replies.iter().flat_map(|reply| reply.of_kind(*kind)).map(to_batch_item);
        batch.insert(kind.section_name().to_owned(), items.collect());
    }
    let moves = replies
        .iter()
        .flat_map(|reply| reply.moves.iter().map(|made| BatchMove { expert: &reply.expert, made }));
    batch.insert("moves".to_owned(), moves.map(|made| json!(made)).collect());
    batch.into()
}

#[derive(Debug, Serialize)]
struct BatchMove<'a> {
    expert: &'a ExpertSlug,
    #[serde(flatten)]
    made: &'a MoveContribution,
}

fn to_batch_item(contribution: &EntityContribution) -> Value {
    let EntityContribution { local_id, label, text, references } = contribution;
    json!({
        "local_id": local_id,
        "label": label,
        (local_id.kind.text_field()): text,
        "contributors": [local_id.expert],
        "references": references,
    })
}

/// Checks the references between the replies of one round. If the other reply is present but lacks
/// the entity, the reference is removed with a warning. If the other reply is missing, the
/// reference stays with a warning.
pub fn check_across_replies(replies: &mut [ReplyExtraction]) {
    let defined: HashSet<LocalId> = replies
        .iter()
        .flat_map(|reply| &reply.contributions)
        .map(|contribution| contribution.local_id.clone())
        .collect();
    let experts: HashSet<ExpertSlug> = replies.iter().map(|reply| reply.expert.clone()).collect();
    for reply in replies.iter_mut() {
        let ReplyExtraction { round, contributions, moves, warnings, .. } = reply;
        let mut keep = |target: &EntityTarget, line: usize| {
            let EntityTarget::Local(id) = target else { return true };
            if id.round != *round || defined.contains(id) {
                return true;
            }
            let expert = &id.expert;
            let is_present = experts.contains(expert);
            let (kind, message) = if is_present {
                (WarningKind::NotRead, format!("{expert} did not write {id}"))
            } else {
                let message = format!("{id} must be in the same batch; add the reply of {expert}");
                (WarningKind::Elsewhere, message)
            };
            warnings.push(MarkerWarning::new(line, kind, message));
            !is_present
        };
        for entity in contributions {
            entity.references.retain(|made| keep(&made.target, made.line));
        }
        moves.retain_mut(|MoveContribution { line, move_type, targets, .. }| {
            targets.retain(|target| keep(target, *line));
            targets.len() >= move_type.targets_min()
        });
    }
    warn_over_limit(replies);
}

/// Warns if all replies together have more entities of one kind than a round can number (99).
fn warn_over_limit(replies: &mut [ReplyExtraction]) {
    let mut warnings = Vec::new();
    for kind in EntityKind::ALL {
        let count: usize = replies.iter().map(|reply| reply.of_kind(*kind).count()).sum();
        if count > usize::from(ITEMS_PER_ROUND_MAX) {
            let section = kind.section_name();
            let message = format!(
                "the replies have {count} {section}; merge some, a round takes {ITEMS_PER_ROUND_MAX}"
            );
            warnings.push(MarkerWarning::new(None, WarningKind::More, message));
        }
    }
    if let Some(last) = replies.last_mut() {
        last.warnings.extend(warnings);
    }
}

/// Builds the value that an agent returns to its Judge. A reply from standard input has no path.
pub fn summarize_reply(reply: &ReplyExtraction, response_path: Option<&str>) -> Value {
    let ids = |kind: EntityKind| reply.of_kind(kind).map(|item| json!(item.local_id)).collect();
    let references = reply.contributions.iter().flat_map(|item| {
        let from = &item.local_id;
        item.references
            .iter()
            .map(move |made| json!({ "type": made.ref_type, "from": from, "target": made.target }))
    });
    let moves = reply.moves.iter();
    let moves = moves.map(|made| json!({ "type": made.move_type, "targets": made.targets }));
    let lists: [Value; 5] = [
        ids(EntityKind::Perspective),
        ids(EntityKind::Recommendation),
        ids(EntityKind::Tension),
        ids(EntityKind::Evidence),
        ids(EntityKind::Claim),
    ];
    let [perspectives, recommendations, tensions, evidence, claims] = lists;
    json!({
        "expert_slug": reply.expert,
        "round": reply.round,
        "response_path": response_path,
        "summary": {
            "perspectives": perspectives,
            "recommendations": recommendations,
            "tensions_raised": tensions,
            "evidence": evidence,
            "claims": claims,
            "references": references.collect::<Value>(),
            "moves": moves.collect::<Value>(),
        },
    })
}
