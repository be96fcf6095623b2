//! The scoreboard of an alignment dialogue: what each round brought, and the totals.
//!
//! These structs are a public contract: the export and `align --json` contain them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::ids::{EntityId, ExpertSlug};
use crate::model::lifecycle::{ACTIVE_TENSION_STATUSES, EntityStatus};
use crate::model::record::DialogueRecord;
use crate::protocols::alignment::state::{AlignmentState, TensionState};
use crate::protocols::alignment::types::ScoreComponents;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DialogueScoreboard {
    pub rounds: Vec<ScoreboardRound>,
    pub totals: ScoreboardTotals,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScoreboardRound {
    pub round: u8,
    pub title: Option<String>,
    pub score: i64,
    pub cumulative: i64,
    pub velocity: i64,
    pub work_remaining: usize,
    pub open_tensions: usize,
    pub new_perspectives: usize,
    pub converge_percent: usize,
    /// What keeps the dialogue from converging after this round.
    pub blockers: Vec<String>,
    pub experts: BTreeMap<ExpertSlug, ScoreRow>,
}

/// An expert's score in a round. The parts are null where a Judge gave only a sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScoreRow {
    pub wisdom: Option<u32>,
    pub consistency: Option<u32>,
    pub truth: Option<u32>,
    pub relationships: Option<u32>,
    /// Beside the total; only in a calibrated dialogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<i64>,
    pub total: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScoreboardTotals {
    pub rounds: usize,
    pub alignment: AlignmentTotal,
    pub experts_consulted: usize,
    pub tensions_resolved: usize,
    pub tensions_total: usize,
    pub convergence_achieved: bool,
    pub convergence_reason: Option<String>,
}

/// The ALIGNMENT total. The parts are null where no Judge gave them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AlignmentTotal {
    pub wisdom: Option<i64>,
    pub consistency: Option<i64>,
    pub truth: Option<i64>,
    pub relationships: Option<i64>,
    pub total: i64,
}

/// The scoreboard of a record; `None` if no Judge leads it.
pub fn record_scoreboard(record: &DialogueRecord) -> Option<DialogueScoreboard> {
    let is_judged = record.dialogue.opening.protocol.is_judged();
    is_judged.then(|| build_scoreboard(&AlignmentState::from_record(record)))
}

pub fn build_scoreboard(judged: &AlignmentState) -> DialogueScoreboard {
    let mut rounds: Vec<ScoreboardRound> = Vec::new();
    for held in &judged.rounds {
        let round = held.round;
        let before = rounds.last().map(|last| (last.score, last.cumulative));
        let open_tensions = judged
            .tensions
            .iter()
            .filter(|(id, result)| is_active_after(**id, result, round))
            .count();
        let new_perspectives = judged.new_perspectives.get(&round).copied().unwrap_or(0);
        let (agreed, seats) = (judged.converged_in(round).len(), judged.panel_of(round).len());
        rounds.push(ScoreboardRound {
            round,
            title: held.title.clone(),
            score: held.score,
            cumulative: before.map_or(0, |(_, sum)| sum) + held.score,
            velocity: before.map_or(0, |(score, _)| held.score - score),
            work_remaining: open_tensions + new_perspectives,
            open_tensions,
            new_perspectives,
            converge_percent: (agreed * 100).checked_div(seats).unwrap_or(0),
            blockers: list_blockers(judged, round),
            experts: score_rows(judged, round),
        });
    }
    DialogueScoreboard { totals: build_totals(judged), rounds }
}

/// Whether a tension was open, addressed or reopened at the end of a round.
fn is_active_after(id: EntityId, tension: &TensionState, round: u8) -> bool {
    id.round <= round && ACTIVE_TENSION_STATUSES.contains(&status_after(tension, round))
}

fn status_after(tension: &TensionState, round: u8) -> EntityStatus {
    tension.last_step(round).map_or(EntityStatus::Open, |step| step.status)
}

