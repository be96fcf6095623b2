//! Reads typed fields of a JSON object and collects every error.
//!
//! A Judge can correct a batch in one attempt only if it gets all errors at once. A field with an
//! error therefore reads as `None`, and reading continues.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::dialogue::diagnostics::{Diagnostics, RequestWarning};
use crate::model::limits::{
    ARGUMENTS_DEPTH_MAX, ERROR_VALUE_CHARS_MAX, LIST_ITEMS_MAX, STRUCTURED_BYTES_MAX,
};
use crate::model::string_enum::StringEnum;
use crate::model::text::truncate_after;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError};

/// An unknown field within this edit distance of a known one is treated as a typo.
const TYPO_DISTANCE_MAX: usize = 2;

/// A JSON object of a request, with the item it belongs to for error messages.
#[derive(Debug)]
pub struct RequestFields<'a> {
    map: &'a Map<String, Value>,
    item: ErrorItem,
}

impl<'a> RequestFields<'a> {
    /// Wraps the arguments of an operation; fails if they are no object or nested too deeply.
    pub fn from_arguments(arguments: &'a Value) -> Result<Self, ValidationError> {
        let map = arguments.as_object().ok_or_else(|| {
            ValidationError::new(ErrorCode::InvalidType, "the arguments must be a JSON object")
                .with_value(arguments.clone())
        })?;
        if is_deeper_than(arguments, ARGUMENTS_DEPTH_MAX) {
            let message =
                format!("the arguments are nested over {ARGUMENTS_DEPTH_MAX} levels deep");
            return Err(ValidationError::new(ErrorCode::FieldTooLong, message));
        }
        Ok(Self { map, item: ErrorItem::Whole })
    }

    pub fn new(map: &'a Map<String, Value>, item: ErrorItem) -> Self {
        Self { map, item }
    }

    pub fn item(&self) -> &ErrorItem {
        &self.item
    }

