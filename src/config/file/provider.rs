//! One entry of `council.providers`.

use secrecy::SecretString;

use super::council::{TimeoutsSection, TransportChoice};
use crate::config::section::{At, Problems, Section, text};
use crate::config::yaml::Node;
use crate::domain::ask::TransportKind;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{OwnTimeouts, Role};
use crate::providers::Dialect;

const KEYS: [&str; 15] = [
    "name",
    "role",
    "model",
    "dialect",
    "base_url",
    "api_key_env",
    "transports",
    "family",
    "version",
    "price",
    "max_output_tokens",
    "temperature",
    "timeouts",
    "command",
    "mcp",
];

/// Dollars per million tokens: a hundred times the most expensive model.
const PRICE_MAX: f64 = 100_000.0;

/// No model writes more in one turn.
const OUTPUT_TOKENS_MAX: i128 = 1_000_000;

/// Default name of the tool's prompt argument.
const MCP_ARGUMENT_DEFAULT: &str = "prompt";

#[derive(Debug)]
pub(in crate::config) struct ProviderEntry {
    /// `None` for a discovered provider.
    pub line: Option<u64>,
    pub name: ExpertSlug,
    pub roles: Option<At<Vec<Role>>>,
    pub model: Option<At<String>>,
    pub dialect: Option<At<Dialect>>,
    pub base_url: Option<At<String>>,
    pub api_key_env: Option<At<String>>,
    pub transports: Option<At<Vec<TransportKind>>>,
    pub family: Option<At<String>>,
    pub version: Option<At<String>>,
    pub price: Option<At<(f64, f64)>>,
    pub max_output_tokens: Option<At<u32>>,
    pub temperature: Option<At<f64>>,
    pub timeouts: Option<OwnTimeouts>,
    pub command: Option<At<Vec<String>>>,
    pub mcp: Option<At<McpEntry>>,
}

#[derive(Debug)]
pub(in crate::config) struct McpEntry {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, SecretString)>,
    pub tool: String,
    pub argument: String,
}

impl ProviderEntry {
    /// Entry with a name and nothing else.
    pub(in crate::config) fn named(name: ExpertSlug) -> Self {
        Self {
            line: None,
            name,
            roles: None,
            model: None,
            dialect: None,
            base_url: None,
            api_key_env: None,
            transports: None,
            family: None,
            version: None,
            price: None,
            max_output_tokens: None,
            temperature: None,
            timeouts: None,
            command: None,
            mcp: None,
        }
    }

    pub(super) fn read_all(
        council: &Section<'_>,
        problems: &mut Problems,
    ) -> Option<At<Vec<Self>>> {
        let list = council.list("providers", problems)?;
        let mut entries: Vec<Self> = Vec::new();
        for (place, node) in list.value.iter().enumerate() {
            let path = format!("{}[{place}]", council.at("providers"));
            let Some(entry) = Self::read(node, &path, problems) else { continue };
            if entries.iter().any(|other| other.name == entry.name) {
                let fault = format!("names `{}`, which stands above already", entry.name);
                problems.note(&format!("{path}.name"), node.line, &fault);
            }
            entries.push(entry);
        }
        Some(At { value: entries, line: list.line })
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let provider = Section::of(node, path, &KEYS, problems)?;
        let roles = provider.words("role", problems);
        if let Some(empty) = roles.as_ref().filter(|roles| roles.value.is_empty()) {
            problems.note(&provider.at("role"), empty.line, "must name a role");
        }
        let entry = Self {
            line: Some(node.line),
            roles,
            model: provider.text("model", problems),
            dialect: provider.word("dialect", problems),
            base_url: base_url(&provider, problems),
            api_key_env: variable(&provider, problems),
            transports: transports(&provider, problems),
            family: provider.text("family", problems),
            version: provider.text("version", problems),
            price: price(&provider, problems),
            max_output_tokens: provider.integer(
                "max_output_tokens",
                1..=OUTPUT_TOKENS_MAX,
                problems,
            ),
            temperature: provider.number("temperature", 0.0..=2.0, problems),
            timeouts: own_timeouts(&provider, problems),
            command: command(&provider, problems),
            mcp: mcp(&provider, problems),
            ..Self::named(provider.required_name("name", problems)?)
        };
        Some(entry)
    }
}

/// Reads a URL that contains no secret. Messages do not repeat it.
fn base_url(provider: &Section<'_>, problems: &mut Problems) -> Option<At<String>> {
    let url = provider.text("base_url", problems)?;
    let rest = url.value.strip_prefix("https://").or_else(|| url.value.strip_prefix("http://"));
    let fault = match rest {
        None => Some("must begin with `http://` or `https://`"),
        Some(rest) => objection(rest),
    };
    if let Some(fault) = fault {
        problems.note(&provider.at("base_url"), url.line, fault);
        return None;
    }
    Some(url.map(|url| url.trim_end_matches('/').to_owned()))
}

