//! Compliance of a verdict with the ethos: each rule gets a status, and code computes the rest.
//!
//! **Invariant:** a final verdict of a calibrated dialogue has a status for every rule in force, and
//! each exception has a tension that challenges its rule.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::dialogue::diagnostics::{RequestWarning, not_an_id};
use crate::dialogue::lookup::TargetLookup;
use crate::dialogue::request_fields::truncate_echo;
use crate::ethos::rule_set::{CalibrationRecord, DialogueEthos, EthosRule, parse_rule_id};
use crate::model::dialogue::Dialogue;
use crate::model::ids::{EntityId, EntityTarget};
use crate::model::limits::TEXT_CHARS_MAX;
use crate::model::string_enum::words;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError};

/// Field of a verdict.
const FIELD: &str = "ethos_compliance";

/// Kind of an exception that the caller does not name.
const EXCEPTION_TYPE_DEFAULT: &str = "challenged";

/// Who approved an exception that names no other.
const APPROVER_DEFAULT: &str = "judge";

words! {
    /// How a verdict stands to one rule.
    pub enum RuleStatus {
        Compliant = "compliant",
        Exception = "exception",
        Violation = "violation",
        NotApplicable = "not_applicable",
    }
}

/// The status of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCompliance {
    pub rule_id: String,
    pub status: RuleStatus,
    pub reason: Option<String>,
    /// What the reason rests on.
    pub ids: Vec<EntityId>,
}

/// A departure from a rule that a tension raised and the verdict grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleException {
    pub rule_id: String,
    pub rule_label: String,
    pub exception_type: String,
    pub justification: String,
    pub approved_by: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleViolation {
    pub rule_id: String,
    pub rule_label: String,
    pub justification: String,
}

/// The seed's block, with the status of every rule beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthosCompliance {
    pub fully_compliant: bool,
    pub exceptions: Vec<RuleException>,
    pub violations: Vec<RuleViolation>,
    pub rules: Vec<RuleCompliance>,
}

/// One rule as the caller gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GivenRule {
    rule_id: String,
    status: RuleStatus,
    reason: Option<String>,
    ids: Vec<EntityTarget>,
    exception_type: Option<String>,
    approved_by: Option<String>,
}

/// A compliance block as the caller gives it: `rules`, or the seed's lists, which name only the
/// rules that the verdict departs from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenCompliance {
    rules: Vec<GivenRule>,
    /// `rules` was given, so every rule must be in it.
    is_listed: bool,
    /// It has one of the two forms.
    is_readable: bool,
    fully_compliant: Option<bool>,
}

impl GivenCompliance {
    /// Reads the field of a verdict and adds all its faults.
    pub fn read(given: &Value, faults: &mut Vec<ValidationError>) -> Self {
        let nothing = Map::new();
        let map = given.as_object().unwrap_or(&nothing);
        let listed = given.as_array().or_else(|| map.get("rules").and_then(Value::as_array));
        let keys = ["exceptions", "violations", "fully_compliant"];
        let is_readable = listed.is_some() || keys.iter().any(|key| map.contains_key(*key));
        let mut read = Self {
            is_listed: listed.is_some(),
            is_readable,
            fully_compliant: map.get("fully_compliant").and_then(Value::as_bool),
            rules: Vec::new(),
        };
        for item in listed.into_iter().flatten() {
            read.add_rule(GivenRule::read(item, None, faults), faults);
        }
        let lists = [("exceptions", RuleStatus::Exception), ("violations", RuleStatus::Violation)];
        for (key, status) in lists {
            for item in map.get(key).and_then(Value::as_array).into_iter().flatten() {
                read.add_rule(GivenRule::read(item, Some(status), faults), faults);
            }
        }
        read
    }

    /// The lists may repeat what `rules` says of a rule, but not contradict it.
    fn add_rule(&mut self, rule: Option<GivenRule>, faults: &mut Vec<ValidationError>) {
        let Some(rule) = rule else { return };
        match self.rules.iter().find(|known| known.rule_id == rule.rule_id) {
            None => self.rules.push(rule),
            Some(known) if known.status != rule.status => faults.push(two_statuses(known, &rule)),
            Some(_) => {}
        }
    }

    /// The entities that the reasons name.
    pub fn targets(&self) -> impl Iterator<Item = &EntityTarget> {
        self.rules.iter().flat_map(|rule| &rule.ids)
    }
}

