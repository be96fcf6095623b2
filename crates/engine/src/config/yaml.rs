//! Parses `council.yaml` into a tree of [`YamlNode`]s in which every key and value has its line.
//!
//! The tree is parsed once and each section reads its part, so that all problems are reported
//! together.
//!
//! **Invariant:** parsing any text ends soon: size, depth, number of nodes and alias expansion are
//! limited.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::{Error, Options, Spanned};

use crate::config::error::ConfigProblem;
use crate::config::section::parse_duration;

/// Maximum nesting; the deepest setting is on level six.
const DEPTH_MAX: usize = 24;

/// Maximum keys and values after alias expansion; far more than any configuration needs.
const NODES_MAX: usize = 20_000;

/// A value and its first line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct YamlNode {
    pub line: u64,
    pub value: YamlValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum YamlValue {
    Null,
    Boolean(bool),
    Integer(i128),
    Number(f64),
    Text(String),
    List(Vec<YamlNode>),
    /// In the order of the file.
    Mapping(Vec<(YamlKey, YamlNode)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct YamlKey {
    pub line: u64,
    pub name: String,
}

impl YamlValue {
    /// Returns the kind of value for error messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) | Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Mapping(_) => "a mapping",
        }
    }

    /// Returns a number itself, and the kind of any other value, which may be a secret.
    pub(crate) fn show_number_or_kind(&self) -> String {
        self.to_number().map_or_else(|| self.kind().to_owned(), |number| number.to_string())
    }

    pub(crate) fn to_number(&self) -> Option<f64> {
        if let Self::Integer(value) = self {
            return Some(*value as f64);
        }
        if let Self::Number(value) = self { Some(*value) } else { None }
    }

    /// Returns a duration in milliseconds: an integer, or text such as `60s`.
    pub(crate) fn to_millis(&self) -> Option<u64> {
        if let Self::Integer(value) = self {
            return u64::try_from(*value).ok();
        }
        if let Self::Text(text) = self { parse_duration(text) } else { None }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        !matches!(self, Self::Null | Self::List(_) | Self::Mapping(_))
    }
}

impl YamlNode {
    /// Returns the value at a path such as `council.providers`, unless it is empty.
    pub(crate) fn find_value(&self, path: &str) -> Option<&Self> {
        let mut node = self;
        for name in path.split('.') {
            let YamlValue::Mapping(entries) = &node.value else { return None };
            node = &entries.iter().find(|(key, _)| key.name == name)?.1;
        }
        (node.value != YamlValue::Null).then_some(node)
    }
}

/// Parses one YAML document. An empty text is `Null`.
pub(crate) fn parse_yaml(text: &str) -> Result<YamlNode, ConfigProblem> {
    if let Some(line) = line_with(text, '\0') {
        return Err(ConfigProblem::in_text(Some(line), "it contains a NUL character"));
    }
    let parsed: Result<Spanned<YamlValue>, Error> =
        serde_saphyr::from_str_with_options(text, parser_options());
    match parsed {
        Ok(spanned) => {
            Ok(YamlNode { line: spanned.referenced.line().max(1), value: spanned.value })
        }
        Err(error) => Err(to_problem(text, &error)),
    }
}

/// Reads any YAML document as JSON, with the limits of `council.yaml`.
pub(crate) fn yaml_to_json(text: &str) -> Result<Value, ConfigProblem> {
    parse_yaml(text).map(|node| node_to_json(node.value))
}

fn node_to_json(value: YamlValue) -> Value {
    match value {
        YamlValue::Null => Value::Null,
        YamlValue::Boolean(flag) => flag.into(),
        YamlValue::Integer(number) => match i64::try_from(number) {
            Ok(number) => number.into(),
            Err(_) => number.to_string().into(),
        },
        YamlValue::Number(number) => number.into(),
        YamlValue::Text(text) => text.into(),
        YamlValue::List(items) => items.into_iter().map(|item| node_to_json(item.value)).collect(),
        YamlValue::Mapping(entries) => {
            entries.into_iter().map(|(key, node)| (key.name, node_to_json(node.value))).collect()
        }
    }
}

/// Writes JSON as YAML in block style. Texts are quoted, so none is read as another type.
pub(crate) fn json_to_yaml(value: &Value) -> String {
    let mut text = String::new();
    write_block(value, 0, &mut text);
    text
}

fn write_block(value: &Value, indent: usize, text: &mut String) {
    let margin = " ".repeat(indent);
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                text.push_str(&format!("{margin}{}:", Value::from(key.as_str())));
                write_value(value, indent + 2, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                text.push_str(&format!("{margin}-"));
                write_value(item, indent + 2, text);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => text.push_str(&format!("{margin}{value}\n")),
    }
}

/// A value after its key: on the same line, or as a block below it.
fn write_value(value: &Value, indent: usize, text: &mut String) {
    let is_block = value.as_object().is_some_and(|map| !map.is_empty())
        || value.as_array().is_some_and(|items| !items.is_empty());
    match is_block {
        true => {
            text.push('\n');
            write_block(value, indent, text);
        }
        false => text.push_str(&format!(" {value}\n")),
    }
}

fn parser_options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEPTH_MAX,
            max_nodes: NODES_MAX,
            max_events: NODES_MAX * 3,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: NODES_MAX,
            max_replay_stack_depth: DEPTH_MAX,
        },
        strict_booleans: true,
        // A snippet would repeat the file's text, which may contain a secret.
        with_snippet: false,
    }
}

