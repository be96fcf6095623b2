//! The ending itself: the transcript so far, and so the next step.

use super::trail::{AUDIT, DRAFT, REVISION, SECOND_AUDIT, draft, objections, revised, trail};
use crate::domain::ask::Purpose;
use crate::domain::conclusion::{Author, Conclusion, Ending};
use crate::domain::dialogue::{Stage, TerminalState};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Auditing, ConclusionPlan};
use crate::domain::transcript::{Stop, Transcript};
use crate::protocols::asking::ask;
use crate::protocols::council::failures;
use crate::protocols::step::Step;

/// What the engine must do next, once the rounds are over.
pub fn next(transcript: &Transcript) -> Step {
    let Some(plan) = &transcript.plan.conclusion else { return Step::Stop(Stop::Done) };
    if transcript.ending.is_some() {
        return Step::Stop(Stop::Done);
    }
    if transcript.participants.is_none() {
        return Step::Conclude;
    }
    let Some(draft) = draft(transcript) else {
        let unwritten =
            Part { round: DRAFT, purpose: Purpose::Conclusion, stage: Stage::Concluding };
        return unwritten.of(transcript, &plan.synthesizer);
    };
    match plan.auditing {
        Auditing::Unaudited => end(transcript, plan, None, draft),
        Auditing::Audited => audited(transcript, plan, draft),
    }
}

/// The critic looks at the draft; what it objects to is mended once, and looked at again.
fn audited(transcript: &Transcript, plan: &ConclusionPlan, draft: &Conclusion) -> Step {
    let Some(objections) = objections(transcript, AUDIT) else {
        let unseen = Part { round: AUDIT, purpose: Purpose::Audit, stage: Stage::Auditing };
        return unseen.of(transcript, &plan.critic);
    };
    if objections.is_empty() {
        return end(transcript, plan, Some(TerminalState::Clean), draft);
    }
    let Some(revised) = revised(transcript) else {
        let unmended = Part { round: REVISION, purpose: Purpose::Revision, stage: Stage::Revising };
        return unmended.of(transcript, &plan.reviser);
    };
    let Some(second_objections) = self::objections(transcript, SECOND_AUDIT) else {
        let unseen = Part { round: SECOND_AUDIT, purpose: Purpose::Audit, stage: Stage::Auditing };
        return unseen.of(transcript, &plan.critic);
    };
    let is_defensible = second_objections.is_empty();
    let state = if is_defensible { TerminalState::Revised } else { TerminalState::Unconverged };
    end(transcript, plan, Some(state), revised)
}

/// One seat's part in the ending, without which it does not go on.
struct Part {
    round: u8,
    purpose: Purpose,
    stage: Stage,
}

impl Part {
    /// Asks for it; or stops, when no more can be asked and nothing came of it.
    fn of(self, transcript: &Transcript, seat: &ExpertSlug) -> Step {
        let Self { round, purpose, stage } = self;
        ask(transcript, round, purpose, std::iter::once(seat)).unwrap_or_else(|| {
            let failed = failures(transcript, round).pop();
            let reason = failed.map_or_else(String::new, |failed| failed.error_message);
            Step::Stop(Stop::Unconcluded { stage, seat: seat.clone(), reason })
        })
    }
}

/// How far the dialogue has come when these asks go out. The second look is part of the
/// revision: a dialogue never goes back.
pub fn stage(round: u8) -> Option<Stage> {
    match round {
        DRAFT => Some(Stage::Concluding),
        AUDIT => Some(Stage::Auditing),
        REVISION | SECOND_AUDIT => Some(Stage::Revising),
        _ => None,
    }
}

fn end(
    transcript: &Transcript,
    plan: &ConclusionPlan,
    terminal_state: Option<TerminalState>,
    conclusion: &Conclusion,
) -> Step {
    let author = |name: &ExpertSlug| {
        let seat = transcript.plan.seat(name);
        Author {
            seat: name.clone(),
            model: seat.map_or_else(String::new, |seat| seat.model.clone()),
            family: seat.map_or_else(String::new, |seat| seat.family.clone()),
        }
    };
    let is_revised = match terminal_state {
        Some(TerminalState::Revised | TerminalState::Unconverged) => true,
        Some(TerminalState::Clean) | None => false,
    };
    Step::End(Box::new(Ending {
        terminal_state,
        conclusion: conclusion.clone(),
        audit: terminal_state.and_then(|_| trail(transcript)),
        synthesizer: author(&plan.synthesizer),
        critic: terminal_state.map(|_| author(&plan.critic)),
        reviser: is_revised.then(|| author(&plan.reviser)),
    }))
}
