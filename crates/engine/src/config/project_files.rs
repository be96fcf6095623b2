//! Searches for a project's `council.yaml` upward from the working folder, opens and parses it, and
//! protects Plenary's files against links in a cloned project.
//!
//! **Invariant:** the search never leaves the repository, the home folder or the file system of the
//! working folder, because a file beyond them belongs to another project or user.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use plenary_core::model::hash::sha256_hex;

use crate::config::error::ConfigError;
use crate::config::locate::COUNCIL_FILE;
use crate::config::yaml::{YamlNode, YamlValue, parse_yaml};
use crate::files::read_write::{FileError, open_named_file, read_limited_text};

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
}