impl GivenRule {
    /// `status` is that of the list it stands in; `None` reads it from the item. A violation may be
    /// the id alone.
    fn read(
        item: &Value,
        status: Option<RuleStatus>,
        faults: &mut Vec<ValidationError>,
    ) -> Option<Self> {
        let text = |key: &str| {
            item.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
        };
        let Some(id) = text("rule_id").or_else(|| item.as_str()) else {
            faults.push(wrong_shape("an item has no 'rule_id'"));
            return None;
        };
        let rule_id = match parse_rule_id(id) {
            Some(seq) => format!("RULE{seq:02}"),
            None => id.to_owned(),
        };
        let named = text("status").and_then(RuleStatus::named);
        let Some(status) = status.or(named) else {
            let message = format!("the status of {} is not one of four", truncate_echo(&rule_id));
            let options = RuleStatus::ALL.iter();
            faults.push(
                ValidationError::new(ErrorCode::InvalidEnum, message)
                    .with_field(FIELD)
                    .with_value(item.get("status").cloned().unwrap_or_default())
                    .with_options(options),
            );
            return None;
        };
        let mut ids = Vec::new();
        for name in item.get("ids").and_then(Value::as_array).into_iter().flatten() {
            match name.as_str().and_then(|name| name.parse().ok()) {
                Some(target) => ids.push(target),
                None => faults.push(not_an_id(FIELD, name.as_str().unwrap_or_default())),
            }
        }
        let reason = text("reason").or_else(|| text("justification")).map(str::to_owned);
        if reason.as_ref().is_some_and(|reason| reason.chars().count() > TEXT_CHARS_MAX) {
            let message = format!("the reason for {} is too long", truncate_echo(&rule_id));
            faults.push(ValidationError::new(ErrorCode::FieldTooLong, message).with_field(FIELD));
        }
        if reason.is_none() && status != RuleStatus::Compliant {
            let message = format!("{} is {status} without a reason", truncate_echo(&rule_id));
            faults.push(
                ValidationError::new(ErrorCode::MissingField, message)
                    .with_field(FIELD)
                    .with_suggestion("say in 'reason' why the rule does not hold or apply"),
            );
        }
        Some(Self {
            rule_id,
            status,
            reason,
            ids,
            exception_type: text("exception_type").map(str::to_owned),
            approved_by: text("approved_by").map(str::to_owned),
        })
    }
}

fn two_statuses(first: &GivenRule, second: &GivenRule) -> ValidationError {
    let id = truncate_echo(&first.rule_id);
    let message = format!("{id} has two statuses: {} and {}", first.status, second.status);
    ValidationError::new(ErrorCode::InvalidEnum, message)
        .with_field(FIELD)
        .with_value(second.status.to_string())
        .with_suggestion("give each rule one status")
}

fn wrong_shape(what: &str) -> ValidationError {
    ValidationError::new(ErrorCode::InvalidType, format!("{FIELD} cannot be read: {what}"))
        .with_field(FIELD)
        .with_suggestion("send {\"rules\": [{\"rule_id\", \"status\", \"reason\", \"ids\"}]}")
}

/// What a verdict needs to know about the calibration of its dialogue.
#[derive(Debug)]
pub(crate) struct ComplianceCheck<'a> {
    pub dialogue: &'a Dialogue,
    pub calibration: Option<&'a CalibrationRecord>,
    pub lookup: &'a TargetLookup<'a>,
    pub is_final: bool,
}

impl ComplianceCheck<'_> {
    /// Computes the compliance of a verdict, or adds what blocks the verdict.
    pub(crate) fn decide_compliance(
        &self,
        given: Option<&GivenCompliance>,
        warnings: &mut Vec<RequestWarning>,
        faults: &mut Vec<ValidationError>,
    ) -> Option<EthosCompliance> {
        if !self.dialogue.opening.calibrated {
            if given.is_some() {
                faults.push(not_calibrated(self.dialogue).with_field(FIELD));
            }
            return None;
        }
        let ethos = self.calibration.and_then(CalibrationRecord::approved_ethos);
        let Some(ethos) = ethos else {
            faults.extend(self.is_final.then(|| ethos_not_approved(self.dialogue)));
            return None;
        };
        let Some(given) = given else {
            let missing: Vec<String> = ethos.rules_in_force().map(EthosRule::rule_id).collect();
            faults.extend(self.is_final.then(|| compliance_missing(ethos, &missing)));
            return None;
        };
        if !given.is_readable {
            faults.push(wrong_shape("it has neither 'rules' nor 'exceptions' and 'violations'"));
            return None;
        }
        self.check_rules(ethos, given, faults);
        let mut compliance = EthosCompliance {
            fully_compliant: false,
            exceptions: Vec::new(),
            violations: Vec::new(),
            rules: Vec::new(),
        };
        for rule in ethos.rules_in_force() {
            self.add_rule(&mut compliance, rule, given, faults);
        }
        compliance.fully_compliant =
            compliance.exceptions.is_empty() && compliance.violations.is_empty();
        warnings.extend(warn_differences(&compliance, given));
        Some(compliance)
    }

    /// Refuses unknown rules, and a list that leaves a rule out.
    fn check_rules(
        &self,
        ethos: &DialogueEthos,
        given: &GivenCompliance,
        faults: &mut Vec<ValidationError>,
    ) {
        let known: Vec<String> = ethos.rules_in_force().map(EthosRule::rule_id).collect();
        for rule in given.rules.iter().filter(|rule| !known.contains(&rule.rule_id)) {
            let message =
                format!("{} has no rule '{}'", ethos.ethos_id, truncate_echo(&rule.rule_id));
            faults.push(
                ValidationError::new(ErrorCode::RuleNotFound, message)
                    .with_field(FIELD)
                    .with_value(rule.rule_id.as_str())
                    .with_options(&known),
            );
        }
        let is_given = |id: &String| given.rules.iter().any(|rule| rule.rule_id == *id);
        let missing: Vec<String> = known.into_iter().filter(|id| !is_given(id)).collect();
        if self.is_final && given.is_listed && !missing.is_empty() {
            faults.push(compliance_missing(ethos, &missing));
        }
    }

    fn add_rule(
        &self,
        compliance: &mut EthosCompliance,
        rule: &EthosRule,
        given: &GivenCompliance,
        faults: &mut Vec<ValidationError>,
    ) {
        let (rule_id, rule_label) = (rule.rule_id(), rule.label.clone());
        let Some(found) = given.rules.iter().find(|given| given.rule_id == rule_id) else {
            if !given.is_listed {
                let status = RuleStatus::Compliant;
                let (reason, ids) = (None, Vec::new());
                compliance.rules.push(RuleCompliance { rule_id, status, reason, ids });
            }
            return;
        };
        let item = ErrorItem::Source { item_type: "verdict", source_id: Some(rule_id.clone()) };
        let ids = found.ids.iter();
        let ids =
            ids.filter_map(|id| self.lookup.find_target(id, (&item, FIELD), faults)).collect();
        let justification = found.reason.clone().unwrap_or_default();
        match found.status {
            RuleStatus::Compliant | RuleStatus::NotApplicable => {}
            RuleStatus::Exception => {
                if self.calibration.is_none_or(|all| all.challenges_of(rule).next().is_none()) {
                    faults.push(unacknowledged(rule).about_item(&item));
                }
                let or = |given: &Option<String>, default: &str| {
                    given.clone().unwrap_or_else(|| default.to_owned())
                };
                compliance.exceptions.push(RuleException {
                    rule_id: rule_id.clone(),
                    rule_label,
                    exception_type: or(&found.exception_type, EXCEPTION_TYPE_DEFAULT),
                    justification,
                    approved_by: or(&found.approved_by, APPROVER_DEFAULT),
                });
            }
            RuleStatus::Violation => compliance.violations.push(RuleViolation {
                rule_id: rule_id.clone(),
                rule_label,
                justification,
            }),
        }
        let (status, reason) = (found.status, found.reason.clone());
        compliance.rules.push(RuleCompliance { rule_id, status, reason, ids });
    }
}

