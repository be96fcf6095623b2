//! [`ModelFacts`]: window, output limit, prices, abilities and retirement of known models, from
//! `data/models.json`. [`ModelLine`] finds the newest model of a line.
//!
//! `scripts/update-models` generates the file. An unknown model has no facts: a wrong price would
//! let a run exceed its budget.

use std::cmp::Reverse;
use std::sync::LazyLock;

use plenary_core::model::plan::TokenPrice;
use plenary_core::model::time::Day;
use serde::Deserialize;

use crate::providers::catalogue::ProviderRow;

/// What is known about one model. Prices are dollars per million tokens; where long prompts cost
/// more, the price of the shorter ones.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ModelFacts {
    /// Name of the provider in the catalogue.
    pub provider: &'static str,
    pub model: &'static str,
    /// Tokens that a request may have.
    pub context_tokens: u64,
    /// Tokens that a reply may have.
    pub output_tokens: u32,
    #[serde(rename = "input")]
    input_per_mtok: f64,
    #[serde(rename = "output")]
    output_per_mtok: f64,
    #[serde(rename = "cached_input")]
    cached_input_per_mtok: Option<f64>,
    #[serde(rename = "cache_write")]
    cache_write_per_mtok: Option<f64>,
    /// Shorter prompts are not cached.
    pub cache_tokens_min: Option<u64>,
    /// Whether the model thinks before it answers; its thoughts count as output.
    #[serde(default)]
    pub reasons: bool,
    /// Whether it takes a JSON schema for its reply.
    #[serde(default)]
    pub schema: bool,
    /// Anthropic: whether it takes the schema without a tool.
    #[serde(default)]
    pub native_schema: bool,
    /// Anthropic: whether it takes the effort as a word, not as a number of tokens.
    #[serde(default)]
    pub effort_setting: bool,
    /// Anthropic: whether it accepts that a tool must be called.
    #[serde(default = "accepted")]
    pub forced_tool: bool,
    /// Whether it accepts a temperature.
    #[serde(default = "accepted")]
    pub sampling: bool,
    /// The day on which the provider removes it.
    pub retires: Option<Day>,
}

fn accepted() -> bool {
    true
}

/// The file of facts.
#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
struct FactsFile {
    /// The day on which the data was taken.
    taken: Option<Day>,
    models: Vec<ModelFacts>,
}

/// The tests check that the file is valid.
static FACTS: LazyLock<FactsFile> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../data/models.json")).unwrap_or_default()
});

/// The day on which the facts were taken.
pub fn facts_day() -> Day {
    FACTS.taken.unwrap_or(Day::FIRST)
}

/// The known models of a provider, sorted by name.
pub fn list_facts(provider: &str) -> impl Iterator<Item = &'static ModelFacts> {
    FACTS.models.iter().filter(move |facts| facts.provider == provider)
}

/// Returns the facts of the longest name that the model is a version of: those of the provider, else
/// of any provider, since routers pass a model on.
pub fn find_facts(provider: &str, model: &str) -> Option<&'static ModelFacts> {
    let own = FACTS.models.iter().filter(|facts| facts.provider == provider);
    longest_match(own, model).or_else(|| longest_match(FACTS.models.iter(), model))
}

fn longest_match(
    rows: impl Iterator<Item = &'static ModelFacts>,
    model: &str,
) -> Option<&'static ModelFacts> {
    let name = strip_vendor(model);
    // Routers write `claude-sonnet-4.5`, the vendor `claude-sonnet-4-5`.
    let dashed = name.replace('.', "-");
    let is_it = |facts: &&ModelFacts| {
        let is_version_of = |name: &str| name.strip_prefix(facts.model).is_some_and(is_version);
        facts.model == model
            || is_version_of(name)
            || (facts.provider == "claude" && is_version_of(&dashed))
    };
    rows.filter(is_it).max_by_key(|facts| facts.model.len())
}

