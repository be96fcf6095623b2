//! Finds `council.yaml`, the store and the other paths of a project. Every command calls
//! [`locate_project`] or `load_settings`.

use std::path::{Path, PathBuf};

use crate::config::council_file::sections::{read_alignment, read_log_path, read_storage};
use crate::config::effective_settings::SettingSource;
use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::project_files::{
    find_first_link, list_file_references, open_council_file, search_upward,
};
use crate::config::section::{ProblemList, WithLine};
use crate::config::settle_sections::LOG_PATH_DEFAULT;
use crate::config::trust::project::ProjectFile;
use crate::config::trust::risks::SettingUse;
use crate::config::yaml::YamlNode;

/// Name of the project's configuration file.
pub const COUNCIL_FILE: &str = "council.yaml";

/// Relative to the folder of `council.yaml`, else to the working folder.
const STORE_DEFAULT: &str = "sqlite:.plenary/plenary.db";

/// Default for `--store`.
const STORE_VARIABLE: &str = "PLENARY_STORE";

/// Default for `--config`.
const CONFIG_VARIABLE: &str = "PLENARY_CONFIG";

/// Paths from the command line.
#[derive(Debug, Clone, Default)]
pub struct ConfigFlags {
    pub config: Option<PathBuf>,
    pub store: Option<String>,
    pub allow: Vec<PathBuf>,
}

/// Paths of the current project.
#[derive(Debug, Clone)]
pub struct ProjectPaths {
    pub working: PathBuf,
    /// The `council.yaml` in use, if any.
    pub file: Option<PathBuf>,
    /// Folder that paths in the file are relative to.
    pub folder: PathBuf,
    /// Folder that document paths and `tier_rules` are relative to: the file's folder, or the
    /// working folder if the file is the user's global one.
    pub documents: PathBuf,
    pub store: PathBuf,
    pub store_source: SettingSource,
    pub allow: Vec<PathBuf>,
    /// File of the verdict log.
    pub log: PathBuf,
    /// Every text of the file, taken as a path; an export must not overwrite these files.
    pub references: Vec<PathBuf>,
    /// Default convergence of a new dialogue, if the file sets it.
    pub convergence_percent: Option<u8>,
}

/// The `council.yaml` in use, parsed.
#[derive(Debug)]
pub(crate) struct ConfigRoot {
    pub working: PathBuf,
    pub folder: PathBuf,
    pub documents: PathBuf,
    pub file: Option<(PathBuf, YamlNode)>,
    pub file_source: SettingSource,
    /// Set if the file was found by the search, so that trust must be checked.
    pub project: Option<ProjectFile>,
}

/// Finds the paths every command needs. Reads only the sections needed for that, so that a record
/// stays readable if the providers are misconfigured.
pub fn locate_project(
    flags: &ConfigFlags,
    environment: &EnvVariables,
) -> Result<ProjectPaths, ConfigError> {
    let anchor = find_config(&working_folder()?, flags, environment)?;
    anchor.require_trust(SettingUse::Record, environment)?;
    let mut problems = ProblemList::default();
    let (mut url, mut convergence_percent) = (None, None);
    if let Some((_, tree)) = &anchor.file {
        url = read_storage(tree, &mut problems);
        convergence_percent = read_alignment(tree, &mut problems).convergence_percent;
    }
    anchor.reject_problems(problems)?;
    anchor.resolve_paths(flags, environment, url, convergence_percent.map(|at| at.value))
}

