//! Reviews as one SARIF 2.1.0 document: a rule per deliberator, a result per concern.

use serde_json::{Map, Value, json};

use super::concerns::PlacedConcern;
use super::document::{ReviewDocument, ReviewVerdict};
use super::grade::Grade;
use super::words;
use crate::domain::digest::sha256_hex;
use crate::domain::gate::BuiltIn;
use crate::domain::shortened::one_line;
use crate::export::safe_text;

/// The rule of the verdict itself.
const VERDICT: &str = "gate/verdict";

/// Hex digits of a fingerprint.
const FINGERPRINT_CHARS: usize = 32;

/// The document of all reviewed files. `unread` lists files that could not be read, with the
/// reason.
pub fn sarif(reviews: &[ReviewDocument], unread: &[(String, String)]) -> Value {
    let rules = rules(reviews);
    let findings = reviews.iter().flat_map(findings);
    let results: Vec<Value> = findings.map(|finding| finding.result(&rules)).collect();
    let unread_notes = unread.iter().map(|(path, why)| note("error", why, path));
    let notifications: Vec<Value> =
        reviews.iter().flat_map(notifications).chain(unread_notes).collect();
    let is_decided = |told: &ReviewDocument| told.verdict != ReviewVerdict::Incomplete;
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Plenary",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|name| rule(name)).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": unread.is_empty() && reviews.iter().all(is_decided),
                "toolExecutionNotifications": notifications,
            }],
            "artifacts": reviews.iter().map(artifact).collect::<Vec<_>>(),
            "results": results,
            "columnKind": "unicodeCodePoints",
            "properties": { "verdicts": reviews.iter().map(verdict).collect::<Vec<_>>() },
        }],
    })
}

/// The deliberators of all reviews, then the verdict rule.
fn rules(reviews: &[ReviewDocument]) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    let rows = reviews.iter().flat_map(|told| &told.round1).map(|said| &said.row);
    for row in rows {
        if !rules.iter().any(|known| known == row.deliberator()) {
            rules.push(row.deliberator().to_owned());
        }
    }
    rules.push(VERDICT.to_owned());
    rules
}

fn rule(name: &str) -> Value {
    let description = match BuiltIn::named(name) {
        Some(built_in) => looks_for(built_in).to_owned(),
        None if name == VERDICT => "What the gate decided of the document".to_owned(),
        None => format!("What the deliberator {name} holds against it"),
    };
    json!({ "id": name, "name": name, "shortDescription": { "text": description } })
}

fn looks_for(deliberator: BuiltIn) -> &'static str {
    match deliberator {
        BuiltIn::Skeptic => "Whether the argument stands, and what would be objected",
        BuiltIn::VoiceIdentity => "Whether it sounds like whoever signs it",
        BuiltIn::Evidence => "Whether what it claims is sourced, and no surer than that",
        BuiltIn::Strategy => "Whether it serves the goal, and what it puts at stake",
    }
}

/// A SARIF result before serialisation.
struct Finding<'a> {
    rule: &'a str,
    grade: Grade,
    text: String,
    /// The fingerprint, stable across runs.
    mark: String,
    location: Value,
    properties: Value,
}

impl Finding<'_> {
    fn result(&self, rules: &[String]) -> Value {
        let level = match self.grade {
            Grade::Error => "error",
            Grade::Warning => "warning",
            Grade::Note => "note",
        };
        json!({
            "ruleId": self.rule,
            "ruleIndex": rules.iter().position(|known| known == self.rule),
            "level": level,
            "message": { "text": message(&self.text) },
            "locations": [self.location],
            "partialFingerprints": { "plenaryConcern/v1": self.mark },
            "properties": self.properties,
        })
    }
}

fn findings(told: &ReviewDocument) -> Vec<Finding<'_>> {
    let mut seen: Vec<String> = Vec::new();
    let mut findings = Vec::new();
    for placed in &told.concerns {
        let fingerprint = fingerprint(told, placed);
        // Concerns with the same text and place get different numbers.
        let count = seen.iter().filter(|known| **known == fingerprint).count() + 1;
        findings.push(of_concern(told, placed, format!("{fingerprint}:{count}")));
        seen.push(fingerprint);
    }
    findings.extend(of_verdict(told));
    findings
}

