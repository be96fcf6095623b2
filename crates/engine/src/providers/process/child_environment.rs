//! Environment variables of child processes. The CLI and MCP transports build one
//! [`ChildEnvironment`] per call.
//!
//! **Invariant:** a program gets the variables listed here, those with its vendor's prefixes, and
//! those from its configuration, and no others.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// Variables every program needs: paths, the user's logins, locale, proxies and certificates.
const COMMON_VARIABLES: [&str; 25] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// Prefix of the locale variables.
const COMMON_PREFIX: &str = "LC_";

/// Shorter values may occur in an error message by chance, so they are not masked.
const SECRET_CHARS_MIN: usize = 6;

/// Variables of a child process.
#[derive(Clone, Default)]
pub struct ChildEnvironment {
    variables: BTreeMap<String, OsString>,
}

impl ChildEnvironment {
    /// All variables of this process.
    #[expect(clippy::disallowed_methods, reason = "the one door for foreign programs")]
    pub fn from_this_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect()
    }

    /// Returns the common variables and those with one of the prefixes.
    pub(crate) fn select_for(&self, own_prefixes: &[&str]) -> Self {
        let needed = |name: &str| {
            COMMON_VARIABLES.contains(&name)
                || name.starts_with(COMMON_PREFIX)
                || own_prefixes.iter().any(|prefix| name.starts_with(prefix))
        };
        let chosen = self.variables.iter().filter(|(name, _)| needed(name));
        chosen.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &OsString)> {
        self.variables.iter()
    }

    /// Returns values that must not appear in a message.
    pub(crate) fn secret_values(&self) -> Vec<String> {
        let secret = |name: &str| {
            ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"]
                .iter()
                .any(|word| name.contains(word))
        };
        let kept = self.variables.iter().filter(|(name, _)| secret(name));
        kept.filter_map(|(_, value)| value.to_str())
            .filter(|value| value.chars().count() >= SECRET_CHARS_MIN)
            .map(str::to_owned)
            .collect()
    }
}

impl FromIterator<(String, OsString)> for ChildEnvironment {
    fn from_iter<T: IntoIterator<Item = (String, OsString)>>(variables: T) -> Self {
        Self { variables: variables.into_iter().collect() }
    }
}

/// Prints names only, since a value may be a key.
impl std::fmt::Debug for ChildEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> ChildEnvironment {
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
    }

    #[test]
    fn a_program_gets_the_common_variables_and_its_own() {
        let all = environment(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("OPENAI_API_KEY", "k"),
            ("ANTHROPIC_API_KEY", "k"),
            ("CLAUDECODE", "1"),
            ("DATABASE_URL", "postgres://secret"),
        ]);
        let kept = format!("{:?}", all.select_for(&["ANTHROPIC_", "CLAUDE_"]));
        assert_eq!(kept, r#"{"ANTHROPIC_API_KEY", "LC_ALL", "PATH"}"#);
    }

    #[test]
    fn keys_are_secrets_and_paths_are_not() {
        let all = environment(&[
            ("PATH", "/usr/local/bin"),
            ("GEMINI_API_KEY", "abcdef"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "ghijkl"),
            ("EMPTY_KEY", ""),
        ]);
        assert_eq!(all.secret_values(), ["ghijkl", "abcdef"]);
        assert!(!format!("{all:?}").contains("abcdef"));
    }
}