    /// The value of a field. Null counts as absent.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn missing_field(&self, name: &str) -> ValidationError {
        ValidationError::new(ErrorCode::MissingField, format!("required field '{name}' is missing"))
            .about_item(&self.item)
            .with_field(name)
    }

    pub(crate) fn wrong_type_error(
        &self,
        name: &str,
        expected: &str,
        value: &Value,
    ) -> ValidationError {
        ValidationError::new(ErrorCode::InvalidType, format!("field '{name}' must be {expected}"))
            .about_item(&self.item)
            .with_field(name)
            .with_value(value.clone())
    }

    pub fn read_text(
        &self,
        name: &str,
        chars_max: usize,
        notes: &mut Diagnostics,
    ) -> Option<String> {
        let text = self.read_typed(name, "a string", Value::as_str, notes)?;
        self.check_length(name, text, chars_max, notes)
    }

    /// Reads a value with the expected type and reports any other type.
    fn read_typed<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
        notes: &mut Diagnostics,
    ) -> Option<T> {
        let value = self.get(name)?;
        let read = read(value);
        if read.is_none() {
            notes.add_error(self.wrong_type_error(name, expected, value));
        }
        read
    }

    fn check_length(
        &self,
        name: &str,
        text: &str,
        chars_max: usize,
        notes: &mut Diagnostics,
    ) -> Option<String> {
        // The byte length is an upper bound of the character count, so most texts need no counting.
        let chars = if text.len() <= chars_max { 0 } else { text.chars().count() };
        if chars <= chars_max {
            return Some(text.to_owned());
        }
        let message =
            format!("field '{name}' has {chars} characters, over the limit of {chars_max}");
        notes.add_error(
            ValidationError::new(ErrorCode::FieldTooLong, message)
                .about_item(&self.item)
                .with_field(name),
        );
        None
    }

    /// Reads a text that must be present and not blank.
    pub fn require_text(
        &self,
        name: &str,
        chars_max: usize,
        notes: &mut Diagnostics,
    ) -> Option<String> {
        if !self.has(name) {
            notes.add_error(self.missing_field(name));
            return None;
        }
        let text = self.read_text(name, chars_max, notes)?;
        if text.trim().is_empty() {
            notes.add_error(self.missing_field(name).with_value(text));
            return None;
        }
        Some(text)
    }

    pub fn read_integer(
        &self,
        name: &str,
        range: RangeInclusive<i64>,
        notes: &mut Diagnostics,
    ) -> Option<i64> {
        let expected = format!("an integer from {} to {}", range.start(), range.end());
        let read = |value: &Value| value.as_i64().filter(|integer| range.contains(integer));
        self.read_typed(name, &expected, read, notes)
    }

    pub fn require_integer(
        &self,
        name: &str,
        range: RangeInclusive<i64>,
        notes: &mut Diagnostics,
    ) -> Option<i64> {
        if !self.has(name) {
            notes.add_error(self.missing_field(name));
        }
        self.read_integer(name, range, notes)
    }

    pub fn read_bool(&self, name: &str, notes: &mut Diagnostics) -> bool {
        self.read_typed(name, "true or false", Value::as_bool, notes).unwrap_or(false)
    }

    /// One of several texts.
    pub(crate) fn option(
        &self,
        name: &str,
        options: &[String],
        notes: &mut Diagnostics,
    ) -> Option<String> {
        let text = self.read_typed(name, "a string", Value::as_str, notes)?;
        if options.iter().any(|option| option == text) {
            return Some(text.to_owned());
        }
        notes.add_error(self.invalid_option_error(name, text, options));
        None
    }

    /// Reads a value of a string enum.
    pub fn read_enum<W: StringEnum>(&self, name: &str, notes: &mut Diagnostics) -> Option<W> {
        let text = self.read_typed(name, "a string", Value::as_str, notes)?;
        let word = W::from_str(text).ok();
        if word.is_none() {
            notes.add_error(self.invalid_option_error(name, text, &W::options()));
        }
        word
    }

    pub fn require_enum<W: StringEnum>(&self, name: &str, notes: &mut Diagnostics) -> Option<W> {
        if !self.has(name) {
            notes.add_error(self.missing_field(name).with_options(W::options()));
        }
        self.read_enum(name, notes)
    }

    pub fn invalid_option_error(
        &self,
        name: &str,
        value: &str,
        options: &[String],
    ) -> ValidationError {
        let message = format!(
            "{name} must be one of: {} (got '{}')",
            options.join(", "),
            truncate_echo(value)
        );
        let near = nearest_option(value, options.iter().map(String::as_str));
        let fault = ValidationError::new(ErrorCode::InvalidEnum, message)
            .about_item(&self.item)
            .with_field(name)
            .with_value(value)
            .with_options(options.iter());
        match near {
            Some(near) => fault.with_suggestion(format!("did you mean '{near}'?")),
            None => fault,
        }
    }

    /// Reads a list of texts. A single text counts as a list of one.
    pub fn read_texts(
        &self,
        name: &str,
        chars_max: usize,
        notes: &mut Diagnostics,
    ) -> Option<Vec<String>> {
        const EXPECTED: &str = "a list of strings";
        let read = |value: &'a Value| match value.is_string() {
            true => Some(std::slice::from_ref(value)),
            false => value.as_array().map(Vec::as_slice),
        };
        let list = self.read_typed(name, EXPECTED, read, notes)?;
        if !self.check_item_count(name, list.len(), LIST_ITEMS_MAX, notes) {
            return None;
        }
        let mut texts = Vec::with_capacity(list.len());
        for value in list {
            match value.as_str() {
                Some(text) => texts.extend(self.check_length(name, text, chars_max, notes)),
                None => notes.add_error(self.wrong_type_error(name, EXPECTED, value)),
            }
        }
        Some(texts)
    }

    /// Reads a list of objects.
    pub fn read_objects(
        &self,
        name: &str,
        items_max: usize,
        notes: &mut Diagnostics,
    ) -> Vec<&'a Map<String, Value>> {
        const EXPECTED: &str = "a list of objects";
        let Some(list) = self.read_typed(name, EXPECTED, Value::as_array, notes) else {
            return Vec::new();
        };
        if !self.check_item_count(name, list.len(), items_max, notes) {
            return Vec::new();
        }
        let mut objects = Vec::with_capacity(list.len());
        for value in list {
            match value.as_object() {
                Some(map) => objects.push(map),
                None => notes.add_error(self.wrong_type_error(name, EXPECTED, value)),
            }
        }
        objects
    }

    fn check_item_count(
        &self,
        name: &str,
        items: usize,
        max: usize,
        notes: &mut Diagnostics,
    ) -> bool {
        if items > max {
            let message = format!("field '{name}' has {items} items, over the limit of {max}");
            notes.add_error(
                ValidationError::new(ErrorCode::FieldTooLong, message)
                    .about_item(&self.item)
                    .with_field(name),
            );
        }
        items <= max
    }

    /// Reads an object with keys chosen by the caller, such as `expert_scores`.
    pub fn read_object(
        &self,
        name: &str,
        notes: &mut Diagnostics,
    ) -> Option<&'a Map<String, Value>> {
        self.read_typed(name, "an object", Value::as_object, notes)
    }

    /// Reads free-form JSON and keeps it unchanged.
    pub fn read_json(&self, name: &str, notes: &mut Diagnostics) -> Option<Value> {
        let value = self.get(name)?;
        let bytes = value.to_string().len();
        if bytes <= STRUCTURED_BYTES_MAX {
            return Some(value.clone());
        }
        let message = format!(
            "field '{name}' takes {bytes} bytes as JSON, over the limit of {STRUCTURED_BYTES_MAX}"
        );
        notes.add_error(
            ValidationError::new(ErrorCode::FieldTooLong, message)
                .about_item(&self.item)
                .with_field(name),
        );
        None
    }

    /// Handles unknown fields. A likely typo is an error, because ignoring it would lose data; any
    /// other unknown field is a warning.
    pub fn check_unknown_fields(&self, known: &[&str], notes: &mut Diagnostics) {
        for name in self.unknown_names(known) {
            if let Some(meant) = nearest_option(name, self.absent_names(known)) {
                notes.add_error(
                    self.unknown_field_error(name)
                        .with_suggestion(format!("did you mean '{meant}'?")),
                );
            } else {
                let message =
                    format!("field '{}' is not known and was ignored", truncate_echo(name));
                notes.warnings.push(
                    RequestWarning::new("unknown_field", message)
                        .with_detail("field", truncate_echo(name)),
                );
            }
        }
    }

    /// Rejects every unknown field.
    pub fn reject_unknown_fields(&self, known: &[&str], notes: &mut Diagnostics) {
        for name in self.unknown_names(known) {
            let slip = nearest_option(name, self.absent_names(known));
            let meant =
                slip.or_else(|| self.absent_names(known).find(|known| shares_words(name, known)));
            notes.add_error(match meant {
                Some(meant) => self
                    .unknown_field_error(name)
                    .with_suggestion(format!("did you mean '{meant}'?")),
                None => self
                    .unknown_field_error(name)
                    .with_suggestion(format!("there are {}", known.join(", "))),
            });
        }
    }

    fn unknown_names(&self, known: &[&str]) -> impl Iterator<Item = &'a str> {
        let names = self.map.keys().map(String::as_str);
        names.filter(|name| !known.contains(name))
    }

    fn absent_names<'k>(&self, known: &[&'k str]) -> impl Iterator<Item = &'k str> {
        known.iter().copied().filter(|known| !self.map.contains_key(*known))
    }

    fn unknown_field_error(&self, name: &str) -> ValidationError {
        let name = truncate_echo(name);
        ValidationError::new(ErrorCode::NotSupported, format!("there is no field '{name}' here"))
            .about_item(&self.item)
            .with_field(name)
    }
}

