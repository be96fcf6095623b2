//! One entry of `council.providers`.

use plenary_core::model::ask::TransportKind;
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{SeatRole, SeatTimeouts};
use secrecy::SecretString;

use crate::config::council_file::sections::{TimeoutsSection, TransportChoice};
use crate::config::section::{ConfigSection, ProblemList, WithLine, parse_text};
use crate::config::yaml::YamlNode;
use crate::providers::transport::Dialect;

const PROVIDER_KEYS: [&str; 15] = [
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
pub(crate) struct ProviderEntry {
    /// `None` for a discovered provider.
    pub line: Option<u64>,
    pub name: ExpertSlug,
    pub roles: Option<WithLine<Vec<SeatRole>>>,
    pub model: Option<WithLine<String>>,
    pub dialect: Option<WithLine<Dialect>>,
    pub base_url: Option<WithLine<String>>,
    pub api_key_env: Option<WithLine<String>>,
    pub transports: Option<WithLine<Vec<TransportKind>>>,
    pub family: Option<WithLine<String>>,
    pub version: Option<WithLine<String>>,
    pub price: Option<WithLine<(f64, f64)>>,
    pub max_output_tokens: Option<WithLine<u32>>,
    pub temperature: Option<WithLine<f64>>,
    pub timeouts: Option<SeatTimeouts>,
    pub command: Option<WithLine<Vec<String>>>,
    pub mcp: Option<WithLine<McpEntry>>,
}

#[derive(Debug)]
pub(crate) struct McpEntry {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, SecretString)>,
    pub tool: String,
    pub argument: String,
}

