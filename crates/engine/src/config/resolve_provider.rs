//! Resolves a configured or discovered provider into one that can be called, or reports why it
//! cannot. Returns a [`ProviderCandidate`] with the status of each transport.
//!
//! **Invariant:** the key of a catalogue row is sent to that row's address only. Another address
//! gets a key only if the file names its variable.

use std::fmt;
use std::path::Path;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::plan::{SeatRole, TokenPrice};
use secrecy::SecretString;

use crate::config::council_file::{PriceEntry, ProviderEntry};
use crate::config::environment::EnvVariables;
use crate::config::error::ConfigProblem;
use crate::config::model_limits::ModelLimits;
use crate::config::section::ProblemList;
use crate::config::setting_table::TransportChoice;
use crate::config::settle_sections::{EffectiveSetting, list_provider_settings};
use crate::providers::catalogue::{ProviderRow, find_row, model_family};
use crate::providers::http_clients::is_loopback;
use crate::providers::model_facts::{ModelFacts, default_model, find_facts};
use crate::providers::offered_models::OfferedModel;
use crate::providers::pace::IN_FLIGHT_DEFAULT;
use crate::providers::transport::{McpTool, Provider, WireSchema};

/// Default name of the tool's prompt argument.
const MCP_ARGUMENT_DEFAULT: &str = "prompt";

/// Inputs of the resolution that all providers share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResolveContext<'a> {
    pub environment: &'a EnvVariables,
    /// Folder that relative program paths are relative to.
    pub folder: &'a Path,
    pub transport: TransportChoice,
}

#[derive(Debug)]
struct ProviderKey {
    variable: Option<String>,
    secret: Option<SecretString>,
    /// Variables that should be set.
    missing: Option<String>,
}

/// A named or discovered provider, usable or not.
#[derive(Debug, Clone)]
pub struct ProviderCandidate {
    /// Has no transports if it is unusable.
    pub provider: Provider,
    pub found_by: FoundBy,
    pub transport_statuses: Vec<TransportStatus>,
}

/// How the provider was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundBy {
    File { line: u64 },
    Key { variable: String },
    Program { name: String },
    Ollama,
}

/// Status of one transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportStatus {
    pub kind: TransportKind,
    /// Why it is unavailable, as far as known without a call.
    pub closed: Option<String>,
}

impl ProviderCandidate {
    pub fn is_usable(&self) -> bool {
        !self.provider.transports.is_empty()
    }

    /// Whether the provider's own list decides on the model or its price.
    pub(crate) fn wants_offer(&self, entry: &ProviderEntry) -> bool {
        let row = find_row(entry.name.as_str());
        let is_open = |status: &TransportStatus| {
            status.kind == TransportKind::Http && status.closed.is_none()
        };
        let is_reached = self.is_usable() && self.transport_statuses.iter().any(is_open);
        let is_latest = entry.named_model().is_none();
        is_reached
            && row.is_some_and(|row| {
                (is_latest && row.line.is_some()) || (row.lists_prices && entry.price.is_none())
            })
    }

    /// Takes the newest model of the preferred line, and what the list says about the model.
    pub(crate) fn apply_offer(&mut self, entry: &ProviderEntry, offered: &[OfferedModel]) {
        let row = find_row(entry.name.as_str());
        let line = row.and_then(|row| row.line.as_ref());
        let provider = &mut self.provider;
        if let (Some(line), None) = (line, entry.named_model()) {
            let newest = line.newest(offered.iter().map(|model| model.name.as_str()));
            provider.model = newest.unwrap_or(&provider.model).to_owned();
        }
        let model = &provider.model;
        let listed = offered.iter().find(|offered| offered.name == *model);
        let price = listed.filter(|_| row.is_some_and(|row| row.lists_prices));
        let price = price.and_then(|listed| listed.price.as_ref());
        let base_url = provider.base_url.as_deref();
        provider.price = resolve_price(entry, model, price, base_url, &provider.transports);
        let limits = ModelLimits::new(entry, listed, find_facts(entry.name.as_str(), model));
        provider.output_tokens_max = limits.output_tokens_max;
        provider.input_tokens_max = Some(limits.input_tokens_max);
        if entry.family.is_none() {
            provider.family = model_family(row, model);
        }
    }