/// Whether the words of one name are part of the other, as in `wait` and `wait_seconds` or
/// `no_audit` and `audit`.
fn shares_words(name: &str, known: &str) -> bool {
    /// Shorter names match almost anything.
    const CHARS_MIN: usize = 4;
    let parts = |text: &str| text.split('_').map(str::to_owned).collect::<Vec<_>>();
    let (few, many) = (parts(name), parts(known));
    let (few, many) = if few.len() < many.len() { (few, many) } else { (many, few) };
    few.join("_").len() >= CHARS_MIN && few.iter().all(|part| many.contains(part))
}

fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let deeper = |value| levels == 0 || is_deeper_than(value, levels - 1);
    match value {
        Value::Array(list) => list.iter().any(deeper),
        Value::Object(map) => map.values().any(deeper),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Truncates text of a caller for use in a message.
pub fn truncate_echo(text: &str) -> String {
    truncate_after(text, ERROR_VALUE_CHARS_MAX)
}

/// The option closest to `text`, if it is within typo distance.
pub(crate) fn nearest_option<'a>(
    text: &str,
    options: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let text = text.to_ascii_lowercase();
    options
        .map(|option| (strsim::levenshtein(&text, &option.to_ascii_lowercase()), option))
        // A short option is within two edits of almost anything.
        .filter(|(distance, option)| *distance <= TYPO_DISTANCE_MAX && *distance * 2 < option.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, option)| option)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let known = ["perspectives", "tensions", "score", "by"];
        let cases = [
            ("perspective", Some("perspectives")),
            ("Scores", Some("score")),
            ("tenisons", Some("tensions")),
            ("note", None),
            ("id", None),
        ];
        for (slip, meant) in cases {
            assert_eq!(nearest_option(slip, known.into_iter()), meant, "slip: {slip}");
        }
    }

    #[test]
    fn every_fault_of_an_object_is_found() {
        let arguments = json!({"title": 7, "score": "high", "tags": ["a", 1], "flag": "no", "notes": 1, "tag": 1});
        let fields = RequestFields::from_arguments(&arguments).unwrap();
        let mut notes = Diagnostics::default();
        fields.require_text("title", 10, &mut notes);
        fields.read_integer("score", 0..=9, &mut notes);
        fields.read_texts("tags", 10, &mut notes);
        fields.read_bool("flag", &mut notes);
        fields.require_text("question", 10, &mut notes);
        let known = ["title", "score", "tags", "flag", "question", "note"];
        fields.check_unknown_fields(&known, &mut notes);
        let found: Vec<_> = notes
            .errors
            .iter()
            .map(|fault| format!("{} {}", fault.code, fault.field.as_deref().unwrap_or("")))
            .collect();
        assert_eq!(
            found,
            [
                "invalid_type title",
                "invalid_type score",
                "invalid_type tags",
                "invalid_type flag",
                "missing_field question",
                "not_supported notes"
            ]
        );
        assert_eq!(notes.warnings.len(), 1);
    }

    #[test]
    fn where_nothing_is_passed_over_the_field_that_was_meant_is_named() {
        let known = ["question", "budget_usd", "audit", "wait_seconds", "text"];
        for (name, hint) in [
            ("budget", "did you mean 'budget_usd'?"),
            ("budget_us", "did you mean 'budget_usd'?"),
            ("no_audit", "did you mean 'audit'?"),
            ("wait", "did you mean 'wait_seconds'?"),
            ("providers", "there are question, budget_usd, audit, wait_seconds, text"),
        ] {
            let arguments = json!({ name: 1 });
            let mut notes = Diagnostics::default();
            RequestFields::from_arguments(&arguments)
                .unwrap()
                .reject_unknown_fields(&known, &mut notes);
            let hints: Vec<&str> = notes.errors.iter().map(ValidationError::hint).collect();
            assert_eq!(hints, [hint], "{name}");
        }
    }
}
