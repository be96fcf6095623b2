//! Collects secret values that must not be sent with a context file: keys of providers, variables
//! of their MCP servers, and environment variables with a secret-like name.

use secrecy::{ExposeSecret, SecretString};

use super::environment::EnvVariables;
use super::reach::ProviderCandidate;

/// Parts of variable names that indicate a secret.
const SECRET_NAME_PARTS: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "DATABASE_URL"];
const SECRET_NAME_ENDS: [&str; 5] = ["_PWD", "_PASS", "_AUTH", "_DSN", "_PAT"];

/// Shorter values occur in ordinary text.
const VALUE_CHARS_MIN: usize = 8;
/// Ordinary lower-case terms and numbers are shorter than this.
const WORD_CHARS_MAX: usize = 16;

/// Collects the secrets of all providers, usable or not, and of the environment.
pub(super) fn collect_secrets(
    candidates: &[ProviderCandidate],
    environment: &EnvVariables,
) -> Vec<SecretString> {
    let keys = candidates.iter().filter_map(|candidate| candidate.provider.key.clone());
    let tools = candidates.iter().filter_map(|candidate| candidate.provider.mcp.as_ref());
    let given = tools.flat_map(|tool| &tool.env).filter(|(name, value)| {
        let value = value.expose_secret();
        if is_secret_name(name) { is_distinctive(value) } else { is_random_value(value) }
    });
    let given = given.map(|(_, value)| value.clone());
    let exported =
        environment.iter().filter(|(name, value)| is_secret_name(name) && is_distinctive(value));
    let exported = exported.map(|(_, value)| SecretString::from(value.trim()));
    keys.chain(given).chain(exported).collect()
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAME_PARTS.iter().any(|part| name.contains(part))
        || SECRET_NAME_ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a value is distinguishable from terms, numbers and paths of ordinary text.
fn is_distinctive(value: &str) -> bool {
    let value = value.trim();
    let length = value.chars().count();
    let is_word = length < WORD_CHARS_MAX && value.chars().all(|letter| letter.is_lowercase());
    let is_number = length < WORD_CHARS_MAX && value.chars().all(|letter| letter.is_ascii_digit());
    length >= VALUE_CHARS_MIN && !is_word && !is_number && !is_path_or_url(value)
}

/// Stricter check, for a value whose name does not indicate a secret.
fn is_random_value(value: &str) -> bool {
    let has = |is_of: fn(char) -> bool| value.chars().any(is_of);
    is_distinctive(value)
        && value.chars().count() >= WORD_CHARS_MAX
        && has(char::is_alphabetic)
        && has(|letter| letter.is_ascii_digit())
}

/// Whether a value is a path, or a URL without a password.
fn is_path_or_url(value: &str) -> bool {
    let is_path = ["/", "./", "../", "~"].iter().any(|start| value.starts_with(start));
    let address = value.split_once("://").map(|(_, rest)| rest);
    let has_password = |rest: &str| {
        let login = rest.split('/').next().and_then(|host| host.rsplit_once('@'));
        login.is_some_and(|(login, _)| login.contains(':'))
    };
    is_path || address.is_some_and(|rest| !has_password(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_gives_what_is_named_as_a_secret_and_is_no_word() {
        let environment = EnvVariables::from_pairs([
            ("GROQ_API_KEY", "gsk_4f9d1c77e0ab"),
            ("db_password", "correct-horse"),
            ("DATABASE_URL", "postgres://app:s3cr3t@db/app"),
            ("OTHER_DATABASE_URL", "sqlite://db/app"),
            ("CI_PAT", "  a1b2c3d4e5\n"),
            ("KEYBOARD", "standard"),
            ("TOKENIZERS_PARALLELISM", "false"),
            ("SSH_KEY_FILE", "/home/ann/.ssh/id_rsa"),
            ("HOME", "/home/ann-with-2-names"),
            ("OLDPWD", "/home/ann"),
        ]);
        let found = collect_secrets(&[], &environment);
        let mut found: Vec<&str> = found.iter().map(ExposeSecret::expose_secret).collect();
        found.sort_unstable();
        assert_eq!(
            found,
            ["a1b2c3d4e5", "correct-horse", "gsk_4f9d1c77e0ab", "postgres://app:s3cr3t@db/app"]
        );
    }

    #[test]
    fn a_value_without_a_telling_name_must_look_random() {
        for (value, expected) in [
            ("srv-canary-mcp-7b1e5d80aa", true),
            ("eu-central-1", false),
            ("https://host.example/v1/models", false),
            ("https://ann:p4ssw0rd@host.example/", true),
            ("warning", false),
        ] {
            assert_eq!(is_random_value(value), expected, "{value}");
        }
    }
}