    /// The settings of a usable provider, for `plenary config`.
    pub(crate) fn list_settings(&self, entry: &ProviderEntry) -> Vec<EffectiveSetting> {
        if !self.is_usable() {
            return Vec::new();
        }
        list_provider_settings(entry, find_row(entry.name.as_str()).is_some(), &self.provider)
    }
}

impl fmt::Display for FoundBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { line } => write!(f, "council.yaml, line {line}"),
            Self::Key { variable } => write!(f, "found by its key in {variable}"),
            Self::Program { name } => write!(f, "found by its program {name}"),
            Self::Ollama => f.write_str("found on the Ollama server"),
        }
    }
}

/// Resolves a provider, or adds a problem. Returns `None` if its description is incomplete. Without
/// a named model it takes the default one; [`ProviderCandidate::apply_offer`] may find a newer one.
pub(crate) fn resolve_provider(
    entry: &ProviderEntry,
    context: &ResolveContext<'_>,
    problems: &mut ProblemList,
) -> Option<ProviderCandidate> {
    let row = find_row(entry.name.as_str());
    let is_served = row.is_some() || entry.base_url.is_some() && entry.dialect.is_some();
    if !is_served && entry.command.is_none() && entry.mcp.is_none() {
        let fault = "is not known and needs `dialect` and `base_url`, or `command`, or `mcp`";
        add_shortage(entry, fault, problems);
        return None;
    }
    let Some(model) = resolve_model(entry, row) else {
        add_shortage(entry, "needs a `model`", problems);
        return None;
    };
    let key = resolve_key(entry, row, context.environment);
    let command = resolve_command(entry, row, context.folder);
    let check = |kind: TransportKind| match kind {
        TransportKind::Mcp => entry.mcp.as_ref().map(|mcp| check_program(&mcp.command, context)),
        TransportKind::Http => {
            let missing = key.missing.as_ref();
            is_served.then(|| missing.map(|variable| format!("`{variable}` is not set")))
        }
        TransportKind::Cli => command.first().map(|program| check_program(program, context)),
        TransportKind::Rehearsal => None,
    };
    let requested = requested_transports(entry, context.transport);
    let transport_statuses = check_transports(requested.as_deref(), check);
    let transports = usable_transports(&transport_statuses, requested.is_some());
    if transports.is_empty() {
        let reasons = transport_statuses.iter().filter_map(|status| status.closed.as_deref());
        let reasons = reasons.collect::<Vec<_>>().join(", and ");
        let problem = provider_problem(entry, &format!("cannot be used: {reasons}"));
        problems.0.push(ConfigProblem { is_external: true, ..problem });
    }
    let base_url = entry.base_url.clone().or_else(|| Some(row?.base_url.to_owned()));
    let found_by = to_found_by(entry, &key, &command);
    let facts = find_facts(entry.name.as_str(), &model);
    let limits = ModelLimits::new(entry, None, facts);
    let provider = Provider {
        family: entry.family.clone().unwrap_or_else(|| model_family(row, &model)),
        price: resolve_price(entry, &model, None, base_url.as_deref(), &transports),
        roles: entry.roles.clone().unwrap_or_else(|| vec![SeatRole::Participant]),
        version: entry.version.clone(),
        dialect: entry.dialect.or_else(|| Some(row?.dialect)),
        output_tokens_max: limits.output_tokens_max,
        input_tokens_max: Some(limits.input_tokens_max),
        effort: entry.effort,
        lens: entry.lens.clone(),
        lenses: entry.lenses.clone(),
        temperature: entry.temperature,
        timeouts: entry.timeouts,
        wire_schema: entry.wire_schema.unwrap_or(WireSchema::Auto),
        max_in_flight: Some(entry.max_in_flight.unwrap_or(IN_FLIGHT_DEFAULT))
            .filter(|most| *most > 0),
        key_variable: key.variable,
        key: key.secret,
        name: entry.name.clone(),
        mcp: to_mcp_tool(entry),
        model,
        transports,
        base_url,
        command,
    };
    Some(ProviderCandidate { provider, found_by, transport_statuses })
}

