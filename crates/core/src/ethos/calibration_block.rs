//! The calibration of a dialogue as experts read it: the block of the round context and the text of
//! the prompts.

use serde::Serialize;

use crate::dialogue::expert_prompts::foreign_text::{mark_imitations, sanitize_name};
use crate::ethos::rule_set::{DialogueEthos, EthosId, EthosRule, RuleType};
use crate::model::text::to_one_line;

const CHALLENGE: &str = include_str!("../../../../prompts/alignment/calibration.md");

/// The block of the round context, in the shape of the seed.
#[derive(Debug, Serialize)]
pub struct CalibrationContext<'a> {
    ethos_id: &'a EthosId,
    domain: Option<String>,
    rules: Vec<ContextRule<'a>>,
    prompt_injection: String,
}

#[derive(Debug, Serialize)]
struct ContextRule<'a> {
    seq: u16,
    #[serde(rename = "type")]
    rule_type: RuleType,
    label: &'a str,
    priority: u32,
}

impl<'a> CalibrationContext<'a> {
    pub fn new(ethos: &'a DialogueEthos) -> Self {
        let rules = ethos.rules_in_force().map(|rule| ContextRule {
            seq: rule.seq,
            rule_type: rule.rule_type,
            label: &rule.label,
            priority: rule.priority,
        });
        Self {
            ethos_id: &ethos.ethos_id,
            domain: ethos.domain_label(),
            rules: rules.collect(),
            prompt_injection: format!(
                "{}\n\n{}\n\n{}",
                calibration_heading(ethos),
                rules_text(ethos),
                challenge_text(),
            ),
        }
    }
}

/// The heading without the domain.
pub(crate) const CALIBRATION_HEADING: &str = "## Calibration";

/// `## Calibration: Fiduciary Investment Analysis`.
pub fn calibration_heading(ethos: &DialogueEthos) -> String {
    match ethos.domain_label() {
        Some(label) => format!("{CALIBRATION_HEADING}: {}", sanitize_name(&label)),
        None => CALIBRATION_HEADING.to_owned(),
    }
}

/// How to challenge a rule.
pub fn challenge_text() -> &'static str {
    CHALLENGE.trim_end()
}

/// The rules by type: principles, tenets with their priority, constraints. People wrote the labels
/// and descriptions, so a prompt puts this text in a fence.
pub fn rules_text(ethos: &DialogueEthos) -> String {
    let parts = [
        (RuleType::Principle, "### Principles"),
        (RuleType::Tenet, "### Tenets (the higher priority wins)"),
        (RuleType::Constraint, "### Constraints"),
    ];
    let parts = parts.into_iter().filter_map(|(rule_type, heading)| {
        let rules = ethos.rules_in_force().filter(|rule| rule.rule_type == rule_type);
        let lines: Vec<String> = rules.map(rule_line).collect();
        (!lines.is_empty()).then(|| format!("{heading}\n\n{}", lines.join("\n")))
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

/// `- RULE02 (priority 1000) Fiduciary duty first: The beneficiaries …`
fn rule_line(rule: &EthosRule) -> String {
    let priority = match rule.rule_type {
        RuleType::Tenet => format!(" (priority {})", rule.priority),
        RuleType::Principle | RuleType::Constraint => String::new(),
    };
    let label = to_one_line(&rule.label);
    let text = mark_imitations(&to_one_line(&rule.description));
    let text = if text.is_empty() { text } else { format!(": {text}") };
    format!("- {}{priority} {label}{text}", rule.rule_id())
}
