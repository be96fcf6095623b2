//! Conflicts between rules: found in code or proposed by a model, resolved by priority or a person.

use serde::{Deserialize, Serialize};

use crate::dialogue::request_fields::truncate_echo;
use crate::ethos::rule_set::{
    ConflictProposal, ConflictResolution, ConflictResolver, ConflictType, DialogueEthos, EthosRule,
    EthosStatus, RuleConflict, RuleStanding, RuleType, SupersededSource, parse_rule_id,
};
use crate::model::time::Moment;
use crate::model::validation_error::{ErrorCode, ValidationError};

/// A pair of rules by their places, found in code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FoundConflict {
    pub a: usize,
    pub b: usize,
    pub conflict_type: ConflictType,
    pub finding: &'static str,
}

impl FoundConflict {
    /// The place of the rule that priority removes.
    pub(crate) fn lost_by_priority(&self, rules: &[EthosRule]) -> Option<usize> {
        match winner_by_priority(rules.get(self.a)?, rules.get(self.b)?)? {
            ConflictResolution::ASupersedes => Some(self.b),
            ConflictResolution::BSupersedes => Some(self.a),
            ConflictResolution::Merged | ConflictResolution::Removed => None,
        }
    }
}

/// All pairs that code can tell are in conflict.
pub(crate) fn find_conflicts(rules: &[EthosRule]) -> Vec<FoundConflict> {
    let texts: Vec<(String, String)> = rules
        .iter()
        .map(|rule| (normalize_text(&rule.label), normalize_text(&rule.description)))
        .collect();
    let mut found = Vec::new();
    for (a, (first, first_text)) in rules.iter().zip(&texts).enumerate() {
        for (b, (second, second_text)) in rules.iter().zip(&texts).enumerate().skip(a + 1) {
            let same_source = first.source_id == second.source_id;
            if let Some((conflict_type, finding)) =
                compare_texts(same_source, first_text, second_text)
            {
                found.push(FoundConflict { a, b, conflict_type, finding });
            }
        }
    }
    found
}

fn compare_texts(
    is_same_source: bool,
    (label_a, text_a): &(String, String),
    (label_b, text_b): &(String, String),
) -> Option<(ConflictType, &'static str)> {
    let same_label = !label_a.is_empty() && label_a == label_b;
    let same_text = !text_a.is_empty() && text_a == text_b;
    if is_same_source {
        Some((ConflictType::Redundancy, "both come from the same source"))
    } else if same_text || same_label && (text_a.is_empty() || text_b.is_empty()) {
        Some((ConflictType::Redundancy, "both say the same"))
    } else if same_label {
        Some((ConflictType::Ambiguity, "both have the same label, and their texts differ"))
    } else {
        None
    }
}

