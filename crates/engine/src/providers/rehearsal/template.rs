//! Reads the messages sent to the rehearsal panel, and fills its reply files.
//!
//! Texts of a file contain `{question}`, `{letter}` or `{location}`. An element with `for_each`
//! becomes one element per opinion or review that is shown; its keys are stances. The markers that
//! prompting writes separate the parts of a message; the tests use the real ones.

use plenary_core::model::text::{is_invisible, to_one_line, truncate_after};
use serde_json::Value;

use crate::providers::transport::CallRequest;

/// Start of a marker that opens a part. The kind of the part and its label follow.
const OPENING: &str = "===== BEGIN ";

/// Longer questions would fill every sentence that quotes them.
const QUOTE_CHARS_MAX: usize = 120;

/// Fills a file for one ask, without the fields that the schema of the ask does not have.
pub(crate) fn fill_file(request: &CallRequest, file: &str) -> Option<String> {
    let user = &request.messages.user_message();
    let stances = read_stances(user);
    let reviewers = parts_of_kind(user, "REVIEW BY ");
    let wrote_review =
        |letter: &str| reviewers.iter().any(|(reviewer, _)| reviewer.starts_with(letter));
    let filler = TemplateFiller {
        question: read_question(user),
        location: read_location(user),
        reviews: stances.iter().filter(|(letter, _)| wrote_review(letter)).copied().collect(),
        opinions: stances,
    };
    let mut document = filler.fill_value(&serde_json::from_str(file).ok()?, "");
    if let Some(schema) = &request.schema {
        drop_unknown_fields(&mut document, schema);
    }
    Some(document.to_string())
}

struct TemplateFiller<'a> {
    question: String,
    location: String,
    /// Letter and stance of each opinion.
    opinions: Vec<(&'a str, &'a str)>,
    /// The same for the authors of the reviews.
    reviews: Vec<(&'a str, &'a str)>,
}