fn to_found_by(entry: &ProviderEntry, key: &ProviderKey, command: &[String]) -> FoundBy {
    match (entry.line, &entry.base_url, &key.variable, command.first()) {
        (Some(line), ..) => FoundBy::File { line },
        (None, Some(_), ..) => FoundBy::Ollama,
        (None, None, Some(variable), _) if key.secret.is_some() => {
            FoundBy::Key { variable: variable.clone() }
        }
        (None, None, _, program) => FoundBy::Program { name: program.cloned().unwrap_or_default() },
    }
}

/// Adds what an entry lacks, unless a rejected field of it already has a problem.
fn add_shortage(entry: &ProviderEntry, fault: &str, problems: &mut ProblemList) {
    if !entry.has_problem {
        problems.0.push(provider_problem(entry, fault));
    }
}

fn provider_problem(entry: &ProviderEntry, fault: &str) -> ConfigProblem {
    let place = entry.line.map(|line| format!(" on line {line}")).unwrap_or_default();
    ConfigProblem {
        key: Some(format!("council.providers.{}", entry.name)),
        line: entry.line,
        is_external: false,
        message: format!("provider `{}`{place} {fault}", entry.name),
    }
}

/// A program or MCP tool may choose its own model; then the provider's name is used.
fn resolve_model(entry: &ProviderEntry, row: Option<&ProviderRow>) -> Option<String> {
    let known = || row.and_then(default_model);
    let is_served = entry.base_url.is_some() || row.is_some();
    let named = || (!is_served).then(|| entry.name.to_string());
    entry.named_model().map(str::to_owned).or_else(known).or_else(named)
}

fn resolve_key(
    entry: &ProviderEntry,
    row: Option<&ProviderRow>,
    environment: &EnvVariables,
) -> ProviderKey {
    if let Some(variable) = &entry.api_key_env {
        let secret = environment.get_secret(variable);
        let missing = secret.is_none().then(|| variable.clone());
        return ProviderKey { variable: Some(variable.clone()), secret, missing };
    }
    let theirs = row.filter(|row| entry.base_url.as_ref().is_none_or(|own| own == row.base_url));
    let variables = theirs.map_or(&[][..], |row| row.key_variables.as_slice());
    let set = variables.iter().find_map(|name| Some((*name, environment.get_secret(name)?)));
    match set {
        Some((variable, secret)) => {
            ProviderKey { variable: Some(variable.to_owned()), secret: Some(secret), missing: None }
        }
        None => ProviderKey {
            variable: variables.first().map(|name| (*name).to_owned()),
            secret: None,
            missing: (!variables.is_empty()).then(|| variables.join("` or `")),
        },
    }
}

/// A bare name is looked up on the PATH; a relative path is relative to the file's folder.
fn resolve_command(entry: &ProviderEntry, row: Option<&ProviderRow>, folder: &Path) -> Vec<String> {
    let Some(mut command) = entry.command.clone() else {
        return row.and_then(|row| row.program).map(str::to_owned).into_iter().collect();
    };
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        *program = folder.join(&*program).to_string_lossy().into_owned();
    }
    command
}

fn to_mcp_tool(entry: &ProviderEntry) -> Option<McpTool> {
    let mcp = entry.mcp.as_ref()?;
    let env = mcp
        .env
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), SecretString::from(value.as_str()?))));
    Some(McpTool {
        command: mcp.command.clone(),
        args: mcp.args.clone(),
        env: env.collect(),
        tool: mcp.tool.clone(),
        argument: mcp.argument.clone().unwrap_or_else(|| MCP_ARGUMENT_DEFAULT.to_owned()),
    })
}

