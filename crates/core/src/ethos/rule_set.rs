//! An ethos: the numbered rules that bind one dialogue, with the conflicts between them.
//!
//! **Invariant:** an ethos that is approved or rejected never changes. A change is the next version.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::ids::{DialogueId, EntityId, ExpertSlug};
use crate::model::string_enum::{text_id, words};
use crate::model::time::Moment;

/// Beginning of every ethos id.
const ETHOS_PREFIX: &str = "ethos-";

/// Digits of a version in an id.
const VERSION_DIGITS: usize = 3;

/// Versions of one dialogue's ethos; three digits of the id name it.
pub const VERSIONS_MAX: u32 = 999;

/// Rules of one ethos. Every prompt of the dialogue repeats them.
pub const RULES_MAX: usize = 200;

text_id! {
    /// Id of an ethos: `ethos-`, the dialogue, and the version in three digits.
    pub struct EthosId; "ethos_id", |text| split_ethos_id(text).is_some()
}

fn split_ethos_id(text: &str) -> Option<(DialogueId, u32)> {
    let (dialogue, version) = text.strip_prefix(ETHOS_PREFIX)?.rsplit_once('-')?;
    let is_plain = version.len() == VERSION_DIGITS && version.bytes().all(|b| b.is_ascii_digit());
    Some((dialogue.parse().ok()?, version.parse().ok().filter(|_| is_plain)?))
}

impl EthosId {
    /// The id of a version; none above [`VERSIONS_MAX`].
    pub fn of_version(dialogue: &DialogueId, version: u32) -> Option<Self> {
        format!("{ETHOS_PREFIX}{dialogue}-{version:03}").parse().ok()
    }

    pub fn dialogue_id(&self) -> Option<DialogueId> {
        split_ethos_id(self.as_str()).map(|(dialogue, _)| dialogue)
    }
}

words! {
    /// Where a rule comes from.
    pub enum RuleType {
        Principle = "principle",
        Tenet = "tenet",
        Constraint = "constraint",
    }
}

words! {
    /// Status of an ethos.
    pub enum EthosStatus {
        Draft = "draft",
        Approved = "approved",
        Rejected = "rejected",
    }
}

words! {
    /// How a constraint was found.
    pub enum ConstraintSource {
        Authored = "authored",
        Extracted = "extracted",
    }
}

/// A requirement of one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthosConstraint {
    /// Such as `CN01`.
    pub id: String,
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub source: ConstraintSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_detail: Option<String>,
    pub priority: u32,
}

/// A domain whose tenets take part, seen through one of its lenses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenDomain {
    /// Slug.
    pub domain: String,
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
}

words! {
    /// Whether a rule is part of the ethos.
    pub enum RuleStanding {
        InForce = "in_force",
        /// Another rule replaced it, or took it in.
        Superseded = "superseded",
        Removed = "removed",
        /// A lens excludes it although it changes its priority.
        Excluded = "excluded",
    }
}

/// A source that a rule replaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupersededSource {
    pub source_id: String,
    pub reason: String,
}

/// One rule. Its number never changes within the ethos.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthosRule {
    pub seq: u16,
    pub rule_type: RuleType,
    /// Id of the principle, tenet or constraint.
    pub source_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_domain: Option<String>,
    pub label: String,
    pub description: String,
    pub priority: u32,
    pub supersedes: Vec<SupersededSource>,
    pub standing: RuleStanding,
}

impl EthosRule {
    /// Such as `RULE05`.
    pub fn rule_id(&self) -> String {
        format!("RULE{:02}", self.seq)
    }

    pub fn is_in_force(&self) -> bool {
        self.standing == RuleStanding::InForce
    }

    fn to_document(&self) -> Value {
        json!({
            "rule_id": self.rule_id(), "seq": self.seq, "type": self.rule_type,
            "source_id": self.source_id, "source_domain": self.source_domain,
            "label": self.label, "description": self.description, "priority": self.priority,
            "supersedes": self.supersedes,
        })
    }
}

/// The number of a rule id such as `RULE05` or `rule5`.
pub fn parse_rule_id(text: &str) -> Option<u16> {
    let (word, digits) = text.trim().split_at_checked("RULE".len())?;
    let is_plain = (1..=4).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if word.eq_ignore_ascii_case("RULE") && is_plain { digits.parse().ok() } else { None }
}

words! {
    /// What is wrong between two rules.
    pub enum ConflictType {
        Contradiction = "contradiction",
        Redundancy = "redundancy",
        Ambiguity = "ambiguity",
    }
}

words! {
    /// How a conflict ends.
    pub enum ConflictResolution {
        ASupersedes = "a_supersedes",
        BSupersedes = "b_supersedes",
        /// Rule a takes in the text of rule b.
        Merged = "merged",
        /// Both rules leave the ethos.
        Removed = "removed",
    }
}

words! {
    /// Who resolved a conflict.
    pub enum ConflictResolver {
        Priority = "priority",
        Manual = "manual",
        /// A person accepted what the model proposed.
        Model = "model",
    }
}

/// What the model proposed for a conflict that it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictProposal {
    pub quote_a: String,
    pub quote_b: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<ConflictResolution>,
    pub reason: String,
}

/// A conflict between two rules, or between a tenet and a lens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleConflict {
    /// Position in the ethos, from 1.
    pub conflict: u16,
    /// Rule id.
    pub a: String,
    /// Rule id, or the id of a lens.
    pub b: String,
    #[serde(rename = "type")]
    pub conflict_type: ConflictType,
    pub finding: String,
    pub resolution: Option<ConflictResolution>,
    pub reason: Option<String>,
    pub resolved_by: Option<ConflictResolver>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ConflictProposal>,
}