impl TemplateFiller<'_> {
    fn fill_value(&self, template: &Value, letter: &str) -> Value {
        match template {
            Value::String(text) => {
                let text = text.replace("{letter}", letter).replace("{location}", &self.location);
                // The question comes last: its own braces stay as they are.
                text.replace("{question}", &self.question).into()
            }
            Value::Array(items) => {
                items.iter().flat_map(|item| self.fill_item(item, letter)).collect()
            }
            Value::Object(fields) => {
                let filled = fields
                    .iter()
                    .map(|(name, value)| (name.clone(), self.fill_value(value, letter)));
                Value::Object(filled.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        }
    }

    fn fill_item(&self, item: &Value, letter: &str) -> Vec<Value> {
        let shown = match item.get("for_each").and_then(Value::as_str) {
            None => return vec![self.fill_value(item, letter)],
            Some("review") => &self.reviews,
            Some(_) => &self.opinions,
        };
        // A file has an entry for each stance of the panel; other stances count as conditional.
        let is_known = |stance: &str| ["approve", "reject"].contains(&stance);
        let entries = shown.iter().filter_map(|(letter, stance)| {
            let entry = item.get(if is_known(stance) { stance } else { "conditional" })?;
            Some(self.fill_value(entry, letter))
        });
        entries.collect()
    }
}

/// Removes the fields of other modes, at every level.
fn drop_unknown_fields(document: &mut Value, schema: &Value) {
    match document {
        Value::Object(fields) => {
            let Some(known) = schema.get("properties") else { return };
            fields.retain(|name, _| known.get(name).is_some());
            for (name, value) in fields {
                drop_unknown_fields(value, known.get(name.as_str()).unwrap_or(&Value::Null));
            }
        }
        Value::Array(items) => {
            let schema = schema.get("items").unwrap_or(&Value::Null);
            items.iter_mut().for_each(|item| drop_unknown_fields(item, schema));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Text between two markers.
#[derive(Debug)]
pub(crate) struct MessagePart<'a> {
    pub(crate) label: &'a str,
    pub(crate) text: &'a str,
}

/// Splits a message into its parts and our own text around them. Only the closing marker that
/// belongs to the opening one ends a part.
pub(crate) fn split_parts(user: &str) -> (Vec<MessagePart<'_>>, String) {
    let (mut parts, mut own_text) = (Vec::new(), String::new());
    let mut rest = user;
    while let Some((before, part, after)) = next_part(rest) {
        parts.push(part);
        own_text.push_str(before);
        rest = after;
    }
    own_text.push_str(rest);
    (parts, own_text)
}

fn next_part(rest: &str) -> Option<(&str, MessagePart<'_>, &str)> {
    let (before, opened) = match rest.strip_prefix(OPENING) {
        Some(opened) => ("", opened),
        None => rest.split_once(&format!("\n{OPENING}"))?,
    };
    let (name, body) = opened.split_once(" =====\n")?;
    let (text, after) = body.split_once(&format!("\n===== END {name} ====="))?;
    let (label, _nonce) = name.rsplit_once(' ')?;
    // Prompts in journals of earlier versions name no kind.
    let label = match label.split_once(' ') {
        Some(("request" | "material", label)) => label,
        Some(_) | None => label,
    };
    Some((before, MessagePart { label, text }, after))
}

/// Removes the line numbers that prompting adds.
pub(crate) fn without_line_numbers(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line.split_once(" | ") {
        Some((number, line)) if number.bytes().all(|byte| byte.is_ascii_digit()) => line,
        Some(_) | None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the text of the part with this label.
pub(crate) fn find_part<'a>(user: &'a str, label: &str) -> Option<&'a str> {
    split_parts(user).0.into_iter().find(|part| part.label == label).map(|part| part.text)
}

/// Returns the parts whose label starts with `kind`: the rest of the label, and the text.
pub(crate) fn parts_of_kind<'a>(user: &'a str, kind: &str) -> Vec<(&'a str, &'a str)> {
    let parts = split_parts(user).0.into_iter();
    parts.filter_map(|part| Some((part.label.strip_prefix(kind)?, part.text))).collect()
}

/// Returns the first line of the question, as a reply quotes it.
pub(crate) fn read_question(user: &str) -> String {
    let text = find_part(user, "QUESTION").unwrap_or(user);
    let line = text.lines().map(to_quote).find(|line| !line.is_empty());
    line.unwrap_or_else(|| "this".to_owned())
}

/// Removes invisible characters and leading escapes, and shortens the text to one line.
pub(crate) fn to_quote(text: &str) -> String {
    let spaced = text.replace(['\t', '\n'], " ");
    let visible: String = spaced.chars().filter(|letter| !is_invisible(*letter)).collect();
    truncate_after(&to_one_line(visible.trim_start_matches('\\')), QUOTE_CHARS_MAX)
}

/// Returns the place that a rehearsed finding names: the first line of the first file.
fn read_location(user: &str) -> String {
    let path = |text: &str| {
        let about: Value = serde_json::from_str(text.lines().next()?).ok()?;
        Some(format!("{}:1", about.get("path")?.as_str()?))
    };
    let files = parts_of_kind(user, "FILE ");
    files.into_iter().find_map(|(_, text)| path(text)).unwrap_or_default()
}

/// Returns the letter and the stance of each opinion that is shown.
pub(crate) fn read_stances(user: &str) -> Vec<(&str, &str)> {
    let opinions = parts_of_kind(user, "OPINION ").into_iter();
    opinions.filter_map(|(name, text)| Some((name.get(..1)?, find_stance(text)))).collect()
}

/// Returns the stance in an opinion, also if neutralizing made its JSON invalid.
fn find_stance(text: &str) -> &str {
    let after = text.split_once("\"stance\"").map_or("", |(_, after)| after);
    let mut words = after.split(|letter: char| !letter.is_alphabetic());
    words.find(|word| !word.is_empty()).unwrap_or_default()
}