/// Finds the file: `--config`, else the environment, else the upward search from the working
/// folder, else the user's global file.
pub(crate) fn find_config(
    working: &Path,
    flags: &ConfigFlags,
    environment: &EnvVariables,
) -> Result<ConfigRoot, ConfigError> {
    let working = working.to_owned();
    let (path, file_source) = match (&flags.config, environment.get(CONFIG_VARIABLE)) {
        (Some(path), _) => (Some(working.join(path)), SettingSource::Flag { name: "--config" }),
        (None, Some(path)) => (
            Some(working.join(path)),
            SettingSource::Environment { variable: CONFIG_VARIABLE.to_owned() },
        ),
        (None, None) => {
            let home = environment.home_folder();
            (search_upward(&working, home.as_deref()), SettingSource::Found)
        }
    };
    let own = if path.is_none() { find_user_config(environment) } else { None };
    let is_own = own.is_some();
    let Some(path) = path.or(own) else {
        let (folder, documents) = (working.clone(), working.clone());
        let file_source = SettingSource::Default;
        return Ok(ConfigRoot {
            working,
            folder,
            documents,
            file: None,
            file_source,
            project: None,
        });
    };
    let opened = open_council_file(&path)?;
    let is_project = file_source == SettingSource::Found && !is_user_config(&path, environment);
    let project = match is_project {
        true => Some(ProjectFile::from_opened(&path, &opened, environment)?),
        false => None,
    };
    let folder = path.parent().unwrap_or(&working).to_owned();
    let documents = if is_own { working.clone() } else { folder.clone() };
    Ok(ConfigRoot {
        working,
        folder,
        documents,
        file: Some((path, opened.tree)),
        file_source,
        project,
    })
}

#[expect(clippy::disallowed_methods, reason = "the working folder is asked for here, once")]
pub(crate) fn working_folder() -> Result<PathBuf, ConfigError> {
    std::env::current_dir().map_err(ConfigError::NoWorkingFolder)
}

/// Returns the file found by the upward search; `None` if the user named another file or the file
/// is their own.
pub fn find_project_file(
    flags: &ConfigFlags,
    environment: &EnvVariables,
) -> Result<Option<PathBuf>, ConfigError> {
    if flags.config.is_some() || environment.get(CONFIG_VARIABLE).is_some() {
        return Ok(None);
    }
    let found = search_upward(&working_folder()?, environment.home_folder().as_deref());
    Ok(found.filter(|path| !is_user_config(path, environment)))
}

/// Returns the user's global file, used in folders without one.
fn find_user_config(environment: &EnvVariables) -> Option<PathBuf> {
    let path = user_config_folder(environment)?.join(COUNCIL_FILE);
    path.is_file().then_some(path)
}

fn user_config_folder(environment: &EnvVariables) -> Option<PathBuf> {
    Some(environment.config_folder()?.join("plenary"))
}

/// Whether the file is in the user's configuration folder. It is trusted then, even if the upward
/// search found it.
fn is_user_config(path: &Path, environment: &EnvVariables) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let own = user_config_folder(environment).as_deref().and_then(real);
    own.is_some() && path.parent().and_then(real) == own
}