/// For example `T0003 is addressed by R0101 · owner Macaron: Income stops`.
fn describe_blocker(
    judged: &AlignmentState,
    id: EntityId,
    tension: &TensionState,
    round: u8,
) -> String {
    let status = status_after(tension, round);
    let via = tension.last_step(round).and_then(|step| step.via);
    let via = via.map_or_else(String::new, |via| format!(" by {via}"));
    // The next panel gives a new tension its owner.
    let panels = [Some(round), round.checked_add(1)].into_iter().flatten();
    let mut seats = panels.flat_map(|round| judged.panel_of(round));
    let owner = seats.find(|seat| seat.tensions.contains(&id)).map(|seat| &seat.expert_slug);
    let owner = match (owner, tension.raised_by.first()) {
        (Some(owner), _) => format!(" · owner {}", owner.display_name()),
        (None, Some(raiser)) => format!(" · raised by {}", raiser.display_name()),
        (None, None) => String::new(),
    };
    let label = judged.labels.get(&id).map_or("", String::as_str);
    format!("{id} is {status}{via}{owner}: {label}")
}

fn list_blockers(judged: &AlignmentState, round: u8) -> Vec<String> {
    let open = judged.tensions.iter().filter(|(id, result)| {
        let is_accepted = result.accepted_in.is_some_and(|accepted| accepted <= round);
        is_active_after(**id, result, round) && !is_accepted
    });
    let mut blockers: Vec<String> =
        open.map(|(id, result)| describe_blocker(judged, *id, result, round)).collect();
    let (agreed, seats) = (judged.converged_in(round), judged.panel_of(round).len());
    if agreed.len() * 100 >= usize::from(judged.convergence_percent) * seats {
        return blockers;
    }
    let missing: Vec<&str> = judged
        .panel_of(round)
        .iter()
        .map(|seat| &seat.expert_slug)
        .filter(|slug| !agreed.contains(slug))
        .map(|slug| slug.as_str())
        .collect();
    if !missing.is_empty() {
        blockers.push(format!("not converged: {}", missing.join(", ")));
    }
    blockers
}

fn score_rows(judged: &AlignmentState, round: u8) -> BTreeMap<ExpertSlug, ScoreRow> {
    let own = judged.scores.iter().filter(|((held, _), _)| *held == round);
    own.map(|((_, slug), (total, parts))| {
        let part = |pick: fn(&ScoreComponents) -> u32| parts.as_ref().map(pick);
        let row = ScoreRow {
            wisdom: part(|parts| parts.wisdom),
            consistency: part(|parts| parts.consistency),
            truth: part(|parts| parts.truth),
            relationships: part(|parts| parts.relationships),
            calibration: parts.as_ref().and_then(|parts| parts.calibration),
            total: *total,
            quotes: parts.as_ref().map(|parts| parts.quotes.clone()).unwrap_or_default(),
        };
        (slug.clone(), row)
    })
    .collect()
}

fn build_totals(judged: &AlignmentState) -> ScoreboardTotals {
    let parts: Vec<&ScoreComponents> =
        judged.scores.values().filter_map(|(_, parts)| parts.as_ref()).collect();
    let sum = |pick: fn(&ScoreComponents) -> u32| {
        let sum = parts.iter().map(|part| i64::from(pick(part))).sum();
        (!parts.is_empty()).then_some(sum)
    };
    let is_resolved = |id: &EntityId| judged.statuses.get(id) == Some(&EntityStatus::Resolved);
    let last = judged.final_verdict();
    let scored = judged.scores.keys().map(|(_, slug)| slug);
    let consulted: std::collections::BTreeSet<&ExpertSlug> =
        scored.chain(&judged.contributors).collect();
    ScoreboardTotals {
        rounds: judged.rounds.len(),
        alignment: AlignmentTotal {
            wisdom: sum(|parts| parts.wisdom),
            consistency: sum(|parts| parts.consistency),
            truth: sum(|parts| parts.truth),
            relationships: sum(|parts| parts.relationships),
            total: judged.rounds.iter().map(|held| held.score).sum(),
        },
        experts_consulted: consulted.len(),
        tensions_resolved: judged.tensions.keys().filter(|id| is_resolved(id)).count(),
        tensions_total: judged.tensions.len(),
        convergence_achieved: last.is_some_and(|verdict| !verdict.forced),
        convergence_reason: last.map(|verdict| match (&verdict.warning, verdict.forced) {
            (Some(warning), true) => warning.clone(),
            (None, true) => "the final verdict was forced".to_owned(),
            (_, false) => {
                let vote = verdict.vote.map_or_else(String::new, |vote| format!(", vote {vote}"));
                format!("every tension is resolved or accepted{vote}")
            }
        }),
    }
}
