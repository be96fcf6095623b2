//! Reviews as one SARIF 2.1.0 document: a rule per deliberator, a result per concern.

use serde_json::{Map, Value, json};

use crate::model::hash::sha256_hex;
use crate::model::text::to_one_line;
use crate::protocols::review::document::{PlacedConcern, ReviewDocument};
use crate::protocols::review::github_annotations::FindingLevel;
use crate::protocols::review::phrases::{concern_text, missing_context_note, outcome_sentence};
use crate::protocols::review::policy::ReviewVerdict;
use crate::protocols::review::types::BuiltInDeliberator;
use crate::report::safe_text::safe_lines;

/// The rule of the verdict itself.
const VERDICT_RULE: &str = "gate/verdict";

/// Hex digits of a fingerprint.
const FINGERPRINT_CHARS: usize = 32;

/// The document of all reviewed files. `unread` lists files that could not be read, with the
/// reason.
pub fn sarif_document(reviews: &[ReviewDocument], unread: &[(String, String)]) -> Value {
    let rules = rule_names(reviews);
    let findings = reviews.iter().flat_map(review_findings);
    let results: Vec<Value> = findings.map(|finding| finding.to_result(&rules)).collect();
    let unread_notes = unread.iter().map(|(path, why)| notification_object("error", why, path));
    let notifications: Vec<Value> =
        reviews.iter().flat_map(review_notifications).chain(unread_notes).collect();
    let is_decided = |result: &ReviewDocument| result.verdict != ReviewVerdict::Incomplete;
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Plenary",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|name| rule_object(name)).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": unread.is_empty() && reviews.iter().all(is_decided),
                "toolExecutionNotifications": notifications,
            }],
            "artifacts": reviews.iter().map(artifact_object).collect::<Vec<_>>(),
            "results": results,
            "columnKind": "unicodeCodePoints",
            "properties": { "verdicts": reviews.iter().map(verdict_properties).collect::<Vec<_>>() },
        }],
    })
}

/// The deliberators of all reviews, then the verdict rule.
fn rule_names(reviews: &[ReviewDocument]) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    let rows = reviews.iter().flat_map(|result| &result.round1).map(|printed| &printed.row);
    for row in rows {
        if !rules.iter().any(|known| known == row.deliberator()) {
            rules.push(row.deliberator().to_owned());
        }
    }
    rules.push(VERDICT_RULE.to_owned());
    rules
}

fn rule_object(name: &str) -> Value {
    let description = match BuiltInDeliberator::named(name) {
        Some(built_in) => looks_for(built_in).to_owned(),
        None if name == VERDICT_RULE => "Verdict of the gate on the document".to_owned(),
        None => format!("Concern of the deliberator {name}"),
    };
    json!({ "id": name, "name": name, "shortDescription": { "text": description } })
}

fn looks_for(deliberator: BuiltInDeliberator) -> &'static str {
    match deliberator {
        BuiltInDeliberator::Skeptic => {
            "Is the argument sound, and which objections will readers raise?"
        }
        BuiltInDeliberator::VoiceIdentity => "Does the text sound like its author?",
        BuiltInDeliberator::Evidence => {
            "Does each claim have a source, and is it no stronger than the source?"
        }
        BuiltInDeliberator::Strategy => "Does the text serve the goal, and what does it risk?",
    }
}

/// A SARIF result before serialisation.
struct SarifFinding<'a> {
    rule: &'a str,
    grade: FindingLevel,
    text: String,
    /// The fingerprint, stable across runs.
    fingerprint: String,
    location: Value,
    properties: Value,
}

impl SarifFinding<'_> {
    fn to_result(&self, rules: &[String]) -> Value {
        let level = match self.grade {
            FindingLevel::Error => "error",
            FindingLevel::Warning => "warning",
            FindingLevel::Note => "note",
        };
        json!({
            "ruleId": self.rule,
            "ruleIndex": rules.iter().position(|known| known == self.rule),
            "level": level,
            "message": { "text": plain_message(&self.text) },
            "locations": [self.location],
            "partialFingerprints": { "plenaryConcern/v1": self.fingerprint },
            "properties": self.properties,
        })
    }
}

fn review_findings(result: &ReviewDocument) -> Vec<SarifFinding<'_>> {
    let mut seen: Vec<String> = Vec::new();
    let mut findings = Vec::new();
    for placed in &result.concerns {
        let fingerprint = concern_fingerprint(result, placed);
        // Concerns with the same text and place get different numbers.
        let count = seen.iter().filter(|known| **known == fingerprint).count() + 1;
        findings.push(concern_finding(result, placed, format!("{fingerprint}:{count}")));
        seen.push(fingerprint);
    }
    findings.extend(verdict_finding(result));
    findings
}

