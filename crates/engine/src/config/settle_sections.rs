//! Settles every setting of the table: flag over environment over file over default. Lists the
//! effective settings with their sources, including those of providers, for `plenary config`.

use std::fmt;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{BudgetCaps, QuorumRules, RoundTimeouts, ShortCircuitRules};
use plenary_core::protocols::review::policy::PolicyName;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::council_file::ProviderEntry;
use crate::config::environment::EnvVariables;
use crate::config::error::{ConfigError, ConfigProblem};
use crate::config::section::{FileValues, nest_values, read_value, show_duration};
use crate::config::setting_table::{
    SETTINGS, SettingDefault, SettingRow, TransportChoice, ValueKind,
};
use crate::config::settings::{AlignmentSettings, ConclusionSettings, RetentionSettings};
use crate::config::tier_rules::ClassifierSettings;
use crate::config::yaml::{YamlNode, YamlValue, parse_yaml};
use crate::providers::transport::Provider;

/// The model of a provider for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    pub provider: String,
    pub model: String,
}

/// Limits and models from the command line; they override environment and file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BudgetOverrides {
    /// `--budget-usd`.
    pub budget_usd: Option<f64>,
    /// `--deadline`, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// `--model`.
    pub models: Vec<ModelChoice>,
}

impl BudgetOverrides {
    fn flag_value(&self, key: &str) -> Option<YamlValue> {
        match key {
            "budget.usd_max" => self.budget_usd.map(YamlValue::Number),
            "budget.wall_max" => self.deadline_ms.map(|ms| YamlValue::Integer(ms.into())),
            _ => None,
        }
    }
}

/// Settings of the table as typed values. Structures are read elsewhere.
#[derive(Debug, Deserialize)]
pub(crate) struct SettledValues {
    pub council: CouncilValues,
    pub budget: BudgetValues,
    pub conclusion: ConclusionSettings,
    pub review: ReviewValues,
    pub tier_classifier: ClassifierSettings,
    pub alignment: AlignmentSettings,
    pub retention: RetentionSettings,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CouncilValues {
    pub transport: TransportChoice,
    pub timeouts: RoundTimeouts,
    pub quorum: QuorumRules,
    pub short_circuit: ShortCircuitRules,
    pub anonymous_review: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct BudgetValues {
    usd_max: f64,
    tokens_max: u64,
    calls_max: u32,
    wall_max: u64,
    server_usd_max: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReviewValues {
    pub adjudicator: AdjudicatorValues,
    pub policy: PolicyValues,
    pub log_path: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AdjudicatorValues {
    pub provider: Option<ExpertSlug>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PolicyValues {
    pub name: PolicyName,
    pub min_deliberators: usize,
    pub prior_verdicts: usize,
}

/// Micro-dollars per dollar.
const MICROS_PER_USD: f64 = 1_000_000.0;

impl BudgetValues {
    pub(crate) fn to_caps(&self) -> BudgetCaps {
        BudgetCaps {
            usd_micros: to_micros(self.usd_max),
            tokens: self.tokens_max,
            calls: self.calls_max,
            wall_ms: self.wall_max,
        }
    }

    /// Daily limit in micro-dollars over all runs of a server's store; `None` means no limit.
    pub(crate) fn server_usd_micros(&self) -> Option<u64> {
        self.server_usd_max.map(to_micros)
    }
}

fn to_micros(usd: f64) -> u64 {
    (usd * MICROS_PER_USD).round() as u64
}

/// Settles all settings. The list has one row for each setting of the table.
pub(crate) fn settle_values(
    file: &FileValues,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
) -> Result<(SettledValues, Vec<EffectiveSetting>), ConfigError> {
    let (mut values, mut settings) = (Vec::new(), Vec::new());
    for row in SETTINGS {
        let (value, source) =
            settle_setting(row, overrides.flag_value(row.key), environment, file)?;
        let shown = match (row.kind, value.as_u64()) {
            (ValueKind::Duration { .. }, Some(ms)) => json!(show_duration(ms)),
            (_, _) => value.clone(),
        };
        settings.push(EffectiveSetting::new(row.key, shown, source));
        values.push((row.key, value));
    }
    let values = serde_json::from_value(nest_values(values.into_iter()));
    // The table and the types disagree only if a row is wrong; a test settles all of them.
    let values = values.map_err(|error| ConfigError::Invalid {
        path: "council.yaml".into(),
        problems: vec![ConfigProblem::in_text(None, &error.to_string())],
    })?;
    Ok((values, settings))
}

/// Returns the value of the source with the highest priority. The flag and the variable are checked
/// as the file is; their errors do not repeat the value.
pub(crate) fn settle_setting(
    row: &SettingRow,
    flag: Option<YamlValue>,
    environment: &EnvVariables,
    file: &FileValues,
) -> Result<(Value, SettingSource), ConfigError> {
    let read = |value: YamlValue| match (row.kind, value) {
        // A path from the command line may contain any character.
        (ValueKind::Text(_), YamlValue::Text(text)) => Some(json!(text)),
        (kind, value) => read_value(kind, &YamlNode { line: 0, value }).ok(),
    };
    let variable = row.overrides.map(|(_, variable)| variable);
    if let (Some(value), Some((name, _))) = (flag, row.overrides) {
        let expected = row.kind.expected_typed();
        let value = read(value).ok_or(ConfigError::Flag { flag: name, expected })?;
        return Ok((value, SettingSource::Flag { name }));
    }
    if let Some((variable, text)) = variable.and_then(|name| Some((name, environment.get(name)?))) {
        let expected = row.kind.expected_typed();
        let is_whole = matches!(row.kind, ValueKind::Duration { .. })
            && text.trim().bytes().all(|byte| byte.is_ascii_digit());
        let value = parse_notation(row.kind, text).and_then(read).filter(|_| !is_whole);
        let value = value.ok_or(ConfigError::Variable { variable, expected })?;
        return Ok((value, SettingSource::Environment { variable: variable.to_owned() }));
    }
    if let (Some(value), Some(line)) = (file.get_value(row.key), file.line_of(row.key)) {
        return Ok((value.clone(), SettingSource::File { line }));
    }
    let default = match row.default {
        SettingDefault::Value(text) => parse_notation(row.kind, text).and_then(read),
        SettingDefault::Rule(_) => None,
    };
    Ok((default.unwrap_or_default(), SettingSource::Default))
}

/// Reads text as the file's notation; for a text setting the text itself is the value.
fn parse_notation(kind: ValueKind, text: &str) -> Option<YamlValue> {
    if matches!(kind, ValueKind::Text(_)) {
        return Some(YamlValue::Text(text.to_owned()));
    }
    parse_yaml(text.trim()).ok().map(|node| node.value)
}

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
    let model_source = match entry.is_model_flagged {
        true => SettingSource::Flag { name: "--model" },
        false => source("model", entry.model.is_some(), &known),
    };
    let rows = [
        ("role", Some(json!(provider.roles)), source("role", entry.roles.is_some(), &unset)),
        ("model", Some(json!(provider.model)), model_source),
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
