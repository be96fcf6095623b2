//! Synthesis: gathers principles, tenets and constraints into the numbered rules of one ethos.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dialogue::request_fields::truncate_echo;
use crate::ethos::conflicts::{FoundConflict, find_conflicts, settle_by_priority};
use crate::ethos::library::{EthosDomain, EthosLens, EthosLibrary, EthosTenet, ItemStatus};
use crate::ethos::rule_set::{
    ChosenDomain, ConflictType, DialogueEthos, EthosConstraint, EthosId, EthosRule, EthosStatus,
    RULES_MAX, RuleStanding, RuleType, VERSIONS_MAX,
};
use crate::model::ids::DialogueId;
use crate::model::limits::LINE_CHARS_MAX;
use crate::model::validation_error::{ErrorCode, ValidationError};

/// A domain to take tenets from, through one of its lenses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DomainChoice {
    /// Slug or code.
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub domain: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub lens: Option<String>,
}

impl DomainChoice {
    /// Reads `fiduciary-investment` or `fiduciary-investment:FID-LN01`.
    pub fn from_text(text: &str) -> Self {
        let (domain, lens) = match text.split_once(':') {
            Some((domain, lens)) => (domain, Some(lens.to_owned())),
            None => (text, None),
        };
        Self { domain: domain.to_owned(), lens }
    }
}

/// What an ethos is made of.
#[derive(Debug)]
pub struct SynthesisInput<'a> {
    pub dialogue: &'a DialogueId,
    pub version: u32,
    pub library: &'a EthosLibrary,
    pub constraints: &'a [EthosConstraint],
    pub domains: &'a [DomainChoice],
}

/// Makes a draft. Conflicts between tenets of different priority are resolved; the others are open.
///
/// # Errors
/// An unknown or deprecated domain or lens, a circle of domains, no rule at all, too many rules.
pub fn synthesize_ethos(input: &SynthesisInput<'_>) -> Result<DialogueEthos, ValidationError> {
    let mut candidates = Candidates::default();
    candidates.add_principles(input.library);
    let mut domains = Vec::new();
    for choice in input.domains {
        let chosen = candidates.add_domain(input.library, choice)?;
        if !domains.contains(&chosen) {
            domains.push(chosen);
        }
    }
    candidates.sort_tenets();
    candidates.add_constraints(input.constraints);
    let too_many = |message: String| ValidationError::new(ErrorCode::FieldTooLong, message);
    let version_full = || {
        too_many(format!("a dialogue has at most {VERSIONS_MAX} versions of its ethos"))
            .with_suggestion("open a new dialogue")
    };
    let ethos_id = EthosId::of_version(input.dialogue, input.version).ok_or_else(version_full)?;
    let mut ethos = DialogueEthos {
        ethos_id,
        version: input.version,
        status: EthosStatus::Draft,
        domains,
        rules: Vec::new(),
        conflicts: Vec::new(),
        approved_by: None,
        approved_at: None,
        rejected_because: None,
    };
    candidates.into_ethos(&mut ethos);
    match ethos.rules_in_force().count() {
        0 => {
            let message = "no active principle, tenet or constraint gives a rule";
            Err(ValidationError::new(ErrorCode::RuleNotFound, message).with_suggestion(
                "add one with `plenary ethos principle add` or `plenary ethos constraint add`",
            ))
        }
        count if count > RULES_MAX => {
            Err(too_many(format!("{count} rules are more than the {RULES_MAX} of an ethos"))
                .with_suggestion("choose a lens, or deprecate what no longer applies"))
        }
        _ => Ok(ethos),
    }
}

/// Rules before they have numbers.
#[derive(Debug, Default)]
struct Candidates {
    rules: Vec<EthosRule>,
    /// Tenets that a lens excludes and gives a priority, with the lens.
    excluded: Vec<(EthosRule, String)>,
    first_tenet: usize,
}

