//! Reads typed fields of a JSON object and collects every error.
//!
//! A Judge can correct a batch in one attempt only if it gets all errors at once. A field with an
//! error therefore reads as `None`, and reading continues.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::notes::Notes;
use super::warning::Warning;
use crate::domain::limits::{
    ARGUMENTS_DEPTH_MAX, ECHO_CHARS_MAX, LIST_ITEMS_MAX, STRUCTURED_BYTES_MAX,
};
use crate::domain::refusal::{Code, Fault, Item};
use crate::domain::shortened::head;
use crate::domain::words::Word;

/// An unknown field within this edit distance of a known one is treated as a typo.
const SLIP_DISTANCE_MAX: usize = 2;

/// A JSON object of a request, with the item it belongs to for error messages.
#[derive(Debug)]
pub struct Fields<'a> {
    map: &'a Map<String, Value>,
    item: Item,
}

impl<'a> Fields<'a> {
    /// Wraps the arguments of an operation; fails if they are no object or nested too deeply.
    pub fn of_arguments(arguments: &'a Value) -> Result<Self, Fault> {
        let map = arguments.as_object().ok_or_else(|| {
            Fault::new(Code::InvalidType, "the arguments must be a JSON object")
                .value(arguments.clone())
        })?;
        if is_deeper_than(arguments, ARGUMENTS_DEPTH_MAX) {
            let message =
                format!("the arguments are nested over {ARGUMENTS_DEPTH_MAX} levels deep");
            return Err(Fault::new(Code::FieldTooLong, message));
        }
        Ok(Self { map, item: Item::Whole })
    }

    pub fn new(map: &'a Map<String, Value>, item: Item) -> Self {
        Self { map, item }
    }

    pub fn item(&self) -> &Item {
        &self.item
    }

