//! [`CouncilFile`]: the content of `council.yaml`, with checks between its sections.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{EffortLevel, PARTICIPANTS_MAX, SeatRole, SeatTimeouts};
use plenary_core::model::string_enum::StringEnum;
use plenary_core::model::text::find_nearest;
use plenary_core::protocols::review::concern_codes::normalize_code;
use plenary_core::protocols::review::redaction::LogRedaction;
use plenary_core::protocols::review::types::{ADJUDICATOR_SEAT, BuiltInDeliberator};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::config::error::ConfigProblem;
use crate::config::section::{FileValues, ProblemList, list_items, read_text};
use crate::config::setting_table::{DELIBERATOR_SETTINGS, PROVIDER_SETTINGS, SETTINGS};
use crate::config::settings::numbered_seat_name;
use crate::config::tier_rules::{TierRule, read_tier_rules};
use crate::config::yaml::{YamlKey, YamlNode, YamlValue};
use crate::providers::catalogue::{find_row, model_family};
use crate::providers::model_facts::default_model;
use crate::providers::transport::{Dialect, WireSchema};

/// The content of the file. It has no `Debug`, because variables of MCP servers may be secrets.
#[derive(Default)]
pub(crate) struct CouncilFile {
    /// Values and lines of the settings.
    pub values: FileValues,
    /// `None` if providers are to be discovered.
    pub providers: Option<Vec<ProviderEntry>>,
    pub deliberators: Option<Vec<DeliberatorEntry>>,
    pub redact: LogRedaction,
    /// By tier, then in the order of the file; `None` if there are no rules.
    pub tier_rules: Option<Vec<TierRule>>,
}

