//! Files of ours that a project may have tampered with, and files that its `council.yaml` names.
//!
//! A clone can bring links under the names of our own files, so those are not followed below the
//! folder that was cloned.

use std::path::{Component, Path, PathBuf};

use super::yaml::{Node, Value};

/// The first link among the parts of a path that lie below a folder. A part that is not there
/// yet is none. `..` leaves the folder, and what is beyond is the operator's.
pub(super) fn first_link(folder: &Path, path: &Path) -> Option<PathBuf> {
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

/// Every file that the tree could refer to: each text in it, and each word of each text, as a
/// path below one of the folders. Most are no files at all; one that is must not be replaced by
/// an export, under any key.
pub(super) fn references(tree: &Node, folders: &[&Path]) -> Vec<PathBuf> {
    let mut texts = Vec::new();
    collect(tree, &mut texts);
    let words = texts.iter().flat_map(|text| text.split_whitespace().chain([*text]));
    let mut names: Vec<&str> = words.filter(|word| !word.contains('\0')).collect();
    names.sort_unstable();
    names.dedup();
    let paths = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    // A file that is not there yet counts: it would be obeyed as soon as it is.
    let mut paths: Vec<PathBuf> = paths.filter(|path| !path.is_dir()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

fn collect<'a>(node: &'a Node, texts: &mut Vec<&'a str>) {
    match &node.value {
        Value::Text(text) => texts.push(text),
        Value::List(nodes) => nodes.iter().for_each(|node| collect(node, texts)),
        Value::Mapping(entries) => entries.iter().for_each(|(_, node)| collect(node, texts)),
        Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Number(_) => {}
    }
}