const TRANSPORT_ORDER: [TransportKind; 3] =
    [TransportKind::Mcp, TransportKind::Http, TransportKind::Cli];

/// Returns the transports the file requests; `None` if it leaves the choice to Plenary.
fn requested_transports(
    entry: &ProviderEntry,
    choice: TransportChoice,
) -> Option<Vec<TransportKind>> {
    let one = TransportKind::named(choice.name()).map(|kind| vec![kind]);
    entry.transports.clone().or(one)
}

/// Returns the status of every requested transport, or of every configured one. `check` returns
/// `None` for a transport that is not configured, and why one is unavailable.
fn check_transports(
    requested: Option<&[TransportKind]>,
    check: impl Fn(TransportKind) -> Option<Option<String>>,
) -> Vec<TransportStatus> {
    let status = |kind: &TransportKind| {
        let missing = || Some(format!("the transport {kind} is not configured for it"));
        let closed = match check(*kind) {
            Some(closed) => closed,
            None => requested.map(|_| missing())?,
        };
        Some(TransportStatus { kind: *kind, closed })
    };
    requested.unwrap_or(&TRANSPORT_ORDER).iter().filter_map(status).collect()
}

/// Returns the transports in the order of attempts; none if all are unavailable. An unavailable one
/// that was requested stays in the list, so that the record shows the failed attempt and its reason.
fn usable_transports(statuses: &[TransportStatus], is_requested: bool) -> Vec<TransportKind> {
    if statuses.iter().all(|status| status.closed.is_some()) {
        return Vec::new();
    }
    let is_wanted = |status: &&TransportStatus| {
        is_requested || status.closed.is_none() || status.kind == TransportKind::Mcp
    };
    statuses.iter().filter(is_wanted).map(|status| status.kind).collect()
}

/// Returns why a program cannot be used.
fn check_program(program: &str, context: &ResolveContext<'_>) -> Option<String> {
    let place = if program.contains('/') { "" } else { " on the PATH" };
    let is_there = context.environment.has_program(program);
    (!is_there).then(|| format!("there is no program `{program}`{place}"))
}

/// The file wins over the provider's own list, and that over the facts. Calls to this machine are
/// free unless one of the first two has a price.
fn resolve_price(
    entry: &ProviderEntry,
    model: &str,
    listed: Option<&TokenPrice>,
    base_url: Option<&str>,
    transports: &[TransportKind],
) -> Option<TokenPrice> {
    let facts = find_facts(entry.name.as_str(), model);
    if let Some(price) = &entry.price {
        return Some(configured_price(price, facts.map(ModelFacts::price).as_ref()));
    }
    if let Some(listed) = listed {
        return Some(listed.clone());
    }
    let is_ours = base_url.is_some_and(is_loopback) && transports.contains(&TransportKind::Http);
    if is_ours {
        return Some(TokenPrice::new(0.0, 0.0, "loopback"));
    }
    facts.map(ModelFacts::price)
}

/// The price of the file. Without a rate for the cache, it has the share of the input rate that it
/// has in the facts.
fn configured_price(price: &PriceEntry, known: Option<&TokenPrice>) -> TokenPrice {
    let in_proportion = |rate: fn(&TokenPrice) -> Option<f64>| {
        let known = known.filter(|known| known.input_per_mtok > 0.0)?;
        Some(price.input_per_mtok * rate(known)? / known.input_per_mtok)
    };
    let cached = price.cached_input_per_mtok;
    let written = price.cache_write_per_mtok;
    TokenPrice {
        cached_input_per_mtok: cached.or_else(|| in_proportion(|one| one.cached_input_per_mtok)),
        cache_write_per_mtok: written.or_else(|| in_proportion(|one| one.cache_write_per_mtok)),
        ..TokenPrice::new(price.input_per_mtok, price.output_per_mtok, "configuration")
    }
}
