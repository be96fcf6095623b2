//! Parses the five fields of a conclusion strictly and validates them against the record.
//!
//! Unlike the lenient parser, this one rejects unknown fields, missing fields and wrong types. It
//! reports all errors at once, because the model gets only one retry.

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::parsing::candidates::strip_closed_thinking;
use crate::parsing::coerce::{describe_value, quote_safely};
use crate::parsing::reply::{
    ParseResult, ParsedReply, UnreadableReply, refusal_or_error, visible_text,
};
use crate::parsing::schema::CONCLUSION_SCHEMA;
use crate::parsing::strict::parse_strict;
use crate::protocols::conclusion::parse_fields::{unknown_fields, validate_fields};
use crate::protocols::conclusion::types::{
    AuditObjection, AuditReply, Conclusion, ConclusionContext, ConclusionField, ObjectionSource,
};

const MISSING: &str = "a field is missing";

/// More errors than these do not help a model to correct its reply.
const ERRORS_MAX: usize = 12;

/// Parses a conclusion with exactly five fields.
pub fn parse_conclusion(reply: &str, context: &ConclusionContext<'_>) -> ParseResult<Conclusion> {
    let is_corrected = Cell::new(false);
    let parsed = parse_strict(reply, &CONCLUSION_SCHEMA, "conclusions", |value| {
        let given = into_object(value)?;
        let mut fields = validate_fields(&given, ConclusionField::ALL, context);
        is_corrected.set(fields.is_corrected);
        fields.errors.extend(unknown_fields(&given));
        if !fields.errors.is_empty() {
            return Err(join_errors(&fields.errors));
        }
        // Without errors, every field is valid.
        Ok(Conclusion {
            recommendation: fields.recommendation.ok_or(MISSING)?,
            key_condition: fields.key_condition.ok_or(MISSING)?,
            unresolved_points: fields.unresolved_points.ok_or(MISSING)?,
            review_by: fields.review_by.ok_or(MISSING)?,
            // Participants and their versions come from the record, not from the reply.
            participants: context.participants.to_vec(),
        })
    });
    parsed.map(|read| ParsedReply { repaired: read.repaired || is_corrected.get(), ..read })
}

/// Parses the flagged fields of a revision. Other fields are ignored and keep their original value.
pub fn parse_revision(
    reply: &str,
    original: &Conclusion,
    flagged: &[ConclusionField],
    context: &ConclusionContext<'_>,
) -> ParseResult<Conclusion> {
    parse_strict(reply, &CONCLUSION_SCHEMA, "revisions", |value| {
        let fields = validate_fields(&into_object(value)?, flagged, context);
        if !fields.errors.is_empty() {
            return Err(join_errors(&fields.errors));
        }
        let draft = original.clone();
        let revised = Conclusion {
            recommendation: fields.recommendation.unwrap_or(draft.recommendation),
            key_condition: fields.key_condition.unwrap_or(draft.key_condition),
            unresolved_points: fields.unresolved_points.unwrap_or(draft.unresolved_points),
            review_by: fields.review_by.unwrap_or(draft.review_by),
            participants: context.participants.to_vec(),
        };
        Ok(original.with_fields(flagged, &revised))
    })
}

fn into_object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(given) => Ok(given),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(format!("{}, not an object", describe_value(&value)))
        }
    }
}