    /// The value of a field. Null counts as absent.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn missing(&self, name: &str) -> Fault {
        Fault::new(Code::MissingField, format!("required field '{name}' is missing"))
            .about(&self.item)
            .field(name)
    }

    pub(super) fn wrong_type(&self, name: &str, expected: &str, value: &Value) -> Fault {
        Fault::new(Code::InvalidType, format!("field '{name}' must be {expected}"))
            .about(&self.item)
            .field(name)
            .value(value.clone())
    }

    pub fn text(&self, name: &str, chars_max: usize, notes: &mut Notes) -> Option<String> {
        let text = self.typed(name, "a string", Value::as_str, notes)?;
        self.within(name, text, chars_max, notes)
    }

    /// Reads a value with the expected type and reports any other type.
    fn typed<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
        notes: &mut Notes,
    ) -> Option<T> {
        let value = self.get(name)?;
        let read = read(value);
        if read.is_none() {
            notes.fault(self.wrong_type(name, expected, value));
        }
        read
    }

    fn within(
        &self,
        name: &str,
        text: &str,
        chars_max: usize,
        notes: &mut Notes,
    ) -> Option<String> {
        // The byte length is an upper bound of the character count, so most texts need no counting.
        let chars = if text.len() <= chars_max { 0 } else { text.chars().count() };
        if chars <= chars_max {
            return Some(text.to_owned());
        }
        let message =
            format!("field '{name}' has {chars} characters, over the limit of {chars_max}");
        notes.fault(Fault::new(Code::FieldTooLong, message).about(&self.item).field(name));
        None
    }

    /// Reads a text that must be present and not blank.
    pub fn required_text(&self, name: &str, chars_max: usize, notes: &mut Notes) -> Option<String> {
        if !self.has(name) {
            notes.fault(self.missing(name));
            return None;
        }
        let text = self.text(name, chars_max, notes)?;
        if text.trim().is_empty() {
            notes.fault(self.missing(name).value(text));
            return None;
        }
        Some(text)
    }

    pub fn integer(
        &self,
        name: &str,
        range: RangeInclusive<i64>,
        notes: &mut Notes,
    ) -> Option<i64> {
        let expected = format!("an integer from {} to {}", range.start(), range.end());
        let read = |value: &Value| value.as_i64().filter(|integer| range.contains(integer));
        self.typed(name, &expected, read, notes)
    }

    pub fn required_integer(
        &self,
        name: &str,
        range: RangeInclusive<i64>,
        notes: &mut Notes,
    ) -> Option<i64> {
        if !self.has(name) {
            notes.fault(self.missing(name));
        }
        self.integer(name, range, notes)
    }

    pub fn boolean(&self, name: &str, notes: &mut Notes) -> bool {
        self.typed(name, "true or false", Value::as_bool, notes).unwrap_or(false)
    }

    /// One of several texts.
    pub(super) fn option(
        &self,
        name: &str,
        options: &[String],
        notes: &mut Notes,
    ) -> Option<String> {
        let text = self.typed(name, "a string", Value::as_str, notes)?;
        if options.iter().any(|option| option == text) {
            return Some(text.to_owned());
        }
        notes.fault(self.not_an_option(name, text, options));
        None
    }

    /// Reads a value of a string enum.
    pub fn word<W: Word>(&self, name: &str, notes: &mut Notes) -> Option<W> {
        let text = self.typed(name, "a string", Value::as_str, notes)?;
        let word = W::from_str(text).ok();
        if word.is_none() {
            notes.fault(self.not_an_option(name, text, &W::options()));
        }
        word
    }

    pub fn required_word<W: Word>(&self, name: &str, notes: &mut Notes) -> Option<W> {
        if !self.has(name) {
            notes.fault(self.missing(name).options(W::options()));
        }
        self.word(name, notes)
    }

    pub fn not_an_option(&self, name: &str, value: &str, options: &[String]) -> Fault {
        let message =
            format!("{name} must be one of: {} (got '{}')", options.join(", "), cut(value));
        let near = nearest(value, options.iter().map(String::as_str));
        let fault = Fault::new(Code::InvalidEnum, message)
            .about(&self.item)
            .field(name)
            .value(value)
            .options(options.iter());
        match near {
            Some(near) => fault.suggest(format!("did you mean '{near}'?")),
            None => fault,
        }
    }

    /// Reads a list of texts. A single text counts as a list of one.
    pub fn texts(&self, name: &str, chars_max: usize, notes: &mut Notes) -> Option<Vec<String>> {
        const EXPECTED: &str = "a list of strings";
        let read = |value: &'a Value| match value.is_string() {
            true => Some(std::slice::from_ref(value)),
            false => value.as_array().map(Vec::as_slice),
        };
        let list = self.typed(name, EXPECTED, read, notes)?;
        if !self.holds_at_most(name, list.len(), LIST_ITEMS_MAX, notes) {
            return None;
        }
        let mut texts = Vec::with_capacity(list.len());
        for value in list {
            match value.as_str() {
                Some(text) => texts.extend(self.within(name, text, chars_max, notes)),
                None => notes.fault(self.wrong_type(name, EXPECTED, value)),
            }
        }
        Some(texts)
    }

    /// Reads a list of objects.
    pub fn objects(
        &self,
        name: &str,
        items_max: usize,
        notes: &mut Notes,
    ) -> Vec<&'a Map<String, Value>> {
        const EXPECTED: &str = "a list of objects";
        let Some(list) = self.typed(name, EXPECTED, Value::as_array, notes) else {
            return Vec::new();
        };
        if !self.holds_at_most(name, list.len(), items_max, notes) {
            return Vec::new();
        }
        let mut objects = Vec::with_capacity(list.len());
        for value in list {
            match value.as_object() {
                Some(map) => objects.push(map),
                None => notes.fault(self.wrong_type(name, EXPECTED, value)),
            }
        }
        objects
    }

    fn holds_at_most(&self, name: &str, items: usize, max: usize, notes: &mut Notes) -> bool {
        if items > max {
            let message = format!("field '{name}' has {items} items, over the limit of {max}");
            notes.fault(Fault::new(Code::FieldTooLong, message).about(&self.item).field(name));
        }
        items <= max
    }

    /// Reads an object with keys chosen by the caller, such as `expert_scores`.
    pub fn object(&self, name: &str, notes: &mut Notes) -> Option<&'a Map<String, Value>> {
        self.typed(name, "an object", Value::as_object, notes)
    }

    /// Reads free-form JSON and keeps it unchanged.
    pub fn structured(&self, name: &str, notes: &mut Notes) -> Option<Value> {
        let value = self.get(name)?;
        let bytes = value.to_string().len();
        if bytes <= STRUCTURED_BYTES_MAX {
            return Some(value.clone());
        }
        let message = format!(
            "field '{name}' takes {bytes} bytes as JSON, over the limit of {STRUCTURED_BYTES_MAX}"
        );
        notes.fault(Fault::new(Code::FieldTooLong, message).about(&self.item).field(name));
        None
    }

    /// Handles unknown fields. A likely typo is an error, because ignoring it would lose data; any
    /// other unknown field is a warning.
    pub fn expect_only(&self, known: &[&str], notes: &mut Notes) {
        for name in self.others(known) {
            if let Some(meant) = nearest(name, self.absent(known)) {
                notes.fault(self.unknown(name).suggest(format!("did you mean '{meant}'?")));
            } else {
                let message = format!("field '{}' is not known and was ignored", cut(name));
                notes
                    .warnings
                    .push(Warning::new("unknown_field", message).with("field", cut(name)));
            }
        }
    }

    /// Rejects every unknown field.
    pub fn refuse_others(&self, known: &[&str], notes: &mut Notes) {
        for name in self.others(known) {
            let slip = nearest(name, self.absent(known));
            let meant = slip.or_else(|| self.absent(known).find(|known| is_part(name, known)));
            notes.fault(match meant {
                Some(meant) => self.unknown(name).suggest(format!("did you mean '{meant}'?")),
                None => self.unknown(name).suggest(format!("there are {}", known.join(", "))),
            });
        }
    }

    fn others(&self, known: &[&str]) -> impl Iterator<Item = &'a str> {
        let names = self.map.keys().map(String::as_str);
        names.filter(|name| !known.contains(name))
    }

    fn absent<'k>(&self, known: &[&'k str]) -> impl Iterator<Item = &'k str> {
        known.iter().copied().filter(|known| !self.map.contains_key(*known))
    }

    fn unknown(&self, name: &str) -> Fault {
        let name = cut(name);
        Fault::new(Code::NotSupported, format!("there is no field '{name}' here"))
            .about(&self.item)
            .field(name)
    }
}

