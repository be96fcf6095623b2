//! Finds `council.yaml`, the store and the other paths of a project. Every command calls
//! [`locate_project`] or `load_settings`.

use std::path::{Path, PathBuf};

use crate::config::council_file::CouncilFile;
use crate::config::effective_settings::SettingSource;
use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::project_files::{
    find_first_link, list_file_references, open_council_file, search_upward,
};
use crate::config::section::{FileValues, ProblemList};
use crate::config::setting_table::find_setting;
use crate::config::settle_sections::settle_setting;
use crate::config::trust::project::ProjectFile;
use crate::config::trust::risks::SettingUse;
use crate::config::yaml::{YamlNode, YamlValue};

/// Name of the project's configuration file.
pub const COUNCIL_FILE: &str = "council.yaml";

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

/// Finds the paths every command needs. Reports only problems of the settings needed for that, so
/// that a record stays readable if the providers are misconfigured.
pub fn locate_project(
    flags: &ConfigFlags,
    environment: &EnvVariables,
) -> Result<ProjectPaths, ConfigError> {
    let root = find_config(&working_folder()?, flags, environment)?;
    root.require_trust(SettingUse::Record, environment)?;
    let (file, mut problems) = root.read_file();
    problems.0.retain(|problem| {
        let section = problem.key.as_deref().and_then(|key| key.split('.').next());
        matches!(section, Some("storage" | "alignment"))
    });
    root.reject_problems(problems)?;
    root.resolve_paths(&file, flags, environment)
}

/// Finds the file: `--config`, else the environment, else the upward search from the working
/// folder, else the user's global file.
pub(crate) fn find_config(
    working: &Path,
    flags: &ConfigFlags,
    environment: &EnvVariables,
) -> Result<ConfigRoot, ConfigError> {
    let named = match (&flags.config, environment.get(CONFIG_VARIABLE)) {
        (Some(path), _) => Some((path.clone(), SettingSource::Flag { name: "--config" })),
        (None, Some(path)) => {
            let variable = CONFIG_VARIABLE.to_owned();
            Some((path.into(), SettingSource::Environment { variable }))
        }
        (None, None) => None,
    };
    let mut root = ConfigRoot {
        working: working.to_owned(),
        folder: working.to_owned(),
        documents: working.to_owned(),
        file: None,
        file_source: SettingSource::Default,
        project: None,
    };
    let searched = || search_upward(working, environment.home_folder().as_deref());
    let (path, is_global) = match named {
        Some((path, source)) => {
            root.file_source = source;
            (working.join(path), false)
        }
        None => {
            let found = searched().map(|path| (path, false));
            let global = || find_user_config(environment).map(|path| (path, true));
            let Some(found) = found.or_else(global) else { return Ok(root) };
            root.file_source = SettingSource::Found;
            found
        }
    };
    let opened = open_council_file(&path)?;
    if root.file_source == SettingSource::Found && !is_user_config(&path, environment) {
        root.project = Some(ProjectFile::from_opened(&path, &opened, environment)?);
    }
    root.folder = path.parent().unwrap_or(working).to_owned();
    if !is_global {
        root.documents.clone_from(&root.folder);
    }
    root.file = Some((path, opened.tree));
    Ok(root)
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

    /// Reads the file and returns its problems; without a file both are empty.
    pub(crate) fn read_file(&self) -> (CouncilFile, ProblemList) {
        let mut problems = ProblemList::default();
        let file = match &self.file {
            Some((_, tree)) => CouncilFile::from_tree(tree, &mut problems),
            None => CouncilFile::default(),
        };
        (file, problems)
    }

    pub(crate) fn resolve_paths(
        &self,
        file: &CouncilFile,
        flags: &ConfigFlags,
        environment: &EnvVariables,
    ) -> Result<ProjectPaths, ConfigError> {
        let setting = |key, flag: Option<&String>| {
            let flag = flag.map(|text| YamlValue::Text(text.clone()));
            settle_text(key, flag, environment, &file.values)
        };
        let (url, store_source) = setting("storage.url", flags.store.as_ref())?;
        // A path from a flag or variable is relative to the working folder, and the user's choice.
        // A project may have planted links on the way to another path.
        let is_typed =
            matches!(store_source, SettingSource::Flag { .. } | SettingSource::Environment { .. });
        let base = if is_typed { &self.working } else { &self.folder };
        let store = base.join(sqlite_path(&url)?);
        if let Some(path) = find_first_link(&self.folder, &store).filter(|_| !is_typed) {
            return Err(ConfigError::LinkedStore { path });
        }
        if let Some(path) = flags.allow.iter().find(|path| !path.is_dir()) {
            return Err(ConfigError::NotAFolder { path: path.clone() });
        }
        let percent = file.values.get_value("alignment.convergence_percent");
        let folders = [self.folder.as_path(), self.working.as_path()];
        let tree = self.file.as_ref().map(|(_, tree)| tree);
        Ok(ProjectPaths {
            working: self.working.clone(),
            file: self.file.as_ref().map(|(path, _)| path.clone()),
            folder: self.folder.clone(),
            documents: self.documents.clone(),
            store,
            store_source,
            allow: flags.allow.clone(),
            log: self.folder.join(setting("review.log_path", None)?.0),
            references: tree.map_or_else(Vec::new, |tree| list_file_references(tree, &folders)),
            convergence_percent: percent.and_then(|percent| percent.as_u64()?.try_into().ok()),
        })
    }
}

fn settle_text(
    key: &str,
    flag: Option<YamlValue>,
    environment: &EnvVariables,
    file: &FileValues,
) -> Result<(String, SettingSource), ConfigError> {
    let Some(row) = find_setting(key) else { return Ok((String::new(), SettingSource::Default)) };
    let (value, source) = settle_setting(row, flag, environment, file)?;
    Ok((value.as_str().unwrap_or_default().to_owned(), source))
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
