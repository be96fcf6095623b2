//! The block `calibration` of exports and of `align --json`.

use serde::Serialize;
use serde_json::{Value, json};

use crate::ethos::compliance::EthosCompliance;
use crate::ethos::rule_set::{
    CalibrationRecord, DialogueEthos, EthosId, EthosStatus, RuleChallenge,
};
use crate::model::ids::{EntityId, ExpertSlug};
use crate::model::lifecycle::EntityStatus;
use crate::model::record::DialogueRecord;
use crate::model::verdict::{Verdict, VerdictType};

/// The block `calibration` of an export, in the shape of the seed.
#[derive(Debug, Serialize)]
pub struct CalibrationExport {
    calibrated: bool,
    domain: Option<String>,
    ethos_id: Option<EthosId>,
    /// Given unless the ethos is approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    ethos_status: Option<EthosStatus>,
    rules_count: usize,
    compliance: Option<ComplianceCounts>,
    rules: Vec<Value>,
    rule_challenges: Vec<ChallengeExport>,
}

#[derive(Debug, Serialize)]
struct ComplianceCounts {
    fully_compliant: bool,
    exceptions: usize,
    violations: usize,
}

#[derive(Debug, Serialize)]
struct ChallengeExport {
    rule_id: String,
    tension: EntityId,
    experts: Vec<ExpertSlug>,
    outcome: String,
}

/// What an export of the calibration is made from: a record, or the state of a run.
pub(crate) struct CalibrationView<'a> {
    pub calibration: &'a CalibrationRecord,
    pub domain_id: Option<&'a str>,
    pub verdicts: &'a [&'a Verdict],
    pub status_of: &'a dyn Fn(EntityId) -> Option<EntityStatus>,
}

impl CalibrationView<'_> {
    pub(crate) fn to_export(&self) -> CalibrationExport {
        let ethos = self.calibration.approved_ethos();
        let draft = self.calibration.versions.last().filter(|_| ethos.is_none());
        let compliance = last_compliance(self.verdicts).map(|compliance| ComplianceCounts {
            fully_compliant: compliance.fully_compliant,
            exceptions: compliance.exceptions.len(),
            violations: compliance.violations.len(),
        });
        let rules = ethos.into_iter().flat_map(DialogueEthos::rules_in_force).map(|rule| {
            json!({
                "rule_id": rule.rule_id(), "type": rule.rule_type, "source_id": rule.source_id,
                "label": rule.label, "priority": rule.priority,
            })
        });
        let challenges = self.calibration.challenges.iter().map(|challenge| ChallengeExport {
            rule_id: challenge.rule_id.clone(),
            tension: challenge.tension,
            experts: challenge.experts.clone(),
            outcome: self.challenge_outcome(challenge),
        });
        CalibrationExport {
            calibrated: true,
            domain: ethos
                .and_then(DialogueEthos::domain_slug)
                .or_else(|| self.domain_id.map(str::to_owned)),
            ethos_id: ethos.or(draft).map(|ethos| ethos.ethos_id.clone()),
            ethos_status: draft.map(|draft| draft.status),
            rules_count: ethos.map_or(0, |ethos| ethos.rules_in_force().count()),
            compliance,
            rules: rules.collect(),
            rule_challenges: challenges.collect(),
        }
    }

    /// What became of a challenge: the exception that the verdict grants, else the tension's
    /// status.
    pub(crate) fn challenge_outcome(&self, challenge: &RuleChallenge) -> String {
        let granted = |compliance: &EthosCompliance| {
            let mut exceptions = compliance.exceptions.iter();
            exceptions.any(|exception| exception.rule_id == challenge.rule_id)
        };
        if last_compliance(self.verdicts).is_some_and(granted) {
            return "exception granted".to_owned();
        }
        let accepts = |verdict: &&&Verdict| {
            let accepted = verdict.tensions_accepted.as_ref();
            let is_named = accepted.is_some_and(|ids| ids.contains(&challenge.tension));
            is_named && verdict.verdict_type.takes_effect()
        };
        if self.verdicts.iter().any(|verdict| accepts(&verdict)) {
            return "accepted".to_owned();
        }
        let status = (self.status_of)(challenge.tension);
        status.unwrap_or(EntityStatus::Open).name().to_owned()
    }
}

/// The compliance of the final verdict.
pub(crate) fn last_compliance<'a>(verdicts: &[&'a Verdict]) -> Option<&'a EthosCompliance> {
    let mut last = verdicts.iter().filter(|verdict| verdict.verdict_type == VerdictType::Final);
    last.next_back()?.ethos_compliance.as_ref()
}

/// Calls `work` with the calibration of a record; `None` if the dialogue is not calibrated.
pub(crate) fn with_view<T>(
    record: &DialogueRecord,
    work: impl FnOnce(&CalibrationView<'_>) -> T,
) -> Option<T> {
    let verdicts: Vec<&Verdict> = record.verdicts.iter().map(|given| &given.verdict).collect();
    let view = CalibrationView {
        calibration: record.calibration.as_ref()?,
        domain_id: record.dialogue.opening.domain_id.as_deref(),
        verdicts: &verdicts,
        status_of: &|id| record.find_entity(id).map(|tension| tension.status),
    };
    Some(work(&view))
}

/// `None` for a dialogue that is not calibrated.
pub fn calibration_export(record: &DialogueRecord) -> Option<CalibrationExport> {
    with_view(record, |view| view.to_export())
}
