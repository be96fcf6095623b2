//! Effective settings, each with the source of its value, including those of providers. Printed by
//! `plenary config`.
//!
//! Priority: flag, environment, file, catalogue, default.

use std::fmt;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::plan::TokenPrice;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::config::council_file::provider_entry::ProviderEntry;
use crate::config::section::WithLine;
use crate::providers::catalogue::ProviderRow;
use crate::providers::transport::Provider;

/// Source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingSource {
    Default,
    /// Default of a known provider.
    Catalogue,
    /// Discovered on this machine.
    Found,
    File {
        line: u64,
    },
    Environment {
        variable: String,
    },
    Flag {
        name: &'static str,
    },
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Catalogue => f.write_str("catalogue"),
            Self::Found => f.write_str("found"),
            Self::File { line } => write!(f, "file, line {line}"),
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag { name } => f.write_str(name),
        }
    }
}

impl Serialize for SettingSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, detail) = match self {
            Self::Default => ("default", None),
            Self::Catalogue => ("catalogue", None),
            Self::Found => ("found", None),
            Self::File { line } => ("file", Some(("line", json!(line)))),
            Self::Environment { variable } => ("environment", Some(("variable", json!(variable)))),
            Self::Flag { name } => ("flag", Some(("flag", json!(name)))),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", kind)?;
        if let Some((name, value)) = detail {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

/// One effective setting. It never contains a secret.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectiveSetting {
    pub key: String,
    pub value: Value,
    pub source: SettingSource,
}

/// Values of one setting by source.
#[derive(Debug)]
pub(crate) struct SettingLayers<T> {
    pub flag: Option<(&'static str, T)>,
    pub environment: Option<(&'static str, T)>,
    pub file: Option<WithLine<T>>,
    pub default: T,
}

impl<T> SettingLayers<T> {
    /// Returns the value of the source with the highest priority.
    fn pick_value(self) -> (T, SettingSource) {
        if let Some((name, value)) = self.flag {
            return (value, SettingSource::Flag { name });
        }
        if let Some((variable, value)) = self.environment {
            return (value, SettingSource::Environment { variable: variable.to_owned() });
        }
        match self.file {
            Some(WithLine { value, line }) => (value, SettingSource::File { line }),
            None => (self.default, SettingSource::Default),
        }
    }
}

/// Effective settings in the order in which they were settled.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SettingLog(pub Vec<EffectiveSetting>);

impl SettingLog {
    pub(crate) fn record_layers<T: Serialize>(&mut self, key: &str, layers: SettingLayers<T>) -> T {
        let (value, source) = layers.pick_value();
        self.record_value(key, json!(value), source);
        value
    }

    /// Settles a setting that only the file can change.
    pub(crate) fn record_file_or<T: Serialize>(
        &mut self,
        key: &str,
        file: Option<WithLine<T>>,
        default: T,
    ) -> T {
        self.record_layers(key, SettingLayers { flag: None, environment: None, file, default })
    }

    pub(crate) fn record_value(&mut self, key: &str, value: Value, source: SettingSource) {
        self.0.push(EffectiveSetting { key: key.to_owned(), value, source });
    }
}

/// Records each value with its source. Of the key it records only the variable and whether it is
/// set.
pub(crate) fn record_provider(
    entry: &ProviderEntry,
    row: Option<&ProviderRow>,
    provider: &Provider,
    ledger: &mut SettingLog,
) {
    let unsaid = if entry.line.is_some() { SettingSource::Default } else { SettingSource::Found };
    let known = if row.is_some() { SettingSource::Catalogue } else { SettingSource::Default };
    let mut say = |field: &str, value: Value, source: SettingSource| {
        ledger.record_value(&format!("council.providers.{}.{field}", provider.name), value, source);
    };
    say("role", json!(provider.roles), source_or(&entry.roles, &unsaid));
    say("model", json!(provider.model), source_or(&entry.model, &known));
    say("family", json!(provider.family), source_or(&entry.family, &known));
    say("transports", json!(provider.transports), source_or(&entry.transports, &unsaid));
    let is_served = provider.transports.contains(&TransportKind::Http);
    if let Some(url) = provider.base_url.as_ref().filter(|_| is_served) {
        say("base_url", json!(url), source_or(&entry.base_url, &known));
    }
    if let Some(variable) = &provider.key_variable {
        let state = if provider.key.is_some() { "set" } else { "not set" };
        let source = SettingSource::Environment { variable: variable.clone() };
        say("key", json!(format!("{state} ({variable})")), source);
    }
    say("price", price_to_json(provider.price.as_ref()), source_or(&entry.price, &known));
    let tokens = source_or(&entry.max_output_tokens, &SettingSource::Default);
    say("max_output_tokens", json!(provider.output_tokens_max), tokens);
}

/// A discovered value has line 0.
fn source_or<T>(at: &Option<WithLine<T>>, otherwise: &SettingSource) -> SettingSource {
    match at {
        Some(WithLine { line: 0, .. }) => SettingSource::Found,
        Some(WithLine { line, .. }) => SettingSource::File { line: *line },
        None => otherwise.clone(),
    }
}

fn price_to_json(price: Option<&TokenPrice>) -> Value {
    let Some(price) = price else { return json!("unknown") };
    let TokenPrice { input_per_mtok, output_per_mtok, .. } = price;
    json!({ "input_per_mtok": input_per_mtok, "output_per_mtok": output_per_mtok })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_layer_wins() {
        let at = |value| Some(WithLine { value, line: 3 });
        let cases = [
            (Some(("--x", 1)), Some(("X", 2)), at(3), (1, SettingSource::Flag { name: "--x" })),
            (
                None,
                Some(("X", 2)),
                at(3),
                (2, SettingSource::Environment { variable: "X".to_owned() }),
            ),
            (None, None, at(3), (3, SettingSource::File { line: 3 })),
            (None, None, None, (4, SettingSource::Default)),
        ];
        for (flag, environment, file, expected) in cases {
            let layers = SettingLayers { flag, environment, file, default: 4 };
            assert_eq!(layers.pick_value(), expected);
        }
    }
}
