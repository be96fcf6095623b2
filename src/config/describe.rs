//! Records a provider in the list of effective settings.

use serde_json::{Value, json};

use super::file::ProviderEntry;
use super::ledger::{Ledger, Source};
use super::section::At;
use crate::domain::ask::TransportKind;
use crate::domain::plan::Price;
use crate::providers::Provider;
use crate::providers::catalogue::Row;

/// Records each value with its source. Of the key it records only the variable and whether it is
/// set.
pub(super) fn note(
    entry: &ProviderEntry,
    row: Option<&Row>,
    provider: &Provider,
    ledger: &mut Ledger,
) {
    let unsaid = if entry.line.is_some() { Source::Default } else { Source::Found };
    let known = if row.is_some() { Source::Catalogue } else { Source::Default };
    let mut say = |field: &str, value: Value, source: Source| {
        ledger.note(&format!("council.providers.{}.{field}", provider.name), value, source);
    };
    say("role", json!(provider.roles), source(&entry.roles, &unsaid));
    say("model", json!(provider.model), source(&entry.model, &known));
    say("family", json!(provider.family), source(&entry.family, &known));
    say("transports", json!(provider.transports), source(&entry.transports, &unsaid));
    let is_served = provider.transports.contains(&TransportKind::Http);
    if let Some(url) = provider.base_url.as_ref().filter(|_| is_served) {
        say("base_url", json!(url), source(&entry.base_url, &known));
    }
    if let Some(variable) = &provider.key_variable {
        let state = if provider.key.is_some() { "set" } else { "not set" };
        let source = Source::Environment { variable: variable.clone() };
        say("key", json!(format!("{state} ({variable})")), source);
    }
    say("price", price(provider.price.as_ref()), source(&entry.price, &known));
    let tokens = source(&entry.max_output_tokens, &Source::Default);
    say("max_output_tokens", json!(provider.output_tokens_max), tokens);
}

/// A discovered value has line 0.
fn source<T>(at: &Option<At<T>>, otherwise: &Source) -> Source {
    match at {
        Some(At { line: 0, .. }) => Source::Found,
        Some(At { line, .. }) => Source::File { line: *line },
        None => otherwise.clone(),
    }
}

fn price(price: Option<&Price>) -> Value {
    let Some(price) = price else { return json!("unknown") };
    let Price { input_per_mtok, output_per_mtok, .. } = price;
    json!({ "input_per_mtok": input_per_mtok, "output_per_mtok": output_per_mtok })
}
