//! The steps of a conclusion: a pure function of the run state.

use std::collections::BTreeSet;

use crate::model::ask::AskPurpose;
use crate::model::dialogue::{ConclusionStage, ExpertProfile, TerminalState};
use crate::model::hash::sha256_hex;
use crate::model::ids::ExpertSlug;
use crate::model::journal::{JournalEntryKind, JournalEvent};
use crate::model::limits::ROUND_MAX;
use crate::model::plan::{AuditMode, ConclusionPlan};
use crate::model::record::DialogueRecord;
use crate::model::run_state::{ReplyDocument, RunState, RunStopReason};
use crate::model::verdict::Verdict;
use crate::protocols::conclusion::format::constraint::find_violations;
use crate::protocols::conclusion::types::{
    AuditObjection, AuditReply, AuditTrail, Conclusion, ConclusionParticipant, ConclusionResult,
};
use crate::protocols::council::answers::{ROUNDS, list_failures};
use crate::protocols::pending_asks::{RetryRule, pending_asks};
use crate::protocols::protocol::{EntryDraft, EntryPart, Step};

/// The next step after the rounds.
pub fn next_step(state: &RunState) -> Step {
    let Some(plan) = &state.plan.conclusion else { return Step::Finish };
    if state.conclusion_result.is_some() {
        return Step::Finish;
    }
    if state.participants.is_none() {
        return begin_conclusion();
    }
    let Some(draft) = draft_conclusion(state) else {
        return ConclusionAsk::Draft.ask_seat(&plan.synthesizer, state);
    };
    match plan.auditing {
        AuditMode::Unaudited => end_conclusion(state, plan, None, draft),
        AuditMode::Audited => next_of_audit(state, plan, draft),
    }
}

/// The critic audits the draft; the reviser fixes it at most once, and the critic audits again.
fn next_of_audit(state: &RunState, plan: &ConclusionPlan, draft: &Conclusion) -> Step {
    let Some(first) = audit_objections(state, AUDIT) else {
        return ConclusionAsk::Audit.ask_seat(&plan.critic, state);
    };
    if first.is_empty() {
        return end_conclusion(state, plan, Some(TerminalState::Clean), draft);
    }
    let Some(revised) = revised_conclusion(state) else {
        return ConclusionAsk::Revision.ask_seat(&plan.reviser, state);
    };
    let Some(second) = audit_objections(state, SECOND_AUDIT) else {
        return ConclusionAsk::SecondAudit.ask_seat(&plan.critic, state);
    };
    let is_defensible = second.is_empty();
    let terminal = if is_defensible { TerminalState::Revised } else { TerminalState::Unconverged };
    end_conclusion(state, plan, Some(terminal), revised)
}

/// An ask of the conclusion. The run cannot continue without its reply.
#[derive(Debug, Clone, Copy)]
enum ConclusionAsk {
    Draft,
    Audit,
    Revision,
    SecondAudit,
}

impl ConclusionAsk {
    /// Asks the seat, or stops if it gave no usable reply.
    fn ask_seat(self, seat: &ExpertSlug, state: &RunState) -> Step {
        // The second audit belongs to the revision: a stage never returns to an earlier one.
        let (round, purpose, stage) = match self {
            Self::Draft => (DRAFT, AskPurpose::Conclusion, ConclusionStage::Concluding),
            Self::Audit => (AUDIT, AskPurpose::Audit, ConclusionStage::Auditing),
            Self::Revision => (REVISION, AskPurpose::Revision, ConclusionStage::Revising),
            Self::SecondAudit => (SECOND_AUDIT, AskPurpose::Audit, ConclusionStage::Revising),
        };
        let round = run_round(state, round);
        pending_asks(state, round, purpose, RetryRule::All, [seat]).unwrap_or_else(|| {
            let failed = list_failures(state, round).pop();
            let reason = failed.map_or_else(String::new, |failed| failed.error_message);
            Step::Stop(RunStopReason::Unconcluded { stage, seat: seat.clone(), reason })
        })
    }
}