fn warn_differences(
    compliance: &EthosCompliance,
    given: &GivenCompliance,
) -> impl Iterator<Item = RequestWarning> {
    let assumed = compliance.rules.len().saturating_sub(given.rules.len());
    let message = format!("{assumed} rules are not named and count as compliant");
    let unnamed = (!given.is_listed && assumed > 0)
        .then(|| RequestWarning::new("rules_assumed_compliant", message));
    let bare = given.rules.iter().filter(|rule| rule.reason.is_none());
    let bare: Vec<&str> = bare.map(|rule| rule.rule_id.as_str()).collect();
    let message = format!("no reason is given for {}", bare.join(", "));
    let unexplained =
        (!bare.is_empty()).then(|| RequestWarning::new("rules_without_reason", message));
    let computed = compliance.fully_compliant;
    let message = format!("fully_compliant is computed from the rules: {computed}");
    let differs = given.fully_compliant.is_some_and(|printed| printed != computed);
    let differs = differs.then(|| RequestWarning::new("fully_compliant_computed", message));
    unnamed.into_iter().chain(unexplained).chain(differs)
}

/// The dialogue was opened without calibration, and stays so.
pub fn not_calibrated(dialogue: &Dialogue) -> ValidationError {
    let message = format!("dialogue '{}' is not calibrated", dialogue.id());
    ValidationError::new(ErrorCode::NotSupported, message)
        .with_suggestion("open a dialogue with `calibrated: true` (`--calibrated`)")
}

/// The dialogue has no approved ethos yet.
pub fn ethos_not_approved(dialogue: &Dialogue) -> ValidationError {
    let id = dialogue.id();
    ValidationError::new(
        ErrorCode::EthosNotApproved,
        format!("the calibrated dialogue '{id}' has no approved ethos"),
    )
    .with_field("dialogue_id")
    .with_value(id.as_str())
    .with_suggestion(format!("`plenary ethos synthesize {id} --approve` makes one"))
}

fn compliance_missing(ethos: &DialogueEthos, missing: &[String]) -> ValidationError {
    let message = format!(
        "the verdict gives no status for rules of {}: {}",
        ethos.ethos_id,
        missing.join(", ")
    );
    ValidationError::new(ErrorCode::EthosComplianceMissing, message)
        .with_field(FIELD)
        .with_context(serde_json::json!({ "ethos_id": ethos.ethos_id, "missing_rules": missing }))
}

fn unacknowledged(rule: &EthosRule) -> ValidationError {
    let id = rule.rule_id();
    let message = format!("{id} has an exception, but no tension challenges {id}");
    ValidationError::new(ErrorCode::EthosViolationUnacknowledged, message)
        .with_field(FIELD)
        .with_value(id.as_str())
        .with_suggestion(format!(
            "register a tension that says `challenges {id}`, or call it a violation"
        ))
}
