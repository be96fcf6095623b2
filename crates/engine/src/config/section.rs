//! Reads mappings of `council.yaml` by their table of settings, and durations such as `15m`.
//! Problems are collected and reading continues, so that a user sees all of them at once.

pub use plenary_core::model::time::{parse_duration, show_duration};
use std::collections::BTreeMap;

use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::limits::LINE_CHARS_MAX;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::config::error::ConfigProblem;
use crate::config::setting_table::{SettingRow, ValueKind};
use crate::config::yaml::{YamlKey, YamlNode, YamlValue};

/// Maximum items of one list.
pub(crate) const LIST_MAX: usize = 200;

/// Problems in the order of discovery.
#[derive(Debug, Default)]
pub(crate) struct ProblemList(pub Vec<ConfigProblem>);

impl ProblemList {
    /// Line 0 means that the value is not in the file.
    pub(crate) fn add_problem(&mut self, path: &str, line: u64, fault: &str) {
        self.0.push(ConfigProblem::in_value(path, Some(line).filter(|line| *line > 0), fault));
    }
}

/// Valid values of a mapping by their keys in its table. Lines are those of all known keys.
#[derive(Default)]
pub(crate) struct FileValues {
    values: BTreeMap<&'static str, Value>,
    lines: BTreeMap<String, u64>,
}

impl FileValues {
    /// Reads a mapping; `path` is its own path in the file.
    pub(crate) fn from_node(
        node: &YamlNode,
        path: &str,
        rows: &'static [SettingRow],
        problems: &mut ProblemList,
    ) -> Self {
        let mut values = Self::default();
        values.read_level(node, path, "", rows, problems);
        values
    }

    /// Reads the keys of one level: settings, and mappings of settings.
    fn read_level(
        &mut self,
        node: &YamlNode,
        root: &str,
        level: &str,
        rows: &'static [SettingRow],
        problems: &mut ProblemList,
    ) {
        for (key, child) in list_entries(node, &join_keys(root, level), problems) {
            let path = join_keys(level, &key.name);
            let full_path = join_keys(root, &path);
            let row = rows.iter().find(|row| row.key == path);
            let known = keys_of_level(rows, level);
            if !known.contains(&key.name.as_str()) {
                let deeper =
                    find_deeper_key(rows, level, &key.name).map(|key| join_keys(root, key));
                problems.0.push(match deeper {
                    Some(meant) => ConfigProblem::misplaced_key(full_path, key.line, &meant),
                    None => ConfigProblem::unknown_key(full_path, &key.name, key.line, &known),
                });
                continue;
            }
            // A key without a value counts as absent.
            if child.value == YamlValue::Null {
                continue;
            }
            self.lines.insert(path.clone(), child.line);
            match row.map(|row| (row, read_value(row.kind, child))) {
                None => self.read_level(child, root, &path, rows, problems),
                Some((row, Ok(value))) => {
                    self.values.insert(row.key, value);
                }
                Some((_, Err((line, fault)))) => problems.add_problem(&full_path, line, &fault),
            }
        }
    }

    pub(crate) fn get_value(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    pub(crate) fn get_text(&self, key: &str) -> Option<&str> {
        self.get_value(key)?.as_str()
    }

    /// Line of a key or of a mapping; `None` if the file does not have it.
    pub(crate) fn line_of(&self, key: &str) -> Option<u64> {
        self.lines.get(key).copied()
    }

    /// Converts the values to a struct with a field for each key.
    pub(crate) fn to_struct<T: DeserializeOwned>(&self) -> Option<T> {
        let values = self.values.iter().map(|(key, value)| (*key, value.clone()));
        serde_json::from_value(nest_values(values)).ok()
    }
}

/// Builds `{"a": {"b": 1}}` from `a.b` and 1.
pub(crate) fn nest_values<'a>(values: impl Iterator<Item = (&'a str, Value)>) -> Value {
    let mut tree = Map::new();
    for (key, value) in values {
        insert_nested(&mut tree, key, value);
    }
    Value::Object(tree)
}

