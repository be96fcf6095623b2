//! The conclusion part of a document: result, draft, audit and stage.

use serde::Serialize;

use super::explanation::explanation;
use crate::domain::conclusion::{Auditor, Author, Conclusion, Ending, Field, Objection, Trail};
use crate::domain::dialogue::TerminalState;
use crate::domain::transcript::Transcript;
use crate::domain::words::words;
use crate::protocols::conclusion::{AUDIT, DRAFT, SECOND_AUDIT, draft, objections, revised, trail};

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
    pub(crate) fn of(objections: &[Objection]) -> Self {
        if objections.is_empty() { Self::Pass } else { Self::Flag }
    }

    fn of_critic(objections: &[Objection]) -> Self {
        let is_own = |objection: &Objection| objection.by == Auditor::Critic;
        if objections.iter().any(is_own) { Self::Flag } else { Self::Pass }
    }
}

/// The conclusion, or how far it has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// `concluding`, `auditing`, `revising` or `terminal`; `None` before it began.
    pub stage: Option<&'static str>,
    pub terminal_state: Option<TerminalState>,
    /// The audited conclusion; `None` if it was rejected twice or does not exist yet.
    pub conclusion: Option<Conclusion>,
    /// The rejected conclusion, or the present draft before its audit or revision.
    pub draft: Option<Conclusion>,
    /// Explains why there is no conclusion after two rejections.
    pub explanation: Option<String>,
    pub synthesizer: Option<Author>,
    /// `None` if no critic was asked.
    pub audit: Option<Audited>,
}

/// The audit and the revision that followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audited {
    /// Result of both parts of the audit: format check and critic. `None` until the critic has
    /// replied.
    pub critic_verdict: Option<AuditVerdict>,
    /// The critic's own verdict in the first audit, without the format check.
    pub critic_said: Option<AuditVerdict>,
    pub objections: Vec<Objection>,
    pub revised_fields: Vec<Field>,
    pub re_verdict: Option<AuditVerdict>,
    pub second_objections: Vec<Objection>,
    pub original: Option<Conclusion>,
    pub critic: Option<Author>,
    pub reviser: Option<Author>,
    /// Whether critic and synthesizer are of the same model family.
    pub same_family: bool,
}

impl Ended {
    /// The view of a run, finished or not.
    pub fn of(transcript: &Transcript) -> Self {
        match &transcript.ending {
            Some(ending) => Self::by(ending),
            None => Self::so_far(transcript),
        }
    }

    /// The view of a finished conclusion.
    pub fn by(ending: &Ending) -> Self {
        let is_rejected = ending.terminal_state == Some(TerminalState::Unconverged);
        let trail = ending.audit.as_ref();
        Self {
            stage: Some(TERMINAL),
            terminal_state: ending.terminal_state,
            conclusion: ending.delivered().cloned(),
            draft: is_rejected.then(|| ending.conclusion.clone()),
            explanation: trail.filter(|_| is_rejected).map(explanation),
            synthesizer: Some(ending.synthesizer.clone()),
            audit: trail.map(|trail| Audited::by(ending, trail)),
        }
    }

    fn so_far(transcript: &Transcript) -> Self {
        let plan = transcript.plan.conclusion.as_ref();
        let was_asked = |round| transcript.asks_of(round).next().is_some();
        let synthesizer = plan.filter(|_| was_asked(DRAFT));
        let synthesizer = synthesizer.map(|plan| transcript.plan.author(&plan.synthesizer));
        let family = synthesizer.as_ref().map(|author| author.family.clone());
        Self {
            stage: transcript.stage.map(|stage| stage.name()),
            draft: revised(transcript).or(draft(transcript)).cloned(),
            synthesizer,
            audit: was_asked(AUDIT).then(|| Audited::so_far(transcript, family.as_deref())),
            ..Self::default()
        }
    }

    /// Whether the conclusion is finished.
    pub fn is_over(&self) -> bool {
        self.stage == Some(TERMINAL)
    }

    /// The critic, if it is of the synthesizer's model family.
    pub(crate) fn critic_of_same_family(&self) -> Option<&Author> {
        self.audit.as_ref().filter(|audit| audit.same_family)?.critic.as_ref()
    }

    /// Whether the conclusion is finished without an audit.
    pub fn is_unaudited(&self) -> bool {
        self.is_over() && self.audit.is_none()
    }
}

impl Audited {
    fn by(ending: &Ending, trail: &Trail) -> Self {
        let re_verdict = match ending.terminal_state {
            Some(TerminalState::Revised) => Some(AuditVerdict::Pass),
            Some(TerminalState::Unconverged) => Some(AuditVerdict::Flag),
            Some(TerminalState::Clean) | None => None,
        };
        let critic = ending.critic.clone();
        Self {
            same_family: is_of_family(critic.as_ref(), Some(&ending.synthesizer.family)),
            critic,
            reviser: ending.reviser.clone(),
            ..Self::told(trail.clone(), Some(AuditVerdict::of(&trail.objections)), re_verdict)
        }
    }

    fn so_far(transcript: &Transcript, family: Option<&str>) -> Self {
        let looked = |round| objections(transcript, round).map(AuditVerdict::of);
        let plan = transcript.plan.conclusion.as_ref();
        let critic = plan.map(|plan| transcript.plan.author(&plan.critic));
        let reviser = plan.map(|plan| transcript.plan.author(&plan.reviser));
        Self {
            same_family: is_of_family(critic.as_ref(), family),
            critic,
            reviser: reviser.filter(|_| revised(transcript).is_some()),
            ..Self::told(trail(transcript).unwrap_or_default(), looked(AUDIT), looked(SECOND_AUDIT))
        }
    }

    fn told(
        trail: Trail,
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
            critic: None,
            reviser: None,
            same_family: false,
        }
    }
}

fn is_of_family(critic: Option<&Author>, family: Option<&str>) -> bool {
    critic.is_some_and(|critic| Some(critic.family.as_str()) == family)
}
