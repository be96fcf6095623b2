//! Tests that the template and the reference agree with the table of settings.

use crate::config::locate::COUNCIL_TEMPLATE;
use crate::config::section::read_value;
use crate::config::setting_table::{
    PROVIDER_SETTINGS, SETTINGS, SettingDefault, SettingRow, ValueKind,
};
use crate::config::yaml::{YamlNode, YamlValue, parse_yaml};

const REFERENCE: &str = include_str!("../../../../docs/configuration.md");

/// Parses a value in the notation of the file.
fn parse_default(row: &SettingRow, text: &str) -> serde_json::Value {
    let node = if matches!(row.kind, ValueKind::Text(_)) {
        YamlNode { line: 0, value: YamlValue::Text(text.to_owned()) }
    } else {
        parse_yaml(text).unwrap()
    };
    read_value(row.kind, &node).unwrap_or_else(|fault| panic!("{}: {fault:?}", row.key))
}

#[test]
fn every_default_is_a_value_of_its_setting() {
    for row in SETTINGS.iter().chain(PROVIDER_SETTINGS) {
        if let SettingDefault::Value(text) = row.default {
            parse_default(row, text);
        }
    }
}

#[test]
fn the_template_has_every_setting_with_its_default() {
    let tree = parse_yaml(COUNCIL_TEMPLATE).unwrap();
    for row in SETTINGS {
        let name = row.key.rsplit('.').next().unwrap();
        let Some(node) = tree.find_value(row.key) else {
            // A setting without a default is explained in a comment.
            assert!(matches!(row.default, SettingDefault::Rule(_)), "{} is missing", row.key);
            assert!(COUNCIL_TEMPLATE.contains(&format!("# {name}:")), "{} is missing", row.key);
            continue;
        };
        if let SettingDefault::Value(text) = row.default {
            let written = read_value(row.kind, node).unwrap();
            assert_eq!(written, parse_default(row, text), "{}", row.key);
        }
    }
    for row in PROVIDER_SETTINGS {
        let name = row.key.rsplit('.').next().unwrap();
        let is_explained = COUNCIL_TEMPLATE.contains(&format!("{name}:"));
        let is_timeout = row.key.starts_with("timeouts.");
        assert!(is_explained || is_timeout, "provider: {name} is missing");
    }
}

/// The reference of a table of settings in Markdown.
fn to_markdown(rows: &[SettingRow]) -> String {
    let lines = rows.iter().map(|row| {
        let default = match row.default {
            SettingDefault::Value(text) => format!("`{text}`"),
            SettingDefault::Rule(rule) => rule.to_owned(),
        };
        let overrides = row.overrides.map_or_else(String::new, |(flag, variable)| {
            format!(" `{flag}` and `{variable}` override it.")
        });
        let (key, value, help) = (row.key, row.kind.expected(), row.help);
        format!("| `{key}` | {value} | {default} | {help}{overrides} |\n")
    });
    format!("| Key | Value | Default | Meaning |\n|---|---|---|---|\n{}", lines.collect::<String>())
}

#[test]
fn the_reference_is_the_table() {
    for (name, rows) in [("settings", SETTINGS), ("provider settings", PROVIDER_SETTINGS)] {
        let (start, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let after = REFERENCE.split_once(&start).unwrap_or_else(|| panic!("no {start}")).1;
        let written = after.split_once(&end).unwrap_or_else(|| panic!("no {end}")).0;
        let expected = to_markdown(rows);
        assert!(written == expected, "docs/configuration.md must have:\n{expected}");
    }
}