fn insert_nested(level: &mut Map<String, Value>, key: &str, value: Value) {
    let Some((section, rest)) = key.split_once('.') else {
        level.insert(key.to_owned(), value);
        return;
    };
    if let Value::Object(below) = level.entry(section).or_insert_with(|| json!({})) {
        insert_nested(below, rest, value);
    }
}

pub(crate) fn join_keys(path: &str, key: &str) -> String {
    match (path, key) {
        ("", _) => key.to_owned(),
        (_, "") => path.to_owned(),
        (_, _) => format!("{path}.{key}"),
    }
}

fn keys_of_level(rows: &[SettingRow], level: &str) -> Vec<&'static str> {
    let below = rows.iter().filter_map(|row| match level {
        "" => Some(row.key),
        _ => row.key.strip_prefix(level)?.strip_prefix('.'),
    });
    let mut keys: Vec<&str> = below.filter_map(|key| key.split('.').next()).collect();
    keys.dedup();
    keys
}

/// Returns the entries of a mapping. An empty node is an empty mapping.
pub(crate) fn list_entries<'a>(
    node: &'a YamlNode,
    path: &str,
    problems: &mut ProblemList,
) -> &'a [(YamlKey, YamlNode)] {
    if let YamlValue::Mapping(entries) = &node.value {
        return entries;
    }
    if node.value != YamlValue::Null {
        let path = if path.is_empty() { "the file" } else { path };
        let fault = format!("must be a mapping, not {}", node.value.kind());
        problems.add_problem(path, node.line, &fault);
    }
    &[]
}

/// The key of this name further below a level: `policy.name` for `name`.
fn find_deeper_key(rows: &'static [SettingRow], level: &str, name: &str) -> Option<&'static str> {
    let is_below = |key: &str| {
        let rest = if level.is_empty() { Some(key) } else { key.strip_prefix(level) };
        rest.is_some_and(|rest| rest.rsplit_once('.').is_some_and(|(_, last)| last == name))
    };
    rows.iter().map(|row| row.key).find(|key| is_below(key))
}

/// Returns the items of a list.
pub(crate) fn list_items<'a>(
    node: &'a YamlNode,
    path: &str,
    problems: &mut ProblemList,
) -> &'a [YamlNode] {
    items_of(node).unwrap_or_else(|fault| {
        problems.add_problem(path, node.line, &fault);
        &[]
    })
}

fn items_of(node: &YamlNode) -> Result<&[YamlNode], String> {
    let YamlValue::List(items) = &node.value else {
        return Err(format!("must be a list, not {}", node.value.kind()));
    };
    match items.len() {
        ..=LIST_MAX => Ok(items),
        count => Err(format!("has {count} items, over {LIST_MAX}")),
    }
}

/// Reads a value of a kind. The error is the line and what follows the key in a message. Text is
/// not repeated, because it may be a secret; a word is.
pub(crate) fn read_value(kind: ValueKind, node: &YamlNode) -> Result<Value, (u64, String)> {
    let not = |shown: &str| (node.line, format!("must be {}, not {shown}", kind.expected()));
    let found = match (kind, &node.value) {
        (ValueKind::Boolean, YamlValue::Boolean(value)) => Some(json!(value)),
        (ValueKind::Integer { min, max }, YamlValue::Integer(value)) => {
            u64::try_from(*value).ok().filter(|value| (min..=max).contains(value)).map(Value::from)
        }
        (ValueKind::Limit { max }, YamlValue::Integer(value)) => {
            u64::try_from(*value).ok().filter(|value| (1..=max).contains(value)).map(Value::from)
        }
        (ValueKind::Limit { .. }, YamlValue::Text(word)) if word == "unlimited" => Some(json!(0)),
        (ValueKind::Number { max }, value) => {
            value.to_number().filter(|value| (0.0..=max).contains(value)).map(Value::from)
        }
        (ValueKind::Duration { max_ms }, value) => {
            value.to_millis().filter(|ms| (1..=max_ms).contains(ms)).map(Value::from)
        }
        (ValueKind::Text(fault_of), _) => return read_text(node, fault_of).map(Value::from),
        (ValueKind::Word(options), YamlValue::Text(word)) => {
            let is_option = options().contains(word);
            return is_option.then(|| json!(word)).ok_or_else(|| not(&format!("`{word}`")));
        }
        (ValueKind::Words(options), YamlValue::Text(_) | YamlValue::List(_)) => {
            return read_words(options, node);
        }
        (ValueKind::Texts, YamlValue::List(_)) => {
            let items = items_of(node).map_err(|fault| (node.line, fault))?;
            let texts = items.iter().map(|item| read_text(item, |_| None));
            return Ok(json!(texts.collect::<Result<Vec<_>, _>>()?));
        }
        (ValueKind::TextMap, YamlValue::Mapping(entries)) => return read_text_map(entries),
        (ValueKind::Structure(_), _) => Some(Value::Null),
        (_, _) => None,
    };
    found.ok_or_else(|| not(&node.value.show_number_or_kind()))
}

