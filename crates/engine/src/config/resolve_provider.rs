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

use crate::config::council_file::provider_entry::ProviderEntry;
use crate::config::council_file::sections::TransportChoice;
use crate::config::effective_settings::{SettingLog, record_provider};
use crate::config::environment::EnvVariables;
use crate::config::error::ConfigProblem;
use crate::config::section::{ProblemList, WithLine};
use crate::providers::catalogue::{ProviderRow, find_price, find_row, model_family};
use crate::providers::http::is_loopback;
use crate::providers::transport::{Dialect, McpTool, Provider};

/// Enough for an opinion with its reasons. The budget reserves this amount before each call.
const OUTPUT_TOKENS_DEFAULT: u32 = 8_192;

/// Inputs of the resolution that all providers share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResolveContext<'a> {
    pub environment: &'a EnvVariables,
    /// Folder that relative program paths are relative to.
    pub folder: &'a Path,
    pub transport: TransportChoice,
}

/// Whether a transport to a provider is available.
#[derive(Debug, PartialEq, Eq)]
enum TransportAvailability {
    Open,
    Closed(String),
    /// Not configured.
    None,
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

/// Resolves a provider and records its settings, or adds a problem. Returns `None` if its
/// description is incomplete.
pub(crate) fn resolve_provider(
    entry: &ProviderEntry,
    around: &ResolveContext<'_>,
    ledger: &mut SettingLog,
    problems: &mut ProblemList,
) -> Option<ProviderCandidate> {
    let row = find_row(entry.name.as_str());
    if !is_described(entry, row) {
        problems.0.push(provider_problem(
            entry,
            "is not known and needs `dialect` and `base_url`, or `command`, or `mcp`",
        ));
        return None;
    }
    let Some(model) = resolve_model(entry, row) else {
        problems.0.push(provider_problem(entry, "needs a `model`"));
        return None;
    };
    let key = resolve_key(entry, row, around.environment);
    let command = resolve_command(entry, row, around.folder);
    let resolver = TransportResolver {
        entry,
        row,
        key: &key,
        command: &command,
        environment: around.environment,
    };
    let transport_statuses = resolver.list_statuses(around.transport);
    let transports = resolver.ordered_transports(around.transport).unwrap_or_else(|reason| {
        let problem = provider_problem(entry, &format!("cannot be used: {reason}"));
        problems.0.push(ConfigProblem { is_external: true, ..problem });
        Vec::new()
    });
    let found_by = to_found_by(entry, &key, &command);
    let base_url = entry.base_url.as_ref().map(|at| at.value.clone());
    let base_url = base_url.or_else(|| Some(row?.base_url.to_owned()));
    let family = entry.family.as_ref().map(|at| at.value.clone());
    let provider = Provider {
        family: family.unwrap_or_else(|| model_family(row, &model)),
        price: resolve_price(entry, &model, base_url.as_deref(), &transports),
        roles: entry
            .roles
            .as_ref()
            .map_or_else(|| vec![SeatRole::Participant], |at| at.value.clone()),
        version: entry.version.as_ref().map(|at| at.value.clone()),
        dialect: resolve_dialect(entry, row),
        output_tokens_max: entry
            .max_output_tokens
            .as_ref()
            .map_or(OUTPUT_TOKENS_DEFAULT, |at| at.value),
        temperature: entry.temperature.as_ref().map(|at| at.value),
        timeouts: entry.timeouts,
        key_variable: key.variable.clone(),
        key: key.secret.clone(),
        name: entry.name.clone(),
        mcp: to_mcp_tool(entry),
        model,
        transports,
        base_url,
        command,
    };
    let candidate = ProviderCandidate { provider, found_by, transport_statuses };
    if candidate.is_usable() {
        record_provider(entry, row, &candidate.provider, ledger);
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

fn is_described(entry: &ProviderEntry, row: Option<&ProviderRow>) -> bool {
    let is_served = entry.base_url.is_some() && entry.dialect.is_some();
    row.is_some() || is_served || entry.command.is_some() || entry.mcp.is_some()
}

/// A program or MCP tool may choose its own model; then the provider's name is used.
fn resolve_model(entry: &ProviderEntry, row: Option<&ProviderRow>) -> Option<String> {
    let named = entry.model.as_ref().map(|at| at.value.clone());
    let known = || row.and_then(|row| row.model).map(str::to_owned);
    let is_served = entry.base_url.is_some() || row.is_some();
    named.or_else(known).or_else(|| (!is_served).then(|| entry.name.to_string()))
}

fn resolve_dialect(entry: &ProviderEntry, row: Option<&ProviderRow>) -> Option<Dialect> {
    entry.dialect.as_ref().map(|at| at.value).or_else(|| Some(row?.dialect))
}

fn resolve_key(
    entry: &ProviderEntry,
    row: Option<&ProviderRow>,
    environment: &EnvVariables,
) -> ProviderKey {
    if let Some(WithLine { value: variable, .. }) = &entry.api_key_env {
        let secret = environment.get_secret(variable);
        let missing = secret.is_none().then(|| variable.clone());
        return ProviderKey { variable: Some(variable.clone()), secret, missing };
    }
    let theirs =
        row.filter(|row| entry.base_url.as_ref().is_none_or(|own| own.value == row.base_url));
    let variables = theirs.map_or(&[][..], |row| row.key_variables);
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

fn resolve_command(entry: &ProviderEntry, row: Option<&ProviderRow>, folder: &Path) -> Vec<String> {
    let Some(WithLine { value: command, .. }) = &entry.command else {
        return row.and_then(|row| row.program).map(str::to_owned).into_iter().collect();
    };
    let mut command = command.clone();
    if let Some(program) = command.first_mut() {
        *program = resolve_program_path(program, folder);
    }
    command
}

/// A bare name is looked up on the PATH; a relative path is relative to the file's folder.
fn resolve_program_path(program: &str, folder: &Path) -> String {
    let is_path = program.contains('/');
    if is_path { folder.join(program).to_string_lossy().into_owned() } else { program.to_owned() }
}

fn to_mcp_tool(entry: &ProviderEntry) -> Option<McpTool> {
    let mcp = &entry.mcp.as_ref()?.value;
    Some(McpTool {
        command: mcp.command.clone(),
        args: mcp.args.clone(),
        env: mcp.env.clone(),
        tool: mcp.tool.clone(),
        argument: mcp.argument.clone(),
    })
}

/// Inputs that decide which transports are available.
struct TransportResolver<'a> {
    entry: &'a ProviderEntry,
    row: Option<&'a ProviderRow>,
    key: &'a ProviderKey,
    command: &'a [String],
    environment: &'a EnvVariables,
}

const TRANSPORT_ORDER: [TransportKind; 3] =
    [TransportKind::Mcp, TransportKind::Http, TransportKind::Cli];

impl TransportResolver<'_> {
    /// Returns the transports in the order of attempts, or why none is available.
    ///
    /// A requested transport that is unavailable stays in the list, so that the record shows the
    /// failed attempt and its reason.
    fn ordered_transports(&self, choice: TransportChoice) -> Result<Vec<TransportKind>, String> {
        let named = self.requested_transports(choice).unwrap_or_else(|| {
            let is_wanted = |kind: &TransportKind| match self.check_transport(*kind) {
                TransportAvailability::Open => true,
                TransportAvailability::Closed(_) => *kind == TransportKind::Mcp,
                TransportAvailability::None => false,
            };
            TRANSPORT_ORDER.into_iter().filter(is_wanted).collect()
        });
        if named.iter().any(|kind| self.check_transport(*kind) == TransportAvailability::Open) {
            return Ok(named);
        }
        let considered = if named.is_empty() { TRANSPORT_ORDER.to_vec() } else { named };
        let is_choice = considered.len() < TRANSPORT_ORDER.len();
        let reasons = considered.iter().filter_map(|kind| match self.check_transport(*kind) {
            TransportAvailability::Open => None,
            TransportAvailability::Closed(reason) => Some(reason),
            TransportAvailability::None => is_choice.then(|| not_configured_reason(*kind)),
        });
        Err(reasons.collect::<Vec<_>>().join(", and "))
    }

    /// Returns the status of every requested or configured transport.
    fn list_statuses(&self, choice: TransportChoice) -> Vec<TransportStatus> {
        let named = self.requested_transports(choice);
        let is_named = named.is_some();
        let kinds = named.unwrap_or_else(|| TRANSPORT_ORDER.to_vec()).into_iter();
        kinds
            .filter_map(|kind| match self.check_transport(kind) {
                TransportAvailability::Open => Some(TransportStatus { kind, closed: None }),
                TransportAvailability::Closed(reason) => {
                    Some(TransportStatus { kind, closed: Some(reason) })
                }
                TransportAvailability::None => is_named
                    .then(|| TransportStatus { kind, closed: Some(not_configured_reason(kind)) }),
            })
            .collect()
    }

    /// Returns the transports the file requests; `None` if it leaves the choice to Plenary.
    fn requested_transports(&self, choice: TransportChoice) -> Option<Vec<TransportKind>> {
        match (&self.entry.transports, choice) {
            (Some(WithLine { value, .. }), _) => Some(value.clone()),
            (None, TransportChoice::Http) => Some(vec![TransportKind::Http]),
            (None, TransportChoice::Mcp) => Some(vec![TransportKind::Mcp]),
            (None, TransportChoice::Cli) => Some(vec![TransportKind::Cli]),
            (None, TransportChoice::Auto) => None,
        }
    }

    fn check_transport(&self, kind: TransportKind) -> TransportAvailability {
        match kind {
            TransportKind::Mcp => check_mcp(self.entry, self.environment),
            TransportKind::Http => check_http(self.entry, self.row, self.key),
            TransportKind::Cli => check_cli(self.command, self.environment),
            TransportKind::Rehearsal => TransportAvailability::None,
        }
    }
}

fn not_configured_reason(kind: TransportKind) -> String {
    format!("nothing says how to reach it by {kind}")
}

fn check_mcp(entry: &ProviderEntry, environment: &EnvVariables) -> TransportAvailability {
    let Some(WithLine { value: mcp, .. }) = &entry.mcp else { return TransportAvailability::None };
    check_program(&mcp.command, environment)
}

fn check_http(
    entry: &ProviderEntry,
    row: Option<&ProviderRow>,
    key: &ProviderKey,
) -> TransportAvailability {
    let is_served = row.is_some() || entry.base_url.is_some() && entry.dialect.is_some();
    match &key.missing {
        _ if !is_served => TransportAvailability::None,
        Some(variable) => TransportAvailability::Closed(format!("`{variable}` is not set")),
        None => TransportAvailability::Open,
    }
}

fn check_cli(command: &[String], environment: &EnvVariables) -> TransportAvailability {
    command
        .first()
        .map_or(TransportAvailability::None, |program| check_program(program, environment))
}

fn check_program(program: &str, environment: &EnvVariables) -> TransportAvailability {
    if environment.has_program(program) {
        return TransportAvailability::Open;
    }
    let place = if program.contains('/') { "" } else { " on the PATH" };
    TransportAvailability::Closed(format!("there is no program `{program}`{place}"))
}

/// Calls to this machine are free unless the file sets a price.
fn resolve_price(
    entry: &ProviderEntry,
    model: &str,
    base_url: Option<&str>,
    transports: &[TransportKind],
) -> Option<TokenPrice> {
    if let Some(WithLine { value: (input_per_mtok, output_per_mtok), .. }) = entry.price {
        return Some(TokenPrice {
            input_per_mtok,
            output_per_mtok,
            source: "configuration".to_owned(),
        });
    }
    let is_ours = base_url.is_some_and(is_loopback) && transports.contains(&TransportKind::Http);
    if is_ours {
        let source = "loopback".to_owned();
        return Some(TokenPrice { input_per_mtok: 0.0, output_per_mtok: 0.0, source });
    }
    find_price(model)
}
