//! Tests of folder handles: what opens below one, what is rejected, and that both ways of opening
//! agree.

#![expect(clippy::disallowed_methods, reason = "tests lay out files themselves")]

use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::files::open_folder::{MissingFolders, OpenFolder, open_without_links, path_names};
use crate::files::read_write::{create_file, replace_file};

/// `in/` with a folder and links, beside a folder that it must not reach.
fn folders() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let inside = root.path().canonicalize().unwrap().join("in");
    std::fs::create_dir_all(inside.join("a/b")).unwrap();
    std::fs::create_dir_all(root.path().join("outside/b")).unwrap();
    std::fs::write(inside.join("a/b/file"), "inside").unwrap();
    std::fs::write(root.path().join("outside/b/file"), "outside").unwrap();
    symlink("../outside", inside.join("out")).unwrap();
    symlink("a", inside.join("same")).unwrap();
    symlink("../../outside/b/file", inside.join("a/link")).unwrap();
    (root, inside)
}

/// Opens the folder both ways and returns whether it opened.
#[track_caller]
fn opens_both_ways(folder: &Path, relative: &str, missing: MissingFolders) -> bool {
    let folder = OpenFolder::open_at(folder).unwrap();
    let names = path_names(Path::new(relative)).unwrap();
    // The slow way first, because it may create folders that the other way then finds.
    let slowly = folder.open_by_steps(&names, missing).is_ok();
    let opened = folder.open_beneath(Path::new(relative), missing).is_ok();
    assert_eq!(opened, slowly, "{relative}");
    opened
}

#[test]
fn a_folder_below_is_opened_and_a_link_on_the_way_is_not() {
    let (_root, inside) = folders();
    for (relative, expected) in [
        ("", true),
        ("a", true),
        ("a/b", true),
        ("out", false),
        ("out/b", false),
        ("same", false),
        ("same/b", false),
        ("a/link", false),
        ("a/b/file", false),
        ("a/b/file/x", false),
        ("missing", false),
    ] {
        assert_eq!(
            opens_both_ways(&inside, relative, MissingFolders::Refuse),
            expected,
            "{relative}"
        );
    }
    for (relative, expected) in [("new/folder", true), ("a/b", true), ("out/new", false)] {
        assert_eq!(
            opens_both_ways(&inside, relative, MissingFolders::Create),
            expected,
            "{relative}"
        );
    }
    assert!(inside.join("new/folder").is_dir());
    assert!(!inside.join("../outside/new").exists());
}

#[test]
fn a_path_that_is_more_than_names_is_not_opened() {
    let (_root, inside) = folders();
    let folder = OpenFolder::open_at(&inside).unwrap();
    for relative in ["..", "a/../..", "/", "/etc", "./a/../../outside"] {
        let opened = folder.open_beneath(Path::new(relative), MissingFolders::Refuse);
        assert!(opened.is_err(), "{relative}");
    }
}

#[test]
fn a_file_is_read_where_its_path_says() {
    let (_root, inside) = folders();
    let read = |relative: &str| {
        let mut text = String::new();
        open_without_links(&inside.join(relative))?.read_to_string(&mut text)?;
        Ok::<_, std::io::Error>(text)
    };
    assert_eq!(read("a/b/file").unwrap(), "inside");
    for relative in ["out/b/file", "same/b/file", "a/link", "a/missing"] {
        assert!(read(relative).is_err(), "{relative}");
    }
    assert!(open_without_links(Path::new("relative")).is_err());
}

#[test]
fn a_new_file_takes_no_name_that_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/new");
    create_file(&path, b"first").unwrap();
    assert!(create_file(&path, b"second").is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"first");
    replace_file(&path, b"third").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"third");
    // A link counts as an existing name. It is replaced, and its target stays.
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(create_file(&link, b"fourth").is_err());
    replace_file(&link, b"fifth").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"third");
    assert!(!link.is_symlink());
    assert_eq!(std::fs::read_dir(folder.path().join("deep")).unwrap().count(), 1);
}