impl Candidates {
    fn add_principles(&mut self, library: &EthosLibrary) {
        let active = library.principles.iter().filter(|item| item.status == ItemStatus::Active);
        self.rules.extend(active.map(|principle| EthosRule {
            label: principle.label.clone(),
            description: principle.description.clone(),
            ..blank_rule(RuleType::Principle, &principle.id, principle.priority)
        }));
        self.first_tenet = self.rules.len();
    }

    /// Adds the tenets of a domain, own and inherited, through the lens.
    fn add_domain(
        &mut self,
        library: &EthosLibrary,
        choice: &DomainChoice,
    ) -> Result<ChosenDomain, ValidationError> {
        let domain = library.require_domain(&choice.domain, "domains")?;
        check_active(domain.status, "domain", &domain.slug)?;
        let lens = match &choice.lens {
            Some(name) => Some(find_active_lens(library, domain, name)?),
            None => None,
        };
        for tenet in library.inherited_tenets(&domain.slug)? {
            match view_tenet(tenet, lens) {
                TenetView::Shown { priority } => self.add_tenet(tenet_rule(tenet, priority)),
                TenetView::Hidden => {}
                TenetView::Contradictory { priority, lens } => {
                    let rule = EthosRule {
                        standing: RuleStanding::Excluded,
                        ..tenet_rule(tenet, priority)
                    };
                    self.excluded.push((rule, lens.to_owned()));
                }
            }
        }
        Ok(ChosenDomain {
            domain: domain.slug.clone(),
            label: domain.label.clone(),
            lens: lens.map(|lens| lens.id.clone()),
        })
    }

    /// The same tenet with the same priority counts once.
    fn add_tenet(&mut self, rule: EthosRule) {
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }

    /// Highest priority first; equal ones by id.
    fn sort_tenets(&mut self) {
        if let Some(tenets) = self.rules.get_mut(self.first_tenet..) {
            tenets.sort_by(|a, b| {
                (Reverse(a.priority), &a.source_id).cmp(&(Reverse(b.priority), &b.source_id))
            });
        }
    }

    fn add_constraints(&mut self, constraints: &[EthosConstraint]) {
        self.rules.extend(constraints.iter().map(|constraint| EthosRule {
            label: constraint.label.clone(),
            description: constraint.description.clone().unwrap_or_default(),
            ..blank_rule(RuleType::Constraint, &constraint.id, constraint.priority)
        }));
    }

    /// Numbers the rules and finds their conflicts. Rules that lose by priority are numbered last,
    /// so that the rules in force have no gaps unless a person removes one.
    fn into_ethos(self, ethos: &mut DialogueEthos) {
        let mut found = find_conflicts(&self.rules);
        let lost: BTreeSet<usize> =
            found.iter().filter_map(|pair| pair.lost_by_priority(&self.rules)).collect();
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for (place, rule) in self.rules.into_iter().enumerate() {
            let list = if lost.contains(&place) { &mut last } else { &mut first };
            list.push((place, rule));
        }
        let numbered: Vec<(usize, EthosRule)> = first.into_iter().chain(last).collect();
        let place_of =
            |place: usize| numbered.iter().position(|(old, _)| *old == place).unwrap_or(place);
        for pair in &mut found {
            (pair.a, pair.b) = (place_of(pair.a), place_of(pair.b));
        }
        ethos.rules = numbered.into_iter().map(|(_, rule)| rule).collect();
        let lenses: Vec<String> = self.excluded.iter().map(|(_, lens)| lens.clone()).collect();
        let first_excluded = ethos.rules.len();
        ethos.rules.extend(self.excluded.into_iter().map(|(rule, _)| rule));
        for (rule, seq) in ethos.rules.iter_mut().zip(1..) {
            rule.seq = seq;
        }
        for pair in found {
            ethos.add_conflict(&pair);
        }
        for (place, lens) in lenses.into_iter().enumerate() {
            ethos.add_lens_conflict(first_excluded + place, lens);
        }
        settle_by_priority(ethos);
    }
}