/// Records who took part, which begins the conclusion.
fn begin_conclusion() -> Step {
    fn conclusion_begun(state: &RunState, record: &DialogueRecord) -> JournalEvent {
        JournalEvent::ConclusionBegun { participants: list_participants(state, record) }
    }
    Step::Append(vec![EntryDraft::new(
        JournalEntryKind::ConclusionBegun,
        [EntryPart::FromRecord(conclusion_begun)],
    )])
}

fn end_conclusion(
    state: &RunState,
    plan: &ConclusionPlan,
    terminal_state: Option<TerminalState>,
    conclusion: &Conclusion,
) -> Step {
    let author = |name: &ExpertSlug| state.plan.author_of(name);
    let is_revised = match terminal_state {
        Some(TerminalState::Revised | TerminalState::Unconverged) => true,
        Some(TerminalState::Clean) | None => false,
    };
    let ending = ConclusionResult {
        terminal_state,
        conclusion: conclusion.clone(),
        audit: terminal_state.and_then(|_| audit_trail(state)),
        synthesizer: author(&plan.synthesizer),
        critic: terminal_state.map(|_| author(&plan.critic)),
        reviser: is_revised.then(|| author(&plan.reviser)),
    };
    let converges = has_converged(state, &ending);
    let concluded = EntryPart::from_change(JournalEvent::Concluded(Box::new(ending)));
    let parts = [concluded].into_iter().chain(converges.then_some(EntryPart::Converge));
    Step::Append(vec![EntryDraft::new(
        JournalEntryKind::Concluded,
        parts.chain([EntryPart::run_done()]),
    )])
}

/// Whether the dialogue converged. Without an audit it did if the chair wrote the report.
fn has_converged(state: &RunState, ending: &ConclusionResult) -> bool {
    match ending.terminal_state {
        Some(TerminalState::Clean | TerminalState::Revised) => true,
        Some(TerminalState::Unconverged) => false,
        None => state.report.as_ref().is_some_and(|report| !report.fallback),
    }
}

/// Hex digits of a version that is computed from a profile.
const VERSION_DIGITS: usize = 8;

/// Seats and experts with at least one answer, in the order of the panel. A seat has a version of
/// its own; the version of an expert is computed from its profile.
pub fn list_participants(state: &RunState, record: &DialogueRecord) -> Vec<ConclusionParticipant> {
    match state.opening.protocol.is_judged() {
        true => heard_experts(record),
        false => heard_seats(state),
    }
}

fn heard_seats(state: &RunState) -> Vec<ConclusionParticipant> {
    let heard: BTreeSet<&ExpertSlug> =
        ROUNDS.iter().flat_map(|round| state.seats_answered_in(*round)).collect();
    let seats = state.plan.seats.iter().filter(|seat| heard.contains(&seat.name));
    seats
        .map(|seat| ConclusionParticipant {
            agent: seat.name.clone(),
            version: seat.version.clone(),
        })
        .collect()
}

fn heard_experts(record: &DialogueRecord) -> Vec<ConclusionParticipant> {
    let message = record.all_entities().flat_map(|entity| &entity.contributors);
    let verdicts = record.verdicts.iter().map(|given| &given.verdict);
    // Those who object by a verdict took part, even if they said nothing else.
    let objected = verdicts.filter(|verdict| !verdict.verdict_type.takes_effect());
    let spoke: BTreeSet<&ExpertSlug> =
        message.chain(objected.flat_map(Verdict::all_authors)).collect();
    let experts = record.experts.iter().map(|expert| &expert.profile);
    experts
        .filter(|profile| spoke.contains(&profile.expert_slug))
        .map(|profile| ConclusionParticipant {
            agent: profile.expert_slug.clone(),
            version: profile_version(profile),
        })
        .collect()
}

