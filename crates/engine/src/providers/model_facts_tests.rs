//! Facts of models: the data is whole and current, a name finds its own facts, a line its newest.

use super::*;
use crate::providers::catalogue::{find_row, provider_rows};

/// The file must stay small, because every program contains it.
const FILE_BYTES_MAX: usize = 150_000;

#[test]
fn the_data_is_whole_sorted_and_small() {
    let text = include_str!("../../../../data/models.json");
    assert!(text.len() < FILE_BYTES_MAX, "{} bytes", text.len());
    let file: FactsFile = serde_json::from_str(text).unwrap();
    assert!(file.taken.is_some() && file.models.len() > 100, "{}", file.models.len());
    for facts in &file.models {
        assert!(find_row(facts.provider).is_some(), "{facts:?}");
        assert!(facts.context_tokens >= 1_000 && facts.output_tokens >= 1_000, "{facts:?}");
        let same =
            |other: &&ModelFacts| (other.provider, other.model) == (facts.provider, facts.model);
        assert_eq!(file.models.iter().filter(same).count(), 1, "{facts:?}");
    }
    assert!(file.models.is_sorted_by_key(|facts| facts.provider));
}

#[test]
fn every_default_model_is_known_and_not_retired() {
    for row in provider_rows().iter().filter(|row| !row.loopback) {
        let model = default_model(row).unwrap_or_else(|| panic!("{} has no model", row.name));
        let facts = find_facts(row.name, &model)
            .unwrap_or_else(|| panic!("the default `{model}` of {} has no facts", row.name));
        let retires = facts.retires;
        assert!(!facts.is_retired(facts_day()), "`{model}` of {} retires {retires:?}", row.name);
    }
}

#[test]
fn the_default_is_the_newest_of_the_preferred_line() {
    let check = |name: &str, expected: &str| {
        assert_eq!(default_model(find_row(name).unwrap()).as_deref(), Some(expected), "{name}");
    };
    check("claude", "claude-sonnet-5-5");
    check("openai", "gpt-5.6");
    check("gemini", "gemini-3.8-flash");
    check("openrouter", "openai/gpt-5.6");
}

#[test]
fn a_price_is_that_of_the_model_and_of_no_namesake() {
    let check = |model: &str, expected: Option<(f64, f64)>| {
        let found = find_facts("openrouter", model).map(ModelFacts::price);
        let found = found.map(|price| (price.input_per_mtok, price.output_per_mtok));
        assert_eq!(found, expected, "{model}");
    };
    check("claude-sonnet-5-5", Some((2.0, 10.0)));
    check("claude-opus-4-5-20251101", Some((5.0, 25.0)));
    check("claude-opus-4-5-20990101", Some((5.0, 25.0)));
    check("anthropic/claude-sonnet-5.5", Some((2.0, 10.0)));
    check("claude-opus-4-99", None);
    check("claude-sonnet-4-20250514", None);
    check("gpt-4o", Some((2.5, 10.0)));
    check("gpt-4o-2024-08-06", Some((2.5, 10.0)));
    check("gpt-4o-2024-05-13", Some((5.0, 15.0)));
    check("gpt-4o-mini", Some((0.15, 0.6)));
    check("gpt-4o-realtime-preview", None);
    check("models/gemini-2.5-pro", Some((1.25, 10.0)));
    check("openai/gpt-4o", Some((2.5, 10.0)));
    check("openai/gpt-oss-120b", Some((0.15, 0.6)));
    check("somebody/gpt-4o", None);
    check("", None);
}

#[test]
fn a_price_names_its_day_and_its_cached_rates() {
    let price = find_facts("claude", "claude-sonnet-5-5").unwrap().price();
    assert_eq!(price.source, facts_day().to_string());
    assert_eq!((price.cached_input_per_mtok, price.cache_write_per_mtok), (Some(0.1), Some(2.5)));
}

#[test]
fn a_line_takes_the_highest_version_and_no_other_line() {
    let check = |provider: &str, names: &[&str], expected: Option<&str>| {
        let line = find_row(provider).unwrap().line.as_ref().unwrap();
        assert_eq!(line.newest(names.iter().copied()), expected, "{provider} {names:?}");
    };
    let claude =
        ["claude-opus-9", "claude-sonnet-4-5-20250929", "claude-sonnet-4-20250514", "claude-2.1"];
    check("claude", &claude, Some("claude-sonnet-4-5-20250929"));
    check("claude", &["claude-sonnet-5-20260101", "claude-sonnet-5"], Some("claude-sonnet-5"));
    check("claude", &["claude-sonnet-5", "claude-sonnet-4-10"], Some("claude-sonnet-5"));
    let openai = ["gpt-5.6", "gpt-5.10", "gpt-6-sol", "gpt-99-mini", "gpt-4-0613", "gpt-3.5-turbo"];
    check("openai", &openai, Some("gpt-5.10"));
    check("openai", &["gpt-5-2025-08-07", "gpt-5-chat-latest"], Some("gpt-5-2025-08-07"));
    let gemini =
        ["gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-9-flash-lite"];
    check("gemini", &gemini, Some("gemini-2.5-flash"));
    check("gemini", &["gemini-2.5-flash", "gemini-3-pro"], Some("gemini-3-pro"));
    check("openrouter", &["gpt-9", "openai/gpt-5.6", "openai/gpt-5"], Some("openai/gpt-5.6"));
    check("openai", &["o3", "gpt-", "gpt-x", ""], None);
}