/// Routers prefix the vendor and charge its price.
fn strip_vendor(model: &str) -> &str {
    ["anthropic/", "google/", "models/", "openai/"]
        .iter()
        .find_map(|vendor| model.strip_prefix(vendor))
        .unwrap_or(model)
}

/// Whether a suffix is only a version: a date, a serial number of at least three digits, or
/// `-latest`. A single digit (`claude-opus-4-6`) or another suffix (`gpt-4o-realtime`) is another
/// model with its own price.
fn is_version(rest: &str) -> bool {
    let Some(version) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let digits = version.bytes().filter(u8::is_ascii_digit).count();
    let dated = digits >= 3 && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    dated || version == "latest"
}

impl ModelFacts {
    /// The price, with the day of the facts as its source.
    pub fn price(&self) -> TokenPrice {
        TokenPrice {
            cached_input_per_mtok: self.cached_input_per_mtok,
            cache_write_per_mtok: self.cache_write_per_mtok,
            ..TokenPrice::new(self.input_per_mtok, self.output_per_mtok, &facts_day().to_string())
        }
    }

    /// Whether the provider removed the model before this day.
    pub fn is_retired(&self, today: Day) -> bool {
        self.retires.is_some_and(|day| day < today)
    }
}

/// The model of a provider when its server does not say what it offers: the newest of its line in
/// the facts, else the one that its row names.
pub fn default_model(row: &ProviderRow) -> Option<String> {
    let current = list_facts(row.name).filter(|facts| !facts.is_retired(facts_day()));
    let newest = row.line.as_ref().and_then(|line| line.newest(current.map(|facts| facts.model)));
    newest.or(row.model).map(str::to_owned)
}

/// Models that differ only in their version: `claude-sonnet-4-5`, `claude-sonnet-5-5`.
#[derive(Debug, PartialEq, Deserialize)]
pub struct ModelLine {
    /// What their names begin with, before the version.
    start: &'static str,
    /// What follows the version; of two of one version, the first is preferred.
    #[serde(default = "no_ending")]
    ends: Vec<&'static str>,
}

fn no_ending() -> Vec<&'static str> {
    vec![""]
}

/// Longer numbers in a name are dates or serial numbers.
const VERSION_DIGITS_MAX: usize = 2;

impl ModelLine {
    /// The model of the line with the highest version; of two names of it, the one without a date.
    pub fn newest<'a>(&self, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let ranked = names.filter_map(|name| Some((self.rank(name)?, name)));
        ranked.max_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, name)| name)
    }

    /// Version, whether the name has no date, and the place of its ending; `None` for a model of
    /// another line.
    fn rank(&self, name: &str) -> Option<(Vec<u32>, bool, Reverse<usize>)> {
        let rest = name.strip_prefix(self.start)?;
        let ranks = self.ends.iter().enumerate().filter_map(|(place, end)| {
            let (version, is_dated) = parse_version(rest.strip_suffix(end)?)?;
            Some((version, !is_dated, Reverse(place)))
        });
        ranks.max()
    }
}

/// Parses `5`, `5.6`, `4-5`, `4-5-20250929` or `5-2025-08-07`, and whether there is a date.
fn parse_version(text: &str) -> Option<(Vec<u32>, bool)> {
    let parts: Vec<&str> = text.split(['.', '-']).collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    if !parts.iter().all(is_number) {
        return None;
    }
    let (version, is_dated) = match parts.as_slice() {
        [version @ .., date] if date.len() == 8 => (version, true),
        [version @ .., year, month, day] if (year.len(), month.len(), day.len()) == (4, 2, 2) => {
            (version, true)
        }
        version => (version, false),
    };
    let is_short = |part: &&str| part.len() <= VERSION_DIGITS_MAX;
    let is_version = !version.is_empty() && version.iter().all(is_short);
    let numbers = version.iter().filter_map(|part| part.parse().ok()).collect();
    is_version.then_some((numbers, is_dated))
}

#[cfg(test)]
#[path = "model_facts_tests.rs"]
mod tests;