fn profile_version(profile: &ExpertProfile) -> String {
    let parts = [&profile.focus, &profile.description, &profile.mandate];
    let parts = parts.into_iter().map(|part| part.as_deref().unwrap_or_default());
    let text: Vec<&str> = std::iter::once(profile.role.as_str()).chain(parts).collect();
    let hex = sha256_hex(text.iter().map(|part| part.as_bytes()));
    hex.chars().take(VERSION_DIGITS).collect()
}

/// The conclusion of a dialogue with the built-in Judge has rounds beyond those that an id can name:
/// such a dialogue may hold a fourth round.
const JUDGED_OFFSET: u8 = ROUND_MAX + 1;

/// The number of a conclusion's round in this run.
pub(crate) fn run_round(state: &RunState, round: u8) -> u8 {
    let offset = if state.alignment.is_some() { JUDGED_OFFSET } else { 0 };
    round.saturating_add(offset)
}

/// The conclusion's round that a run's round stands for; the same number for all others.
pub(crate) fn plain_round(round: u8) -> u8 {
    round.checked_sub(JUDGED_OFFSET).unwrap_or(round)
}

/// The rounds of the conclusion, which follow the three of a council.
pub const DRAFT: u8 = 4;
pub const AUDIT: u8 = 5;
pub const REVISION: u8 = 6;
pub const SECOND_AUDIT: u8 = 7;

/// The Synthesizer's conclusion, once it is parsed.
pub fn draft_conclusion(state: &RunState) -> Option<&Conclusion> {
    let ReplyDocument::Conclusion(draft) = last_document(state, DRAFT)? else { return None };
    Some(draft)
}

/// The draft with its flagged fields revised.
pub fn revised_conclusion(state: &RunState) -> Option<&Conclusion> {
    let ReplyDocument::Revision(revised) = last_document(state, REVISION)? else {
        return None;
    };
    Some(revised)
}

/// The conclusion that the critic sees in one of the two audits.
pub fn audited_conclusion(state: &RunState, round: u8) -> Option<&Conclusion> {
    if plain_round(round) == SECOND_AUDIT {
        revised_conclusion(state)
    } else {
        draft_conclusion(state)
    }
}

/// The objections of one audit: those that the program counted, then those of the critic. None
/// before the critic replied; empty if there are no objections.
pub fn audit_objections(state: &RunState, round: u8) -> Option<&[AuditObjection]> {
    let ReplyDocument::Audit(audit) = last_document(state, round)? else { return None };
    Some(audit.objections())
}

/// The audit so far and its effect; none before the first audit.
pub fn audit_trail(state: &RunState) -> Option<AuditTrail> {
    let objections = audit_objections(state, AUDIT)?;
    let mut revised_fields: Vec<_> = objections.iter().map(|objection| objection.field).collect();
    revised_fields.sort_unstable();
    revised_fields.dedup();
    let second_objections = audit_objections(state, SECOND_AUDIT).unwrap_or_default();
    Some(AuditTrail {
        objections: objections.to_vec(),
        revised_fields,
        second_objections: second_objections.to_vec(),
        original: revised_conclusion(state).and(draft_conclusion(state)).cloned(),
    })
}

/// Adds counted objections to those of the critic. A PASS does not turn three lines into five.
pub fn add_counted_objections(
    audit: &AuditReply,
    question: &str,
    looked_at: &Conclusion,
) -> AuditReply {
    let mut objections = find_violations(question, &looked_at.recommendation);
    objections.extend_from_slice(audit.objections());
    if objections.is_empty() { AuditReply::Pass } else { AuditReply::Flag { objections } }
}

fn last_document(state: &RunState, round: u8) -> Option<&ReplyDocument> {
    let asks = state.asks_in_round(run_round(state, plain_round(round)));
    asks.filter(|asked| !asked.retired).last()?.parsed_document()
}
