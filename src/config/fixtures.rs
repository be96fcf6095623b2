//! Fixtures of the config tests: a council file in its own folder, an environment, and the
//! resulting settings.

use std::path::Path;

use super::budget::Overrides;
use super::environment::Environment;
use super::error::ConfigError;
use super::load::load_in;
use super::locate::{COUNCIL_FILE, Flags};
use super::settings::Settings;

/// Loads settings from a file's text and variables.
pub(super) fn settings(yaml: &str, variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), yaml);
    load_from(folder.path(), variables)
}

/// Loads settings from an existing folder.
pub(super) fn load_from(
    folder: &Path,
    variables: &[(&str, &str)],
) -> Result<Settings, ConfigError> {
    // These tests do not concern trust.
    let trusting = [("PLENARY_TRUST", "all")];
    let environment = Environment::of(trusting.iter().chain(variables).copied());
    load_in(folder, &Flags::default(), &Overrides::default(), &environment, |_| Vec::new())
}

#[expect(clippy::disallowed_methods, reason = "a test writes what it reads")]
pub(super) fn write(folder: &Path, yaml: &str) {
    std::fs::write(folder.join(COUNCIL_FILE), yaml).unwrap();
}

/// Returns the problems of a file.
#[track_caller]
pub(super) fn problems(yaml: &str) -> Vec<String> {
    let error = settings(yaml, &[]).err();
    let problems = error.as_ref().map_or(&[][..], ConfigError::problems);
    problems.iter().map(ToString::to_string).collect()
}

/// Installs a program that does nothing, in a folder for the PATH.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a test writes what it reads")]
pub(super) fn install(folder: &Path, program: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(program);
    std::fs::write(&path, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}