/// Letters and digits in lower case, with one space between words.
pub(crate) fn normalize_text(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Between tenets the higher priority wins; every other pair needs a person.
fn winner_by_priority(a: &EthosRule, b: &EthosRule) -> Option<ConflictResolution> {
    let are_tenets = a.rule_type == RuleType::Tenet && b.rule_type == RuleType::Tenet;
    match a.priority.cmp(&b.priority) {
        std::cmp::Ordering::Greater if are_tenets => Some(ConflictResolution::ASupersedes),
        std::cmp::Ordering::Less if are_tenets => Some(ConflictResolution::BSupersedes),
        std::cmp::Ordering::Less | std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => None,
    }
}

/// Resolves the open conflicts that priority decides.
pub(crate) fn settle_by_priority(ethos: &mut DialogueEthos) {
    for place in 0..ethos.conflicts.len() {
        let Some(conflict) = ethos.conflicts.get(place).filter(|open| open.resolution.is_none())
        else {
            continue;
        };
        let (a, b) = (ethos.named_rule(&conflict.a), ethos.named_rule(&conflict.b));
        let (Some(a), Some(b)) = (a, b) else { continue };
        if let Some(resolution) = winner_by_priority(a, b) {
            let (high, low) = (a.priority.max(b.priority), a.priority.min(b.priority));
            let reason = format!("priority {high} over {low}");
            ethos.apply_resolution(place, resolution, &reason, ConflictResolver::Priority);
        }
    }
    ethos.close_moot_conflicts(ConflictResolver::Priority);
}

impl DialogueEthos {
    pub(crate) fn push_conflict(
        &mut self,
        a: String,
        b: String,
        conflict_type: ConflictType,
        finding: String,
    ) {
        let conflict = u16::try_from(self.conflicts.len() + 1).unwrap_or(u16::MAX);
        self.conflicts.push(RuleConflict {
            conflict,
            a,
            b,
            conflict_type,
            finding,
            resolution: None,
            reason: None,
            resolved_by: None,
            proposal: None,
        });
    }

    fn named_rule(&self, name: &str) -> Option<&EthosRule> {
        let seq = parse_rule_id(name)?;
        self.rules.iter().find(|rule| rule.seq == seq)
    }

    fn named_rule_mut(&mut self, name: &str) -> Option<&mut EthosRule> {
        let seq = parse_rule_id(name)?;
        self.rules.iter_mut().find(|rule| rule.seq == seq)
    }

    fn set_standing(&mut self, name: &str, standing: RuleStanding) {
        if let Some(rule) = self.named_rule_mut(name) {
            rule.standing = standing;
        }
    }

    /// `winner` takes the place of `loser`.
    fn supersede(&mut self, winner: &str, loser: &str, reason: &str) {
        self.set_standing(loser, RuleStanding::Superseded);
        let source = self.named_rule(loser).map(|rule| rule.source_id.clone());
        if let (Some(source_id), Some(rule)) = (source, self.named_rule_mut(winner)) {
            rule.supersedes.push(SupersededSource { source_id, reason: reason.to_owned() });
        }
    }

    fn merge(&mut self, a: &str, b: &str, reason: &str) {
        let Some(taken) = self.named_rule(b).cloned() else { return };
        self.supersede(a, b, reason);
        if let Some(rule) = self.named_rule_mut(a) {
            let text = format!("{}\n{}", rule.description, taken.description);
            text.trim().clone_into(&mut rule.description);
            rule.priority = rule.priority.max(taken.priority);
        }
    }

    fn apply_resolution(
        &mut self,
        place: usize,
        resolution: ConflictResolution,
        reason: &str,
        resolver: ConflictResolver,
    ) {
        let Some(conflict) = self.conflicts.get_mut(place) else { return };
        conflict.resolution = Some(resolution);
        conflict.reason = Some(reason.to_owned());
        conflict.resolved_by = Some(resolver);
        let (a, b) = (conflict.a.clone(), conflict.b.clone());
        if conflict.is_about_lens() {
            // The tenet takes part only if the person says that it does.
            if resolution == ConflictResolution::ASupersedes {
                self.set_standing(&a, RuleStanding::InForce);
            }
            return;
        }
        match resolution {
            ConflictResolution::ASupersedes => self.supersede(&a, &b, reason),
            ConflictResolution::BSupersedes => self.supersede(&b, &a, reason),
            ConflictResolution::Merged => self.merge(&a, &b, reason),
            ConflictResolution::Removed => {
                self.set_standing(&a, RuleStanding::Removed);
                self.set_standing(&b, RuleStanding::Removed);
            }
        }
    }

    /// A conflict ends when one of its rules is no longer in force.
    fn close_moot_conflicts(&mut self, resolver: ConflictResolver) {
        let is_out = |rule: Option<&EthosRule>| rule.is_some_and(|rule| !rule.is_in_force());
        let ends: Vec<_> = self
            .conflicts
            .iter()
            .map(|conflict| {
                let out_a = is_out(self.named_rule(&conflict.a));
                let out_b = is_out(self.named_rule(&conflict.b));
                let resolution = match (out_a, out_b) {
                    (true, true) => ConflictResolution::Removed,
                    (true, false) => ConflictResolution::BSupersedes,
                    (false, true) => ConflictResolution::ASupersedes,
                    (false, false) => return None,
                };
                let is_open = conflict.resolution.is_none() && !conflict.is_about_lens();
                is_open.then_some((resolution, if out_a { &conflict.a } else { &conflict.b }))
            })
            .map(|end| {
                end.map(|(resolution, gone)| (resolution, format!("{gone} is no longer in force")))
            })
            .collect();
        for (conflict, end) in self.conflicts.iter_mut().zip(ends) {
            if let Some((resolution, reason)) = end {
                conflict.resolution = Some(resolution);
                conflict.reason = Some(reason);
                conflict.resolved_by = Some(resolver);
            }
        }
    }

    /// Refuses to change an ethos that is decided.
    fn check_draft(&self) -> Result<(), ValidationError> {
        if self.status == EthosStatus::Draft {
            return Ok(());
        }
        let message = format!("{} is {}, and never changes again", self.ethos_id, self.status);
        let dialogue = self.ethos_id.dialogue_id().map(|id| id.to_string()).unwrap_or_default();
        Err(ValidationError::new(ErrorCode::EthosImmutable, message)
            .with_field("ethos_id")
            .with_value(self.ethos_id.as_str())
            .with_suggestion(format!(
                "`plenary ethos synthesize {dialogue}` makes the next version"
            )))
    }

    /// Resolves one conflict, as a person decides. Without a resolution, the model's proposal is
    /// accepted.
    pub fn resolve_conflict(
        &mut self,
        number: u16,
        resolution: Option<ConflictResolution>,
        reason: Option<&str>,
    ) -> Result<(), ValidationError> {
        self.check_draft()?;
        let open: Vec<u16> = self.open_conflicts().map(|conflict| conflict.conflict).collect();
        let place = self.conflicts.iter().position(|known| known.conflict == number);
        let found = place.and_then(|place| Some((place, self.conflicts.get(place)?)));
        let Some((place, conflict)) = found.filter(|(_, known)| known.resolution.is_none()) else {
            let message = format!("{} has no open conflict {number}", self.ethos_id);
            return Err(ValidationError::new(ErrorCode::TargetNotFound, message)
                .with_field("conflict")
                .with_value(number)
                .with_options(open)
                .with_suggestion(format!("`plenary ethos show {}` lists them", self.ethos_id)));
        };
        let missing = |field: &str| {
            let message = format!("required field '{field}' is missing");
            ValidationError::new(ErrorCode::MissingField, message).with_field(field)
        };
        let (resolution, reason, resolver) = match (resolution, &conflict.proposal) {
            (Some(resolution), _) => {
                let reason = reason.filter(|reason| !reason.trim().is_empty());
                (
                    resolution,
                    reason.ok_or_else(|| missing("reason"))?.to_owned(),
                    ConflictResolver::Manual,
                )
            }
            (None, Some(proposal)) => {
                let resolution = proposal.resolution.ok_or_else(|| missing("resolution"))?;
                let reason = reason.unwrap_or(&proposal.reason).to_owned();
                (resolution, reason, ConflictResolver::Model)
            }
            (None, None) => {
                let options = ConflictResolution::ALL.iter();
                return Err(missing("resolution").with_options(options));
            }
        };
        if conflict.is_about_lens() && resolution == ConflictResolution::Merged {
            let message = "a tenet and a lens cannot be merged";
            return Err(ValidationError::new(ErrorCode::InvalidEnum, message)
                .with_field("resolution")
                .with_options(["a_supersedes", "b_supersedes", "removed"])
                .with_suggestion("a_supersedes keeps the tenet, the others leave it out"));
        }
        self.apply_resolution(place, resolution, &reason, resolver);
        self.close_moot_conflicts(resolver);
        Ok(())
    }

    /// Approves a draft without open conflicts.
    pub fn approve(&mut self, by: &str, at: Moment) -> Result<(), ValidationError> {
        self.check_draft()?;
        let open: Vec<String> =
            self.open_conflicts().map(|open| open.conflict.to_string()).collect();
        if !open.is_empty() {
            let message = format!("{} has open conflicts: {}", self.ethos_id, open.join(", "));
            return Err(ValidationError::new(ErrorCode::EthosConflictOpen, message)
                .with_field("ethos_id")
                .with_value(self.ethos_id.as_str())
                .with_context(serde_json::json!({ "conflicts": open }))
                .with_suggestion(format!(
                    "`plenary ethos resolve {} {} --as a_supersedes --why …` resolves one",
                    self.ethos_id,
                    open.first().map_or("1", String::as_str),
                )));
        }
        self.status = EthosStatus::Approved;
        self.approved_by = Some(by.to_owned());
        self.approved_at = Some(at);
        Ok(())
    }

    pub fn reject(&mut self, reason: &str) -> Result<(), ValidationError> {
        self.check_draft()?;
        self.status = EthosStatus::Rejected;
        self.rejected_because = Some(reason.to_owned());
        Ok(())
    }

    /// Adds the conflicts that a model proposes, and returns why it left some out. A quote must
    /// stand in its rule. Priority decides between tenets; a person decides the others.
    pub fn add_proposals(&mut self, proposals: Vec<ProposedConflict>) -> Vec<String> {
        let mut dropped = Vec::new();
        for proposed in proposals {
            if let Err(reason) = self.add_proposal(proposed) {
                dropped.push(reason);
            }
        }
        settle_by_priority(self);
        dropped
    }

    fn add_proposal(&mut self, proposed: ProposedConflict) -> Result<(), String> {
        let ProposedConflict { a, b, conflict_type, quote_a, quote_b, resolution, reason } =
            proposed;
        let named = |name: &str| {
            let rule = self.named_rule(name).filter(|rule| rule.is_in_force());
            rule.ok_or_else(|| format!("{} is no rule in force", truncate_echo(name)))
        };
        let (first, second) = (named(&a)?, named(&b)?);
        for (rule, quote) in [(first, &quote_a), (second, &quote_b)] {
            if !is_quoted_from(rule, quote) {
                let (quote, id) = (truncate_echo(quote), rule.rule_id());
                return Err(format!("the quote '{quote}' does not occur in {id}"));
            }
        }
        let (a, b) = (first.rule_id(), second.rule_id());
        let is_known =
            |known: &RuleConflict| known.a == a && known.b == b || known.a == b && known.b == a;
        if a == b || self.conflicts.iter().any(is_known) {
            return Err(format!("the pair {a} and {b} is known, or is one rule"));
        }
        self.push_conflict(a, b, conflict_type, reason.clone());
        if let Some(conflict) = self.conflicts.last_mut() {
            conflict.proposal = Some(ConflictProposal { quote_a, quote_b, resolution, reason });
        }
        Ok(())
    }
}

impl RuleConflict {
    fn is_about_lens(&self) -> bool {
        parse_rule_id(&self.b).is_none()
    }
}

/// A conflict as a model reports it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct ProposedConflict {
    pub a: String,
    pub b: String,
    #[serde(rename = "type")]
    pub conflict_type: ConflictType,
    pub quote_a: String,
    pub quote_b: String,
    #[serde(default)]
    pub resolution: Option<ConflictResolution>,
    #[serde(default)]
    pub reason: String,
}

/// Whether the words stand in the label or the description of a rule. Spaces and case do not count.
fn is_quoted_from(rule: &EthosRule, quote: &str) -> bool {
    let plain = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ")
    };
    let quote = plain(quote);
    !quote.is_empty()
        && [&rule.label, &rule.description].iter().any(|text| plain(text).contains(&quote))
}

#[cfg(test)]
#[path = "conflicts_tests.rs"]
mod tests;
