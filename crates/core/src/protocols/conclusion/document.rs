//! The JSON document of `conclude` for an alignment dialogue.

use serde::Serialize;

use crate::model::dialogue::{ProtocolKind, TerminalState};
use crate::model::ids::DialogueId;
use crate::model::run_state::RunState;
use crate::model::string_enum::words;
use crate::model::time::Moment;
use crate::protocols::conclusion::next::{
    AUDIT, DRAFT, SECOND_AUDIT, audit_objections, audit_trail, draft_conclusion,
    revised_conclusion, run_round,
};
use crate::protocols::conclusion::phrases::{conclusion_warnings, explain_rejection};
use crate::protocols::conclusion::types::{
    AuditObjection, AuditTrail, Conclusion, ConclusionField, ConclusionOutcome, ConclusionResult,
    ObjectionSource, OutcomeKind, RecordedConclusion, SeatAuthor,
};
use crate::report::interventions::{TimedIntervention, list_interventions};
use crate::report::run_metrics::{
    RunMetrics, TransparencyRecord, run_metrics, transparency_record,
};
use crate::report::run_status::{CompletionStatus, StopNotice, completion_status, stop_notice};

#[derive(Debug, Serialize)]
pub struct ConclusionDocument {
    pub dialogue_id: DialogueId,
    pub protocol: ProtocolKind,
    pub rehearsal: bool,
    pub status: CompletionStatus,
    #[serde(flatten)]
    pub ended: ConclusionView,
    pub interventions: Vec<TimedIntervention>,
    pub metrics: RunMetrics,
    pub transparency: TransparencyRecord,
    pub warnings: Vec<String>,
    pub error: Option<StopNotice>,
}

pub fn conclusion_document(state: &RunState) -> ConclusionDocument {
    let (opening, ended) = (&state.opening, ConclusionView::from_state(state));
    ConclusionDocument {
        dialogue_id: opening.dialogue_id.clone(),
        protocol: opening.protocol,
        rehearsal: opening.rehearsal,
        status: completion_status(state),
        interventions: list_interventions(state),
        metrics: run_metrics(state),
        transparency: transparency_record(state),
        warnings: conclusion_warnings(&ended, opening.rehearsal),
        error: stop_notice(state),
        ended,
    }
}

/// The stage of a finished conclusion.
const TERMINAL: &str = "terminal";

words! {
    /// The result of one audit.
    pub enum AuditVerdict {
        Pass = "PASS",
        Flag = "FLAG",
    }
}

impl AuditVerdict {
    pub(crate) fn from_objections(objections: &[AuditObjection]) -> Self {
        if objections.is_empty() { Self::Pass } else { Self::Flag }
    }

    fn of_critic(objections: &[AuditObjection]) -> Self {
        let is_own = |objection: &AuditObjection| objection.by == ObjectionSource::Critic;
        if objections.iter().any(is_own) { Self::Flag } else { Self::Pass }
    }
}

/// The conclusion, or how far it has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ConclusionView {
    /// `concluding`, `auditing`, `revising` or `terminal`; `None` before it began.
    pub stage: Option<&'static str>,
    pub terminal_state: Option<TerminalState>,
    /// The audited conclusion; `None` if it was rejected twice or does not exist yet.
    pub conclusion: Option<Conclusion>,
    /// The rejected conclusion, or the present draft before its audit or revision.
    pub draft: Option<Conclusion>,
    /// Explains why there is no conclusion after two rejections.
    pub explanation: Option<String>,
    pub synthesizer: Option<SeatAuthor>,
    /// `None` if no critic was asked.
    pub audit: Option<AuditView>,
}

/// The audit and the revision that followed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuditView {
    /// Result of both parts of the audit: format check and critic. `None` until the critic has
    /// replied.
    pub critic_verdict: Option<AuditVerdict>,
    /// The critic's own verdict in the first audit, without the format check.
    pub critic_said: Option<AuditVerdict>,
    pub objections: Vec<AuditObjection>,
    pub revised_fields: Vec<ConclusionField>,
    pub re_verdict: Option<AuditVerdict>,
    pub second_objections: Vec<AuditObjection>,
    pub original: Option<Conclusion>,
    pub critic: Option<SeatAuthor>,
    pub reviser: Option<SeatAuthor>,
    /// Whether critic and synthesizer are of the same model family.
    pub same_family: bool,
}

impl ConclusionView {
    /// The view of a run, finished or not.
    pub fn from_state(state: &RunState) -> Self {
        match &state.conclusion_result {
            Some(ending) => Self::from_result(ending),
            None => Self::in_progress(state),
        }
    }

    /// The view of a finished conclusion.
    pub fn from_result(ending: &ConclusionResult) -> Self {
        let is_rejected = ending.terminal_state == Some(TerminalState::Unconverged);
        let trail = ending.audit.as_ref();
        Self {
            stage: Some(TERMINAL),
            terminal_state: ending.terminal_state,
            conclusion: ending.delivered_conclusion().cloned(),
            draft: is_rejected.then(|| ending.conclusion.clone()),
            explanation: trail.filter(|_| is_rejected).map(explain_rejection),
            synthesizer: Some(ending.synthesizer.clone()),
            audit: trail.map(|trail| AuditView::from_result(ending, trail)),
        }
    }

