//! Discovers providers that no file names: by keys, then agent programs, then models of an Ollama
//! server on this machine. Called by `load_settings`.
//!
//! The query to Ollama uses a plain socket and a short timeout, because usually no server answers.

use super::environment::EnvVariables;
use super::file::ProviderEntry;
use super::ollama;
use super::section::WithLine;
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::EXPERT_SLUG_BYTES_MAX;
use crate::domain::plan::SeatRole;
use crate::domain::slug;
use crate::providers::Dialect;
use crate::providers::catalogue::{self, ProviderRow};

/// Providers whose keys are looked for, in this order.
const KEYED_PROVIDERS: [&str; 4] = ["claude", "openai", "gemini", "openrouter"];

/// Providers whose agent programs are looked for, in this order.
const PROGRAM_PROVIDERS: [&str; 3] = ["claude", "openai", "gemini"];

/// A panel has three seats; more local models would only take turns on one machine.
const MODELS_MAX: usize = 3;

/// Whether to query the local server: not if the panel is full already.
pub(super) fn needs_more(found: &[ProviderEntry]) -> bool {
    found.len() < super::seats::PANEL_SEATS
}

/// Returns providers with a key, then those with only a program. A provider with a key is not added
/// a second time for its program.
pub(super) fn find_keys_and_programs(environment: &EnvVariables) -> Vec<ProviderEntry> {
    let has_key =
        |row: &ProviderRow| row.key_variables.iter().any(|name| environment.get(name).is_some());
    let has_program =
        |row: &ProviderRow| row.program.is_some_and(|program| environment.has_program(program));
    let rows =
        |names: &'static [&'static str]| names.iter().filter_map(|name| catalogue::find_row(name));
    let keyed = rows(&KEYED_PROVIDERS).filter(|row| has_key(row));
    let programs = rows(&PROGRAM_PROVIDERS).filter(|row| !has_key(row) && has_program(row));
    keyed.chain(programs).filter_map(|row| Some(found_entry(row.name.parse().ok()?))).collect()
}

/// Returns installed models as providers, each named after its model.
pub(super) fn entries_for_models(models: &[String], server: &str) -> Vec<ProviderEntry> {
    let mut entries: Vec<ProviderEntry> = Vec::new();
    for model in models.iter().filter(|model| ollama::is_chat_model(model)).take(MODELS_MAX) {
        let taken: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let Some(name) = model_slug(model, &taken) else { continue };
        entries.push(ProviderEntry {
            model: Some(without_line(model.clone())),
            dialect: Some(without_line(Dialect::OpenAi)),
            base_url: Some(without_line(format!("{server}/v1"))),
            ..found_entry(name)
        });
    }
    entries
}

/// Discovered providers may participate and chair; the first one chairs first.
fn found_entry(name: ExpertSlug) -> ProviderEntry {
    let roles = vec![SeatRole::Participant, SeatRole::Chair];
    ProviderEntry { roles: Some(without_line(roles)), ..ProviderEntry::from_name(name) }
}

/// Value that is not from a file.
fn without_line<T>(value: T) -> WithLine<T> {
    WithLine { value, line: 0 }
}

/// `llama3.2:latest` → `llama3-2`.
fn model_slug(model: &str, taken: &[&str]) -> Option<ExpertSlug> {
    let short = model.strip_suffix(":latest").unwrap_or(model);
    let slug = slug::slugify_title(short);
    let slug =
        if slug.starts_with(|c: char| c.is_ascii_digit()) { format!("m-{slug}") } else { slug };
    // Leave space for `-2`, here and for repeated seats.
    let slug: String = slug.chars().take(EXPERT_SLUG_BYTES_MAX - 6).collect();
    let slug = slug.trim_end_matches('-');
    let names = (1..).map(|nth| if nth == 1 { slug.to_owned() } else { format!("{slug}-{nth}") });
    names.take(MODELS_MAX + 1).find(|name| !taken.contains(&&**name))?.parse().ok()
}
