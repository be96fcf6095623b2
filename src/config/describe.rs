//! Records a provider in the list of effective settings.

use serde_json::{Value, json};

use super::file::ProviderEntry;
use super::ledger::{SettingLog, SettingSource};
use super::section::WithLine;
use crate::domain::ask::TransportKind;
use crate::domain::plan::TokenPrice;
use crate::providers::Provider;
use crate::providers::catalogue::ProviderRow;

/// Records each value with its source. Of the key it records only the variable and whether it is
/// set.
pub(super) fn record_provider(
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
