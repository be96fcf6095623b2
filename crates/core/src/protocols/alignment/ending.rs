//! Why a dialogue ends: decided by code after each round, never by a model.

use crate::model::ask::AskPurpose;
use crate::model::intervention::Intervention;
use crate::model::run_state::{BudgetShortage, RunState};
use crate::model::string_enum::words;
use crate::model::verdict::VoteTally;
use crate::protocols::alignment::answers::judged_run;
use crate::protocols::alignment::state::AlignmentState;
use crate::protocols::alignment::types::AlignmentPlan;
use crate::report::phrases::count_noun;

/// After this many rounds without a change of status the dialogue does not move any more.
const STALE_ROUNDS: u8 = 2;

words! {
    /// Why the rounds of a dialogue are over.
    pub enum DialogueEnding {
        Converged = "converged",
        MaxRounds = "max_rounds",
        Stalemate = "stalemate",
        Stopped = "stopped",
        Budget = "budget",
    }
}

impl DialogueEnding {
    /// The warning of a verdict that the panel did not reach by convergence.
    pub fn warning(self, plan: &AlignmentPlan) -> Option<String> {
        Some(match self {
            Self::Converged => return None,
            Self::MaxRounds => format!(
                "NOT CONVERGED: the limit of {} was reached before the panel converged.",
                count_noun(plan.max_rounds.into(), "round")
            ),
            Self::Stalemate => {
                format!("NOT CONVERGED: no status changed in the last {STALE_ROUNDS} rounds.")
            }
            Self::Stopped => "NOT CONVERGED: the Principal stopped the dialogue.".to_owned(),
            Self::Budget => "NOT CONVERGED: the budget was exhausted.".to_owned(),
        })
    }
}

/// Why no further round is held; `None` if one is. A stop comes first, then convergence, the limit
/// of rounds, a stalemate. An exhausted budget leaves a round unfinished, so it never meets them.
pub fn decide_ending(state: &RunState) -> Option<DialogueEnding> {
    let (plan, judged) = judged_run(state)?;
    if is_stopped(state, judged) {
        return Some(DialogueEnding::Stopped);
    }
    let reached = judged.last_round().and_then(|_| round_result(plan, judged));
    reached.or_else(|| find_shortage(state).map(|_| DialogueEnding::Budget))
}

/// What the last round led to.
fn round_result(plan: &AlignmentPlan, judged: &AlignmentState) -> Option<DialogueEnding> {
    if has_converged(plan, judged) {
        return Some(DialogueEnding::Converged);
    }
    if judged.next_round() >= plan.max_rounds {
        return Some(DialogueEnding::MaxRounds);
    }
    is_stalemate(judged).then_some(DialogueEnding::Stalemate)
}

/// Whether the Principal stopped the dialogue before its final verdict was given.
fn is_stopped(state: &RunState, judged: &AlignmentState) -> bool {
    let given = judged.verdicts.first().map(|verdict| verdict.created_at);
    let mut stops = state.interventions.iter().filter(|one| one.intervention == Intervention::Stop);
    match given {
        None => state.is_cut_short,
        Some(given) => stops.next_back().is_some_and(|stop| stop.at < given) && state.is_cut_short,
    }
}

/// Every tension is resolved or accepted, and enough of the panel signalled convergence in the last
/// round. Signals that cite nothing do not count.
pub fn has_converged(plan: &AlignmentPlan, judged: &AlignmentState) -> bool {
    judged.unsettled_tensions().next().is_none()
        && count_vote(judged).is_some_and(|vote| vote.reaches_percent(plan.convergence_percent))
}

/// No status changed in the last two rounds. The opening round changes none by nature.
fn is_stalemate(judged: &AlignmentState) -> bool {
    let Some(last) = judged.last_round().filter(|last| *last >= STALE_ROUNDS) else { return false };
    let is_stale = |round: &u8| judged.status_changes.get(round).copied().unwrap_or(0) == 0;
    (0..STALE_ROUNDS).map(|back| last - back).all(|round| is_stale(&round))
}

/// The vote of the last panel: an expert whose signal counts votes yes, all others no.
pub fn count_vote(judged: &AlignmentState) -> Option<VoteTally> {
    let last = judged.last_round()?;
    let (yes, seats) = (judged.converged_in(last).len(), judged.panel_of(last).len());
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let (yes, no) = (count(yes), count(seats.saturating_sub(yes)));
    (yes + no > 0).then_some(VoteTally::Counted { yes, no, abstained: None })
}

/// The budget that did not cover an ask of the round that is being held.
pub fn find_shortage(state: &RunState) -> Option<BudgetShortage> {
    let (_, judged) = judged_run(state)?;
    let round = judged.next_round();
    let asks = state.asks_in_round(round).filter(|asked| !asked.retired);
    let is_round = |purpose: AskPurpose| purpose != AskPurpose::Verdicts;
    let mut unpaid = asks.filter(|asked| is_round(asked.ask.purpose));
    unpaid.find_map(|asked| asked.not_sent.filter(|_| asked.parse_outcome.is_none()))
}
