//! Resolves a configured or discovered provider into one that can be called, or reports why it
//! cannot. Returns a [`ProviderCandidate`] with the status of each transport.
//!
//! **Invariant:** the key of a catalogue row is sent to that row's address only. Another address
//! gets a key only if the file names its variable.

use std::fmt;
use std::path::Path;

use secrecy::SecretString;

use super::describe;
use super::environment::Environment;
use super::error::Problem;
use super::file::{ProviderEntry, TransportChoice};
use super::ledger::Ledger;
use super::section::{At, Problems};
use crate::domain::ask::TransportKind;
use crate::domain::plan::{Price, Role};
use crate::providers::catalogue::{self, Row};
use crate::providers::{Dialect, McpTool, Provider, is_loopback};

/// Enough for an opinion with its reasons. The budget reserves this amount before each call.
const OUTPUT_TOKENS_DEFAULT: u32 = 8_192;

/// Inputs of the resolution that all providers share.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResolveContext<'a> {
    pub environment: &'a Environment,
    /// Folder that relative program paths are relative to.
    pub folder: &'a Path,
    pub transport: TransportChoice,
}

/// Whether a transport to a provider is available.
#[derive(Debug, PartialEq, Eq)]
enum Availability {
    Open,
    Closed(String),
    /// Not configured.
    None,
}

#[derive(Debug)]
struct Key {
    variable: Option<String>,
    secret: Option<SecretString>,
    /// Variables that should be set.
    missing: Option<String>,
}

