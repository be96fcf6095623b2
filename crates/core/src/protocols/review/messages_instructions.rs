//! System prompts of the review seats, built in or replaced by the operator.
//!
//! A system prompt depends on the seat's name, the round, the policy and the operator's
//! instructions. No text of an artifact, its context or a judgement can enter it.

use crate::model::hash::sha256_hex;
use crate::model::ids::ExpertSlug;
use crate::prompting::instructions::{ADJUDICATION, JUDGEMENT, STRICTER};
use crate::protocols::review::policy::PolicyName;
use crate::protocols::review::types::{BuiltInDeliberator, ReviewPlan, score_names};

const DELIBERATOR: &str = include_str!("../../../../../prompts/gate/deliberator.md");
const MATERIAL: &str = include_str!("../../../../../prompts/gate/judgement-material.md");
const SCORES: &str = include_str!("../../../../../prompts/gate/scores.md");
const OWN_SCORES: &str = include_str!("../../../../../prompts/gate/own-scores.md");

const FIRST_READING: &str = include_str!("../../../../../prompts/gate/first-reading.md");
const CROSS_READING: &str = include_str!("../../../../../prompts/gate/cross-reading.md");
const FIRST_SHAPE: &str = include_str!("../../../../../prompts/gate/shape-first-reading.md");
const CROSS_SHAPE: &str = include_str!("../../../../../prompts/gate/shape-cross-reading.md");

const ADJUDICATOR: &str = include_str!("../../../../../prompts/gate/adjudicator.md");
const POLICY_SEED: &str = include_str!("../../../../../prompts/gate/policy-seed.md");
const POLICY_STRICT: &str = include_str!("../../../../../prompts/gate/policy-strict.md");

const SKEPTIC: &str = include_str!("../../../../../prompts/gate/skeptic.md");
const VOICE_IDENTITY: &str = include_str!("../../../../../prompts/gate/voice_identity.md");
const EVIDENCE: &str = include_str!("../../../../../prompts/gate/evidence.md");
const STRATEGY: &str = include_str!("../../../../../prompts/gate/strategy.md");

/// The reply shape of scores for a deliberator without predefined score names.
const OWN_SCORES_SHAPE: &str = r#"[{"name": "…", "score": 1-5}]"#;

/// The two rounds in which a deliberator reads an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingRound {
    First,
    Cross,
}

/// The instructions of the adjudicator.
pub fn adjudicator_system(gate: &ReviewPlan) -> String {
    adjudicator_prompt(gate.policy.name)
}

/// The instructions of a deliberator; none if the seat is not one of this review.
pub fn deliberator_system(
    gate: &ReviewPlan,
    turn: ReadingRound,
    seat: &ExpertSlug,
) -> Option<String> {
    let deliberator = gate.find_deliberator(seat)?;
    Some(deliberator_prompt(seat.as_str(), deliberator.instructions.as_deref(), turn))
}

/// Digest of everything a deliberator is told; part of its seat's version.
pub fn deliberator_digest(name: &str, instructions: Option<&str>) -> String {
    let told = [
        deliberator_prompt(name, instructions, ReadingRound::First),
        deliberator_prompt(name, instructions, ReadingRound::Cross),
        JUDGEMENT.task.to_owned(),
        crate::prompting::instructions::CROSS_READING.task.to_owned(),
        STRICTER.to_owned(),
    ];
    sha256_hex(told.iter().map(String::as_bytes))
}

/// The same for the adjudicator, over all policies.
pub fn adjudicator_digest() -> String {
    let told = PolicyName::ALL.iter().map(|policy| adjudicator_prompt(*policy));
    let ours = [ADJUDICATION.task.to_owned(), STRICTER.to_owned()];
    let told: Vec<String> = told.chain(ours).collect();
    sha256_hex(told.iter().map(String::as_bytes))
}

/// All built-in instructions.
pub(crate) fn all_instructions() -> Vec<String> {
    let names = BuiltInDeliberator::ALL.iter().map(|one| one.name()).chain(["own"]);
    let turns = names.flat_map(|name| [(name, ReadingRound::First), (name, ReadingRound::Cross)]);
    let deliberators = turns.map(|(name, turn)| deliberator_prompt(name, None, turn));
    deliberators.chain(PolicyName::ALL.iter().map(|policy| adjudicator_prompt(*policy))).collect()
}

fn deliberator_prompt(name: &str, instructions: Option<&str>, turn: ReadingRound) -> String {
    let (when, round, shape) = match turn {
        ReadingRound::First => ("your first reading", FIRST_READING, FIRST_SHAPE),
        ReadingRound::Cross => ("the cross-reading", CROSS_READING, CROSS_SHAPE),
    };
    let first = format!("You are the deliberator `{name}` of an artifact gate, at {when}.");
    let built_in = || BuiltInDeliberator::named(name).map(built_in_part);
    let part = instructions.or_else(built_in).unwrap_or_default();
    let (scores, shape) = (scores_paragraph(name), shape.replace("{scores}", &scores_shape(name)));
    let paragraphs = [&first, DELIBERATOR, part, round, &scores, MATERIAL, &shape];
    let paragraphs = paragraphs.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn built_in_part(of: BuiltInDeliberator) -> &'static str {
    match of {
        BuiltInDeliberator::Skeptic => SKEPTIC,
        BuiltInDeliberator::VoiceIdentity => VOICE_IDENTITY,
        BuiltInDeliberator::Evidence => EVIDENCE,
        BuiltInDeliberator::Strategy => STRATEGY,
    }
}

/// The scores to give. A built-in name keeps its scores under an operator's instructions, so that
/// statistics over months stay comparable.
fn scores_paragraph(name: &str) -> String {
    let Some(names) = score_names(name) else { return OWN_SCORES.to_owned() };
    SCORES.replace("{names}", &names.map(|name| format!("`{name}`")).join(", "))
}

fn scores_shape(name: &str) -> String {
    let Some(names) = score_names(name) else { return OWN_SCORES_SHAPE.to_owned() };
    format!("{{{}}}", names.map(|name| format!("\"{name}\": 1-5")).join(", "))
}

fn adjudicator_prompt(policy: PolicyName) -> String {
    let policy = match policy {
        PolicyName::Seed => POLICY_SEED,
        PolicyName::Strict => POLICY_STRICT,
    };
    ADJUDICATOR.replace("{policy}", policy.trim_end()).trim_end().to_owned()
}
