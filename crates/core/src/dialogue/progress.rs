//! Progress of a dialogue: score velocity, remaining work, agreement of the panel and the
//! convergence status. `progress` and the operations that change a dialogue call this module.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::dialogue::diagnostics::RequestWarning;
use crate::model::dialogue::{Dialogue, DialogueStatus};
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::journal::JournalEvent;
use crate::model::record::score_velocity;

/// A score change of at most this size counts as no change.
const LEVEL_CHANGE_MAX: i64 = 5;

/// Values that the store reads for `compute_progress`.
#[derive(Debug, Clone)]
pub struct ProgressSnapshot {
    pub dialogue: Dialogue,
    /// Scores of the newest rounds, oldest first.
    pub recent_scores: Vec<i64>,
    pub active_tensions: usize,
    pub resolved_tensions: usize,
    /// Perspectives of the newest round.
    pub new_perspectives: usize,
    /// The panel of the newest round, and the experts who signalled convergence in it.
    pub panel: Vec<ExpertSlug>,
    pub signals: BTreeSet<ExpertSlug>,
    pub totals: Vec<LeaderboardEntry>,
}

/// One row of the leaderboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeaderboardEntry {
    pub expert_slug: ExpertSlug,
    pub total: i64,
}

/// The answer of `progress`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DialogueProgress {
    pub dialogue_id: DialogueId,
    pub status: DialogueStatus,
    /// The newest registered round; null before the first.
    pub round: Option<u8>,
    pub score: i64,
    pub total_alignment: i64,
    pub velocity: i64,
    pub work_remaining: usize,
    pub open_tensions: usize,
    pub new_perspectives: usize,
    pub converge_percent: usize,
    pub converging: bool,
    pub leaderboard: Vec<LeaderboardEntry>,
    pub estimated_rounds_remaining: Option<usize>,
    /// Warnings about unknown request fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<RequestWarning>,
}

pub fn compute_progress(pulse: &ProgressSnapshot) -> DialogueProgress {
    let dialogue = &pulse.dialogue;
    let work_remaining = work_remaining(pulse.active_tensions, pulse.new_perspectives);
    // Where nothing was said nothing converges.
    let is_empty = dialogue.total_rounds == 1 && work_remaining + pulse.resolved_tensions == 0;
    let converging = is_converging(&pulse.recent_scores, work_remaining) && !is_empty;
    let mut leaderboard = pulse.totals.clone();
    leaderboard
        .sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.expert_slug.cmp(&b.expert_slug)));
    DialogueProgress {
        dialogue_id: dialogue.id().clone(),
        status: dialogue.status,
        round: dialogue.last_round(),
        score: pulse.recent_scores.last().copied().unwrap_or(0),
        total_alignment: dialogue.total_alignment,
        velocity: score_velocity(pulse.recent_scores.iter().copied()),
        work_remaining,
        open_tensions: pulse.active_tensions,
        new_perspectives: pulse.new_perspectives,
        converge_percent: PanelAgreement::from_signals(&pulse.panel, &pulse.signals)
            .percent_agreed(),
        converging,
        leaderboard,
        estimated_rounds_remaining: estimate_rounds_remaining(pulse, converging),
        warnings: Vec::new(),
    }
}

/// Active tensions plus new perspectives that no later round has answered.
pub(crate) fn work_remaining(active_tensions: usize, new_perspectives: usize) -> usize {
    active_tensions + new_perspectives
}

/// A dialogue converges when its score stays level for two rounds or no work remains. Before the
/// first round it does not converge.
fn is_converging(recent_scores: &[i64], work_remaining: usize) -> bool {
    let still = recent_scores.last_chunk().is_some_and(|[a, b, c]| {
        (b - a).abs() <= LEVEL_CHANGE_MAX && (c - b).abs() <= LEVEL_CHANGE_MAX
    });
    !recent_scores.is_empty() && (still || work_remaining == 0)
}

/// Status change of an open alignment dialogue: converging, or open again. Other protocols have no
/// scores and therefore no such change.
pub(crate) fn status_change(
    dialogue: &Dialogue,
    recent_scores: &[i64],
    work_remaining: usize,
) -> Option<JournalEvent> {
    if !dialogue.opening.protocol.is_judged() {
        return None;
    }
    let status = match is_converging(recent_scores, work_remaining) {
        true => DialogueStatus::Converging,
        false => DialogueStatus::Open,
    };
    (status != dialogue.status).then_some(JournalEvent::StatusSet { status, reason: None })
}

/// Size of a panel and the experts who did not signal convergence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PanelAgreement {
    pub panel: usize,
    pub silent: Vec<ExpertSlug>,
}

impl PanelAgreement {
    pub(crate) fn from_signals<'a>(
        panel: impl IntoIterator<Item = &'a ExpertSlug>,
        signals: &BTreeSet<ExpertSlug>,
    ) -> Self {
        let panel: Vec<&ExpertSlug> = panel.into_iter().collect();
        let silent = panel.iter().filter(|expert| !signals.contains(**expert));
        Self { panel: panel.len(), silent: silent.map(|expert| (*expert).clone()).collect() }
    }

    /// Whole percent, rounded down, so that 99.9 % is not 100. An empty panel gives 0.
    pub(crate) fn percent_agreed(&self) -> usize {
        ((self.panel - self.silent.len()) * 100).checked_div(self.panel).unwrap_or(0)
    }

    pub(crate) fn reaches_percent(&self, percent: u8) -> bool {
        self.percent_agreed() >= usize::from(percent)
    }
}

/// Estimate from the rate at which tensions were resolved so far. `None` while none is resolved.
fn estimate_rounds_remaining(pulse: &ProgressSnapshot, converging: bool) -> Option<usize> {
    if pulse.dialogue.status.is_closed() {
        return Some(0);
    }
    if converging {
        return Some(1);
    }
    let rounds = usize::from(pulse.dialogue.total_rounds);
    (pulse.resolved_tensions > 0)
        .then(|| (pulse.active_tensions * rounds).div_ceil(pulse.resolved_tensions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convergence_is_standing_still_or_having_nothing_left() {
        let cases: [(&[i64], usize, bool); 8] = [
            (&[], 0, false),
            (&[10], 3, false),
            (&[10], 0, true),
            (&[10, 10], 3, false),
            (&[10, 15, 10], 3, true),
            (&[10, 16, 16], 3, false),
            (&[90, 10, 12, 13], 3, true),
            (&[10, 12, 18], 3, false),
        ];
        for (scores, work, expected) in cases {
            assert_eq!(is_converging(scores, work), expected, "{scores:?} with {work} to do");
        }
    }

    #[test]
    fn agreement_never_rounds_up_to_everyone() {
        let experts: Vec<ExpertSlug> =
            ["ann", "bob", "cid"].map(|slug| slug.parse().unwrap()).to_vec();
        let check = |signalled: usize, percent: usize| {
            let signals = experts.iter().take(signalled).cloned().collect();
            assert_eq!(PanelAgreement::from_signals(&experts, &signals).percent_agreed(), percent);
        };
        check(0, 0);
        check(2, 66);
        check(3, 100);
        assert!(
            !PanelAgreement::from_signals(&[], &BTreeSet::new()).reaches_percent(1),
            "nobody is not everyone"
        );
    }
}