/// A named or discovered provider, usable or not.
#[derive(Debug, Clone)]
pub struct Candidate {
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

impl Candidate {
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
pub(super) fn candidate(
    entry: &ProviderEntry,
    around: &ResolveContext<'_>,
    ledger: &mut Ledger,
    problems: &mut Problems,
) -> Option<Candidate> {
    let row = catalogue::row(entry.name.as_str());
    if !is_described(entry, row) {
        problems.0.push(problem(
            entry,
            "is not known and needs `dialect` and `base_url`, or `command`, or `mcp`",
        ));
        return None;
    }
    let Some(model) = model(entry, row) else {
        problems.0.push(problem(entry, "needs a `model`"));
        return None;
    };
    let key = key(entry, row, around.environment);
    let command = command(entry, row, around.folder);
    let resolver = TransportResolver {
        entry,
        row,
        key: &key,
        command: &command,
        environment: around.environment,
    };
    let transport_statuses = resolver.seen(around.transport);
    let transports = resolver.transports(around.transport).unwrap_or_else(|reason| {
        let problem = problem(entry, &format!("cannot be used: {reason}"));
        problems.0.push(Problem { is_elsewhere: true, ..problem });
        Vec::new()
    });
    let found_by = found_by(entry, &key, &command);
    let base_url = entry.base_url.as_ref().map(|at| at.value.clone());
    let base_url = base_url.or_else(|| Some(row?.base_url.to_owned()));
    let family = entry.family.as_ref().map(|at| at.value.clone());
    let provider = Provider {
        family: family.unwrap_or_else(|| catalogue::family(row, &model)),
        price: price(entry, &model, base_url.as_deref(), &transports),
        roles: entry.roles.as_ref().map_or_else(|| vec![Role::Participant], |at| at.value.clone()),
        version: entry.version.as_ref().map(|at| at.value.clone()),
        dialect: dialect(entry, row),
        output_tokens_max: entry
            .max_output_tokens
            .as_ref()
            .map_or(OUTPUT_TOKENS_DEFAULT, |at| at.value),
        temperature: entry.temperature.as_ref().map(|at| at.value),
        timeouts: entry.timeouts,
        key_variable: key.variable.clone(),
        key: key.secret.clone(),
        name: entry.name.clone(),
        mcp: tool(entry),
        model,
        transports,
        base_url,
        command,
    };
    let candidate = Candidate { provider, found_by, transport_statuses };
    if candidate.is_usable() {
        describe::note(entry, row, &candidate.provider, ledger);
    }
    Some(candidate)
}

fn found_by(entry: &ProviderEntry, key: &Key, command: &[String]) -> FoundBy {
    match (entry.line, &entry.base_url, &key.variable, command.first()) {
        (Some(line), ..) => FoundBy::File { line },
        (None, Some(_), ..) => FoundBy::Ollama,
        (None, None, Some(variable), _) if key.secret.is_some() => {
            FoundBy::Key { variable: variable.clone() }
        }
        (None, None, _, program) => FoundBy::Program { name: program.cloned().unwrap_or_default() },
    }
}

fn problem(entry: &ProviderEntry, fault: &str) -> Problem {
    let place = entry.line.map(|line| format!(" on line {line}")).unwrap_or_default();
    Problem {
        key: Some(format!("council.providers.{}", entry.name)),
        line: entry.line,
        is_elsewhere: false,
        message: format!("provider `{}`{place} {fault}", entry.name),
    }
}

fn is_described(entry: &ProviderEntry, row: Option<&Row>) -> bool {
    let is_served = entry.base_url.is_some() && entry.dialect.is_some();
    row.is_some() || is_served || entry.command.is_some() || entry.mcp.is_some()
}

/// A program or MCP tool may choose its own model; then the provider's name is used.
fn model(entry: &ProviderEntry, row: Option<&Row>) -> Option<String> {
    let named = entry.model.as_ref().map(|at| at.value.clone());
    let known = || row.and_then(|row| row.model).map(str::to_owned);
    let is_served = entry.base_url.is_some() || row.is_some();
    named.or_else(known).or_else(|| (!is_served).then(|| entry.name.to_string()))
}

fn dialect(entry: &ProviderEntry, row: Option<&Row>) -> Option<Dialect> {
    entry.dialect.as_ref().map(|at| at.value).or_else(|| Some(row?.dialect))
}

fn key(entry: &ProviderEntry, row: Option<&Row>, environment: &Environment) -> Key {
    if let Some(At { value: variable, .. }) = &entry.api_key_env {
        let secret = environment.secret(variable);
        let missing = secret.is_none().then(|| variable.clone());
        return Key { variable: Some(variable.clone()), secret, missing };
    }
    let theirs =
        row.filter(|row| entry.base_url.as_ref().is_none_or(|own| own.value == row.base_url));
    let variables = theirs.map_or(&[][..], |row| row.key_variables);
    let set = variables.iter().find_map(|name| Some((*name, environment.secret(name)?)));
    match set {
        Some((variable, secret)) => {
            Key { variable: Some(variable.to_owned()), secret: Some(secret), missing: None }
        }
        None => Key {
            variable: variables.first().map(|name| (*name).to_owned()),
            secret: None,
            missing: (!variables.is_empty()).then(|| variables.join("` or `")),
        },
    }
}

fn command(entry: &ProviderEntry, row: Option<&Row>, folder: &Path) -> Vec<String> {
    let Some(At { value: command, .. }) = &entry.command else {
        return row.and_then(|row| row.program).map(str::to_owned).into_iter().collect();
    };
    let mut command = command.clone();
    if let Some(program) = command.first_mut() {
        *program = placed(program, folder);
    }
    command
}

/// A bare name is looked up on the PATH; a relative path is relative to the file's folder.
fn placed(program: &str, folder: &Path) -> String {
    let is_path = program.contains('/');
    if is_path { folder.join(program).to_string_lossy().into_owned() } else { program.to_owned() }
}

fn tool(entry: &ProviderEntry) -> Option<McpTool> {
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
    row: Option<&'a Row>,
    key: &'a Key,
    command: &'a [String],
    environment: &'a Environment,
}

const TRANSPORT_ORDER: [TransportKind; 3] =
    [TransportKind::Mcp, TransportKind::Http, TransportKind::Cli];

impl TransportResolver<'_> {
    /// Returns the transports in the order of attempts, or why none is available.
    ///
    /// A requested transport that is unavailable stays in the list, so that the record shows the
    /// failed attempt and its reason.
    fn transports(&self, choice: TransportChoice) -> Result<Vec<TransportKind>, String> {
        let named = self.named(choice).unwrap_or_else(|| {
            let is_wanted = |kind: &TransportKind| match self.way(*kind) {
                Availability::Open => true,
                Availability::Closed(_) => *kind == TransportKind::Mcp,
                Availability::None => false,
            };
            TRANSPORT_ORDER.into_iter().filter(is_wanted).collect()
        });
        if named.iter().any(|kind| self.way(*kind) == Availability::Open) {
            return Ok(named);
        }
        let considered = if named.is_empty() { TRANSPORT_ORDER.to_vec() } else { named };
        let is_choice = considered.len() < TRANSPORT_ORDER.len();
        let reasons = considered.iter().filter_map(|kind| match self.way(*kind) {
            Availability::Open => None,
            Availability::Closed(reason) => Some(reason),
            Availability::None => is_choice.then(|| unsaid(*kind)),
        });
        Err(reasons.collect::<Vec<_>>().join(", and "))
    }