fn concern_finding<'a>(
    result: &ReviewDocument,
    placed: &'a PlacedConcern,
    mark: String,
) -> SarifFinding<'a> {
    let rule = placed.deliberator.as_str();
    SarifFinding {
        rule,
        grade: FindingLevel::of_concern(result, placed),
        text: concern_text(placed),
        fingerprint: mark,
        location: result_location(result, Some(placed)),
        properties: json!({
            "concern": placed.id,
            "round": placed.round,
            "blocking": placed.blocking,
            "irreducible": placed.irreducible,
            "quote_not_found": placed.quote_not_found,
            "scores": result.final_judgement(rule).map(|held| &held.scores),
            "rehearsal": result.rehearsal,
            "verdict_id": result.verdict_id,
        }),
    }
}

/// The verdict as a finding, unless it is SHIP or skipped.
fn verdict_finding(result: &ReviewDocument) -> Option<SarifFinding<'static>> {
    let grade =
        FindingLevel::of_verdict(result.verdict).filter(|grade| *grade != FindingLevel::Note)?;
    let why = result.error.as_ref().map_or(&result.revision_brief, |error| &error.message);
    let rehearsal = if result.rehearsal { "REHEARSAL: " } else { "" };
    Some(SarifFinding {
        rule: VERDICT_RULE,
        grade,
        text: format!("{rehearsal}{}: {why}", result.verdict),
        fingerprint: short_digest([VERDICT_RULE, &result.artifact, ""]),
        location: result_location(result, None),
        properties: verdict_properties(result),
    })
}

/// Text without links: `[text](target)` in a SARIF message would be a link.
fn plain_message(text: &str) -> String {
    safe_lines(text.trim()).join("\n").replace("](", "] (")
}

fn result_location(result: &ReviewDocument, placed: Option<&PlacedConcern>) -> Value {
    let mut physical = Map::new();
    physical.insert("artifactLocation".to_owned(), json!({ "uri": encode_uri(&result.found_at) }));
    let lines = placed.and_then(|placed| Some((placed.line?, placed.end_line?)));
    if let Some((start, end)) = lines {
        physical.insert("region".to_owned(), json!({ "startLine": start, "endLine": end }));
    }
    json!({ "physicalLocation": physical })
}

fn artifact_object(result: &ReviewDocument) -> Value {
    let mut artifact = Map::new();
    artifact.insert("location".to_owned(), json!({ "uri": encode_uri(&result.found_at) }));
    if let Some(digest) = &result.artifact_sha256 {
        artifact.insert("hashes".to_owned(), json!({ "sha-256": digest }));
    }
    artifact.into()
}

/// The fields that identify a review.
fn verdict_properties(result: &ReviewDocument) -> Value {
    json!({
        "verdict": result.verdict,
        "headline": result.headline,
        "artifact": result.artifact,
        "artifact_type": result.artifact_type,
        "tier": result.tier,
        "rehearsal": result.rehearsal,
        "degraded": result.panel.degraded,
        "policy": result.policy,
        "dialogue_id": result.dialogue_id,
        "verdict_id": result.verdict_id,
        "skipped_because": result.skipped_because,
        "override": result.overridden,
    })
}

/// Notifications beside the results: errors, skipped files, missing context.
fn review_notifications(result: &ReviewDocument) -> Vec<Value> {
    let outcome = match (&result.error, &result.skipped_because) {
        (Some(error), _) => Some(("error", format!("{}: {}", result.verdict, error.message))),
        (None, Some(because)) => Some(("note", format!("{}: {because}", result.verdict))),
        (None, None) => None,
    };
    let missing = missing_context_note(result).map(|printed| ("warning", printed));
    let person = outcome_sentence(result).filter(|_| result.overridden.is_some());
    let printed = person.map(|printed| ("note", printed)).into_iter().chain(outcome).chain(missing);
    printed.map(|(level, text)| notification_object(level, &text, &result.found_at)).collect()
}

fn notification_object(level: &str, text: &str, path: &str) -> Value {
    let location =
        json!({ "physicalLocation": { "artifactLocation": { "uri": encode_uri(path) } } });
    json!({ "level": level, "message": { "text": plain_message(text) }, "locations": [location] })
}

/// Identifies a concern across runs by deliberator, artifact and quoted place, because models
/// phrase the same concern differently each time.
fn concern_fingerprint(result: &ReviewDocument, placed: &PlacedConcern) -> String {
    let PlacedConcern { concern, deliberator, .. } = placed;
    let about = if concern.locus.trim().is_empty() { &concern.issue } else { &concern.locus };
    let about = to_one_line(about).to_lowercase();
    short_digest([deliberator.as_str(), &result.artifact, &about])
}

fn short_digest(parts: [&str; 3]) -> String {
    let mut digest = sha256_hex([parts.join("\n").as_bytes()]);
    digest.truncate(FINGERPRINT_CHARS);
    digest
}

/// A path as a relative URI reference, percent-encoded.
fn encode_uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte);
    let encoded = path.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    encoded.collect()
}