impl ConfigRoot {
    /// Fails if this use of the file needs the user's consent.
    pub(crate) fn require_trust(
        &self,
        needed: SettingUse,
        environment: &EnvVariables,
    ) -> Result<(), ConfigError> {
        match (&self.project, &self.file) {
            (Some(project), Some((_, tree))) => project.require_trust(tree, needed, environment),
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// Fails if there are problems.
    pub(crate) fn reject_problems(&self, problems: ProblemList) -> Result<(), ConfigError> {
        if problems.0.is_empty() {
            return Ok(());
        }
        let is_well_written = problems.0.iter().all(|problem| problem.is_external);
        let path = self.file.as_ref().map_or_else(|| COUNCIL_FILE.into(), |(path, _)| path.clone());
        let problems = problems.0;
        Err(if is_well_written {
            ConfigError::Unusable { path, problems }
        } else {
            ConfigError::Invalid { path, problems }
        })
    }

    pub(crate) fn resolve_paths(
        &self,
        flags: &ConfigFlags,
        environment: &EnvVariables,
        url: Option<WithLine<String>>,
        convergence_percent: Option<u8>,
    ) -> Result<ProjectPaths, ConfigError> {
        let (store, store_source) = self.resolve_store(flags, environment, url)?;
        // A path from a flag or variable is the user's choice; a project may have planted links in
        // the others.
        if matches!(store_source, SettingSource::File { .. } | SettingSource::Default)
            && let Some(path) = find_first_link(&self.folder, &store)
        {
            return Err(ConfigError::LinkedStore { path });
        }
        if let Some(path) = flags.allow.iter().find(|path| !path.is_dir()) {
            return Err(ConfigError::NotAFolder { path: path.clone() });
        }
        Ok(ProjectPaths {
            working: self.working.clone(),
            file: self.file.as_ref().map(|(path, _)| path.clone()),
            folder: self.folder.clone(),
            documents: self.documents.clone(),
            store,
            store_source,
            allow: flags.allow.clone(),
            log: self.log_path(),
            references: self.list_references(),
            convergence_percent,
        })
    }

    fn list_references(&self) -> Vec<PathBuf> {
        let tree = self.file.as_ref().map(|(_, tree)| tree);
        let folders = [self.folder.as_path(), self.working.as_path()];
        tree.map_or_else(Vec::new, |tree| list_file_references(tree, &folders))
    }

    fn log_path(&self) -> PathBuf {
        let named = self.file.as_ref().and_then(|(_, tree)| read_log_path(tree));
        self.folder.join(named.map_or_else(|| LOG_PATH_DEFAULT.to_owned(), |at| at.value))
    }

    /// A path from a flag or variable is relative to the working folder, one from the file to its
    /// folder.
    fn resolve_store(
        &self,
        flags: &ConfigFlags,
        environment: &EnvVariables,
        file: Option<WithLine<String>>,
    ) -> Result<(PathBuf, SettingSource), ConfigError> {
        if let Some(url) = &flags.store {
            let source = SettingSource::Flag { name: "--store" };
            return Ok((self.working.join(sqlite_path(url)?), source));
        }
        if let Some(url) = environment.get(STORE_VARIABLE) {
            let source = SettingSource::Environment { variable: STORE_VARIABLE.to_owned() };
            return Ok((self.working.join(sqlite_path(url)?), source));
        }
        let (url, source) = match file {
            Some(WithLine { value, line }) => (value, SettingSource::File { line }),
            None => (STORE_DEFAULT.to_owned(), SettingSource::Default),
        };
        Ok((self.folder.join(sqlite_path(&url)?), source))
    }
}

pub(crate) fn sqlite_path(url: &str) -> Result<&str, ConfigError> {
    let unknown = || ConfigError::UnknownStore { url: hide_password(url) };
    match url.split_once(':') {
        None if url.is_empty() => Err(unknown()),
        Some(("sqlite", "")) => Err(unknown()),
        Some(("sqlite", path)) => Ok(path.strip_prefix("//").unwrap_or(path)),
        Some(("postgres" | "postgresql" | "mysql" | "http" | "https", _)) => Err(unknown()),
        Some(_) | None => Ok(url),
    }
}

/// Hides the rest of a database URL, which may contain a password.
fn hide_password(url: &str) -> String {
    url.split_once("://").map_or_else(|| url.to_owned(), |(scheme, _)| format!("{scheme}://…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_path_or_a_sqlite_url() {
        let cases = [
            ("x.db", Some("x.db")),
            ("sqlite:x.db", Some("x.db")),
            ("sqlite:///tmp/x.db", Some("/tmp/x.db")),
            ("sqlite:", None),
            ("", None),
            ("postgres://team/plenary", None),
        ];
        for (url, path) in cases {
            assert_eq!(sqlite_path(url).ok(), path, "url: {url}");
        }
    }

    #[test]
    fn a_password_in_a_store_is_not_repeated() {
        let error = sqlite_path("postgres://me:canary@host/db").unwrap_err();
        assert_eq!(error.to_string(), "`postgres://…` is not a store this plenary knows");
    }
}