/// Returns the fault of a URL without its scheme.
fn objection(rest: &str) -> Option<&'static str> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    if authority.contains('@') {
        Some("must not hold a user or a password; name the key's variable in `api_key_env`")
    } else if rest.contains(['?', '#']) {
        Some("must not have a query or a fragment")
    } else if host.is_empty() || rest.contains(char::is_whitespace) || rest.contains('\\') {
        Some("is not an address")
    } else {
        None
    }
}

/// Reads the name of a variable. Messages do not repeat the value, in case it is the key itself.
fn variable(provider: &Section<'_>, problems: &mut Problems) -> Option<At<String>> {
    let variable = provider.text("api_key_env", problems)?;
    let fits = is_variable(&variable.value);
    if !fits {
        let fault = "must be the name of an environment variable in capitals, not a key";
        problems.note(&provider.at("api_key_env"), variable.line, fault);
    }
    fits.then_some(variable)
}

fn is_variable(text: &str) -> bool {
    !text.starts_with(|letter: char| letter.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

fn transports(provider: &Section<'_>, problems: &mut Problems) -> Option<At<Vec<TransportKind>>> {
    let named: At<Vec<TransportChoice>> = provider.words("transports", problems)?;
    let path = provider.at("transports");
    if named.value.is_empty() {
        problems.note(&path, named.line, "must name a transport");
    }
    if named.value.contains(&TransportChoice::Auto) {
        problems.note(&path, named.line, "must name http, mcp or cli; leave it out for `auto`");
    }
    let kind = |choice: TransportChoice| match choice {
        TransportChoice::Auto => None,
        TransportChoice::Http => Some(TransportKind::Http),
        TransportChoice::Mcp => Some(TransportKind::Mcp),
        TransportChoice::Cli => Some(TransportKind::Cli),
    };
    Some(named.map(|named| named.into_iter().filter_map(kind).collect()))
}

fn price(provider: &Section<'_>, problems: &mut Problems) -> Option<At<(f64, f64)>> {
    let known = ["input_per_mtok", "output_per_mtok"];
    let price = provider.section("price", &known, problems)?;
    for key in known.iter().filter(|key| price.get(key).is_none()) {
        problems.note(&price.path, price.line, &format!("needs `{key}`"));
    }
    let input = price.number("input_per_mtok", 0.0..=PRICE_MAX, problems)?;
    let output = price.number("output_per_mtok", 0.0..=PRICE_MAX, problems)?;
    Some(At { value: (input.value, output.value), line: price.line })
}

fn own_timeouts(provider: &Section<'_>, problems: &mut Problems) -> Option<OwnTimeouts> {
    let timeouts = TimeoutsSection::read(provider, problems);
    let own = OwnTimeouts {
        r1_per_provider: timeouts.r1_per_provider.map(|at| at.value),
        r2_per_provider: timeouts.r2_per_provider.map(|at| at.value),
        r3_chair: timeouts.r3_chair.map(|at| at.value),
    };
    (own != OwnTimeouts::default()).then_some(own)
}

fn command(provider: &Section<'_>, problems: &mut Problems) -> Option<At<Vec<String>>> {
    let command = provider.texts("command", problems)?;
    if command.value.is_empty() {
        problems.note(&provider.at("command"), command.line, "must name a program");
        return None;
    }
    Some(command)
}

fn mcp(provider: &Section<'_>, problems: &mut Problems) -> Option<At<McpEntry>> {
    let known = ["command", "args", "env", "tool", "argument"];
    let mcp = provider.section("mcp", &known, problems)?;
    for key in ["command", "tool"].iter().filter(|key| mcp.get(key).is_none()) {
        problems.note(&mcp.path, mcp.line, &format!("needs `{key}`"));
    }
    let args = mcp.texts("args", problems).map(|at| at.value).unwrap_or_default();
    let env = environment(&mcp, problems);
    let argument = mcp.text("argument", problems).map(|at| at.value);
    let entry = McpEntry {
        command: mcp.text("command", problems)?.value,
        args,
        env,
        tool: mcp.text("tool", problems)?.value,
        argument: argument.unwrap_or_else(|| MCP_ARGUMENT_DEFAULT.to_owned()),
    };
    Some(At { value: entry, line: mcp.line })
}

/// Variables of the MCP server; their values may be secrets.
fn environment(mcp: &Section<'_>, problems: &mut Problems) -> Vec<(String, SecretString)> {
    let Some(node) = mcp.get("env") else { return Vec::new() };
    let Some(env) = Section::open(node, &mcp.at("env"), problems) else { return Vec::new() };
    let mut variables = Vec::new();
    for (key, node) in env.entries() {
        let path = env.at(&key.name);
        if key.name.is_empty() || key.name.contains(['=', '\0']) {
            problems.note(&path, key.line, "is not the name of a variable");
        }
        let value = text(node, &path, problems);
        variables.extend(value.map(|value| (key.name.clone(), SecretString::from(value))));
    }
    variables
}
