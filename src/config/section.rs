//! [`ConfigSection`]: typed access to one mapping of `council.yaml`, and its duration notation.
//! Problems are collected and reading continues, so that a user sees all of them at once.

use std::ops::RangeInclusive;

use super::duration;
use super::error::ConfigProblem;
use super::yaml::{YamlKey, YamlNode, YamlValue};
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::{EXPERT_SLUG_BYTES_MAX, LINE_CHARS_MAX};
use crate::domain::words::StringEnum;

/// Maximum items of one list.
pub(super) const LIST_MAX: usize = 200;

/// A value with its line in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WithLine<T> {
    pub value: T,
    pub line: u64,
}

impl<T> WithLine<T> {
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> WithLine<U> {
        WithLine { value: change(self.value), line: self.line }
    }
}

/// Problems in the order of discovery.
#[derive(Debug, Default)]
pub(super) struct ProblemList(pub Vec<ConfigProblem>);

impl ProblemList {
    pub(super) fn add_problem(&mut self, path: &str, line: u64, fault: &str) {
        self.0.push(ConfigProblem::in_value(path, Some(line), fault));
    }
}

/// A mapping with its key path and line.
#[derive(Debug)]
pub(super) struct ConfigSection<'a> {
    pub path: String,
    pub line: u64,
    entries: &'a [(YamlKey, YamlNode)],
}

impl<'a> ConfigSection<'a> {
    /// Opens a mapping and reports unknown keys. An empty node is an empty mapping.
    pub(super) fn from_node(
        node: &'a YamlNode,
        path: &str,
        known: &[&str],
        problems: &mut ProblemList,
    ) -> Option<Self> {
        let section = Self::from_mapping(node, path, problems)?;
        for (key, _) in section.entries.iter().filter(|(key, _)| !known.contains(&&*key.name)) {
            let path = section.key_path(&key.name);
            problems.0.push(ConfigProblem::unknown_key(path, &key.name, key.line, known));
        }
        Some(section)
    }

    /// Opens a mapping with arbitrary keys.
    pub(super) fn from_mapping(
        node: &'a YamlNode,
        path: &str,
        problems: &mut ProblemList,
    ) -> Option<Self> {
        let entries: &[(YamlKey, YamlNode)] = if let YamlValue::Mapping(entries) = &node.value {
            entries
        } else if node.value == YamlValue::Null {
            &[]
        } else {
            let named = if path.is_empty() { "the file" } else { path };
            problems.add_problem(
                named,
                node.line,
                &format!("must be a mapping, not {}", node.value.kind()),
            );
            return None;
        };
        Some(Self { path: path.to_owned(), line: node.line, entries })
    }

