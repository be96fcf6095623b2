//! What is ours in the messages of a gate, and what its operator wrote.
//!
//! A system message depends on the seat's name, the round and the policy, and on the
//! instructions that the operator put in place of the built-in ones. Nothing of an artifact,
//! of its context or of anybody's judgement can be in it.

use crate::domain::ask::Purpose;
use crate::domain::digest::sha256_hex;
use crate::domain::gate::{BuiltIn, GatePlan, PolicyName, score_names};
use crate::domain::ids::ExpertSlug;
use crate::prompting::instructions::{STRICTER, task};

const DELIBERATOR: &str = include_str!("../../../prompts/gate/deliberator.md");
const MATERIAL: &str = include_str!("../../../prompts/gate/judgement-material.md");
const SCORES: &str = include_str!("../../../prompts/gate/scores.md");
const OWN_SCORES: &str = include_str!("../../../prompts/gate/own-scores.md");

const FIRST_READING: &str = include_str!("../../../prompts/gate/first-reading.md");
const CROSS_READING: &str = include_str!("../../../prompts/gate/cross-reading.md");
const FIRST_SHAPE: &str = include_str!("../../../prompts/gate/shape-first-reading.md");
const CROSS_SHAPE: &str = include_str!("../../../prompts/gate/shape-cross-reading.md");

const ADJUDICATOR: &str = include_str!("../../../prompts/gate/adjudicator.md");
const POLICY_SEED: &str = include_str!("../../../prompts/gate/policy-seed.md");
const POLICY_STRICT: &str = include_str!("../../../prompts/gate/policy-strict.md");

const SKEPTIC: &str = include_str!("../../../prompts/gate/skeptic.md");
const VOICE_IDENTITY: &str = include_str!("../../../prompts/gate/voice_identity.md");
const EVIDENCE: &str = include_str!("../../../prompts/gate/evidence.md");
const STRATEGY: &str = include_str!("../../../prompts/gate/strategy.md");

/// How the scores of a deliberator look whose names we do not know.
const OWN_SCORES_SHAPE: &str = r#"[{"name": "…", "score": 1-5}]"#;

/// The two times that a deliberator reads an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    First,
    Cross,
}

/// The instructions of a seat of this gate; nothing, where it is asked for no part in one.
pub fn gate_system(gate: &GatePlan, purpose: Purpose, seat: &ExpertSlug) -> Option<String> {
    let turn = match purpose {
        Purpose::Judgement => Turn::First,
        Purpose::CrossReading => Turn::Cross,
        Purpose::Adjudication => return Some(adjudicating(gate.policy.name)),
        Purpose::Opinion
        | Purpose::Review
        | Purpose::Synthesis
        | Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement => return None,
    };
    let deliberator = gate.deliberator(seat)?;
    Some(deliberating(seat.as_str(), deliberator.instructions.as_deref(), turn))
}

/// Changes when anything does that a deliberator is told: part of its seat's version.
pub fn gate_digest(name: &str, instructions: Option<&str>) -> String {
    let told = [
        deliberating(name, instructions, Turn::First),
        deliberating(name, instructions, Turn::Cross),
        task(Purpose::Judgement).to_owned(),
        task(Purpose::CrossReading).to_owned(),
        STRICTER.to_owned(),
    ];
    sha256_hex(told.iter().map(String::as_bytes))
}

/// The same for the adjudicator, whatever the policy.
pub fn adjudicator_digest() -> String {
    let told = PolicyName::ALL.iter().map(|policy| adjudicating(*policy));
    let ours = [task(Purpose::Adjudication).to_owned(), STRICTER.to_owned()];
    let told: Vec<String> = told.chain(ours).collect();
    sha256_hex(told.iter().map(String::as_bytes))
}

/// All the instructions of ours.
pub(in crate::prompting) fn texts() -> Vec<String> {
    let names = BuiltIn::ALL.iter().map(|one| one.name()).chain(["own"]);
    let turns = names.flat_map(|name| [(name, Turn::First), (name, Turn::Cross)]);
    let deliberators = turns.map(|(name, turn)| deliberating(name, None, turn));
    deliberators.chain(PolicyName::ALL.iter().map(|policy| adjudicating(*policy))).collect()
}

fn deliberating(name: &str, instructions: Option<&str>, turn: Turn) -> String {
    let (when, round, shape) = match turn {
        Turn::First => ("your first reading", FIRST_READING, FIRST_SHAPE),
        Turn::Cross => ("the cross-reading", CROSS_READING, CROSS_SHAPE),
    };
    let first = format!("You are the deliberator `{name}` of an artifact gate, at {when}.");
    let built_in = || BuiltIn::named(name).map(part);
    let part = instructions.or_else(built_in).unwrap_or_default();
    let (scores, shape) = (scores(name), shape.replace("{scores}", &scores_shape(name)));
    let paragraphs = [&first, DELIBERATOR, part, round, &scores, MATERIAL, &shape];
    let paragraphs = paragraphs.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn part(of: BuiltIn) -> &'static str {
    match of {
        BuiltIn::Skeptic => SKEPTIC,
        BuiltIn::VoiceIdentity => VOICE_IDENTITY,
        BuiltIn::Evidence => EVIDENCE,
        BuiltIn::Strategy => STRATEGY,
    }
}

/// Which scores are due. A built-in name keeps its own under an operator's instructions too, so
/// that what is counted over months stays one thing.
fn scores(name: &str) -> String {
    let Some(names) = score_names(name) else { return OWN_SCORES.to_owned() };
    SCORES.replace("{names}", &names.map(|name| format!("`{name}`")).join(", "))
}

fn scores_shape(name: &str) -> String {
    let Some(names) = score_names(name) else { return OWN_SCORES_SHAPE.to_owned() };
    format!("{{{}}}", names.map(|name| format!("\"{name}\": 1-5")).join(", "))
}

fn adjudicating(policy: PolicyName) -> String {
    let policy = match policy {
        PolicyName::Seed => POLICY_SEED,
        PolicyName::Strict => POLICY_STRICT,
    };
    ADJUDICATOR.replace("{policy}", policy.trim_end()).trim_end().to_owned()
}
