//! Effective settings, each with the source of its value, including those of providers. Printed by
//! `plenary config`.

use std::fmt;

use plenary_core::model::ask::TransportKind;
use serde::Serialize;
use serde_json::{Value, json};

use crate::config::council_file::ProviderEntry;
use crate::providers::transport::Provider;

/// Source of a value, in the order of priority from the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
        #[serde(rename = "flag")]
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

/// One effective setting. It never contains a secret.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectiveSetting {
    pub key: String,
    pub value: Value,
    pub source: SettingSource,
}

impl EffectiveSetting {
    pub(crate) fn new(key: impl Into<String>, value: Value, source: SettingSource) -> Self {
        Self { key: key.into(), value, source }
    }
}

/// Lists the settings of a provider. Of the key it says only the variable and whether it is set.
pub(crate) fn list_provider_settings(
    entry: &ProviderEntry,
    is_known: bool,
    provider: &Provider,
) -> Vec<EffectiveSetting> {
    let unset = if entry.line.is_some() { SettingSource::Default } else { SettingSource::Found };
    let known = if is_known { SettingSource::Catalogue } else { SettingSource::Default };
    let source =
        |field: &str, is_set: bool, otherwise: &SettingSource| match entry.values.line_of(field) {
            Some(line) => SettingSource::File { line },
            None if is_set => SettingSource::Found,
            None => otherwise.clone(),
        };
    let price = provider.price.as_ref().map_or(json!("unknown"), |price| {
        json!({ "input_per_mtok": price.input_per_mtok, "output_per_mtok": price.output_per_mtok })
    });
    let is_served = provider.transports.contains(&TransportKind::Http);
    let base_url = provider.base_url.as_ref().filter(|_| is_served);
    let key = provider.key_variable.as_ref().map(|variable| {
        let state = if provider.key.is_some() { "set" } else { "not set" };
        json!(format!("{state} ({variable})"))
    });
    let variable = provider.key_variable.clone().unwrap_or_default();
    let tokens = json!(provider.output_tokens_max);
    let rows = [
        ("role", Some(json!(provider.roles)), source("role", entry.roles.is_some(), &unset)),
        ("model", Some(json!(provider.model)), source("model", entry.model.is_some(), &known)),
        ("family", Some(json!(provider.family)), source("family", false, &known)),
        ("transports", Some(json!(provider.transports)), source("transports", false, &unset)),
        (
            "base_url",
            base_url.map(|url| json!(url)),
            source("base_url", entry.base_url.is_some(), &known),
        ),
        ("key", key, SettingSource::Environment { variable }),
        ("price", Some(price), source("price", false, &known)),
        (
            "max_output_tokens",
            Some(tokens),
            source("max_output_tokens", false, &SettingSource::Default),
        ),
    ];
    let named = rows.into_iter().filter_map(|(field, value, source)| {
        let key = format!("council.providers.{}.{field}", provider.name);
        Some(EffectiveSetting::new(key, value?, source))
    });
    named.collect()
}