impl ProviderEntry {
    /// Entry with a name and nothing else.
    pub(crate) fn from_name(name: ExpertSlug) -> Self {
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

    pub(crate) fn read_all(
        council: &ConfigSection<'_>,
        problems: &mut ProblemList,
    ) -> Option<WithLine<Vec<Self>>> {
        let list = council.read_list("providers", problems)?;
        let mut entries: Vec<Self> = Vec::new();
        for (place, node) in list.value.iter().enumerate() {
            let path = format!("{}[{place}]", council.key_path("providers"));
            let Some(entry) = Self::from_node(node, &path, problems) else { continue };
            if entries.iter().any(|other| other.name == entry.name) {
                let fault = format!("names `{}`, which stands above already", entry.name);
                problems.add_problem(&format!("{path}.name"), node.line, &fault);
            }
            entries.push(entry);
        }
        Some(WithLine { value: entries, line: list.line })
    }

    fn from_node(node: &YamlNode, path: &str, problems: &mut ProblemList) -> Option<Self> {
        let provider = ConfigSection::from_node(node, path, &PROVIDER_KEYS, problems)?;
        let roles = provider.read_enums("role", problems);
        if let Some(empty) = roles.as_ref().filter(|roles| roles.value.is_empty()) {
            problems.add_problem(&provider.key_path("role"), empty.line, "must name a role");
        }
        let entry = Self {
            line: Some(node.line),
            roles,
            model: provider.read_text("model", problems),
            dialect: provider.read_enum("dialect", problems),
            base_url: read_base_url(&provider, problems),
            api_key_env: read_key_variable(&provider, problems),
            transports: read_transports(&provider, problems),
            family: provider.read_text("family", problems),
            version: provider.read_text("version", problems),
            price: read_price(&provider, problems),
            max_output_tokens: provider.read_integer(
                "max_output_tokens",
                1..=OUTPUT_TOKENS_MAX,
                problems,
            ),
            temperature: provider.read_number("temperature", 0.0..=2.0, problems),
            timeouts: read_own_timeouts(&provider, problems),
            command: read_command(&provider, problems),
            mcp: read_mcp(&provider, problems),
            ..Self::from_name(provider.read_required_name("name", problems)?)
        };
        Some(entry)
    }
}

/// Reads a URL that contains no secret. Messages do not repeat it.
fn read_base_url(
    provider: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<WithLine<String>> {
    let url = provider.read_text("base_url", problems)?;
    let rest = url.value.strip_prefix("https://").or_else(|| url.value.strip_prefix("http://"));
    let fault = match rest {
        None => Some("must begin with `http://` or `https://`"),
        Some(rest) => base_url_fault(rest),
    };
    if let Some(fault) = fault {
        problems.add_problem(&provider.key_path("base_url"), url.line, fault);
        return None;
    }
    Some(url.map(|url| url.trim_end_matches('/').to_owned()))
}

/// Returns the fault of a URL without its scheme.
fn base_url_fault(rest: &str) -> Option<&'static str> {
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
fn read_key_variable(
    provider: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<WithLine<String>> {
    let variable = provider.read_text("api_key_env", problems)?;
    let fits = is_variable_name(&variable.value);
    if !fits {
        let fault = "must be the name of an environment variable in capitals, not a key";
        problems.add_problem(&provider.key_path("api_key_env"), variable.line, fault);
    }
    fits.then_some(variable)
}

fn is_variable_name(text: &str) -> bool {
    !text.starts_with(|letter: char| letter.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

fn read_transports(
    provider: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<WithLine<Vec<TransportKind>>> {
    let named: WithLine<Vec<TransportChoice>> = provider.read_enums("transports", problems)?;
    let path = provider.key_path("transports");
    if named.value.is_empty() {
        problems.add_problem(&path, named.line, "must name a transport");
    }
    if named.value.contains(&TransportChoice::Auto) {
        problems.add_problem(
            &path,
            named.line,
            "must name http, mcp or cli; leave it out for `auto`",
        );
    }
    let kind = |choice: TransportChoice| match choice {
        TransportChoice::Auto => None,
        TransportChoice::Http => Some(TransportKind::Http),
        TransportChoice::Mcp => Some(TransportKind::Mcp),
        TransportChoice::Cli => Some(TransportKind::Cli),
    };
    Some(named.map(|named| named.into_iter().filter_map(kind).collect()))
}

fn read_price(
    provider: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<WithLine<(f64, f64)>> {
    let known = ["input_per_mtok", "output_per_mtok"];
    let price = provider.read_section("price", &known, problems)?;
    for key in known.iter().filter(|key| price.get(key).is_none()) {
        problems.add_problem(&price.path, price.line, &format!("needs `{key}`"));
    }
    let input = price.read_number("input_per_mtok", 0.0..=PRICE_MAX, problems)?;
    let output = price.read_number("output_per_mtok", 0.0..=PRICE_MAX, problems)?;
    Some(WithLine { value: (input.value, output.value), line: price.line })
}

fn read_own_timeouts(
    provider: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<SeatTimeouts> {
    let timeouts = TimeoutsSection::from_parent(provider, problems);
    let own = SeatTimeouts {
        r1_per_provider: timeouts.r1_per_provider.map(|at| at.value),
        r2_per_provider: timeouts.r2_per_provider.map(|at| at.value),
        r3_chair: timeouts.r3_chair.map(|at| at.value),
    };
    (own != SeatTimeouts::default()).then_some(own)
}

fn read_command(
    provider: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<WithLine<Vec<String>>> {
    let command = provider.read_texts("command", problems)?;
    if command.value.is_empty() {
        problems.add_problem(&provider.key_path("command"), command.line, "must name a program");
        return None;
    }
    Some(command)
}

fn read_mcp(
    provider: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<WithLine<McpEntry>> {
    let known = ["command", "args", "env", "tool", "argument"];
    let mcp = provider.read_section("mcp", &known, problems)?;
    for key in ["command", "tool"].iter().filter(|key| mcp.get(key).is_none()) {
        problems.add_problem(&mcp.path, mcp.line, &format!("needs `{key}`"));
    }
    let args = mcp.read_texts("args", problems).map(|at| at.value).unwrap_or_default();
    let env = read_mcp_environment(&mcp, problems);
    let argument = mcp.read_text("argument", problems).map(|at| at.value);
    let entry = McpEntry {
        command: mcp.read_text("command", problems)?.value,
        args,
        env,
        tool: mcp.read_text("tool", problems)?.value,
        argument: argument.unwrap_or_else(|| MCP_ARGUMENT_DEFAULT.to_owned()),
    };
    Some(WithLine { value: entry, line: mcp.line })
}

/// Variables of the MCP server; their values may be secrets.
fn read_mcp_environment(
    mcp: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Vec<(String, SecretString)> {
    let Some(node) = mcp.get("env") else { return Vec::new() };
    let Some(env) = ConfigSection::from_mapping(node, &mcp.key_path("env"), problems) else {
        return Vec::new();
    };
    let mut variables = Vec::new();
    for (key, node) in env.entries() {
        let path = env.key_path(&key.name);
        if key.name.is_empty() || key.name.contains(['=', '\0']) {
            problems.add_problem(&path, key.line, "is not the name of a variable");
        }
        let value = parse_text(node, &path, problems);
        variables.extend(value.map(|value| (key.name.clone(), SecretString::from(value))));
    }
    variables
}