/// Explains the parser's common errors in our own terms.
fn to_problem(text: &str, error: &Error) -> ConfigProblem {
    let line = error.location().map(|location| location.line()).filter(|line| *line > 0);
    let offender =
        line.and_then(|line| text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?));
    let is_tabbed = offender.is_some_and(|text| leading_space(text).contains('\t'));
    let message = if is_tabbed {
        "a tab cannot indent YAML; use spaces".to_owned()
    } else {
        describe_error(error.without_snippet())
    };
    ConfigProblem::in_text(line, &message)
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library has a hundred others; they cannot be reached, or say as little"
)]
fn describe_error(error: &Error) -> String {
    let printed = match error {
        Error::AliasError { error, .. } => return describe_error(error),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            return format!("the key `{key}` occurs twice");
        }
        Error::ExternalMessage { msg, .. } => return format!("it is not valid YAML: {msg}"),
        Error::DuplicateMappingKey { key: None, .. } => "a key occurs twice",
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => "its aliases expand to too many values",
        Error::RecursiveReferencesRequireWeakTypes { .. } => "an alias is inside its own anchor",
        Error::Budget { .. } => "it has too many values, or values that are nested too deep",
        Error::MultipleDocuments { .. } => "a second document begins; only one is allowed",
        Error::NonFiniteFloat { .. } => "a number must be finite",
        Error::UnknownAnchor { .. } => "an alias names no anchor",
        _ => "it is not valid YAML",
    };
    printed.to_owned()
}

fn leading_space(line: &str) -> &str {
    let end = line.find(|letter: char| !letter.is_whitespace()).unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

fn line_with(text: &str, letter: char) -> Option<u64> {
    let before = text.split_once(letter)?.0;
    Some(before.matches('\n').count() as u64 + 1)
}

impl<'de> Deserialize<'de> for YamlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = YamlValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<YamlValue, E> {
        Ok(YamlValue::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<YamlValue, E> {
        Ok(YamlValue::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<YamlValue, E> {
        Ok(YamlValue::Integer(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<YamlValue, E> {
        Ok(YamlValue::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<YamlValue, E> {
        Ok(YamlValue::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<YamlValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<YamlValue>>()? {
            list.push(YamlNode { line: item.referenced.line(), value: item.value });
        }
        Ok(YamlValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<YamlValue, A::Error> {
        let mut mapping = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let key = YamlKey { line: key.referenced.line(), name: key.value };
            let item = entries.next_value::<Spanned<YamlValue>>()?;
            mapping.push((key, YamlNode { line: item.referenced.line(), value: item.value }));
        }
        Ok(YamlValue::Mapping(mapping))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let printed = match parse_yaml(text) {
            Ok(node) => format!("{:?}", node.value),
            Err(problem) => problem.message,
        };
        let start: String = text.chars().take(60).collect();
        assert!(printed.contains(expected), "{start}\nsaid: {printed}\nnot: {expected}");
    }

    #[test]
    fn text_that_is_no_yaml_is_told_by_its_line() {
        check("a: 1\nb:\n\tc: 2", "a tab cannot indent YAML; use spaces (line 3)");
        check("a: 1\nb: \0", "it contains a NUL character (line 2)");
        check("a: 1\nb: 2\na: 3", "the key `a` occurs twice (line 3)");
        check("a: 1\n---\nb: 2", "a second document begins; only one is allowed (line 3)");
        check("b: 1\na: 'x", "it is not valid YAML: unclosed quote (line 2)");
        check("a: *nobody", "an alias names no anchor (line 1)");
        check("a: &a [*a]", "an alias is inside its own anchor (line 1)");
        check("a:\n  - .nan", "a number must be finite (line 2)");
        check("a: 1e999", "a number must be finite (line 1)");
        check("[a]: 2", "it is not valid YAML (line 1)");
        check("a: {b", "it is not valid YAML");
    }

    #[test]
    fn text_that_would_explode_is_refused() {
        let level = |name: char, below: char| {
            format!("{name}: &{name} [{}]\n", vec![format!("*{below}"); 9].join(","))
        };
        let levels: String =
            ('b'..'j').zip('a'..).map(|(name, below)| level(name, below)).collect();
        check(
            &format!("a: &a [{}]\n{levels}", ["x"; 9].join(",")),
            "its aliases expand to too many values",
        );
        check(&"[".repeat(10_000), "it is not valid YAML: recursion limit exceeded");
        check(&format!("a: {}1{}", "[".repeat(30), "]".repeat(30)), "nested too deep");
        check(&format!("a: [{}]", "1,".repeat(30_000)), "it has too many values");
    }

    #[test]
    fn words_that_other_yamls_take_for_truth_are_text() {
        check("yes", r#"Text("yes")"#);
        check("off", r#"Text("off")"#);
        check("true", "Boolean(true)");
        check("\"true\"", r#"Text("true")"#);
        check("", "Null");
        check("# nothing\n", "Null");
    }

    #[test]
    fn keys_and_values_know_their_lines_and_their_order() {
        let node = parse_yaml("\u{feff}b: 1\r\na:\r\n  - x\r\n").unwrap();
        let YamlValue::Mapping(entries) = node.value else { panic!("no mapping") };
        let lines: Vec<_> =
            entries.iter().map(|(key, node)| (&*key.name, key.line, node.line)).collect();
        assert_eq!(lines, [("b", 1, 1), ("a", 2, 3)]);
    }
}