    pub(super) fn key_path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn entries(&self) -> &'a [(YamlKey, YamlNode)] {
        self.entries
    }

    /// Returns the node of a key; a key without a value counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'a YamlNode> {
        let (_, node) = self.entries.iter().find(|(entry, _)| entry.name == key)?;
        (node.value != YamlValue::Null).then_some(node)
    }

    pub(super) fn read_section(
        &self,
        key: &str,
        known: &[&str],
        problems: &mut ProblemList,
    ) -> Option<ConfigSection<'a>> {
        ConfigSection::from_node(self.get(key)?, &self.key_path(key), known, problems)
    }

    /// Returns an empty section if the key is absent.
    pub(super) fn section_or_empty(
        &self,
        key: &str,
        known: &[&str],
        problems: &mut ProblemList,
    ) -> ConfigSection<'a> {
        let section = self.read_section(key, known, problems);
        section.unwrap_or(ConfigSection { path: self.key_path(key), line: self.line, entries: &[] })
    }

    pub(super) fn read_text(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<String>> {
        let node = self.get(key)?;
        let value = parse_text(node, &self.key_path(key), problems)?;
        Some(WithLine { value, line: node.line })
    }

    pub(super) fn read_boolean(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<bool>> {
        let node = self.get(key)?;
        if let YamlValue::Boolean(value) = node.value {
            return Some(WithLine { value, line: node.line });
        }
        let fault = format!("must be `true` or `false`, not {}", node.value.kind());
        problems.add_problem(&self.key_path(key), node.line, &fault);
        None
    }

    pub(super) fn read_integer<T: TryFrom<i128>>(
        &self,
        key: &str,
        range: RangeInclusive<i128>,
        problems: &mut ProblemList,
    ) -> Option<WithLine<T>> {
        let node = self.get(key)?;
        let fault = if let YamlValue::Integer(value) = node.value {
            let fits = Some(value).filter(|value| range.contains(value));
            if let Some(value) = fits.and_then(|value| T::try_from(value).ok()) {
                return Some(WithLine { value, line: node.line });
            }
            format!("must be from {} to {}, not {value}", range.start(), range.end())
        } else {
            let is_number = matches!(node.value, YamlValue::Number(_));
            let kind = if is_number { "one with a fraction" } else { node.value.kind() };
            format!("must be a whole number, not {kind}")
        };
        problems.add_problem(&self.key_path(key), node.line, &fault);
        None
    }

    pub(super) fn read_number(
        &self,
        key: &str,
        range: RangeInclusive<f64>,
        problems: &mut ProblemList,
    ) -> Option<WithLine<f64>> {
        let node = self.get(key)?;
        let value = match node.value {
            YamlValue::Integer(value) => value as f64,
            YamlValue::Number(value) => value,
            YamlValue::Null
            | YamlValue::Boolean(_)
            | YamlValue::Text(_)
            | YamlValue::List(_)
            | YamlValue::Mapping(_) => {
                let fault = format!("must be a number, not {}", node.value.kind());
                problems.add_problem(&self.key_path(key), node.line, &fault);
                return None;
            }
        };
        if range.contains(&value) {
            return Some(WithLine { value, line: node.line });
        }
        let fault = format!("must be from {} to {}, not {value}", range.start(), range.end());
        problems.add_problem(&self.key_path(key), node.line, &fault);
        None
    }

    /// Reads milliseconds: an integer, or text such as `60s`.
    pub(super) fn read_duration(
        &self,
        key: &str,
        max_ms: u64,
        problems: &mut ProblemList,
    ) -> Option<WithLine<u64>> {
        let node = self.get(key)?;
        let read = match &node.value {
            YamlValue::Integer(value) => u64::try_from(*value).ok(),
            YamlValue::Text(text) => duration::parse_duration(text),
            YamlValue::Null
            | YamlValue::Boolean(_)
            | YamlValue::Number(_)
            | YamlValue::List(_)
            | YamlValue::Mapping(_) => None,
        };
        let fault = match read {
            Some(value) if (1..=max_ms).contains(&value) => {
                return Some(WithLine { value, line: node.line });
            }
            Some(_) => format!("must be from 1ms to {}", duration::show_duration(max_ms)),
            None => "must be a duration: milliseconds, or `500ms`, `60s`, `15m`, `2h`".to_owned(),
        };
        problems.add_problem(&self.key_path(key), node.line, &fault);
        None
    }

    pub(super) fn read_enum<W: StringEnum>(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<W>> {
        let node = self.get(key)?;
        let value = parse_enum(node, &self.key_path(key), problems)?;
        Some(WithLine { value, line: node.line })
    }

    /// Reads the name of a provider or seat.
    pub(super) fn read_name(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<ExpertSlug>> {
        let node = self.get(key)?;
        let value = parse_name(node, &self.key_path(key), problems)?;
        Some(WithLine { value, line: node.line })
    }

    /// Reads a required name and reports its absence.
    pub(super) fn read_required_name(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<ExpertSlug> {
        if self.get(key).is_none() {
            problems.add_problem(&self.path, self.line, &format!("needs a `{key}`"));
        }
        self.read_name(key, problems).map(|name| name.value)
    }

    pub(super) fn read_list(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<&'a [YamlNode]>> {
        let node = self.get(key)?;
        let fault = if let YamlValue::List(items) = &node.value {
            if items.len() <= LIST_MAX {
                return Some(WithLine { value: items, line: node.line });
            }
            format!("has {} items, over {LIST_MAX}", items.len())
        } else {
            format!("must be a list, not {}", node.value.kind())
        };
        problems.add_problem(&self.key_path(key), node.line, &fault);
        None
    }

    pub(super) fn read_texts(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<Vec<String>>> {
        let list = self.read_list(key, problems)?;
        let path = self.key_path(key);
        Some(list.map(|items| {
            items.iter().filter_map(|item| parse_text(item, &path, problems)).collect()
        }))
    }

    /// Reads a list of distinct enum values, or a single value.
    pub(super) fn read_enums<W: StringEnum + PartialEq>(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<Vec<W>>> {
        let node = self.get(key)?;
        let path = self.key_path(key);
        let is_alone = matches!(node.value, YamlValue::Text(_));
        let items = if is_alone {
            std::slice::from_ref(node)
        } else {
            self.read_list(key, problems)?.value
        };
        let mut words: Vec<W> = Vec::new();
        for item in items {
            match parse_enum(item, &path, problems) {
                Some(word) if words.contains(&word) => {
                    problems.add_problem(&path, item.line, "names the same thing twice");
                }
                Some(word) => words.push(word),
                None => {}
            }
        }
        Some(WithLine { value: words, line: node.line })
    }
}

/// Reads one line of text: not empty, within the length limit.
pub(super) fn parse_text(
    node: &YamlNode,
    path: &str,
    problems: &mut ProblemList,
) -> Option<String> {
    let fault = match &node.value {
        YamlValue::Text(text) if text.trim().is_empty() => "must not be empty".to_owned(),
        YamlValue::Text(text) if text.chars().count() > LINE_CHARS_MAX => {
            format!("is over the limit of {LINE_CHARS_MAX} characters")
        }
        YamlValue::Text(text) if text.chars().any(char::is_control) => {
            "must not hold control characters".to_owned()
        }
        YamlValue::Text(text) => return Some(text.clone()),
        YamlValue::Integer(_) | YamlValue::Number(_) | YamlValue::Boolean(_) => {
            format!("must be text, not {}; put it in quotes", node.value.kind())
        }
        YamlValue::Null | YamlValue::List(_) | YamlValue::Mapping(_) => {
            format!("must be text, not {}", node.value.kind())
        }
    };
    problems.add_problem(path, node.line, &fault);
    None
}

pub(super) fn parse_name(
    node: &YamlNode,
    path: &str,
    problems: &mut ProblemList,
) -> Option<ExpertSlug> {
    let name = parse_text(node, path, problems)?.parse().ok();
    if name.is_none() {
        let fault = format!(
            "must be a name of 1 to {EXPERT_SLUG_BYTES_MAX} lower-case letters, digits, `_` or `-`, begin with a letter and not be `judge`"
        );
        problems.add_problem(path, node.line, &fault);
    }
    name
}

fn parse_enum<W: StringEnum>(node: &YamlNode, path: &str, problems: &mut ProblemList) -> Option<W> {
    let word = parse_text(node, path, problems)?;
    let read = word.parse().ok();
    if read.is_none() {
        let fault = format!("must be one of {}, not `{word}`", W::options().join(", "));
        problems.add_problem(path, node.line, &fault);
    }
    read
}
