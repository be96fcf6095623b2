//! [`ConfigSection`]: typed access to one mapping of `council.yaml`, and its duration notation.
//! Problems are collected and reading continues, so that a user sees all of them at once.

use std::ops::RangeInclusive;

use super::duration;
use super::error::Problem;
use super::yaml::{Key, Node, Value};
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::{EXPERT_SLUG_BYTES_MAX, LINE_CHARS_MAX};
use crate::domain::words::Word;

/// Maximum items of one list.
pub(super) const LIST_MAX: usize = 200;

/// A value with its line in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct At<T> {
    pub value: T,
    pub line: u64,
}

impl<T> At<T> {
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> At<U> {
        At { value: change(self.value), line: self.line }
    }
}

/// Problems in the order of discovery.
#[derive(Debug, Default)]
pub(super) struct Problems(pub Vec<Problem>);

impl Problems {
    pub(super) fn note(&mut self, path: &str, line: u64, fault: &str) {
        self.0.push(Problem::of_value(path, Some(line), fault));
    }
}

/// A mapping with its key path and line.
#[derive(Debug)]
pub(super) struct Section<'a> {
    pub path: String,
    pub line: u64,
    entries: &'a [(Key, Node)],
}

impl<'a> Section<'a> {
    /// Opens a mapping and reports unknown keys. An empty node is an empty mapping.
    pub(super) fn of(
        node: &'a Node,
        path: &str,
        known: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        let section = Self::open(node, path, problems)?;
        for (key, _) in section.entries.iter().filter(|(key, _)| !known.contains(&&*key.name)) {
            let path = section.at(&key.name);
            problems.0.push(Problem::unknown_key(path, &key.name, key.line, known));
        }
        Some(section)
    }

    /// Opens a mapping with arbitrary keys.
    pub(super) fn open(node: &'a Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let entries: &[(Key, Node)] = if let Value::Mapping(entries) = &node.value {
            entries
        } else if node.value == Value::Null {
            &[]
        } else {
            let named = if path.is_empty() { "the file" } else { path };
            problems.note(
                named,
                node.line,
                &format!("must be a mapping, not {}", node.value.kind()),
            );
            return None;
        };
        Some(Self { path: path.to_owned(), line: node.line, entries })
    }

    pub(super) fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn entries(&self) -> &'a [(Key, Node)] {
        self.entries
    }

    /// Returns the node of a key; a key without a value counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        let (_, node) = self.entries.iter().find(|(entry, _)| entry.name == key)?;
        (node.value != Value::Null).then_some(node)
    }

    pub(super) fn section(
        &self,
        key: &str,
        known: &[&str],
        problems: &mut Problems,
    ) -> Option<Section<'a>> {
        Section::of(self.get(key)?, &self.at(key), known, problems)
    }

    /// Returns an empty section if the key is absent.
    pub(super) fn section_or_empty(
        &self,
        key: &str,
        known: &[&str],
        problems: &mut Problems,
    ) -> Section<'a> {
        let section = self.section(key, known, problems);
        section.unwrap_or(Section { path: self.at(key), line: self.line, entries: &[] })
    }

    pub(super) fn text(&self, key: &str, problems: &mut Problems) -> Option<At<String>> {
        let node = self.get(key)?;
        let value = text(node, &self.at(key), problems)?;
        Some(At { value, line: node.line })
    }

    pub(super) fn boolean(&self, key: &str, problems: &mut Problems) -> Option<At<bool>> {
        let node = self.get(key)?;
        if let Value::Boolean(value) = node.value {
            return Some(At { value, line: node.line });
        }
        let fault = format!("must be `true` or `false`, not {}", node.value.kind());
        problems.note(&self.at(key), node.line, &fault);
        None
    }

    pub(super) fn integer<T: TryFrom<i128>>(
        &self,
        key: &str,
        range: RangeInclusive<i128>,
        problems: &mut Problems,
    ) -> Option<At<T>> {
        let node = self.get(key)?;
        let fault = if let Value::Integer(value) = node.value {
            let fits = Some(value).filter(|value| range.contains(value));
            if let Some(value) = fits.and_then(|value| T::try_from(value).ok()) {
                return Some(At { value, line: node.line });
            }
            format!("must be from {} to {}, not {value}", range.start(), range.end())
        } else {
            let is_number = matches!(node.value, Value::Number(_));
            let kind = if is_number { "one with a fraction" } else { node.value.kind() };
            format!("must be a whole number, not {kind}")
        };
        problems.note(&self.at(key), node.line, &fault);
        None
    }

    pub(super) fn number(
        &self,
        key: &str,
        range: RangeInclusive<f64>,
        problems: &mut Problems,
    ) -> Option<At<f64>> {
        let node = self.get(key)?;
        let value = match node.value {
            Value::Integer(value) => value as f64,
            Value::Number(value) => value,
            Value::Null
            | Value::Boolean(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Mapping(_) => {
                let fault = format!("must be a number, not {}", node.value.kind());
                problems.note(&self.at(key), node.line, &fault);
                return None;
            }
        };
        if range.contains(&value) {
            return Some(At { value, line: node.line });
        }
        let fault = format!("must be from {} to {}, not {value}", range.start(), range.end());
        problems.note(&self.at(key), node.line, &fault);
        None
    }

    /// Reads milliseconds: an integer, or text such as `60s`.
    pub(super) fn duration(
        &self,
        key: &str,
        max_ms: u64,
        problems: &mut Problems,
    ) -> Option<At<u64>> {
        let node = self.get(key)?;
        let read = match &node.value {
            Value::Integer(value) => u64::try_from(*value).ok(),
            Value::Text(text) => duration::parse(text),
            Value::Null
            | Value::Boolean(_)
            | Value::Number(_)
            | Value::List(_)
            | Value::Mapping(_) => None,
        };
        let fault = match read {
            Some(value) if (1..=max_ms).contains(&value) => {
                return Some(At { value, line: node.line });
            }
            Some(_) => format!("must be from 1ms to {}", duration::show(max_ms)),
            None => "must be a duration: milliseconds, or `500ms`, `60s`, `15m`, `2h`".to_owned(),
        };
        problems.note(&self.at(key), node.line, &fault);
        None
    }

    pub(super) fn word<W: Word>(&self, key: &str, problems: &mut Problems) -> Option<At<W>> {
        let node = self.get(key)?;
        let value = word(node, &self.at(key), problems)?;
        Some(At { value, line: node.line })
    }

    /// Reads the name of a provider or seat.
    pub(super) fn name(&self, key: &str, problems: &mut Problems) -> Option<At<ExpertSlug>> {
        let node = self.get(key)?;
        let value = name(node, &self.at(key), problems)?;
        Some(At { value, line: node.line })
    }

    /// Reads a required name and reports its absence.
    pub(super) fn required_name(&self, key: &str, problems: &mut Problems) -> Option<ExpertSlug> {
        if self.get(key).is_none() {
            problems.note(&self.path, self.line, &format!("needs a `{key}`"));
        }
        self.name(key, problems).map(|name| name.value)
    }

    pub(super) fn list(&self, key: &str, problems: &mut Problems) -> Option<At<&'a [Node]>> {
        let node = self.get(key)?;
        let fault = if let Value::List(items) = &node.value {
            if items.len() <= LIST_MAX {
                return Some(At { value: items, line: node.line });
            }
            format!("has {} items, over {LIST_MAX}", items.len())
        } else {
            format!("must be a list, not {}", node.value.kind())
        };
        problems.note(&self.at(key), node.line, &fault);
        None
    }

    pub(super) fn texts(&self, key: &str, problems: &mut Problems) -> Option<At<Vec<String>>> {
        let list = self.list(key, problems)?;
        let path = self.at(key);
        Some(
            list.map(|items| items.iter().filter_map(|item| text(item, &path, problems)).collect()),
        )
    }

    /// Reads a list of distinct enum values, or a single value.
    pub(super) fn words<W: Word + PartialEq>(
        &self,
        key: &str,
        problems: &mut Problems,
    ) -> Option<At<Vec<W>>> {
        let node = self.get(key)?;
        let path = self.at(key);
        let is_alone = matches!(node.value, Value::Text(_));
        let items =
            if is_alone { std::slice::from_ref(node) } else { self.list(key, problems)?.value };
        let mut words: Vec<W> = Vec::new();
        for item in items {
            match word(item, &path, problems) {
                Some(word) if words.contains(&word) => {
                    problems.note(&path, item.line, "names the same thing twice");
                }
                Some(word) => words.push(word),
                None => {}
            }
        }
        Some(At { value: words, line: node.line })
    }
}

