//! Checks the Judge's reconciliation of a round against the replies and the record.
//!
//! **Invariant:** the Judge adds nothing. A merge joins entities of this round, an update and an
//! acceptance name a tension of the record or of this round, and a score quotes the expert's own
//! words.

use std::collections::{BTreeMap, BTreeSet};

use crate::ethos::scoring::CalibrationScore;
use crate::markers::extraction::EntityContribution;
use crate::model::ids::{EntityKind, EntityTarget, ExpertSlug, LocalId};
use crate::model::lifecycle::{ACTIVE_TENSION_STATUSES, EntityStatus, allowed_statuses};
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::run_state::RunState;
use crate::model::text::{QUOTE_LETTERS_MIN, find_quote, to_one_line, trim_and_truncate};
use crate::protocols::alignment::answers::HeardReply;
use crate::protocols::alignment::calibrate::count_marks;
use crate::protocols::alignment::merge_words::find_invention;
use crate::protocols::alignment::state::AlignmentState;
use crate::protocols::alignment::types::{
    ExpertScore, MergeProposal, ReconcileReply, SCORE_PART_MAX, ScoreComponents,
};

/// A reconciliation that satisfies the rules.
#[derive(Debug, Clone)]
pub struct CheckedReconciliation {
    pub title: String,
    pub summary: String,
    pub merges: Vec<CheckedMerge>,
    pub updates: Vec<CheckedTension>,
    pub scores: Vec<(ExpertSlug, ScoreComponents)>,
}

#[derive(Debug, Clone)]
pub struct CheckedMerge {
    /// The first one stays, the others become it.
    pub ids: Vec<LocalId>,
    pub label: String,
    pub content: String,
}

/// A change of a tension, or its acceptance with its present status.
#[derive(Debug, Clone)]
pub struct CheckedTension {
    pub id: EntityTarget,
    pub status: EntityStatus,
    pub via: Option<EntityTarget>,
    pub reason: String,
    pub is_accepted: bool,
}

