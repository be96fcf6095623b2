//! [`EnvVariables`]: the environment as a value, so that tests do not share variables.
//!
//! **Invariant:** `Debug` prints names only, never values.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

/// Variables by name. Variables that are not UTF-8 are ignored.
#[derive(Clone, Default)]
pub struct EnvVariables {
    variables: BTreeMap<String, String>,
}

impl EnvVariables {
    /// Reads the variables of this process.
    #[expect(clippy::disallowed_methods, reason = "the environment is read here, once")]
    pub fn from_process() -> Self {
        let texts = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self { variables: texts.collect() }
    }

    pub fn from_pairs<N: Into<String>, V: Into<String>>(
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { variables: variables.collect() }
    }

    /// Returns a variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns a key, trimmed: a line break often comes from the file it was read from.
    pub(crate) fn get_secret(&self, name: &str) -> Option<SecretString> {
        self.get(name).map(|value| SecretString::from(value.trim()))
    }

    /// Whether a program exists: by its path, or by its name on the PATH.
    pub(crate) fn has_program(&self, program: &str) -> bool {
        if program.contains('/') {
            return is_program(Path::new(program));
        }
        let folders = self.get("PATH").map(std::env::split_paths).into_iter().flatten();
        folders
            .filter(|folder| folder.is_absolute())
            .any(|folder| is_program(&folder.join(program)))
    }

    /// Folder of the user's configuration.
    pub(crate) fn config_folder(&self) -> Option<PathBuf> {
        let from_home = || Some(self.home_folder()?.join(".config"));
        self.absolute_path("XDG_CONFIG_HOME").or_else(from_home)
    }

    /// Folder of the user's program state, such as trusted files.
    pub(crate) fn state_folder(&self) -> Option<PathBuf> {
        let from_home = || Some(self.home_folder()?.join(".local/state"));
        self.absolute_path("XDG_STATE_HOME").or_else(from_home)
    }

    pub(crate) fn home_folder(&self) -> Option<PathBuf> {
        self.absolute_path("HOME")
    }

    fn absolute_path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

impl fmt::Debug for EnvVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_stay_out_of_debug() {
        let environment = EnvVariables::from_pairs([("OPENAI_API_KEY", "sk-canary")]);
        assert_eq!(format!("{environment:?}"), r#"{"OPENAI_API_KEY"}"#);
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let environment = EnvVariables::from_pairs([("A", ""), ("B", "  \n"), ("C", "c")]);
        assert_eq!(
            ["A", "B", "C", "D"].map(|name| environment.get(name)),
            [None, None, Some("c"), None]
        );
    }

    #[test]
    fn a_settings_folder_is_absolute() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let environment = EnvVariables::from_pairs(variables.iter().copied());
            assert_eq!(environment.config_folder(), expected.map(PathBuf::from), "{variables:?}");
        };
        check(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")], Some("/x"));
        check(&[("XDG_CONFIG_HOME", "relative"), ("HOME", "/h")], Some("/h/.config"));
        check(&[("HOME", "relative")], None);
        check(&[], None);
    }
}
