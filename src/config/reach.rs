//! A provider as written or found becomes one that can be called, or it is said why not.
//!
//! **Invariant:** the key of a catalogue's row goes to that row's address and nowhere
//! else. Another address gets a key only when the file names its variable.

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
use crate::providers::{Dialect, McpTool, Provider};

/// Enough for an opinion with its reasons; reserved in full before each call.
const OUTPUT_TOKENS_DEFAULT: u32 = 8_192;

/// What a provider is resolved in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub environment: &'a Environment,
    /// What programs with a relative path are relative to.
    pub folder: &'a Path,
    pub transport: TransportChoice,
}

/// Whether a provider can be reached by a transport.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    Open,
    Closed(String),
    /// Nothing says how.
    None,
}

#[derive(Debug)]
struct Key {
    variable: Option<String>,
    secret: Option<SecretString>,
    /// What should have been set.
    missing: Option<String>,
}

/// The provider, its settings noted; or nothing, and the problem noted.
pub(super) fn provider(
    entry: &ProviderEntry,
    around: &Surroundings<'_>,
    ledger: &mut Ledger,
    problems: &mut Problems,
) -> Option<Provider> {
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
    let transports = match transports(entry, row, &key, &command, around) {
        Ok(transports) => transports,
        Err(reason) => {
            let problem = problem(entry, &format!("cannot be used: {reason}"));
            problems.0.push(Problem { is_elsewhere: true, ..problem });
            return None;
        }
    };
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
    describe::note(entry, row, &provider, ledger);
    Some(provider)
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

/// A program or a tool may choose its model itself; then the provider's name stands for it.
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

/// A name is looked for on the PATH; a relative path is meant from the file.
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

/// The transports in the order in which they are tried; or why none of them can be used.
///
/// One that is named but closed stays in the list: that it was tried, and why it was given
/// up, then stands in the record.
fn transports(
    entry: &ProviderEntry,
    row: Option<&Row>,
    key: &Key,
    command: &[String],
    around: &Surroundings<'_>,
) -> Result<Vec<TransportKind>, String> {
    let way = |kind: TransportKind| match kind {
        TransportKind::Mcp => mcp_way(entry, around.environment),
        TransportKind::Http => http_way(entry, row, key),
        TransportKind::Cli => cli_way(command, around.environment),
        TransportKind::Rehearsal => Way::None,
    };
    let all = [TransportKind::Mcp, TransportKind::Http, TransportKind::Cli];
    let choice = |kind: TransportKind| vec![kind];
    let named = match (&entry.transports, around.transport) {
        (Some(At { value, .. }), _) => value.clone(),
        (None, TransportChoice::Http) => choice(TransportKind::Http),
        (None, TransportChoice::Mcp) => choice(TransportKind::Mcp),
        (None, TransportChoice::Cli) => choice(TransportKind::Cli),
        (None, TransportChoice::Auto) => all
            .into_iter()
            .filter(|kind| match way(*kind) {
                Way::Open => true,
                Way::Closed(_) => *kind == TransportKind::Mcp,
                Way::None => false,
            })
            .collect(),
    };
    if named.iter().any(|kind| way(*kind) == Way::Open) {
        return Ok(named);
    }
    let considered = if named.is_empty() { all.to_vec() } else { named };
    let reasons = considered.iter().filter_map(|kind| match way(*kind) {
        Way::Open => None,
        Way::Closed(reason) => Some(reason),
        Way::None if considered.len() < all.len() => {
            Some(format!("nothing says how to reach it by {kind}"))
        }
        Way::None => None,
    });
    Err(reasons.collect::<Vec<_>>().join(", and "))
}

fn mcp_way(entry: &ProviderEntry, environment: &Environment) -> Way {
    let Some(At { value: mcp, .. }) = &entry.mcp else { return Way::None };
    program_way(&mcp.command, environment)
}

fn http_way(entry: &ProviderEntry, row: Option<&Row>, key: &Key) -> Way {
    let is_served = row.is_some() || entry.base_url.is_some() && entry.dialect.is_some();
    match &key.missing {
        _ if !is_served => Way::None,
        Some(variable) => Way::Closed(format!("`{variable}` is not set")),
        None => Way::Open,
    }
}

fn cli_way(command: &[String], environment: &Environment) -> Way {
    command.first().map_or(Way::None, |program| program_way(program, environment))
}

fn program_way(program: &str, environment: &Environment) -> Way {
    if environment.has_program(program) {
        return Way::Open;
    }
    let place = if program.contains('/') { "" } else { " on the PATH" };
    Way::Closed(format!("there is no program `{program}`{place}"))
}

/// Our own machine costs nothing unless the file says otherwise.
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

/// Whether an address is this machine's own.
pub(super) fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => authority.split(':').next().unwrap_or_default(),
    };
    let is_address = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_address || host.eq_ignore_ascii_case("localhost")
}
