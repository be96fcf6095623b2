//! Valid replies to every request of a council or a review.

use plenary_core::model::ask::AskPurpose;
use plenary_core::protocols::classification::protocol::CLASSIFY;
use serde_json::{Value, json};

use super::server::ModelRequest;

/// The purpose of a request, from the first keyword in its instructions.
pub fn purpose_of(seen: &ModelRequest) -> AskPurpose {
    let result = seen.instructions().to_lowercase();
    [
        ("participant", AskPurpose::Opinion),
        ("reviewer", AskPurpose::PeerReview),
        ("chair", AskPurpose::Synthesis),
        ("you are the synthesizer.", AskPurpose::Conclusion),
        ("blind critic", AskPurpose::Audit),
        ("revision mode", AskPurpose::Revision),
        ("restate", AskPurpose::Restatement),
        ("first reading", AskPurpose::Judgement),
        ("cross-reading", AskPurpose::CrossReading),
        ("adjudicator", AskPurpose::Adjudication),
        ("you are the classifier", CLASSIFY),
    ]
    .into_iter()
    .filter_map(|(word, purpose)| Some((result.find(word)?, purpose)))
    .min_by_key(|(place, _)| *place)
    .map_or(AskPurpose::Opinion, |(_, purpose)| purpose)
}

/// A valid document for the requested purpose.
pub fn valid_reply(seen: &ModelRequest) -> Value {
    let letters = find_letters(&seen.user);
    match purpose_of(seen) {
        AskPurpose::Opinion => opinion_reply(),
        AskPurpose::PeerReview => review_reply(&letters),
        AskPurpose::Synthesis => report_reply(&letters),
        AskPurpose::Conclusion | AskPurpose::Revision => conclusion_reply(),
        AskPurpose::Audit => json!("PASS"),
        AskPurpose::Restatement => json!("Go ahead, but slowly."),
        AskPurpose::Judgement | AskPurpose::CrossReading => judgement_reply(&seen.instructions()),
        AskPurpose::Adjudication => adjudication_reply(),
        // The tests of alignment dialogues write their own replies.
        AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Other(_) => Value::Null,
    }
}

/// The same as reply text: a plain string is not quoted as JSON.
pub fn valid_reply_text(seen: &ModelRequest) -> String {
    let document = valid_reply(seen);
    document.as_str().map_or_else(|| document.to_string(), str::to_owned)
}

/// The letters of the opinions in a text, in order: from our fences, ignoring their content;
/// without fences from text such as `Opinion B`.
fn find_letters(text: &str) -> Vec<String> {
    const FENCE: &str = "\n===== BEGIN material OPINION ";
    let mark = if text.contains(FENCE) { FENCE } else { "Opinion " };
    let mut letters: Vec<String> = text
        .match_indices(mark)
        .filter_map(|(place, word)| {
            let mut rest = text[place + word.len()..].chars();
            let letter = rest.next().filter(char::is_ascii_uppercase)?;
            let ends = rest.next().is_none_or(|next| !next.is_alphanumeric());
            ends.then(|| letter.to_string())
        })
        .collect();
    letters.sort();
    letters.dedup();
    if letters.is_empty() { vec!["A".to_owned()] } else { letters }
}

/// A deliberator that passes the artifact.
fn judgement_reply(result: &str) -> Value {
    let scores = find_score_names(result).into_iter().map(|name| (name, json!(4)));
    json!({
        "verdict": "ship",
        "scores": Value::Object(scores.collect()),
        "would_block": false,
        "irreducible": false,
        "concerns": [{ "locus": "L1", "issue": "The title is long.", "fix": "Shorten it." }],
        "revision_brief": "Shorten the title.",
    })
}

/// The score names in a deliberator's instructions; without any, a default.
fn find_score_names(result: &str) -> Vec<String> {
    let result = result.lines().find_map(|line| line.split_once("under these names: "));
    let names = result.map_or("`clarity`", |(_, names)| names).split('`').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

fn adjudication_reply() -> Value {
    json!({
        "final_verdict": "SHIP",
        "reasoning": "Nobody blocks it.",
        "revision_brief": "Shorten the title.",
        "downgrade": false,
    })
}

fn opinion_reply() -> Value {
    json!({
        "summary": "Yes, in small steps. Each step can be taken back.",
        "details": {
            "understanding": "Whether to go ahead.",
            "key_considerations": ["What it costs to go back"],
            "recommendation": "Go ahead in small steps.",
            "rationale": "A small step shows what a plan cannot.",
        },
        "risks": [{ "description": "It takes longer.", "severity": "low", "mitigation": "Say so." }],
        "assumptions": ["There is time."],
        "questions": ["Who decides when to stop?"],
        "confidence": "high",
        "stance": "approve",
        "findings": [],
    })
}

/// The first letter is rated best, so that tests know the winner.
fn review_reply(letters: &[String]) -> Value {
    let target = |(place, letter): (usize, &String)| {
        json!({
            "letter": letter,
            "rating": 9_usize.saturating_sub(place).max(1),
            "critiques": [{ "type": "omission", "message": "Who pays is left out.", "severity": "low" }],
            "agreement_points": ["Small steps"],
            "disagreement_points": [],
            "finding_positions": [],
        })
    };
    json!({
        "targets": letters.iter().enumerate().map(target).collect::<Vec<_>>(),
        "would_change_my_opinion": ["A cost that cannot be taken back"],
    })
}

/// The program fills in the participants itself and ignores these.
fn conclusion_reply() -> Value {
    json!({
        "recommendation": "Go ahead in small steps, because each can be taken back.",
        "key_condition": "Going back stays cheap.",
        "unresolved_points": [],
        "review_by": "2999-01-01",
        "participants": [],
    })
}

fn report_reply(letters: &[String]) -> Value {
    let supporting = |letter: &String| json!({ "provider": letter, "key_point": "Small steps", "weight": "high" });
    json!({
        "conclusion": { "outcome": "adopt", "statement": "Go ahead in small steps." },
        "rationale": {
            "summary": "All see that a small step can be taken back.",
            "supporting_opinions": letters.iter().map(supporting).collect::<Vec<_>>(),
            "supporting_reviews": [],
        },
        "disagreements": [],
        "uncertainties": [{
            "area": "cost", "confidence": "medium", "reason": "nobody counted",
            "suggested_verification": "count",
        }],
        "risks": [{
            "description": "It takes longer.", "severity": "low", "mentioned_by": letters,
            "mitigation": "Say so.", "consensus": "agreed",
        }],
        "next_actions": [{ "action": "Take the first step.", "priority": "high", "rationale": "It is the first." }],
        "consensus_points": ["Small steps"],
        "alternatives": [],
        "verification_plan": [],
        "findings": [],
    })
}
