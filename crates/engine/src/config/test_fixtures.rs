//! Fixtures of the config tests: a council file in its own folder, an environment, and the
//! resulting settings.

use std::path::Path;

use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::load::load_settings_in;
use crate::config::locate::{COUNCIL_FILE, ConfigFlags};
use crate::config::settings::Settings;
use crate::config::settle_sections::BudgetOverrides;

/// Loads settings from a file's text and variables.
pub(crate) fn settings_from(
    yaml: &str,
    variables: &[(&str, &str)],
) -> Result<Settings, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    write_council_file(folder.path(), yaml);
    load_from(folder.path(), variables)
}

/// Loads settings from an existing folder.
pub(crate) fn load_from(
    folder: &Path,
    variables: &[(&str, &str)],
) -> Result<Settings, ConfigError> {
    // These tests do not concern trust.
    let trusting = [("PLENARY_TRUST", "all")];
    let environment = EnvVariables::from_pairs(trusting.iter().chain(variables).copied());
    load_settings_in(
        folder,
        &ConfigFlags::default(),
        &BudgetOverrides::default(),
        &environment,
        |_| Vec::new(),
    )
}

#[expect(clippy::disallowed_methods, reason = "a test writes what it reads")]
pub(crate) fn write_council_file(folder: &Path, yaml: &str) {
    std::fs::write(folder.join(COUNCIL_FILE), yaml).unwrap();
}

/// Returns the problems of a file.
#[track_caller]
pub(crate) fn problems_of(yaml: &str) -> Vec<String> {
    let error = settings_from(yaml, &[]).err();
    let problems = error.as_ref().map_or(&[][..], ConfigError::problems);
    problems.iter().map(ToString::to_string).collect()
}

/// Installs a program that does nothing, in a folder for the PATH.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a test writes what it reads")]
pub(crate) fn install_program(folder: &Path, program: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(program);
    std::fs::write(&path, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}
