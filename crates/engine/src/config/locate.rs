//! Finds `council.yaml`, the store and the other paths of a project, opens and parses the file, and
//! protects Plenary's files against links in a cloned project. Every command calls
//! [`locate_project`] or `load_settings`.
//!
//! **Invariant:** the search never leaves the repository, the home folder or the file system of the
//! working folder, because a file beyond them belongs to another project or user.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use plenary_core::model::hash::sha256_hex;

use crate::config::council_file::CouncilFile;
use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::section::{FileValues, ProblemList};
use crate::config::setting_table::find_setting;
use crate::config::settle_sections::{SettingSource, settle_setting};
use crate::config::trust::project::ProjectFile;
use crate::config::trust::risks::SettingUse;
use crate::config::yaml::{YamlNode, YamlValue, parse_yaml};
use crate::files::read_write::{FileError, open_named_file, read_limited_text};

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
    let mut root = ConfigRoot {
        working: working.to_owned(),
        folder: working.to_owned(),
        documents: working.to_owned(),
        file: None,
        file_source: SettingSource::Default,
        project: None,
    };
    let variable = environment.get(CONFIG_VARIABLE);
    let mut is_global = false;
    let path = if let Some(path) = &flags.config {
        root.file_source = SettingSource::Flag { name: "--config" };
        working.join(path)
    } else if let Some(path) = variable {
        root.file_source = SettingSource::Environment { variable: CONFIG_VARIABLE.to_owned() };
        working.join(path)
    } else {
        let found = search_upward(working, environment.home_folder().as_deref());
        is_global = found.is_none();
        let Some(path) = found.or_else(|| find_user_config(environment)) else { return Ok(root) };
        root.file_source = SettingSource::Found;
        path
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
        let path = self.file.as_ref().map_or_else(|| COUNCIL_FILE.into(), |(path, _)| path.clone());
        Err(ConfigError::Invalid { path, problems: problems.0 })
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
        if store.is_dir() {
            return Err(ConfigError::StoreIsFolder { path: store });
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

/// More than any configuration needs.
const COUNCIL_BYTES_MAX: usize = 1024 * 1024;

/// Name of a git repository's folder; worktrees and submodules have a file of this name.
const GIT_FOLDER: &str = ".git";

/// Returns the nearest file upward. The search ends at the repository's root, at the home folder,
/// and before a folder on another file system.
pub(crate) fn search_upward(working: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let identity = |folder: &Path| folder.metadata().ok().map(|found| (found.dev(), found.ino()));
    let home = home.and_then(identity);
    let (device, _) = identity(working)?;
    for folder in working.ancestors() {
        // A folder that cannot be read ends the search.
        let here = identity(folder).filter(|(found, _)| *found == device)?;
        let file = folder.join(COUNCIL_FILE);
        if file.is_file() {
            return Some(file);
        }
        let is_repository = folder.join(GIT_FOLDER).symlink_metadata().is_ok();
        if is_repository || Some(here) == home {
            return None;
        }
    }
    None
}

/// The file as it was when it was read.
#[derive(Debug)]
pub(crate) struct OpenedCouncilFile {
    pub tree: YamlNode,
    /// The digest of the bytes that `tree` was read from.
    pub sha256: String,
    /// Metadata of the opened file, not of its path, which may be replaced meanwhile.
    pub metadata: Metadata,
}

/// Reads and parses the file.
pub(crate) fn open_council_file(path: &Path) -> Result<OpenedCouncilFile, ConfigError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let file = open_named_file(path)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let text = read_limited_text(path, file, COUNCIL_BYTES_MAX)?;
    let sha256 = sha256_hex([text.as_bytes()]);
    let tree = parse_yaml(&text).map_err(|problem| ConfigError::Invalid {
        path: path.to_owned(),
        problems: vec![problem],
    })?;
    Ok(OpenedCouncilFile { tree, sha256, metadata })
}

/// Returns the first link among the components of `path` below `folder`. Missing components are no
/// links. A path with `..` leaves the folder and is the operator's choice.
pub(crate) fn find_first_link(folder: &Path, path: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(folder).ok()?;
    let mut reached = folder.to_owned();
    for part in below.components() {
        if !matches!(part, Component::Normal(_) | Component::CurDir) {
            return None;
        }
        reached.push(part);
        if reached.is_symlink() {
            return Some(reached);
        }
    }
    None
}

/// Lists every path the file may refer to: each text, and each space-separated part of it, below
/// each folder. An export must not overwrite any of them, so over-reporting is intended.
pub(crate) fn list_file_references(tree: &YamlNode, folders: &[&Path]) -> Vec<PathBuf> {
    let mut texts = Vec::new();
    collect_texts(tree, &mut texts);
    let words = texts.iter().flat_map(|text| text.split_whitespace().chain([*text]));
    let mut names: Vec<&str> = words.filter(|word| !word.contains('\0')).collect();
    names.sort_unstable();
    names.dedup();
    let paths = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    // Include missing files: they would be read as soon as they exist.
    let mut paths: Vec<PathBuf> = paths.filter(|path| !path.is_dir()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

fn collect_texts<'a>(node: &'a YamlNode, texts: &mut Vec<&'a str>) {
    match &node.value {
        YamlValue::Text(text) => texts.push(text),
        YamlValue::List(nodes) => nodes.iter().for_each(|node| collect_texts(node, texts)),
        YamlValue::Mapping(entries) => {
            entries.iter().for_each(|(_, node)| collect_texts(node, texts))
        }
        YamlValue::Null | YamlValue::Boolean(_) | YamlValue::Integer(_) | YamlValue::Number(_) => {}
    }
}

/// Every setting with its default and an explanation.
pub const COUNCIL_TEMPLATE: &str = include_str!("../../../../templates/council.yaml");

#[cfg(test)]
mod tests {
    use std::fs::DirBuilder;

    use super::*;
    use crate::config::load_tests::write_council_file;

    /// Searches from `a/b/c` below a folder with these files. `home` optionally names the home
    /// folder.
    #[track_caller]
    fn check(files: &[&str], home: Option<&str>, expected: Option<&str>) {
        let root = tempfile::tempdir().unwrap();
        let working = root.path().join("a/b/c");
        DirBuilder::new().recursive(true).create(&working).unwrap();
        for file in files {
            let path = root.path().join(file);
            if path.ends_with(GIT_FOLDER) {
                DirBuilder::new().create(&path).unwrap();
            } else {
                write_council_file(path.parent().unwrap(), "");
            }
        }
        let home = home.map(|home| root.path().join(home));
        let found = search_upward(&working, home.as_deref());
        assert_eq!(found, expected.map(|path| root.path().join(path)), "{files:?}");
    }

    #[test]
    fn the_nearest_file_is_found() {
        check(&["a/council.yaml"], None, Some("a/council.yaml"));
        check(&["a/council.yaml", "a/b/council.yaml"], None, Some("a/b/council.yaml"));
    }

    #[test]
    fn the_root_of_the_repository_is_the_last_folder() {
        check(&["a/b/.git", "a/council.yaml"], None, None);
        check(&["a/b/.git", "a/b/council.yaml"], None, Some("a/b/council.yaml"));
        check(&["a/b/c/.git", "a/b/council.yaml"], None, None);
    }

    #[test]
    fn a_worktree_has_a_file_in_place_of_the_folder() {
        let root = tempfile::tempdir().unwrap();
        let working = root.path().join("tree");
        DirBuilder::new().create(&working).unwrap();
        std::fs::File::create(working.join(GIT_FOLDER)).unwrap();
        write_council_file(root.path(), "");
        assert_eq!(search_upward(&working, None), None);
    }

    #[test]
    fn the_home_folder_is_the_last_folder() {
        check(&["council.yaml"], Some("a"), None);
        check(&["a/council.yaml"], Some("a"), Some("a/council.yaml"));
        check(&["a/council.yaml"], Some("a/b"), None);
    }

    #[test]
    fn the_home_folder_is_known_behind_a_link() {
        let root = tempfile::tempdir().unwrap();
        let (home, link) = (root.path().join("home"), root.path().join("link"));
        DirBuilder::new().create(&home).unwrap();
        std::os::unix::fs::symlink(&home, &link).unwrap();
        write_council_file(root.path(), "");
        assert_eq!(search_upward(&home, Some(&link)), None);
    }

    /// `/proc` is a separate file system on every Linux.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_search_stays_on_its_file_system() {
        let device = |path: &str| Path::new(path).metadata().unwrap().dev();
        assert_ne!(device("/proc/self"), device("/"));
        // The search from `/proc` never looks at `/`.
        assert_eq!(search_upward(Path::new("/proc/self"), None), None);
    }

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
        assert_eq!(error.to_string(), "`postgres://…` is not a supported store");
    }
}
