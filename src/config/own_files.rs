//! Protects Plenary's files against links in a cloned project, and lists the files that
//! `council.yaml` names.
//!
//! A clone may contain links under the names of Plenary's files, so links below the cloned folder
//! are not followed.

use std::path::{Component, Path, PathBuf};

use super::yaml::{YamlNode, YamlValue};

/// Returns the first link among the components of `path` below `folder`. Missing components are no
/// links. A path with `..` leaves the folder and is the operator's choice.
pub(super) fn find_first_link(folder: &Path, path: &Path) -> Option<PathBuf> {
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
pub(super) fn list_file_references(tree: &YamlNode, folders: &[&Path]) -> Vec<PathBuf> {
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