    fn in_progress(state: &RunState) -> Self {
        let plan = state.plan.conclusion.as_ref();
        let was_asked = |round| state.asks_in_round(run_round(state, round)).next().is_some();
        let synthesizer = plan.filter(|_| was_asked(DRAFT));
        let synthesizer = synthesizer.map(|plan| state.plan.author_of(&plan.synthesizer));
        let family = synthesizer.as_ref().map(|author| author.family.clone()).unwrap_or_default();
        Self {
            stage: state.stage.map(|stage| stage.name()),
            draft: revised_conclusion(state).or(draft_conclusion(state)).cloned(),
            synthesizer,
            audit: was_asked(AUDIT).then(|| AuditView::in_progress(state, &family)),
            ..Self::default()
        }
    }

    /// Whether the conclusion is finished.
    pub fn is_over(&self) -> bool {
        self.stage == Some(TERMINAL)
    }

    /// The critic, if it is of the synthesizer's model family.
    pub(crate) fn critic_of_same_family(&self) -> Option<&SeatAuthor> {
        self.audit.as_ref().filter(|audit| audit.same_family)?.critic.as_ref()
    }

    /// Whether the conclusion is finished without an audit.
    pub fn is_unaudited(&self) -> bool {
        self.is_over() && self.audit.is_none()
    }
}

impl AuditView {
    fn from_result(ending: &ConclusionResult, trail: &AuditTrail) -> Self {
        let re_verdict = match ending.terminal_state {
            Some(TerminalState::Revised) => Some(AuditVerdict::Pass),
            Some(TerminalState::Unconverged) => Some(AuditVerdict::Flag),
            Some(TerminalState::Clean) | None => None,
        };
        let critic_verdict = Some(AuditVerdict::from_objections(&trail.objections));
        let audit = Self::new(trail.clone(), critic_verdict, re_verdict);
        audit.by_authors(ending.critic.clone(), ending.reviser.clone(), &ending.synthesizer.family)
    }

    fn in_progress(state: &RunState, family: &str) -> Self {
        let verdict = |round| audit_objections(state, round).map(AuditVerdict::from_objections);
        let plan = state.plan.conclusion.as_ref();
        let critic = plan.map(|plan| state.plan.author_of(&plan.critic));
        let reviser = plan.filter(|_| revised_conclusion(state).is_some());
        let reviser = reviser.map(|plan| state.plan.author_of(&plan.reviser));
        let trail = audit_trail(state).unwrap_or_default();
        Self::new(trail, verdict(AUDIT), verdict(SECOND_AUDIT)).by_authors(critic, reviser, family)
    }

    fn new(
        trail: AuditTrail,
        critic_verdict: Option<AuditVerdict>,
        re_verdict: Option<AuditVerdict>,
    ) -> Self {
        Self {
            critic_verdict,
            critic_said: critic_verdict.map(|_| AuditVerdict::of_critic(&trail.objections)),
            objections: trail.objections,
            revised_fields: trail.revised_fields,
            re_verdict,
            second_objections: trail.second_objections,
            original: trail.original,
            ..Self::default()
        }
    }

    /// Sets the authors; `family` is that of the synthesizer.
    fn by_authors(
        self,
        critic: Option<SeatAuthor>,
        reviser: Option<SeatAuthor>,
        family: &str,
    ) -> Self {
        let same_family = critic.as_ref().is_some_and(|critic| critic.family == family);
        Self { critic, reviser, same_family, ..self }
    }
}

/// All fields are always present; they are null before the conclusion.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ConclusionExport<'a> {
    conclusion: Option<Conclusion>,
    draft: Option<Conclusion>,
    explanation: Option<String>,
    synthesizer: Option<SeatAuthor>,
    audit: Option<AuditView>,
    concluded_at: Option<Moment>,
    outcomes: Vec<OutcomeEntry<'a>>,
}

/// An outcome that a person recorded.
#[derive(Debug, Serialize)]
struct OutcomeEntry<'a> {
    at: Moment,
    outcome: OutcomeKind,
    note: Option<&'a str>,
}

impl<'a> ConclusionExport<'a> {
    pub(crate) fn from_concluded(concluded: Option<&'a RecordedConclusion>) -> Self {
        let Some(concluded) = concluded else { return Self::default() };
        let ConclusionView { conclusion, draft, explanation, synthesizer, audit, .. } =
            ConclusionView::from_result(&concluded.ending);
        Self {
            conclusion,
            draft,
            explanation,
            synthesizer,
            audit,
            concluded_at: Some(concluded.at),
            outcomes: concluded.outcomes.iter().map(outcome_entry).collect(),
        }
    }
}

fn outcome_entry((at, given): &(Moment, ConclusionOutcome)) -> OutcomeEntry<'_> {
    OutcomeEntry { at: *at, outcome: given.outcome, note: given.note.as_deref() }
}
