//! The part of a document that says how it ended.

use serde::Serialize;

use super::explanation::explanation;
use crate::domain::conclusion::{Auditor, Author, Conclusion, Ending, Field, Objection, Trail};
use crate::domain::dialogue::TerminalState;
use crate::domain::transcript::Transcript;
use crate::domain::words::words;
use crate::protocols::conclusion::{AUDIT, DRAFT, SECOND_AUDIT, draft, objections, revised, trail};

/// What stands where the ending is over.
const TERMINAL: &str = "terminal";

words! {
    /// What a look came to.
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

/// How it ended, or how far the ending has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// `concluding`, `auditing`, `revising` or `terminal`; nothing, before it began.
    pub stage: Option<&'static str>,
    pub terminal_state: Option<TerminalState>,
    /// What may be relied on; nothing, when it was rejected twice or is not there yet.
    pub conclusion: Option<Conclusion>,
    /// What was rejected; or what is there, while nobody has audited or mended it.
    pub draft: Option<Conclusion>,
    /// Why there is no conclusion, when it was rejected twice.
    pub explanation: Option<String>,
    pub synthesizer: Option<Author>,
    /// Nothing, when no critic was asked.
    pub audit: Option<Audited>,
}

/// What the audit said and what was done about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audited {
    /// Of both halves together: what was counted, and what the critic says. Nothing, while the
    /// critic could not be heard.
    pub critic_verdict: Option<AuditVerdict>,
    /// What the critic itself said at its first look, whatever was counted.
    pub critic_said: Option<AuditVerdict>,
    pub objections: Vec<Objection>,
    pub revised_fields: Vec<Field>,
    pub re_verdict: Option<AuditVerdict>,
    pub second_objections: Vec<Objection>,
    pub original: Option<Conclusion>,
    pub critic: Option<Author>,
    pub reviser: Option<Author>,
    /// Whether the critic is of the synthesizer's own family.
    pub same_family: bool,
}

impl Ended {
    /// As the run stands.
    pub fn of(transcript: &Transcript) -> Self {
        match &transcript.ending {
            Some(ending) => Self::by(ending),
            None => Self::so_far(transcript),
        }
    }

    /// As it came to its end.
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

    /// Whether it ended at all.
    pub fn is_over(&self) -> bool {
        self.stage == Some(TERMINAL)
    }

    /// The critic, where it is of the synthesizer's own family.
    pub(crate) fn critic_of_same_family(&self) -> Option<&Author> {
        self.audit.as_ref().filter(|audit| audit.same_family)?.critic.as_ref()
    }

    /// Whether it ended without anybody trying to break it.
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