/// Reads one line of text: not empty, within the length limit.
pub(super) fn text(node: &Node, path: &str, problems: &mut Problems) -> Option<String> {
    let fault = match &node.value {
        Value::Text(text) if text.trim().is_empty() => "must not be empty".to_owned(),
        Value::Text(text) if text.chars().count() > LINE_CHARS_MAX => {
            format!("is over the limit of {LINE_CHARS_MAX} characters")
        }
        Value::Text(text) if text.chars().any(char::is_control) => {
            "must not hold control characters".to_owned()
        }
        Value::Text(text) => return Some(text.clone()),
        Value::Integer(_) | Value::Number(_) | Value::Boolean(_) => {
            format!("must be text, not {}; put it in quotes", node.value.kind())
        }
        Value::Null | Value::List(_) | Value::Mapping(_) => {
            format!("must be text, not {}", node.value.kind())
        }
    };
    problems.note(path, node.line, &fault);
    None
}

pub(super) fn name(node: &Node, path: &str, problems: &mut Problems) -> Option<ExpertSlug> {
    let name = text(node, path, problems)?.parse().ok();
    if name.is_none() {
        let fault = format!(
            "must be a name of 1 to {EXPERT_SLUG_BYTES_MAX} lower-case letters, digits, `_` or `-`, begin with a letter and not be `judge`"
        );
        problems.note(path, node.line, &fault);
    }
    name
}

fn word<W: Word>(node: &Node, path: &str, problems: &mut Problems) -> Option<W> {
    let word = text(node, path, problems)?;
    let read = word.parse().ok();
    if read.is_none() {
        let fault = format!("must be one of {}, not `{word}`", W::options().join(", "));
        problems.note(path, node.line, &fault);
    }
    read
}
