//! The ending itself: the transcript so far, and so the next step.

use super::trail::{AUDIT, DRAFT, REVISION, SECOND_AUDIT, draft, objections, revised, trail};
use crate::domain::ask::Purpose;
use crate::domain::conclusion::{Conclusion, Ending};
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
        return Part::Draft.of(&plan.synthesizer, transcript);
    };
    match plan.auditing {
        Auditing::Unaudited => end(transcript, plan, None, draft),
        Auditing::Audited => audited(transcript, plan, draft),
    }
}

/// The critic looks at the draft; what it objects to is mended once, and looked at again.
fn audited(transcript: &Transcript, plan: &ConclusionPlan, draft: &Conclusion) -> Step {
    let Some(first) = objections(transcript, AUDIT) else {
        return Part::Audit.of(&plan.critic, transcript);
    };
    if first.is_empty() {
        return end(transcript, plan, Some(TerminalState::Clean), draft);
    }
    let Some(revised) = revised(transcript) else {
        return Part::Revision.of(&plan.reviser, transcript);
    };
    let Some(second) = objections(transcript, SECOND_AUDIT) else {
        return Part::SecondAudit.of(&plan.critic, transcript);
    };
    let is_defensible = second.is_empty();
    let state = if is_defensible { TerminalState::Revised } else { TerminalState::Unconverged };
    end(transcript, plan, Some(state), revised)
}

/// A seat's part in the ending, without which it does not go on.
#[derive(Debug, Clone, Copy)]
enum Part {
    Draft,
    Audit,
    Revision,
    SecondAudit,
}

impl Part {
    /// Asks for it; or stops, when no more can be asked and nothing came of it.
    fn of(self, seat: &ExpertSlug, transcript: &Transcript) -> Step {
        // The second look is part of the revision: a dialogue never goes back.
        let (round, purpose, stage) = match self {
            Self::Draft => (DRAFT, Purpose::Conclusion, Stage::Concluding),
            Self::Audit => (AUDIT, Purpose::Audit, Stage::Auditing),
            Self::Revision => (REVISION, Purpose::Revision, Stage::Revising),
            Self::SecondAudit => (SECOND_AUDIT, Purpose::Audit, Stage::Revising),
        };
        ask(transcript, round, purpose, std::iter::once(seat)).unwrap_or_else(|| {
            let failed = failures(transcript, round).pop();
            let reason = failed.map_or_else(String::new, |failed| failed.error_message);
            Step::Stop(Stop::Unconcluded { stage, seat: seat.clone(), reason })
        })
    }
}

/// How far the dialogue has come when an ask of this round goes out.
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
    let author = |name: &ExpertSlug| transcript.plan.author(name);
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
