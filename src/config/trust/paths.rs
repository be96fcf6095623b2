//! Checks whether a path stays in the project's folder.

use std::path::{Component, Path};

/// Git executes files in this folder, so no setting may name a path in it.
const GIT_FOLDER: &str = ".git";

/// Whether the path stays in the folder after all links are resolved. A path that does not exist
/// yet is checked by its nearest existing ancestor.
pub(super) fn stays_inside(folder: &Path, path: &Path) -> bool {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    let is_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(GIT_FOLDER);
    let Ok(real_folder) = folder.canonicalize() else { return false };
    let full = folder.join(path);
    let Ok(below) = full.strip_prefix(folder) else { return false };
    if climbs || below.components().any(is_git) {
        return false;
    }
    for ancestor in full.ancestors() {
        match ancestor.canonicalize() {
            Ok(real) => {
                let below = real.strip_prefix(&real_folder);
                return below.is_ok_and(|below| !below.components().any(is_git));
            }
            // Writing through a dangling link creates a file anywhere.
            Err(_) if ancestor.symlink_metadata().is_ok() => return false,
            Err(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs::{DirBuilder, File};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_stays_inside_with_all_its_links() {
        let root = tempfile::tempdir().unwrap();
        let (folder, outside) = (root.path().join("project"), root.path().join("outside"));
        for path in [&folder, &outside, &folder.join("docs")] {
            DirBuilder::new().create(path).unwrap();
        }
        File::create(outside.join("secret")).unwrap();
        File::create(folder.join("docs/policy.md")).unwrap();
        symlink(outside.join("secret"), folder.join("file-link")).unwrap();
        symlink(&outside, folder.join("folder-link")).unwrap();
        symlink(outside.join("later"), folder.join("broken-link")).unwrap();
        symlink(folder.join("docs"), folder.join("inner-link")).unwrap();
        let inner = folder.join("docs/policy.md").to_str().unwrap().to_owned();
        let cases = [
            ("docs/policy.md", true),
            ("docs/new/log.jsonl", true),
            (".plenary/plenary.db", true),
            ("inner-link/policy.md", true),
            (inner.as_str(), true),
            ("../outside/secret", false),
            ("docs/../../outside/secret", false),
            ("docs/../x", false),
            ("/etc/passwd", false),
            ("file-link", false),
            ("folder-link/new", false),
            ("broken-link", false),
            (".git/hooks/post-commit", false),
            ("sub/.GIT/config", false),
        ];
        for (path, expected) in cases {
            assert_eq!(stays_inside(&folder, Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_behind_a_link_is_a_folder() {
        let root = tempfile::tempdir().unwrap();
        DirBuilder::new().create(root.path().join("real")).unwrap();
        symlink(root.path().join("real"), root.path().join("link")).unwrap();
        assert!(stays_inside(&root.path().join("link"), Path::new("a/b")));
    }
}