/// What the Judge's reply leads to, or everything that is wrong with it.
pub fn check_reconciliation(
    state: &RunState,
    heard: &[HeardReply<'_>],
    reply: &ReconcileReply,
) -> Result<CheckedReconciliation, String> {
    let Some(judged) = state.alignment.as_deref() else { return Err("no record".to_owned()) };
    let known = KnownIds::new(judged, heard);
    let mut faults = Vec::new();
    let merges = check_merges(&known, &reply.merges, &mut faults);
    let known = KnownIds { merges: &merges, ..known };
    let mut updates = check_updates(&known, reply, &mut faults);
    updates.extend(check_accepted(&known, reply, &updates, &mut faults));
    let mut scores = check_scores(heard, &reply.scores, &mut faults);
    let marks = count_marks(judged, heard, &reply.calibration);
    faults
        .extend(marks.iter().flat_map(|marks| &marks.dropped).map(|d| format!("calibration: {d}")));
    add_figures(&mut scores, marks.as_ref());
    for reply in heard {
        if !scores.iter().any(|(slug, _)| slug == reply.expert()) {
            faults.push(format!("scores: `{}` has no valid score", reply.expert()));
        }
    }
    if !faults.is_empty() {
        return Err(faults.join("; "));
    }
    Ok(CheckedReconciliation {
        title: trim_and_truncate(&reply.title, LINE_CHARS_MAX),
        summary: trim_and_truncate(&reply.summary, TEXT_CHARS_MAX),
        merges,
        updates,
        scores,
    })
}

/// The scores of a reply that cannot be used otherwise, as far as their quotes are true.
pub fn salvage_scores(
    state: &RunState,
    heard: &[HeardReply<'_>],
    reply: &ReconcileReply,
) -> Vec<(ExpertSlug, ScoreComponents)> {
    let mut scores = check_scores(heard, &reply.scores, &mut Vec::new());
    let judged = state.alignment.as_deref();
    let marks = judged.and_then(|judged| count_marks(judged, heard, &reply.calibration));
    add_figures(&mut scores, marks.as_ref());
    scores
}

/// Puts the calibration figures beside the scores.
fn add_figures(scores: &mut [(ExpertSlug, ScoreComponents)], marks: Option<&CalibrationScore>) {
    for (slug, score) in scores {
        score.calibration = marks.and_then(|marks| marks.experts.get(slug)).copied();
    }
}

/// The ids that the Judge may name.
struct KnownIds<'a> {
    judged: &'a AlignmentState,
    fresh: BTreeMap<&'a LocalId, &'a EntityContribution>,
    /// Of the same reply, once they are checked.
    merges: &'a [CheckedMerge],
}

impl<'a> KnownIds<'a> {
    fn new(judged: &'a AlignmentState, heard: &'a [HeardReply<'a>]) -> Self {
        let message = heard.iter().flat_map(|reply| &reply.read.contributions);
        Self { judged, fresh: message.map(|item| (&item.local_id, item)).collect(), merges: &[] }
    }

    /// The target that a text names, if it exists. An entity of the record has one name, and a
    /// merged one that of the entity which stays.
    fn find(&self, text: &str) -> Result<EntityTarget, String> {
        let target: EntityTarget =
            text.trim().parse().map_err(|_| format!("`{}` is no id", to_one_line(text)))?;
        let known = match &target {
            EntityTarget::Global(id) => self.judged.statuses.contains_key(id).then_some(*id),
            EntityTarget::Local(id) if self.fresh.contains_key(id) => {
                return Ok(EntityTarget::Local(self.survivor_of(id).clone()));
            }
            EntityTarget::Local(id) => self.judged.local_ids.get(id).copied(),
            EntityTarget::Position(_) => None,
        };
        known.map(EntityTarget::Global).ok_or_else(|| format!("`{target}` does not exist"))
    }

    fn survivor_of<'i>(&'i self, id: &'i LocalId) -> &'i LocalId {
        let merge = self.merges.iter().find(|merge| merge.ids.contains(id));
        merge.and_then(|merge| merge.ids.first()).unwrap_or(id)
    }

    fn find_tension(&self, text: &str) -> Result<EntityTarget, String> {
        let target = self.find(text)?;
        match target.entity_kind() {
            EntityKind::Tension => Ok(target),
            EntityKind::Perspective
            | EntityKind::Recommendation
            | EntityKind::Evidence
            | EntityKind::Claim => Err(format!("`{target}` is no tension")),
        }
    }

    /// The status of a tension before this round; a new one is open.
    fn status_of(&self, target: &EntityTarget) -> EntityStatus {
        let status = match target {
            EntityTarget::Global(id) => self.judged.statuses.get(id).copied(),
            EntityTarget::Local(_) | EntityTarget::Position(_) => None,
        };
        status.unwrap_or(EntityStatus::Open)
    }
}

fn check_merges(
    known: &KnownIds<'_>,
    merges: &[MergeProposal],
    faults: &mut Vec<String>,
) -> Vec<CheckedMerge> {
    let mut taken = BTreeSet::new();
    let mut checked = Vec::new();
    for (place, merge) in merges.iter().enumerate() {
        match check_merge(known, merge, &mut taken) {
            Ok(merge) => checked.push(merge),
            Err(fault) => faults.push(format!("merges[{place}]: {fault}")),
        }
    }
    checked
}

fn check_merge(
    known: &KnownIds<'_>,
    merge: &MergeProposal,
    taken: &mut BTreeSet<LocalId>,
) -> Result<CheckedMerge, String> {
    let mut ids: Vec<LocalId> = Vec::new();
    for text in &merge.ids {
        let id = text.trim().parse::<LocalId>().ok().filter(|id| known.fresh.contains_key(id));
        let id = id.ok_or_else(|| {
            format!("`{}` is no local id of this round's replies", to_one_line(text))
        })?;
        if !taken.insert(id.clone()) {
            return Err(format!("`{id}` is in two places"));
        }
        ids.push(id);
    }
    let first = ids.first().ok_or("ids: empty")?;
    if ids.len() < 2 {
        return Err(format!("`{first}` alone is no merge"));
    }
    if let Some(other) = ids.iter().find(|id| id.kind != first.kind) {
        return Err(format!("`{first}` and `{other}` are of different kinds"));
    }
    if merge.label.trim().is_empty() || merge.content.trim().is_empty() {
        return Err("label or content: empty".to_owned());
    }
    let items: Vec<&EntityContribution> =
        ids.iter().filter_map(|id| known.fresh.get(id).copied()).collect();
    if let Some(invented) = find_invention([&merge.label, &merge.content], &items) {
        return Err(format!("label or content: `{invented}` stands in none of the merged items"));
    }
    Ok(CheckedMerge {
        ids,
        label: trim_and_truncate(&merge.label, LINE_CHARS_MAX),
        content: trim_and_truncate(&merge.content, TEXT_CHARS_MAX),
    })
}

fn check_updates(
    known: &KnownIds<'_>,
    reply: &ReconcileReply,
    faults: &mut Vec<String>,
) -> Vec<CheckedTension> {
    let mut checked: Vec<CheckedTension> = Vec::new();
    for (place, update) in reply.tension_updates.iter().enumerate() {
        let mut fault = |text: String| faults.push(format!("tension_updates[{place}]: {text}"));
        let id = match known.find_tension(&update.id) {
            Ok(id) => id,
            Err(text) => {
                fault(text);
                continue;
            }
        };
        let via = match update.via.as_deref().filter(|via| !via.trim().is_empty()) {
            None => None,
            Some(via) => match known.find(via) {
                Ok(via) if via != id => Some(via),
                Ok(via) => {
                    fault(format!("via: `{via}` cannot settle itself"));
                    continue;
                }
                Err(text) => {
                    fault(format!("via: {text}"));
                    continue;
                }
            },
        };
        let settles = matches!(update.status, EntityStatus::Addressed | EntityStatus::Resolved);
        if !allowed_statuses(EntityKind::Tension).contains(&update.status) {
            fault(format!("status: a tension cannot be `{}`", update.status));
        } else if settles && via.is_none() {
            fault(format!("via: name the item that makes `{id}` {}", update.status));
        } else if update.reason.trim().is_empty() {
            fault("reason: empty".to_owned());
        } else if checked.iter().any(|known| known.id == id) {
            fault(format!("`{id}` is updated twice"));
        } else {
            let reason = trim_and_truncate(&update.reason, TEXT_CHARS_MAX);
            checked.push(CheckedTension {
                id,
                status: update.status,
                via,
                reason,
                is_accepted: false,
            });
        }
    }
    checked
}

fn check_accepted(
    known: &KnownIds<'_>,
    reply: &ReconcileReply,
    updates: &[CheckedTension],
    faults: &mut Vec<String>,
) -> Vec<CheckedTension> {
    let mut checked = BTreeMap::new();
    for (place, accepted) in reply.accepted.iter().enumerate() {
        let id = match known.find_tension(&accepted.id) {
            Ok(id) => id,
            Err(text) => {
                faults.push(format!("accepted[{place}]: {text}"));
                continue;
            }
        };
        let updated = updates.iter().find(|update| update.id == id).map(|update| update.status);
        let status = updated.unwrap_or_else(|| known.status_of(&id));
        if !ACTIVE_TENSION_STATUSES.contains(&status) {
            faults.push(format!("accepted[{place}]: `{id}` is {status} already"));
        } else if accepted.reason.trim().is_empty() {
            faults.push(format!("accepted[{place}].reason: empty"));
        } else {
            let reason = trim_and_truncate(&accepted.reason, TEXT_CHARS_MAX / 2);
            let accepted =
                CheckedTension { id: id.clone(), status, via: None, reason, is_accepted: true };
            checked.insert(id, accepted);
        }
    }
    checked.into_values().collect()
}

fn check_scores(
    heard: &[HeardReply<'_>],
    scores: &[ExpertScore],
    faults: &mut Vec<String>,
) -> Vec<(ExpertSlug, ScoreComponents)> {
    let mut checked: Vec<(ExpertSlug, ScoreComponents)> = Vec::new();
    for (place, score) in scores.iter().enumerate() {
        match check_score(heard, score) {
            Ok((slug, _)) if checked.iter().any(|(known, _)| *known == slug) => {
                faults.push(format!("scores[{place}]: `{slug}` is scored twice"));
            }
            Ok(found) => checked.push(found),
            Err(fault) => faults.push(format!("scores[{place}]: {fault}")),
        }
    }
    checked
}

fn check_score(
    heard: &[HeardReply<'_>],
    score: &ExpertScore,
) -> Result<(ExpertSlug, ScoreComponents), String> {
    let name = score.expert_slug.trim();
    let reply = heard.iter().find(|reply| reply.expert().as_str().eq_ignore_ascii_case(name));
    let reply =
        reply.ok_or_else(|| format!("`{}` gave no reply in this round", to_one_line(name)))?;
    let slug = reply.expert().clone();
    let quote = find_quote(reply.text, &score.quote).ok_or_else(|| {
        format!(
            "quote: these words are not in the reply of `{slug}`, or are fewer than {QUOTE_LETTERS_MIN} letters"
        )
    })?;
    let ExpertScore { wisdom, consistency, truth, relationships, .. } = *score;
    if [wisdom, consistency, truth, relationships].iter().any(|part| *part > SCORE_PART_MAX) {
        return Err(format!("a part of the score of `{slug}` is over {SCORE_PART_MAX}"));
    }
    let quotes = vec![trim_and_truncate(quote, LINE_CHARS_MAX)];
    let components = ScoreComponents {
        quotes,
        ..ScoreComponents::new(wisdom, consistency, truth, relationships)
    };
    Ok((slug, components))
}