/// Joins all errors into one line that can be sent back to a model.
fn join_errors(errors: &[String]) -> String {
    let shown = errors.iter().take(ERRORS_MAX).map(String::as_str);
    let mut text = shown.collect::<Vec<_>>().join("; ");
    if let Some(more) = errors.len().checked_sub(ERRORS_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// Five fields allow few objections each; more lines are not a list of objections.
const FLAGS_MAX: usize = 50;

/// An objection is a sentence or two; it is shown in full and sent to the reviser.
const OBJECTION_CHARS_MAX: usize = 2_000;

/// Placeholder texts from the instructions.
const PLACEHOLDERS: [&str; 10] = [
    "exact objection",
    "objection",
    "the objection",
    "your objection",
    "the exact objection",
    "exact objection here",
    "objection here",
    "objection text",
    "n/a",
    "none",
];

const BOTH_VERDICTS: &str = "both PASS and FLAG";

/// An objection of these words alone says neither what is wrong nor what would fix it.
const VAGUE_WORDS: &str = "a abstract also an and answer answers are as be been better bit bland clear clearer \
    clearly compelling conclusion concrete condition confusing consider considering \
    convince convinced convinces convincing could deeper depth detail detailed details \
    enough explain explained explanation feel feels field general generic good hard has \
    have improve improved improvement improvements in is it its key lack lacking lacks \
    little make may maybe might more much must need needs nice not nuance nuanced of or \
    overall overly perhaps persuasive phrasing please point points poor poorly precise \
    quite rather reads recommendation rephrase rephrased rephrasing revise revised \
    reword reworded rewording rewrite rewriting seem seems sharpen sharper should solid \
    some somewhat sound sounds specific specificity still strength strengthen \
    strengthened strong stronger style sufficiently text that the this thorough to tone \
    too unclear understand vague vaguely very weak well what worded wording would you \
    your";

/// Whether every word of an objection is a vague one.
fn is_vague(objection: &str) -> bool {
    let lower = objection.to_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|w| !w.is_empty());
    words.all(|word| VAGUE_WORDS.split_whitespace().any(|vague| vague == word))
}

pub fn parse_audit(reply: &str) -> ParseResult<AuditReply> {
    let message = visible_text(reply)?;
    let document = parse_audit_lines(&message).map_err(|reason| to_unreadable(&message, reason))?;
    if document == AuditReply::Pass && is_flagged(reply) {
        return Err(UnreadableReply::new(BOTH_VERDICTS));
    }
    Ok(ParsedReply { document, repaired: false, truncated: false })
}

/// Whether the reply flags something outside closed thinking blocks. Text before a lone closing tag
/// may be thinking, or an objection that quotes the tag; in doubt it is not a PASS.
fn is_flagged(reply: &str) -> bool {
    strip_closed_thinking(reply).text.lines().any(|line| parse_flag(line.trim()).is_ok())
}

fn to_unreadable(message: &str, reason: String) -> UnreadableReply {
    let is_verdict = message.starts_with("PASS") || message.starts_with("FLAG");
    if is_verdict { UnreadableReply::new(reason) } else { refusal_or_error(message, reason) }
}

fn parse_audit_lines(message: &str) -> Result<AuditReply, String> {
    if message == "PASS" {
        return Ok(AuditReply::Pass);
    }
    let lines: Vec<(usize, &str)> =
        message.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    let has = |word: &str| lines.iter().any(|(_, line)| line.trim().starts_with(word));
    match (has("PASS"), has("FLAG:")) {
        (true, true) => return Err(BOTH_VERDICTS.to_owned()),
        (true, false) => return Err("PASS, but not PASS alone".to_owned()),
        (false, false) => return Err("neither PASS nor FLAG".to_owned()),
        (false, true) => {}
    }
    if lines.len() > FLAGS_MAX {
        return Err(format!("{} lines, over {FLAGS_MAX}", lines.len()));
    }
    let mut objections: Vec<AuditObjection> = Vec::new();
    for (index, line) in lines {
        let objection =
            parse_flag(line.trim()).map_err(|reason| format!("line {}: {reason}", index + 1))?;
        if !objections.contains(&objection) {
            objections.push(objection);
        }
    }
    Ok(AuditReply::Flag { objections })
}

/// Parses `FLAG: <field> - <objection>`.
fn parse_flag(line: &str) -> Result<AuditObjection, String> {
    let rest = line.strip_prefix("FLAG:").ok_or("no FLAG")?;
    let (field, objection) =
        rest.split_once(['-', '–', '—']).ok_or("no dash between field and objection")?;
    let field = parse_field_name(field).ok_or_else(|| {
        let fields =
            ConclusionField::ALL.iter().map(|field| field.name()).collect::<Vec<_>>().join(", ");
        format!("{} is not one of {fields}", quote_safely(field))
    })?;
    let objection = objection.trim();
    if !objection.chars().any(char::is_alphanumeric) {
        return Err("no objection".to_owned());
    }
    let bare = objection.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    if PLACEHOLDERS.contains(&bare.as_str()) {
        return Err(format!("{} is not an objection", quote_safely(objection)));
    }
    if is_vague(objection) {
        let quoted = quote_safely(objection);
        return Err(format!("{quoted} names neither what is wrong nor what would fix it"));
    }
    if objection.chars().nth(OBJECTION_CHARS_MAX).is_some() {
        return Err(format!("an objection of over {OBJECTION_CHARS_MAX} characters"));
    }
    Ok(AuditObjection { field, objection: objection.to_owned(), by: ObjectionSource::Critic })
}

/// Parses a field name in any case, with spaces, in brackets or backticks.
fn parse_field_name(field: &str) -> Option<ConclusionField> {
    let plain =
        field.trim_matches(|letter: char| letter.is_whitespace() || "[]`\"'*".contains(letter));
    let words: Vec<&str> = plain.split(|c: char| c.is_whitespace() || c == '_').collect();
    ConclusionField::named(&words.join("_").to_lowercase())
}
