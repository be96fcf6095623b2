//! Is the dialogue coming to an end? The arithmetic of progress.

use serde::Serialize;

use crate::domain::dialogue::{Dialogue, DialogueStatus};
use crate::domain::ids::{DialogueId, ExpertSlug};

/// Velocities of this size and less are standing still.
const STILL_MAX: i64 = 5;

/// Two velocities are the least that shows a trend.
const ROUNDS_FOR_TREND: usize = 3;

/// What the store counts of a dialogue.
#[derive(Debug, Clone)]
pub struct Pulse {
    pub dialogue: Dialogue,
    /// Scores of the newest rounds, oldest first; three are enough.
    pub recent_scores: Vec<i64>,
    pub active_tensions: u32,
    pub resolved_tensions: u32,
    /// Perspectives of the newest round.
    pub new_perspectives: u32,
    pub panel_size: u32,
    /// Panel members that signalled convergence in the newest round.
    pub converged: u32,
    /// Best first.
    pub leaderboard: Vec<Standing>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    pub expert_slug: ExpertSlug,
    pub total: i64,
}

/// The answer of `progress`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    pub dialogue_id: DialogueId,
    pub status: DialogueStatus,
    /// The newest registered round; null before the first.
    pub round: Option<u8>,
    pub score: i64,
    pub total_alignment: i64,
    pub velocity: i64,
    pub work_remaining: u32,
    pub open_tensions: u32,
    pub new_perspectives: u32,
    pub converge_percent: u32,
    pub converging: bool,
    pub leaderboard: Vec<Standing>,
    pub estimated_rounds_remaining: Option<u32>,
}

pub fn progress(pulse: &Pulse) -> Progress {
    let dialogue = &pulse.dialogue;
    let work_remaining = pulse.active_tensions + pulse.new_perspectives;
    let converging = is_converging(&pulse.recent_scores, work_remaining);
    Progress {
        dialogue_id: dialogue.id().clone(),
        status: dialogue.status,
        round: dialogue.last_round(),
        score: pulse.recent_scores.last().copied().unwrap_or(0),
        total_alignment: dialogue.total_alignment,
        velocity: velocities(&pulse.recent_scores).last().copied().unwrap_or(0),
        work_remaining,
        open_tensions: pulse.active_tensions,
        new_perspectives: pulse.new_perspectives,
        converge_percent: percent(pulse.converged, pulse.panel_size),
        converging,
        leaderboard: pulse.leaderboard.clone(),
        estimated_rounds_remaining: rounds_remaining(pulse, converging),
    }
}

/// Standing still for two rounds, or with nothing left to do.
///
/// Before the first round nothing is left to do either, but nothing was done.
pub fn is_converging(recent_scores: &[i64], work_remaining: u32) -> bool {
    if recent_scores.is_empty() {
        return false;
    }
    let recent =
        recent_scores.iter().rev().take(ROUNDS_FOR_TREND).rev().copied().collect::<Vec<_>>();
    let still = recent.len() == ROUNDS_FOR_TREND
        && velocities(&recent).iter().all(|velocity| velocity.abs() <= STILL_MAX);
    still || work_remaining == 0
}

fn velocities(scores: &[i64]) -> Vec<i64> {
    scores.iter().zip(scores.iter().skip(1)).map(|(before, after)| after - before).collect()
}

/// Whole percent, rounded down: 99.9 % is not everyone.
pub fn percent(part: u32, whole: u32) -> u32 {
    (part * 100).checked_div(whole).unwrap_or(0)
}

/// At the pace at which tensions were resolved so far; unknown while none was.
fn rounds_remaining(pulse: &Pulse, converging: bool) -> Option<u32> {
    if pulse.dialogue.status.is_closed() {
        return Some(0);
    }
    if converging {
        return Some(1);
    }
    let rounds = u32::from(pulse.dialogue.total_rounds);
    (pulse.resolved_tensions > 0)
        .then(|| (pulse.active_tensions * rounds).div_ceil(pulse.resolved_tensions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convergence_is_standing_still_or_having_nothing_left() {
        let cases: [(&[i64], u32, bool); 8] = [
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
    fn percent_never_rounds_up_to_everyone() {
        assert_eq!(
            [percent(2, 3), percent(199, 200), percent(0, 0), percent(4, 4)],
            [66, 99, 0, 100]
        );
    }
}