/// Whether the words of one name are part of the other, as in `wait` and `wait_seconds` or
/// `no_audit` and `audit`.
fn is_part(name: &str, known: &str) -> bool {
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
pub(crate) fn cut(text: &str) -> String {
    head(text, ECHO_CHARS_MAX)
}

/// The option closest to `text`, if it is within typo distance.
pub(crate) fn nearest<'a>(text: &str, options: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_ascii_lowercase();
    options
        .map(|option| (distance(&text, &option.to_ascii_lowercase()), option))
        // A short option is within two edits of almost anything.
        .filter(|(distance, option)| *distance <= SLIP_DISTANCE_MAX && *distance * 2 < option.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, option)| option)
}

/// Levenshtein distance. Texts of very different length get a large value.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > SLIP_DISTANCE_MAX {
        return usize::MAX / 2;
    }
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut last = i + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(b.chars()) {
            let substituted = diagonal + usize::from(left != right);
            diagonal = *cell;
            last = substituted.min(diagonal + 1).min(last + 1);
            *cell = last;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            assert_eq!(nearest(slip, known.into_iter()), meant, "slip: {slip}");
        }
    }

    #[test]
    fn every_fault_of_an_object_is_found() {
        let arguments = json!({"title": 7, "score": "high", "tags": ["a", 1], "flag": "no", "notes": 1, "tag": 1});
        let fields = Fields::of_arguments(&arguments).unwrap();
        let mut notes = Notes::default();
        fields.required_text("title", 10, &mut notes);
        fields.integer("score", 0..=9, &mut notes);
        fields.texts("tags", 10, &mut notes);
        fields.boolean("flag", &mut notes);
        fields.required_text("question", 10, &mut notes);
        let known = ["title", "score", "tags", "flag", "question", "note"];
        fields.expect_only(&known, &mut notes);
        let found: Vec<_> = notes
            .faults
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
            let mut notes = Notes::default();
            Fields::of_arguments(&arguments).unwrap().refuse_others(&known, &mut notes);
            let hints: Vec<&str> = notes.faults.iter().map(Fault::hint).collect();
            assert_eq!(hints, [hint], "{name}");
        }
    }
}