impl DialogueEthos {
    fn add_lens_conflict(&mut self, place: usize, lens: String) {
        let Some(rule) = self.rules.get(place) else { return };
        let finding = format!("{lens} excludes {} and gives it a priority", rule.source_id);
        let a = rule.rule_id();
        self.push_conflict(a, lens, ConflictType::Ambiguity, finding);
    }

    fn add_conflict(&mut self, pair: &FoundConflict) {
        let name = |place: usize| self.rules.get(place).map(EthosRule::rule_id);
        if let (Some(a), Some(b)) = (name(pair.a), name(pair.b)) {
            self.push_conflict(a, b, pair.conflict_type, pair.finding.to_owned());
        }
    }
}

fn check_active(status: ItemStatus, what: &str, name: &str) -> Result<(), ValidationError> {
    if status == ItemStatus::Active {
        return Ok(());
    }
    let message = format!("the {what} '{name}' is {status}, and only active ones take part");
    Err(ValidationError::new(ErrorCode::TargetNotFound, message)
        .with_field("domains")
        .with_value(name)
        .with_suggestion("`plenary ethos` shows the status of each item"))
}

fn find_active_lens<'a>(
    library: &'a EthosLibrary,
    domain: &EthosDomain,
    name: &str,
) -> Result<&'a EthosLens, ValidationError> {
    let lens = library.find_lens(domain, name).ok_or_else(|| {
        let message = format!("the domain '{}' has no lens '{}'", domain.slug, truncate_echo(name));
        let known = library.lenses.iter().filter(|lens| lens.domain == domain.slug);
        ValidationError::new(ErrorCode::TargetNotFound, message)
            .with_field("domains")
            .with_value(name)
            .with_options(known.map(|lens| &lens.id))
            .with_suggestion(format!("`plenary ethos domain show {}` lists them", domain.slug))
    })?;
    check_active(lens.status, "lens", &lens.id)?;
    Ok(lens)
}

/// What a lens makes of a tenet.
#[derive(Debug, PartialEq, Eq)]
enum TenetView<'a> {
    Shown {
        priority: u32,
    },
    Hidden,
    /// Excluded, and yet given a priority.
    Contradictory {
        priority: u32,
        lens: &'a str,
    },
}

/// Applies the three lists of a lens in their order.
fn view_tenet<'a>(tenet: &EthosTenet, lens: Option<&'a EthosLens>) -> TenetView<'a> {
    let Some(lens) = lens else { return TenetView::Shown { priority: tenet.priority } };
    let is_included = lens.include_tenets.as_ref().is_none_or(|list| list.contains(&tenet.id));
    let is_excluded = lens.exclude_tenets.contains(&tenet.id);
    match (lens.priority_overrides.get(&tenet.id), is_included && !is_excluded) {
        (Some(priority), true) => TenetView::Shown { priority: *priority },
        (None, true) => TenetView::Shown { priority: tenet.priority },
        (Some(priority), false) => TenetView::Contradictory { priority: *priority, lens: &lens.id },
        (None, false) => TenetView::Hidden,
    }
}

fn blank_rule(rule_type: RuleType, source_id: &str, priority: u32) -> EthosRule {
    EthosRule {
        seq: 0,
        rule_type,
        source_id: source_id.to_owned(),
        source_domain: None,
        label: String::new(),
        description: String::new(),
        priority,
        supersedes: Vec::new(),
        standing: RuleStanding::InForce,
    }
}

fn tenet_rule(tenet: &EthosTenet, priority: u32) -> EthosRule {
    EthosRule {
        source_domain: Some(tenet.domain.clone()),
        label: tenet.label.clone(),
        description: tenet.description.clone(),
        ..blank_rule(RuleType::Tenet, &tenet.id, priority)
    }
}
