//! Reads typed fields of a JSON object and collects every error.
//!
//! A Judge can correct a batch in one attempt only if it gets all errors at once. A field with an
//! error therefore reads as `None`, and reading continues.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::dialogue::diagnostics::{Diagnostics, RequestWarning};
use crate::model::limits::{
    ARGUMENTS_DEPTH_MAX, ERROR_VALUE_CHARS_MAX, LIST_ITEMS_MAX, STRUCTURED_BYTES_MAX,
};
use crate::model::string_enum::StringEnum;
use crate::model::text::{find_nearest, truncate_after};
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError};

/// A JSON object of a request, with the item it belongs to for error messages.
#[derive(Debug)]
pub struct RequestFields<'a> {
    map: &'a Map<String, Value>,
    item: ErrorItem,
    /// Errors and warnings of the whole request; the objects inside it share them.
    notes: Rc<RefCell<Diagnostics>>,
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
        Ok(Self { map, item: ErrorItem::Whole, notes: Rc::default() })
    }

    /// Wraps an object inside this one.
    pub fn nested<'b>(&self, map: &'b Map<String, Value>, item: ErrorItem) -> RequestFields<'b> {
        RequestFields { map, item, notes: Rc::clone(&self.notes) }
    }

    pub fn add_error(&self, fault: ValidationError) {
        self.notes.borrow_mut().errors.push(fault);
    }

    pub fn error_count(&self) -> usize {
        self.notes.borrow().errors.len()
    }

    /// Takes the errors and warnings found so far.
    pub fn take_notes(&self) -> Diagnostics {
        self.notes.take()
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

    fn too_long_error(&self, name: &str, size: &str) -> ValidationError {
        ValidationError::new(ErrorCode::FieldTooLong, format!("field '{name}' {size}"))
            .about_item(&self.item)
            .with_field(name)
    }

    pub fn read_text(&self, name: &str, chars_max: usize) -> Option<String> {
        let text = self.read_typed(name, "a string", Value::as_str)?;
        self.check_length(name, text, chars_max)
    }

    /// Reads a value with the expected type and reports any other type.
    fn read_typed<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(name)?;
        let read = read(value);
        if read.is_none() {
            self.add_error(self.wrong_type_error(name, expected, value));
        }
        read
    }

    fn check_length(&self, name: &str, text: &str, chars_max: usize) -> Option<String> {
        // The byte length is an upper bound of the character count, so most texts need no counting.
        let chars = if text.len() <= chars_max { 0 } else { text.chars().count() };
        if chars <= chars_max {
            return Some(text.to_owned());
        }
        let size = format!("has {chars} characters, over the limit of {chars_max}");
        self.add_error(self.too_long_error(name, &size));
        None
    }

    /// Reads a text that must be present and not blank.
    pub fn require_text(&self, name: &str, chars_max: usize) -> Option<String> {
        if !self.has(name) {
            self.add_error(self.missing_field(name));
            return None;
        }
        let text = self.read_text(name, chars_max)?;
        if text.trim().is_empty() {
            self.add_error(self.missing_field(name).with_value(text));
            return None;
        }
        Some(text)
    }

    pub fn read_integer(&self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let expected = format!("an integer from {} to {}", range.start(), range.end());
        let read = |value: &Value| value.as_i64().filter(|integer| range.contains(integer));
        self.read_typed(name, &expected, read)
    }

    pub fn require_integer(&self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        if !self.has(name) {
            self.add_error(self.missing_field(name));
        }
        self.read_integer(name, range)
    }

    pub fn read_bool(&self, name: &str) -> bool {
        self.read_typed(name, "true or false", Value::as_bool).unwrap_or(false)
    }

    /// One of several texts.
    pub(crate) fn option(&self, name: &str, options: &[String]) -> Option<String> {
        let text = self.read_typed(name, "a string", Value::as_str)?;
        if options.iter().any(|option| option == text) {
            return Some(text.to_owned());
        }
        self.add_error(self.invalid_option_error(name, text, options));
        None
    }

    /// Reads a value of a string enum.
    pub fn read_enum<W: StringEnum>(&self, name: &str) -> Option<W> {
        W::from_str(&self.option(name, &W::options())?).ok()
    }

    pub fn require_enum<W: StringEnum>(&self, name: &str) -> Option<W> {
        if !self.has(name) {
            self.add_error(self.missing_field(name).with_options(W::options()));
        }
        self.read_enum(name)
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
        let names: Vec<&str> = options.iter().map(String::as_str).collect();
        let near = find_nearest(value, &names);
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
    pub fn read_texts(&self, name: &str, chars_max: usize) -> Option<Vec<String>> {
        const EXPECTED: &str = "a list of strings";
        let read = |value: &'a Value| match value.is_string() {
            true => Some(std::slice::from_ref(value)),
            false => value.as_array().map(Vec::as_slice),
        };
        let list = self.read_typed(name, EXPECTED, read)?;
        if !self.check_item_count(name, list.len(), LIST_ITEMS_MAX) {
            return None;
        }
        let mut texts = Vec::with_capacity(list.len());
        for value in list {
            match value.as_str() {
                Some(text) => texts.extend(self.check_length(name, text, chars_max)),
                None => self.add_error(self.wrong_type_error(name, EXPECTED, value)),
            }
        }
        Some(texts)
    }

    /// Reads a list of objects.
    pub fn read_objects(&self, name: &str, items_max: usize) -> Vec<&'a Map<String, Value>> {
        const EXPECTED: &str = "a list of objects";
        let Some(list) = self.read_typed(name, EXPECTED, Value::as_array) else {
            return Vec::new();
        };
        if !self.check_item_count(name, list.len(), items_max) {
            return Vec::new();
        }
        let mut objects = Vec::with_capacity(list.len());
        for value in list {
            match value.as_object() {
                Some(map) => objects.push(map),
                None => self.add_error(self.wrong_type_error(name, EXPECTED, value)),
            }
        }
        objects
    }

    fn check_item_count(&self, name: &str, items: usize, max: usize) -> bool {
        if items > max {
            let size = format!("has {items} items, over the limit of {max}");
            self.add_error(self.too_long_error(name, &size));
        }
        items <= max
    }

    /// Reads an object with keys chosen by the caller, such as `expert_scores`.
    pub fn read_object(&self, name: &str) -> Option<&'a Map<String, Value>> {
        self.read_typed(name, "an object", Value::as_object)
    }

    /// Reads free-form JSON and keeps it unchanged.
    pub fn read_json(&self, name: &str) -> Option<Value> {
        let value = self.get(name)?;
        let bytes = value.to_string().len();
        if bytes <= STRUCTURED_BYTES_MAX {
            return Some(value.clone());
        }
        let size = format!("takes {bytes} bytes as JSON, over the limit of {STRUCTURED_BYTES_MAX}");
        self.add_error(self.too_long_error(name, &size));
        None
    }

    /// Handles unknown fields. A likely typo is an error, because ignoring it would lose data; any
    /// other unknown field is a warning.
    pub fn check_unknown_fields(&self, known: &[&str]) {
        for (name, absent) in self.unknown_fields(known) {
            match find_nearest(name, &absent) {
                Some(meant) => self.add_error(self.unknown_field_error(name, Some(meant))),
                None => {
                    let name = truncate_echo(name);
                    let message = format!("field '{name}' is not known and was ignored");
                    let warning = RequestWarning::new("unknown_field", message);
                    self.notes.borrow_mut().warnings.push(warning.with_detail("field", name));
                }
            }
        }
    }

    /// Rejects every unknown field.
    pub fn reject_unknown_fields(&self, known: &[&str]) {
        for (name, absent) in self.unknown_fields(known) {
            let typo = find_nearest(name, &absent);
            let meant = typo.or_else(|| absent.into_iter().find(|known| shares_words(name, known)));
            let fault = self.unknown_field_error(name, meant);
            self.add_error(match meant {
                Some(_) => fault,
                None => fault.with_suggestion(format!("there are {}", known.join(", "))),
            });
        }
    }

    /// The unknown fields, each with the known fields that are absent.
    fn unknown_fields<'k>(&self, known: &[&'k str]) -> Vec<(&'a str, Vec<&'k str>)> {
        let absent: Vec<&str> =
            known.iter().copied().filter(|known| !self.map.contains_key(*known)).collect();
        let names = self.map.keys().map(String::as_str).filter(|name| !known.contains(name));
        names.map(|name| (name, absent.clone())).collect()
    }

    fn unknown_field_error(&self, name: &str, meant: Option<&str>) -> ValidationError {
        let name = truncate_echo(name);
        let fault =
            ValidationError::new(ErrorCode::NotSupported, format!("unknown field '{name}'"));
        let fault = fault.about_item(&self.item).with_field(name);
        match meant {
            Some(meant) => fault.with_suggestion(format!("did you mean '{meant}'?")),
            None => fault,
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_of_an_object_is_found() {
        let arguments = json!({"title": 7, "score": "high", "tags": ["a", 1], "flag": "no", "notes": 1, "tag": 1});
        let fields = RequestFields::from_arguments(&arguments).unwrap();
        fields.require_text("title", 10);
        fields.read_integer("score", 0..=9);
        fields.read_texts("tags", 10);
        fields.read_bool("flag");
        fields.require_text("question", 10);
        let known = ["title", "score", "tags", "flag", "question", "note"];
        fields.check_unknown_fields(&known);
        let notes = fields.take_notes();
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
            let fields = RequestFields::from_arguments(&arguments).unwrap();
            fields.reject_unknown_fields(&known);
            let notes = fields.take_notes();
            let hints: Vec<&str> = notes.errors.iter().map(ValidationError::hint).collect();
            assert_eq!(hints, [hint], "{name}");
        }
    }
}
