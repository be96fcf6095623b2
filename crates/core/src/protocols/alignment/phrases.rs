//! Progress lines of an alignment dialogue.

use crate::model::dialogue::PanelSeatSource;
use crate::model::run_state::RunState;
use crate::model::verdict::{VerdictType, VoteTally};
use crate::report::dialogue_events::{JudgedRound, PanelSeatEvent};
use crate::report::events::RunEvent;
use crate::report::phrases::{count_noun, shorten_text};
use crate::report::progress_lines::{LineSeverity, ProgressLine, seat_column, single_line};
use crate::report::scoreboard::build_scoreboard;

/// A recommendation on one line of a terminal.
const RECOMMENDATION_CHARS_MAX: usize = 120;

/// The lines of an event of an alignment dialogue; without a run if an agent leads it.
#[expect(clippy::wildcard_enum_match_arm, reason = "describe_event passes only these")]
pub(crate) fn dialogue_lines(state: Option<&RunState>, event: &RunEvent) -> Vec<ProgressLine> {
    match event {
        RunEvent::PanelSet { round, experts } => panel_lines(*round, experts),
        RunEvent::RoundHeld { round, judged: Some(judged) } => {
            registered_lines(state, *round, judged)
        }
        RunEvent::VerdictGiven { verdict_type, recommendation, vote, forced, .. } => {
            verdict_lines(*verdict_type, recommendation, *vote, *forced)
        }
        RunEvent::Refused { ask, reason } => {
            let column = state.map(|state| seat_column(state, ask)).unwrap_or_default();
            single_line(LineSeverity::Warning, format!("{column}refused by the record: {reason}"))
        }
        _ => Vec::new(),
    }
}

fn panel_lines(round: u8, experts: &[PanelSeatEvent]) -> Vec<ProgressLine> {
    let names = experts.iter().map(|member| match member.source {
        PanelSeatSource::Created => format!("{} (created)", member.expert),
        PanelSeatSource::Pool if round > 0 => format!("{} (from the pool)", member.expert),
        PanelSeatSource::Pool | PanelSeatSource::Retained => member.expert.to_string(),
    });
    let names: Vec<String> = names.collect();
    single_line(LineSeverity::Quiet, format!("panel of round {round}: {}", names.join(", ")))
}

/// The score of a round and what is left to do.
fn registered_lines(
    state: Option<&RunState>,
    round: u8,
    judged: &JudgedRound,
) -> Vec<ProgressLine> {
    let score = judged.score;
    let title = judged.title.as_deref().map_or_else(String::new, |title| format!(", {title}"));
    let facts = state.and_then(|state| state.alignment.as_deref()).and_then(|all| {
        let held = build_scoreboard(all).rounds.into_iter().find(|held| held.round == round)?;
        let open = count_noun(all.unsettled_tensions().count(), "open tension");
        let (sum, percent) = (held.cumulative, held.converge_percent);
        Some(format!(" · ALIGNMENT {sum} · {open} · {percent}% converged"))
    });
    let facts = facts.unwrap_or_default();
    single_line(LineSeverity::Good, format!("round {round}{title}: score {score}{facts}"))
}

fn verdict_lines(
    verdict_type: VerdictType,
    recommendation: &str,
    vote: Option<VoteTally>,
    forced: bool,
) -> Vec<ProgressLine> {
    let (tone, name) = match (verdict_type, forced) {
        (VerdictType::Final, false) => (LineSeverity::Good, "final verdict"),
        (VerdictType::Final, true) => {
            (LineSeverity::Warning, "final verdict, forced, NOT CONVERGED")
        }
        (VerdictType::Interim, _) => (LineSeverity::Quiet, "interim verdict"),
        (VerdictType::Minority, _) => (LineSeverity::Warning, "minority verdict"),
        (VerdictType::Dissent, _) => (LineSeverity::Warning, "dissent"),
    };
    let vote = vote.map_or_else(String::new, |vote| format!(" (vote {vote})"));
    let text = shorten_text(recommendation, RECOMMENDATION_CHARS_MAX);
    single_line(tone, format!("{name}{vote}: {text}"))
}