/// Reads one line of text: not empty, within the length limit.
pub(crate) fn read_text(
    node: &YamlNode,
    fault_of: fn(&str) -> Option<&'static str>,
) -> Result<String, (u64, String)> {
    let YamlValue::Text(text) = &node.value else {
        let advice = if node.value.is_scalar() { "; put it in quotes" } else { "" };
        let fault = format!("must be text, not {}{advice}", node.value.kind());
        return Err((node.line, fault));
    };
    let fault = if text.trim().is_empty() {
        "must not be empty".to_owned()
    } else if text.chars().count() > LINE_CHARS_MAX {
        format!("is over the limit of {LINE_CHARS_MAX} characters")
    } else if text.chars().any(char::is_control) {
        "must not contain control characters".to_owned()
    } else if let Some(fault) = fault_of(text) {
        fault.to_owned()
    } else {
        return Ok(text.clone());
    };
    Err((node.line, fault))
}

fn read_words(options: fn() -> Vec<String>, node: &YamlNode) -> Result<Value, (u64, String)> {
    let is_alone = matches!(node.value, YamlValue::Text(_));
    let items = if is_alone { Ok(std::slice::from_ref(node)) } else { items_of(node) };
    let mut words = Vec::new();
    for item in items.map_err(|fault| (node.line, fault))? {
        let word = read_value(ValueKind::Word(options), item)?;
        if words.contains(&word) {
            return Err((item.line, format!("has {word} twice")));
        }
        words.push(word);
    }
    Ok(Value::Array(words))
}

fn read_text_map(entries: &[(YamlKey, YamlNode)]) -> Result<Value, (u64, String)> {
    let mut texts = Map::new();
    for (key, node) in entries {
        if key.name.is_empty() || key.name.contains(['=', '\0']) {
            return Err((key.line, "has a name that no variable can have".to_owned()));
        }
        texts.insert(key.name.clone(), Value::from(read_text(node, |_| None)?));
    }
    Ok(Value::Object(texts))
}

/// Fault of the name of a provider or seat.
pub(crate) fn name_fault(name: &str) -> Option<&'static str> {
    let fault = "must be a name of 1 to 32 lower-case letters, digits, `_` or `-`, begin with a letter and not be `judge`";
    name.parse::<ExpertSlug>().is_err().then_some(fault)
}

/// Fault of a URL. It must not contain a secret, and the message does not repeat it.
pub(crate) fn base_url_fault(url: &str) -> Option<&'static str> {
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        return Some("must begin with `http://` or `https://`");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    if authority.contains('@') {
        Some("must not contain a user or a password; name the key's variable in `api_key_env`")
    } else if rest.contains(['?', '#']) {
        Some("must not have a query or a fragment")
    } else if host.is_empty() || rest.contains(char::is_whitespace) || rest.contains('\\') {
        Some("is not an address")
    } else {
        None
    }
}

/// Fault of a variable's name. The message does not repeat it, in case it is the key itself.
pub(crate) fn variable_fault(name: &str) -> Option<&'static str> {
    let is_variable = !name.starts_with(|letter: char| letter.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    (!is_variable).then_some("must be the name of an environment variable in capitals, not a key")
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
