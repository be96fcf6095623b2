//! [`ConfigSection`]: typed access to one mapping of `council.yaml`, and its duration notation.
//! Problems are collected and reading continues, so that a user sees all of them at once.

use std::ops::RangeInclusive;

use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::limits::{EXPERT_SLUG_BYTES_MAX, LINE_CHARS_MAX};
use plenary_core::model::string_enum::StringEnum;

use crate::config::error::ConfigProblem;
use crate::config::yaml::{YamlKey, YamlNode, YamlValue};

/// Maximum items of one list.
pub(crate) const LIST_MAX: usize = 200;

/// A value with its line in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WithLine<T> {
    pub value: T,
    pub line: u64,
}

impl<T> WithLine<T> {
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> WithLine<U> {
        WithLine { value: change(self.value), line: self.line }
    }
}

/// Problems in the order of discovery.
#[derive(Debug, Default)]
pub(crate) struct ProblemList(pub Vec<ConfigProblem>);

impl ProblemList {
    pub(crate) fn add_problem(&mut self, path: &str, line: u64, fault: &str) {
        self.0.push(ConfigProblem::in_value(path, Some(line), fault));
    }
}

/// A mapping with its key path and line.
#[derive(Debug)]
pub(crate) struct ConfigSection<'a> {
    pub path: String,
    pub line: u64,
    entries: &'a [(YamlKey, YamlNode)],
}

impl<'a> ConfigSection<'a> {
    /// Opens a mapping and reports unknown keys. An empty node is an empty mapping.
    pub(crate) fn from_node(
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
    pub(crate) fn from_mapping(
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

    pub(crate) fn key_path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(crate) fn entries(&self) -> &'a [(YamlKey, YamlNode)] {
        self.entries
    }

    /// Returns the node of a key; a key without a value counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'a YamlNode> {
        let (_, node) = self.entries.iter().find(|(entry, _)| entry.name == key)?;
        (node.value != YamlValue::Null).then_some(node)
    }

    pub(crate) fn read_section(
        &self,
        key: &str,
        known: &[&str],
        problems: &mut ProblemList,
    ) -> Option<ConfigSection<'a>> {
        ConfigSection::from_node(self.get(key)?, &self.key_path(key), known, problems)
    }

    /// Returns an empty section if the key is absent.
    pub(crate) fn section_or_empty(
        &self,
        key: &str,
        known: &[&str],
        problems: &mut ProblemList,
    ) -> ConfigSection<'a> {
        let section = self.read_section(key, known, problems);
        section.unwrap_or(ConfigSection { path: self.key_path(key), line: self.line, entries: &[] })
    }

    pub(crate) fn read_text(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<String>> {
        let node = self.get(key)?;
        let value = parse_text(node, &self.key_path(key), problems)?;
        Some(WithLine { value, line: node.line })
    }

    pub(crate) fn read_boolean(
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

    pub(crate) fn read_integer<T: TryFrom<i128>>(
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

    pub(crate) fn read_number(
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
    pub(crate) fn read_duration(
        &self,
        key: &str,
        max_ms: u64,
        problems: &mut ProblemList,
    ) -> Option<WithLine<u64>> {
        let node = self.get(key)?;
        let read = match &node.value {
            YamlValue::Integer(value) => u64::try_from(*value).ok(),
            YamlValue::Text(text) => parse_duration(text),
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
            Some(_) => format!("must be from 1ms to {}", show_duration(max_ms)),
            None => "must be a duration: milliseconds, or `500ms`, `60s`, `15m`, `2h`".to_owned(),
        };
        problems.add_problem(&self.key_path(key), node.line, &fault);
        None
    }

    pub(crate) fn read_enum<W: StringEnum>(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<W>> {
        let node = self.get(key)?;
        let value = parse_enum(node, &self.key_path(key), problems)?;
        Some(WithLine { value, line: node.line })
    }

    /// Reads the name of a provider or seat.
    pub(crate) fn read_name(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<WithLine<ExpertSlug>> {
        let node = self.get(key)?;
        let value = parse_name(node, &self.key_path(key), problems)?;
        Some(WithLine { value, line: node.line })
    }

    /// Reads a required name and reports its absence.
    pub(crate) fn read_required_name(
        &self,
        key: &str,
        problems: &mut ProblemList,
    ) -> Option<ExpertSlug> {
        if self.get(key).is_none() {
            problems.add_problem(&self.path, self.line, &format!("needs a `{key}`"));
        }
        self.read_name(key, problems).map(|name| name.value)
    }

    pub(crate) fn read_list(
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

    pub(crate) fn read_texts(
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
    pub(crate) fn read_enums<W: StringEnum + PartialEq>(
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
pub(crate) fn parse_text(
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

pub(crate) fn parse_name(
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

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// Parses an integer with a unit into milliseconds.
pub fn parse_duration(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Formats milliseconds with the largest unit that divides them.
pub fn show_duration(ms: u64) -> String {
    let fits = UNITS.iter().rev().find(|(_, factor)| ms >= *factor && ms.is_multiple_of(*factor));
    fits.map_or_else(|| format!("{ms}ms"), |(name, factor)| format!("{}{name}", ms / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        let cases = [
            ("500ms", Some(500)),
            ("60s", Some(60_000)),
            ("15m", Some(900_000)),
            ("2h", Some(7_200_000)),
            ("2 h", Some(7_200_000)),
            ("60", None),
            ("s", None),
            ("", None),
            ("-5s", None),
            ("1.5s", None),
            ("5d", None),
            ("5S", None),
            ("18446744073709551615h", None),
            ("99999999999999999999s", None),
        ];
        for (text, ms) in cases {
            assert_eq!(parse_duration(text), ms, "text: {text}");
        }
    }

    #[test]
    fn durations_are_said_shortly() {
        let cases = [(0, "0ms"), (1, "1ms"), (1_500, "1500ms"), (60_000, "1m"), (7_200_000, "2h")];
        for (ms, text) in cases {
            assert_eq!(show_duration(ms), text);
        }
    }
}