    /// Returns the status of every requested or configured transport.
    fn seen(&self, choice: TransportChoice) -> Vec<TransportStatus> {
        let named = self.named(choice);
        let is_named = named.is_some();
        let kinds = named.unwrap_or_else(|| TRANSPORT_ORDER.to_vec()).into_iter();
        kinds
            .filter_map(|kind| match self.way(kind) {
                Availability::Open => Some(TransportStatus { kind, closed: None }),
                Availability::Closed(reason) => {
                    Some(TransportStatus { kind, closed: Some(reason) })
                }
                Availability::None => {
                    is_named.then(|| TransportStatus { kind, closed: Some(unsaid(kind)) })
                }
            })
            .collect()
    }

    /// Returns the transports the file requests; `None` if it leaves the choice to Plenary.
    fn named(&self, choice: TransportChoice) -> Option<Vec<TransportKind>> {
        match (&self.entry.transports, choice) {
            (Some(At { value, .. }), _) => Some(value.clone()),
            (None, TransportChoice::Http) => Some(vec![TransportKind::Http]),
            (None, TransportChoice::Mcp) => Some(vec![TransportKind::Mcp]),
            (None, TransportChoice::Cli) => Some(vec![TransportKind::Cli]),
            (None, TransportChoice::Auto) => None,
        }
    }

    fn way(&self, kind: TransportKind) -> Availability {
        match kind {
            TransportKind::Mcp => mcp_way(self.entry, self.environment),
            TransportKind::Http => http_way(self.entry, self.row, self.key),
            TransportKind::Cli => cli_way(self.command, self.environment),
            TransportKind::Rehearsal => Availability::None,
        }
    }
}

fn unsaid(kind: TransportKind) -> String {
    format!("nothing says how to reach it by {kind}")
}

fn mcp_way(entry: &ProviderEntry, environment: &Environment) -> Availability {
    let Some(At { value: mcp, .. }) = &entry.mcp else { return Availability::None };
    program_way(&mcp.command, environment)
}

fn http_way(entry: &ProviderEntry, row: Option<&Row>, key: &Key) -> Availability {
    let is_served = row.is_some() || entry.base_url.is_some() && entry.dialect.is_some();
    match &key.missing {
        _ if !is_served => Availability::None,
        Some(variable) => Availability::Closed(format!("`{variable}` is not set")),
        None => Availability::Open,
    }
}

fn cli_way(command: &[String], environment: &Environment) -> Availability {
    command.first().map_or(Availability::None, |program| program_way(program, environment))
}

fn program_way(program: &str, environment: &Environment) -> Availability {
    if environment.has_program(program) {
        return Availability::Open;
    }
    let place = if program.contains('/') { "" } else { " on the PATH" };
    Availability::Closed(format!("there is no program `{program}`{place}"))
}

/// Calls to this machine are free unless the file sets a price.
fn price(
    entry: &ProviderEntry,
    model: &str,
    base_url: Option<&str>,
    transports: &[TransportKind],
) -> Option<Price> {
    if let Some(At { value: (input_per_mtok, output_per_mtok), .. }) = entry.price {
        return Some(Price { input_per_mtok, output_per_mtok, source: "configuration".to_owned() });
    }
    let is_ours = base_url.is_some_and(is_loopback) && transports.contains(&TransportKind::Http);
    if is_ours {
        let source = "loopback".to_owned();
        return Some(Price { input_per_mtok: 0.0, output_per_mtok: 0.0, source });
    }
    catalogue::price(model)
}
