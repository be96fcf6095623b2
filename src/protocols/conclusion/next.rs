//! The steps of a conclusion: a pure function of the run state.

use super::participants::participants;
use super::trail::{AUDIT, DRAFT, REVISION, SECOND_AUDIT, draft, objections, revised, trail};
use crate::domain::ask::Purpose;
use crate::domain::change::{Change, EntryKind};
use crate::domain::conclusion::{Conclusion, Ending};
use crate::domain::dialogue::{Stage, TerminalState};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Auditing, ConclusionPlan};
use crate::domain::record::Record;
use crate::domain::transcript::{Stop, Transcript};
use crate::protocols::asking::{RetryRule, pending_asks};
use crate::protocols::council::failures;
use crate::protocols::step::{EntryDraft, EntryPart, Step};

/// The next step after the rounds.
pub fn next(transcript: &Transcript) -> Step {
    let Some(plan) = &transcript.plan.conclusion else { return Step::Finish };
    if transcript.ending.is_some() {
        return Step::Finish;
    }
    if transcript.participants.is_none() {
        return begin();
    }
    let Some(draft) = draft(transcript) else {
        return Part::Draft.of(&plan.synthesizer, transcript);
    };
    match plan.auditing {
        Auditing::Unaudited => end(transcript, plan, None, draft),
        Auditing::Audited => audited(transcript, plan, draft),
    }
}

/// The critic audits the draft; the reviser fixes it at most once, and the critic audits again.
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

/// An ask of the conclusion. The run cannot continue without its reply.
#[derive(Debug, Clone, Copy)]
enum Part {
    Draft,
    Audit,
    Revision,
    SecondAudit,
}

impl Part {
    /// Asks the seat, or stops if it gave no usable reply.
    fn of(self, seat: &ExpertSlug, transcript: &Transcript) -> Step {
        // The second audit belongs to the revision: a stage never returns to an earlier one.
        let (round, purpose, stage) = match self {
            Self::Draft => (DRAFT, Purpose::Conclusion, Stage::Concluding),
            Self::Audit => (AUDIT, Purpose::Audit, Stage::Auditing),
            Self::Revision => (REVISION, Purpose::Revision, Stage::Revising),
            Self::SecondAudit => (SECOND_AUDIT, Purpose::Audit, Stage::Revising),
        };
        pending_asks(transcript, round, purpose, RetryRule::All, [seat]).unwrap_or_else(|| {
            let failed = failures(transcript, round).pop();
            let reason = failed.map_or_else(String::new, |failed| failed.error_message);
            Step::Stop(Stop::Unconcluded { stage, seat: seat.clone(), reason })
        })
    }
}

/// Records who took part, which begins the conclusion.
fn begin() -> Step {
    fn begun(state: &Transcript, record: &Record) -> Change {
        Change::ConclusionBegun { participants: participants(state, record) }
    }
    Step::Append(vec![EntryDraft::new(EntryKind::ConclusionBegun, [EntryPart::FromRecord(begun)])])
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
    let ending = Ending {
        terminal_state,
        conclusion: conclusion.clone(),
        audit: terminal_state.and_then(|_| trail(transcript)),
        synthesizer: author(&plan.synthesizer),
        critic: terminal_state.map(|_| author(&plan.critic)),
        reviser: is_revised.then(|| author(&plan.reviser)),
    };
    let converges = converges(transcript, &ending);
    let concluded = EntryPart::change(Change::Concluded(Box::new(ending)));
    let parts = [concluded].into_iter().chain(converges.then_some(EntryPart::Converge));
    Step::Append(vec![EntryDraft::new(EntryKind::Concluded, parts.chain([EntryPart::done()]))])
}

/// Whether the dialogue converged. Without an audit it did if the chair wrote the report.
fn converges(transcript: &Transcript, ending: &Ending) -> bool {
    match ending.terminal_state {
        Some(TerminalState::Clean | TerminalState::Revised) => true,
        Some(TerminalState::Unconverged) => false,
        None => transcript.report.as_ref().is_some_and(|report| !report.fallback),
    }
}