/// One entry of `council.providers`, or a discovered provider.
#[derive(Deserialize)]
pub(crate) struct ProviderEntry {
    /// Lines of its keys; empty for a discovered provider.
    #[serde(skip)]
    pub values: FileValues,
    #[serde(skip)]
    pub line: Option<u64>,
    /// A field of it was rejected, so what it lacks may be that field.
    #[serde(skip)]
    pub has_problem: bool,
    /// Whether `--model` set the model.
    #[serde(skip)]
    pub is_model_flagged: bool,
    pub name: ExpertSlug,
    #[serde(rename = "role")]
    pub roles: Option<Vec<SeatRole>>,
    pub model: Option<String>,
    pub dialect: Option<Dialect>,
    pub base_url: Option<String>,
    pub api_key_env: Option<String>,
    pub transports: Option<Vec<TransportKind>>,
    pub family: Option<String>,
    pub version: Option<String>,
    pub price: Option<PriceEntry>,
    pub max_output_tokens: Option<u32>,
    pub context_tokens: Option<u64>,
    pub effort: Option<EffortLevel>,
    pub lens: Option<String>,
    /// A seat for each lens.
    #[serde(default)]
    pub lenses: Vec<String>,
    pub temperature: Option<f64>,
    pub wire_schema: Option<WireSchema>,
    /// 0: unlimited.
    pub max_in_flight: Option<u32>,
    pub timeouts: Option<SeatTimeouts>,
    pub command: Option<Vec<String>>,
    pub mcp: Option<McpEntry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PriceEntry {
    pub input_per_mtok: f64,
    pub output_per_mtok: f64,
    pub cached_input_per_mtok: Option<f64>,
    pub cache_write_per_mtok: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct McpEntry {
    pub command: String,
    pub args: Vec<String>,
    /// Values may be secrets.
    pub env: Map<String, Value>,
    pub tool: String,
    pub argument: Option<String>,
}

/// One entry of `review.deliberators`.
#[derive(Debug, Deserialize)]
pub(crate) struct DeliberatorEntry {
    #[serde(skip)]
    pub line: u64,
    pub name: ExpertSlug,
    pub provider: Option<ExpertSlug>,
    /// Prompt file of the operator, relative to `council.yaml`.
    pub prompt: Option<PathBuf>,
    #[serde(default)]
    pub context_refs: Vec<PathBuf>,
    /// Codes of concerns with their meanings.
    #[serde(default)]
    pub codes: BTreeMap<String, String>,
    pub version: Option<String>,
}

impl CouncilFile {
    pub(crate) fn from_tree(tree: &YamlNode, problems: &mut ProblemList) -> Self {
        let values = FileValues::from_node(tree, "", SETTINGS, problems);
        let providers = tree.find_value("council.providers");
        let deliberators = tree.find_value("review.deliberators");
        Self {
            values,
            providers: providers.map(|node| read_providers(node, problems)),
            deliberators: deliberators.map(|node| read_deliberators(node, problems)),
            redact: read_redaction(tree, problems),
            tier_rules: read_tier_rules(tree, problems),
        }
    }

    /// Line of a setting that the file has.
    fn line_of(&self, key: &str) -> u64 {
        self.values.line_of(key).unwrap_or_default()
    }
}

/// Keys that an entry, or a mapping in it, must have.
const NEEDED_KEYS: [(&str, &str); 4] = [
    ("price", "input_per_mtok"),
    ("price", "output_per_mtok"),
    ("mcp", "command"),
    ("mcp", "tool"),
];

fn read_providers(list: &YamlNode, problems: &mut ProblemList) -> Vec<ProviderEntry> {
    let mut entries: Vec<ProviderEntry> = Vec::new();
    if list.value == YamlValue::List(Vec::new()) {
        let fault = "must have a provider; remove the key to use discovered providers";
        problems.add_problem("council.providers", list.line, fault);
    }
    for (place, node) in list_items(list, "council.providers", problems).iter().enumerate() {
        let path = format!("council.providers[{place}]");
        let before = problems.0.len();
        let values = FileValues::from_node(node, &path, PROVIDER_SETTINGS, problems);
        for (section, key) in NEEDED_KEYS {
            let line = values.line_of(section);
            if let (Some(line), None) = (line, node.find_value(&format!("{section}.{key}"))) {
                problems.add_problem(&format!("{path}.{section}"), line, &format!("needs `{key}`"));
            }
        }
        for key in ["role", "transports", "command", "lenses"] {
            if values.get_value(key).is_some_and(|value| *value == json!([])) {
                problems.add_problem(&format!("{path}.{key}"), node.line, "must not be empty");
            }
        }
        require_name(node, &path, problems);
        let Some(entry) = values.to_struct::<ProviderEntry>() else { continue };
        let names = entry.seat_names();
        let taken = entries.iter().flat_map(ProviderEntry::seat_names);
        if let Some(name) = taken.into_iter().find(|taken| names.contains(taken)) {
            let fault = format!("is `{name}`, the name of an earlier provider or seat");
            problems.add_problem(&format!("{path}.name"), node.line, &fault);
        }
        if let Some(long) = names.iter().find(|name| name.parse::<ExpertSlug>().is_err()) {
            let fault = format!("gives a seat the name `{long}`, which is too long");
            problems.add_problem(&format!("{path}.name"), node.line, &fault);
        }
        if entry.lens.is_some() && !entry.lenses.is_empty() {
            let fault = "has `lens` and `lenses`; keep one of them";
            problems.add_problem(&path, node.line, fault);
        }
        let base_url = entry.base_url.as_ref().map(|url| url.trim_end_matches('/').to_owned());
        let (line, has_problem) = (Some(node.line), problems.0.len() > before);
        entries.push(ProviderEntry { values, line, has_problem, base_url, ..entry });
    }
    entries
}

fn require_name(node: &YamlNode, path: &str, problems: &mut ProblemList) {
    let is_mapping = matches!(node.value, YamlValue::Mapping(_));
    if is_mapping && node.find_value("name").is_none() {
        problems.add_problem(path, node.line, "needs a `name`");
    }
}

fn read_deliberators(list: &YamlNode, problems: &mut ProblemList) -> Vec<DeliberatorEntry> {
    let items = list_items(list, "review.deliberators", problems);
    if items.is_empty() || items.len() > PARTICIPANTS_MAX {
        let fault = format!("must have from 1 to {PARTICIPANTS_MAX} items");
        problems.add_problem("review.deliberators", list.line, &fault);
    }
    let mut seats: Vec<DeliberatorEntry> = Vec::new();
    for (place, node) in items.iter().enumerate() {
        let path = format!("review.deliberators[{place}]");
        let Some(seat) = DeliberatorEntry::from_node(node, &path, problems) else { continue };
        seat.check_name(&path, problems);
        seat.check_codes(&path, problems);
        if seats.iter().any(|other| other.name == seat.name) {
            let fault = format!("is `{}`, the name of an earlier deliberator", seat.name);
            problems.add_problem(&path, node.line, &fault);
        }
        seats.push(seat);
    }
    seats
}

impl DeliberatorEntry {
    /// The four deliberators of the specification.
    pub(crate) fn built_in() -> Vec<Self> {
        let names = BuiltInDeliberator::ALL.iter().map(|one| one.name());
        names.filter_map(|name| serde_json::from_value(json!({ "name": name })).ok()).collect()
    }

    fn check_codes(&self, path: &str, problems: &mut ProblemList) {
        for code in self.codes.keys().filter(|code| normalize_code(code).as_ref() != Some(code)) {
            let fault = format!("has `{code}`, which is no code: use lower case, digits and `_`");
            problems.add_problem(&format!("{path}.codes"), self.line, &fault);
        }
    }

    /// Reads a name alone, or a mapping.
    fn from_node(node: &YamlNode, path: &str, problems: &mut ProblemList) -> Option<Self> {
        // A name alone is short for a mapping with a name.
        let named = matches!(node.value, YamlValue::Text(_)).then(|| {
            let key = YamlKey { line: node.line, name: "name".to_owned() };
            YamlNode { line: node.line, value: YamlValue::Mapping(vec![(key, node.clone())]) }
        });
        let node = named.as_ref().unwrap_or(node);
        require_name(node, path, problems);
        let values = FileValues::from_node(node, path, DELIBERATOR_SETTINGS, problems);
        Some(Self { line: node.line, ..values.to_struct()? })
    }

    fn check_name(&self, path: &str, problems: &mut ProblemList) {
        let name = self.name.as_str();
        if name == ADJUDICATOR_SEAT {
            problems.add_problem(path, self.line, &format!("must not have the name `{name}`"));
        } else if self.prompt.is_none() && BuiltInDeliberator::named(name).is_none() {
            let built_in = BuiltInDeliberator::options().join(", ");
            let fault = format!("is `{name}`, which needs a `prompt`; built in are {built_in}");
            problems.add_problem(path, self.line, &fault);
        }
    }
}

/// Reads regular expressions. Messages do not repeat a pattern, because it may be a secret.
fn read_redaction(tree: &YamlNode, problems: &mut ProblemList) -> LogRedaction {
    let mut redaction = LogRedaction::default();
    let Some(list) = tree.find_value("review.redact") else { return redaction };
    for (place, node) in list_items(list, "review.redact", problems).iter().enumerate() {
        let added = read_text(node, |_| None).and_then(|pattern| {
            let added = redaction.add_pattern(&pattern);
            added.map_err(|reason| (node.line, format!("is not a regular expression: {reason}")))
        });
        if let Err((line, fault)) = added {
            problems.add_problem(&format!("review.redact[{place}]"), line, &fault);
        }
    }
    redaction
}

/// Checks the file for consistency. `found` are the names of discovered providers.
pub(crate) fn check_file(file: &CouncilFile, found: &[ExpertSlug], problems: &mut ProblemList) {
    if let Some(providers) = &file.providers {
        check_panel(file, providers, problems);
    }
    check_references(file, found, problems);
}

/// The panel must have participants, and a configured quorum must be reachable.
fn check_panel(file: &CouncilFile, providers: &[ProviderEntry], problems: &mut ProblemList) {
    let is_participant = |entry: &&ProviderEntry| {
        entry.roles.as_ref().is_none_or(|roles| roles.contains(&SeatRole::Participant))
    };
    let count = providers.iter().filter(is_participant).map(|one| one.lenses.len().max(1)).sum();
    if providers.is_empty() {
        return;
    }
    let fault = if count == 0 {
        Some("must have a participant".to_owned())
    } else if count > PARTICIPANTS_MAX {
        Some(format!("has {count} participants, over {PARTICIPANTS_MAX}"))
    } else {
        None
    };
    if let Some(fault) = fault {
        let key = "council.providers";
        return problems.add_problem(key, file.line_of(key), &fault);
    }
    let families = providers.iter().map(family_of).collect::<BTreeSet<String>>().len();
    let reachable = [
        ("council.quorum.r1_min", count, "participants"),
        ("council.quorum.r2_min", count, "participants"),
        ("council.quorum.families_min", families, "families"),
    ];
    for (key, most, noun) in reachable {
        let needed = file.values.get_value(key).and_then(Value::as_u64).unwrap_or_default();
        if needed > most as u64 {
            let fault = format!("is {needed}, but the number of {noun} is {most}");
            problems.add_problem(key, file.line_of(key), &fault);
        }
    }
}

/// The value of `model` that asks for the newest model, as does no value.
pub(crate) const LATEST_MODEL: &str = "latest";

impl ProviderEntry {
    /// The model that the file or a flag names.
    pub(crate) fn named_model(&self) -> Option<&str> {
        self.model.as_deref().filter(|model| *model != LATEST_MODEL)
    }

    /// Names of its seats: its own name, then the names of the seats with further lenses.
    fn seat_names(&self) -> Vec<String> {
        (1..=self.lenses.len().max(1)).map(|nth| numbered_seat_name(&self.name, nth)).collect()
    }
}

fn family_of(entry: &ProviderEntry) -> String {
    let row = find_row(entry.name.as_str());
    let named = entry.named_model().map(str::to_owned);
    let model = named.or_else(|| default_model(row?)).unwrap_or_default();
    entry.family.clone().unwrap_or_else(|| model_family(row, &model))
}

/// Every name in another section must be one of the providers.
fn check_references(file: &CouncilFile, found: &[ExpertSlug], problems: &mut ProblemList) {
    // `provider:` for `providers:`, or an entry without a valid name: the names are not known.
    let is_about_providers = |problem: &ConfigProblem| {
        problem.key.as_ref().is_some_and(|key| key.starts_with("council.provider"))
    };
    if problems.0.iter().any(is_about_providers) {
        return;
    }
    let names: Vec<&str> = match &file.providers {
        Some(entries) => entries.iter().map(|entry| entry.name.as_str()).collect(),
        None => found.iter().map(ExpertSlug::as_str).collect(),
    };
    let mut references: Vec<(String, u64, &str)> = Vec::new();
    let keys = ["synthesizer", "critic", "reviser"].map(|role| format!("conclusion.{role}"));
    for key in keys
        .into_iter()
        .chain(["review.adjudicator.provider", "tier_classifier.provider"].map(str::to_owned))
    {
        let line = file.line_of(&key);
        references.extend(file.values.get_text(&key).map(|name| (key, line, name)));
    }
    for (place, seat) in file.deliberators.iter().flatten().enumerate() {
        let path = format!("review.deliberators[{place}].provider");
        references.extend(seat.provider.as_ref().map(|name| (path, seat.line, name.as_str())));
    }
    for (path, line, name) in references.into_iter().filter(|one| !names.contains(&one.2)) {
        let advice = match find_nearest(name, &names) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "there is none".to_owned(),
            None => format!("the providers are {}", names.join(", ")),
        };
        problems.add_problem(
            &path,
            line,
            &format!("is `{name}`, which is not a provider; {advice}"),
        );
    }
}