/// The rules of one dialogue, in one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialogueEthos {
    pub ethos_id: EthosId,
    pub version: u32,
    pub status: EthosStatus,
    pub domains: Vec<ChosenDomain>,
    /// All candidates, also those that are no longer in force.
    pub rules: Vec<EthosRule>,
    pub conflicts: Vec<RuleConflict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<Moment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected_because: Option<String>,
}

impl DialogueEthos {
    pub fn rules_in_force(&self) -> impl Iterator<Item = &EthosRule> {
        self.rules.iter().filter(|rule| rule.is_in_force())
    }

    pub fn find_rule(&self, seq: u16) -> Option<&EthosRule> {
        self.rules_in_force().find(|rule| rule.seq == seq)
    }

    pub fn open_conflicts(&self) -> impl Iterator<Item = &RuleConflict> {
        self.conflicts.iter().filter(|conflict| conflict.resolution.is_none())
    }

    /// The labels of its domains; `None` if it has none.
    pub fn domain_label(&self) -> Option<String> {
        let labels: Vec<&str> = self.domains.iter().map(|chosen| chosen.label.as_str()).collect();
        (!labels.is_empty()).then(|| labels.join(", "))
    }

    /// The slugs of its domains; `None` if it has none.
    pub fn domain_slug(&self) -> Option<String> {
        let slugs: Vec<&str> = self.domains.iter().map(|chosen| chosen.domain.as_str()).collect();
        (!slugs.is_empty()).then(|| slugs.join(", "))
    }

    /// The ethos as a program reads it.
    pub fn to_document(&self) -> Value {
        let rules: Vec<Value> = self.rules_in_force().map(EthosRule::to_document).collect();
        let counts =
            |rule_type| self.rules_in_force().filter(|rule| rule.rule_type == rule_type).count();
        json!({
            "status": "success",
            "ethos_id": self.ethos_id,
            "dialogue_id": self.ethos_id.dialogue_id(),
            "version": self.version,
            "ethos_status": self.status,
            "domains": self.domains,
            "counts": {
                "rules": rules.len(),
                "principles": counts(RuleType::Principle),
                "tenets": counts(RuleType::Tenet),
                "constraints": counts(RuleType::Constraint),
                "conflicts": self.conflicts.len(),
            },
            "rules": rules,
            "conflicts": self.conflicts.iter().map(|conflict| self.conflict_document(conflict)).collect::<Vec<_>>(),
            "open_conflicts": self.open_conflicts().count(),
            "approved_by": self.approved_by,
            "approved_at": self.approved_at,
            "rejected_because": self.rejected_because,
        })
    }

    /// A conflict, with the sources of its rules: a rule that lost is not listed any more.
    fn conflict_document(&self, conflict: &RuleConflict) -> Value {
        let mut document = json!(conflict);
        let source = |name: &str| {
            let rule = self.rules.iter().find(|rule| rule.rule_id() == name);
            json!(rule.map(|rule| json!({ "source_id": rule.source_id, "label": rule.label })))
        };
        if let Value::Object(map) = &mut document {
            map.insert("a_source".to_owned(), source(&conflict.a));
            map.insert("b_source".to_owned(), source(&conflict.b));
        }
        document
    }
}

/// A tension that challenges a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleChallenge {
    pub tension: EntityId,
    pub ethos_id: EthosId,
    /// Such as `RULE05`.
    pub rule_id: String,
    /// Source of the rule. It is the same in the next version, where the number may differ.
    pub source_id: String,
    pub experts: Vec<ExpertSlug>,
}

/// What a calibrated dialogue has beside its rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CalibrationRecord {
    pub constraints: Vec<EthosConstraint>,
    /// All versions, oldest first.
    pub versions: Vec<DialogueEthos>,
    pub challenges: Vec<RuleChallenge>,
}

impl CalibrationRecord {
    /// The lens of the newest version that takes tenets from this domain.
    pub fn lens_of(&self, domain: &str) -> Option<String> {
        let chosen = self.versions.iter().rev().flat_map(|ethos| &ethos.domains);
        chosen.into_iter().find(|one| one.domain == domain)?.lens.clone()
    }

    /// The ethos that binds the dialogue: the newest approved version.
    pub fn approved_ethos(&self) -> Option<&DialogueEthos> {
        self.versions.iter().rev().find(|ethos| ethos.status == EthosStatus::Approved)
    }

    /// Adds a version, or replaces what it was.
    pub(crate) fn save_version(&mut self, ethos: &DialogueEthos) {
        let known = self.versions.iter_mut().find(|known| known.ethos_id == ethos.ethos_id);
        match known {
            Some(known) => known.clone_from(ethos),
            None => self.versions.push(ethos.clone()),
        }
    }

    /// The challenges of a rule, also those of its earlier versions.
    pub fn challenges_of<'a>(
        &'a self,
        rule: &'a EthosRule,
    ) -> impl Iterator<Item = &'a RuleChallenge> {
        self.challenges.iter().filter(|challenge| challenge.source_id == rule.source_id)
    }
}

/// The rules that a tension challenges, by number: `challenges RULE05` in its label or text.
pub fn challenged_rules<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<u16> {
    let mut found = Vec::new();
    for text in texts {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
        let mut is_challenge = false;
        for word in &mut words {
            let rule = parse_rule_id(word);
            match rule {
                // `challenges RULE02 and RULE05` names two rules.
                Some(seq) if is_challenge && !found.contains(&seq) => found.push(seq),
                Some(_) => {}
                None => {
                    let joins = ["and", "or"].iter().any(|join| word.eq_ignore_ascii_case(join));
                    is_challenge = word.eq_ignore_ascii_case("challenges") || is_challenge && joins;
                }
            }
        }
    }
    found
}
