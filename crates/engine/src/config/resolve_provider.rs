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
use crate::config::section::ProblemList;
use crate::config::setting_table::TransportChoice;
use crate::config::settle_sections::{EffectiveSetting, list_provider_settings};
use crate::providers::catalogue::{ProviderRow, find_price, find_row, model_family};
use crate::providers::http::is_loopback;
use crate::providers::transport::{McpTool, Provider};

/// Enough for an opinion with its reasons. The budget reserves this amount before each call.
const OUTPUT_TOKENS_DEFAULT: u32 = 8_192;

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

/// Resolves a provider and lists its settings, or adds a problem. Returns `None` if its description
/// is incomplete.
pub(crate) fn resolve_provider(
    entry: &ProviderEntry,
    context: &ResolveContext<'_>,
    shown: &mut Vec<EffectiveSetting>,
    problems: &mut ProblemList,
) -> Option<ProviderCandidate> {
    let row = find_row(entry.name.as_str());
    let is_served = row.is_some() || entry.base_url.is_some() && entry.dialect.is_some();
    if !is_served && entry.command.is_none() && entry.mcp.is_none() {
        let fault = "is not known and needs `dialect` and `base_url`, or `command`, or `mcp`";
        problems.0.push(provider_problem(entry, fault));
        return None;
    }
    let Some(model) = resolve_model(entry, row) else {
        problems.0.push(provider_problem(entry, "needs a `model`"));
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
    let provider = Provider {
        family: entry.family.clone().unwrap_or_else(|| model_family(row, &model)),
        price: resolve_price(entry, &model, base_url.as_deref(), &transports),
        roles: entry.roles.clone().unwrap_or_else(|| vec![SeatRole::Participant]),
        version: entry.version.clone(),
        dialect: entry.dialect.or_else(|| Some(row?.dialect)),
        output_tokens_max: entry.max_output_tokens.unwrap_or(OUTPUT_TOKENS_DEFAULT),
        temperature: entry.temperature,
        timeouts: entry.timeouts,
        key_variable: key.variable,
        key: key.secret,
        name: entry.name.clone(),
        mcp: to_mcp_tool(entry),
        model,
        transports,
        base_url,
        command,
    };
    let candidate = ProviderCandidate { provider, found_by, transport_statuses };
    if candidate.is_usable() {
        shown.extend(list_provider_settings(entry, row.is_some(), &candidate.provider));
    }
    Some(candidate)
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
    let known = || row.and_then(|row| row.model).map(str::to_owned);
    let is_served = entry.base_url.is_some() || row.is_some();
    let named = || (!is_served).then(|| entry.name.to_string());
    entry.model.clone().or_else(known).or_else(named)
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
        let missing = || Some(format!("nothing says how to reach it by {kind}"));
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

/// Calls to this machine are free unless the file sets a price.
fn resolve_price(
    entry: &ProviderEntry,
    model: &str,
    base_url: Option<&str>,
    transports: &[TransportKind],
) -> Option<TokenPrice> {
    if let Some(PriceEntry { input_per_mtok, output_per_mtok }) = entry.price {
        let source = "configuration".to_owned();
        return Some(TokenPrice { input_per_mtok, output_per_mtok, source });
    }
    let is_ours = base_url.is_some_and(is_loopback) && transports.contains(&TransportKind::Http);
    if is_ours {
        let source = "loopback".to_owned();
        return Some(TokenPrice { input_per_mtok: 0.0, output_per_mtok: 0.0, source });
    }
    find_price(model)
}