fn of_concern<'a>(told: &ReviewDocument, placed: &'a PlacedConcern, mark: String) -> Finding<'a> {
    let rule = placed.deliberator.as_str();
    Finding {
        rule,
        grade: Grade::of_concern(told, placed),
        text: words::concern(placed),
        mark,
        location: location(told, Some(placed)),
        properties: json!({
            "concern": placed.id,
            "round": placed.round,
            "blocking": placed.blocking,
            "irreducible": placed.irreducible,
            "scores": told.held(rule).map(|held| &held.scores),
            "rehearsal": told.rehearsal,
            "verdict_id": told.verdict_id,
        }),
    }
}

/// The verdict as a finding, unless it is SHIP or skipped.
fn of_verdict(told: &ReviewDocument) -> Option<Finding<'static>> {
    let grade = Grade::of_verdict(told.verdict).filter(|grade| *grade != Grade::Note)?;
    let why = told.error.as_ref().map_or(&told.revision_brief, |error| &error.message);
    let rehearsal = if told.rehearsal { "REHEARSAL: " } else { "" };
    Some(Finding {
        rule: VERDICT,
        grade,
        text: format!("{rehearsal}{}: {why}", told.verdict),
        mark: digest([VERDICT, &told.artifact, ""]),
        location: location(told, None),
        properties: verdict(told),
    })
}

/// Text without links: `[text](target)` in a SARIF message would be a link.
fn message(text: &str) -> String {
    safe_text::lines(text.trim()).join("\n").replace("](", "] (")
}

fn location(told: &ReviewDocument, placed: Option<&PlacedConcern>) -> Value {
    let mut physical = Map::new();
    physical.insert("artifactLocation".to_owned(), json!({ "uri": uri(&told.found_at) }));
    let lines = placed.and_then(|placed| Some((placed.line?, placed.end_line?)));
    if let Some((start, end)) = lines {
        physical.insert("region".to_owned(), json!({ "startLine": start, "endLine": end }));
    }
    json!({ "physicalLocation": physical })
}

fn artifact(told: &ReviewDocument) -> Value {
    let mut artifact = Map::new();
    artifact.insert("location".to_owned(), json!({ "uri": uri(&told.found_at) }));
    if let Some(digest) = &told.artifact_sha256 {
        artifact.insert("hashes".to_owned(), json!({ "sha-256": digest }));
    }
    artifact.into()
}

/// The fields that identify a review.
fn verdict(told: &ReviewDocument) -> Value {
    json!({
        "verdict": told.verdict,
        "artifact": told.artifact,
        "artifact_type": told.artifact_type,
        "tier": told.tier,
        "rehearsal": told.rehearsal,
        "degraded": told.panel.degraded,
        "policy": told.policy,
        "dialogue_id": told.dialogue_id,
        "verdict_id": told.verdict_id,
        "skipped_because": told.skipped_because,
    })
}

/// Notifications beside the results: errors, skipped files, missing context.
fn notifications(told: &ReviewDocument) -> Vec<Value> {
    let outcome = match (&told.error, &told.skipped_because) {
        (Some(error), _) => Some(("error", format!("{}: {}", told.verdict, error.message))),
        (None, Some(because)) => Some(("note", format!("{}: {because}", told.verdict))),
        (None, None) => None,
    };
    let missing = words::missing_context(told).map(|said| ("warning", said));
    let said = outcome.into_iter().chain(missing);
    said.map(|(level, text)| note(level, &text, &told.found_at)).collect()
}

fn note(level: &str, text: &str, path: &str) -> Value {
    let location = json!({ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } });
    json!({ "level": level, "message": { "text": message(text) }, "locations": [location] })
}

/// Identifies a concern across runs by deliberator, artifact and quoted place, because models
/// phrase the same concern differently each time.
fn fingerprint(told: &ReviewDocument, placed: &PlacedConcern) -> String {
    let PlacedConcern { concern, deliberator, .. } = placed;
    let about = if concern.locus.trim().is_empty() { &concern.issue } else { &concern.locus };
    let about = one_line(about).to_lowercase();
    digest([deliberator.as_str(), &told.artifact, &about])
}

fn digest(parts: [&str; 3]) -> String {
    let mut digest = sha256_hex([parts.join("\n").as_bytes()]);
    digest.truncate(FINGERPRINT_CHARS);
    digest
}

/// A path as a relative URI reference, percent-encoded.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte);
    let encoded = path.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    encoded.collect()
}
