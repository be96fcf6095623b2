//! Builds the adjudicator's messages: the deliberators' positions, the block tally, and earlier
//! verdicts on artifacts of the same type.
//!
//! **Invariant:** the artifact's text is not included, so the adjudicator cannot add critique.

use super::condense::cut_judgements;
use super::instructions::adjudicator_system;
use super::shown::{JudgementSection, ProducerVisibility, about_artifact};
use crate::domain::ask::{Ask, AskMessages};
use crate::domain::gate::{
    BlockLevel, BlockTally, DeliberatorJudgement, ReviewDecision, ReviewPlan,
};
use crate::domain::transcript::RunState;
use crate::prompting::condense::fits_budget;
use crate::prompting::instructions::ADJUDICATION;
use crate::prompting::message::{MessageParts, RenderedPrompt};
use crate::prompting::view::FencedSection;
use crate::protocols::gate::{RoundResult, SeatResult, list_seat_results, tally_blocks};

/// The messages of the adjudication; `None` if the run is not a review.
pub(crate) fn adjudicator_messages(transcript: &RunState, ask: &Ask) -> Option<RenderedPrompt> {
    let gate = transcript.review_plan()?;
    let system = adjudicator_system(gate);
    let positions = list_seat_results(transcript);
    let mut judgements: Vec<JudgementSection> =
        positions.iter().filter_map(JudgementSection::current_judgement).collect();
    let mut condensed = Vec::new();
    if !fits_budget(&adjudicator_sections(gate, &judgements)) {
        condensed.extend(cut_judgements(&mut judgements));
    }
    let mut remarks: Vec<String> =
        positions.iter().filter_map(|one| position_remark(one, &positions)).collect();
    remarks.extend(tally_blocks(transcript).map(|counted| describe_tally(&counted)));
    let parts = MessageParts {
        secret: &transcript.plan.secret,
        sections: &adjudicator_sections(gate, &judgements),
        remarks: &remarks,
        task: ADJUDICATION.task,
        rejection_reason: ask.retry_reason.as_deref(),
    };
    Some(RenderedPrompt {
        messages: AskMessages { system, user: parts.render_message(ask) },
        condensed,
    })
}

fn adjudicator_sections(gate: &ReviewPlan, judgements: &[JudgementSection]) -> Vec<FencedSection> {
    let mut sections = vec![about_artifact(&gate.artifact, ProducerVisibility::Named)];
    sections.extend(judgements.iter().map(JudgementSection::to_section));
    sections.extend(prior_verdicts_section(gate));
    sections
}

/// The latest verdicts on artifacts of this type, one JSON line each.
fn prior_verdicts_section(gate: &ReviewPlan) -> Option<FencedSection> {
    let lines = gate.priors.iter().filter_map(|prior| serde_json::to_string(prior).ok());
    let lines: Vec<String> = lines.collect();
    let whose =
        "earlier verdicts on artifacts of the same type, newest first, a line of JSON for each";
    (!lines.is_empty()).then(|| FencedSection::new("PRIOR VERDICTS", whose, lines.join("\n")))
}

/// A remark on a position that its judgement does not show. It contains only our text, and of a
/// provider's failure only its type.
fn position_remark(position: &SeatResult<'_>, all: &[SeatResult<'_>]) -> Option<String> {
    let seat = position.seat;
    match (&position.first, &position.second) {
        (RoundResult::Judged(_), RoundResult::Absent(failure)) => Some(format!(
            "`{seat}`: its second reply could not be had ({}), so its first judgement stands in \
             for it.",
            failure.error_type.name()
        )),
        (RoundResult::Judged(_), RoundResult::Open) => {
            Some(format!("`{seat}` judged once: there was nobody else to read."))
        }
        (RoundResult::Judged(before), RoundResult::Judged(after)) if position.is_changed() => {
            let cited = match position.is_uncited(all) {
                true => "and cites no concern of anybody: uncited",
                false => "and cites a peer's concern",
            };
            let (before, after) = (describe_stance(before), describe_stance(after));
            Some(format!("`{seat}` changed from {before} to {after}, {cited}."))
        }
        (RoundResult::Judged(_), RoundResult::Judged(_)) => None,
        (RoundResult::Open | RoundResult::Absent(_), RoundResult::Judged(_)) => {
            Some(format!("`{seat}` was not heard at the first reading, only at the second."))
        }
        (RoundResult::Absent(failure), RoundResult::Open) | (_, RoundResult::Absent(failure)) => {
            Some(format!("`{seat}` is absent ({}).", failure.error_type.name()))
        }
        (RoundResult::Open, RoundResult::Open) => Some(format!("`{seat}` is absent.")),
    }
}

fn describe_stance(judgement: &DeliberatorJudgement) -> String {
    let blocks = match judgement.block_level() {
        BlockLevel::None => "without a block",
        BlockLevel::Reducible => "with a reducible block",
        BlockLevel::Irreducible => "with an irreducible block",
    };
    format!("`{}` {blocks}", judgement.verdict)
}

/// The block tally as a sentence.
fn describe_tally(counted: &BlockTally) -> String {
    let BlockTally { name, present, blocks, irreducible_blocks, computed } = counted;
    let blocks = match blocks {
        1 => "1 block".to_owned(),
        more => format!("{more} blocks"),
    };
    let counts = format!(
        "Counted by policy `{name}`: {present} present, {blocks}, {irreducible_blocks} of them \
         irreducible"
    );
    match computed {
        None => format!("{counts}: too few are present to decide."),
        Some(ReviewDecision::Hold) if counted.may_be_downgraded() => {
            format!("{counts}: HOLD. A downgrade to REVISE is open to you.")
        }
        Some(ReviewDecision::Hold) => format!("{counts}: HOLD. No downgrade is open to you."),
        Some(decision) => format!("{counts}: {decision}."),
    }
}
