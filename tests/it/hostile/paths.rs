//! Paths: a request never touches files outside the allowed folders, and its error has one code.
//!
//! **Invariant:** these tests are harmless even if the code under test is broken. The workspace is
//! deeper than any traversal climbs, and a path that leads out of the test's own folder is only
//! checked, never written to.

use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use plenary_engine::app::project::Project;
use plenary_engine::error::Error;
use plenary_engine::files::allowed_file::WritePermission;
use plenary_engine::files::allowed_folders::AllowedFolders;
use plenary_engine::store::sqlite::store::SqliteStore;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::corpora;
use crate::kit::{FixedClock, TestProject, open_dialogue, open_workspace};

/// Deeper than the longest traversal climbs.
const DEPTH: usize = 20;

/// A workspace with neighbours: `home/` is ours, everything beside it is not.
struct NeighbourFolders {
    root: TempDir,
    project: TestProject,
}

impl NeighbourFolders {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let street = create_folders(root.path());
        for neighbour in ["neighbour", "home/deep/er", "home2", "etc"] {
            std::fs::create_dir_all(street.join(neighbour)).unwrap();
        }
        for sentinel in ["sentinel", "neighbour/sentinel", "home2/sentinel", "etc/passwd"] {
            std::fs::write(street.join(sentinel), "untouched").unwrap();
        }
        let home = street.join("home");
        create_traps(&home, root.path());
        let bench =
            TestProject { folder: tempfile::tempdir().unwrap(), project: open_workspace(&home) };
        open_dialogue(&bench, &["ann"]);
        Self { root, project: bench }
    }

    fn home(&self) -> PathBuf {
        create_folders(self.root.path()).join("home")
    }

    /// The neighbours' files.
    fn neighbour_files(&self) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        collect_files(self.root.path(), &self.home(), &mut seen);
        seen
    }
}

fn create_folders(root: &Path) -> PathBuf {
    root.join("d/".repeat(DEPTH))
}

/// Links, pipes and files that a path inside the folder may hit.
fn create_traps(home: &Path, root: &Path) {
    symlink("../neighbour", home.join("out")).unwrap();
    symlink("../neighbour/sentinel", home.join("out-file")).unwrap();
    symlink("../neighbour/not-there-yet", home.join("dangling")).unwrap();
    symlink("loop", home.join("loop")).unwrap();
    symlink(root, home.join("up")).unwrap();
    std::fs::write(home.join("plain"), "a file").unwrap();
    let made = Command::new("mkfifo").arg(home.join("pipe")).status().unwrap();
    assert!(made.success());
}

fn collect_files(folder: &Path, except: &Path, seen: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
        if path == except {
            continue;
        }
        let state = if kind.is_file() {
            String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
        } else {
            format!("{kind:?}")
        };
        if kind.is_dir() {
            collect_files(&path, except, seen);
        }
        seen.insert(path, state);
    }
}

/// Our own paths that no request may write to.
fn hostile_paths() -> Vec<String> {
    let fixed = [
        "",
        " ",
        ".",
        "./",
        "..",
        "../",
        "../sentinel",
        "../home2/sentinel",
        "../home/../sentinel",
        "deep/er/../../../sentinel",
        "missing/../../sentinel",
        "missing/../x.json",
        "plain/../../sentinel",
        "plain/x.json",
        "plain/deeper/x.json",
        "out",
        "out/x.json",
        "out/new/x.json",
        "out-file",
        "dangling",
        "dangling/x.json",
        "plain",
        "loop",
        "loop/x.json",
        "up",
        "up/x.json",
        "up/new/x.json",
        "pipe",
        "pipe/x.json",
        "a\0b",
        "\0",
        "../sentinel\0.json",
        ".plenary/plenary.db",
        ".plenary/plenary.db-wal",
        ".plenary/plenary.db-shm",
        ".plenary/plenary.db-journal",
        ".plenary/plenary.db/x.json",
        ".plenary/../.plenary/plenary.db",
        "./.plenary/./plenary.db",
        "deep/../.plenary/plenary.db-wal",
        ".plenary/PLENARY.db",
        ".plenary/plenary.db-locks/1-0000000000000007",
        ".plenary/runs/1-0000000000000007",
        ".plenary/token",
        ".councilignore",
        "deep/.councilignore",
        ".hidden/x.json",
        "deep/.x.json",
    ];
    let long = ["x".repeat(5_000), format!("{}x", "y/".repeat(2_500)), "z".repeat(256)];
    // Within the length limit as written, over it when resolved.
    let deep = format!("{}{}", format!("{}/", "d".repeat(250)).repeat(16), "x".repeat(74));
    fixed.map(str::to_owned).into_iter().chain(long).chain([deep]).collect()
}

/// Runs an operation with each path; an error has one code, and the neighbours' files are
/// unchanged.
#[track_caller]
fn check_paths(
    street: &NeighbourFolders,
    paths: &[String],
    run: impl Fn(&TestProject, usize, &str) -> Result<Value, Error>,
) -> Vec<bool> {
    let before = street.neighbour_files();
    let mut accepted = Vec::new();
    for (place, path) in paths.iter().enumerate() {
        if is_beyond(street, path) {
            let judged = street.project.project.folders.check_file(
                "output_path",
                path,
                WritePermission::Local,
            );
            let code = judged.err().map(|fault| fault.code.name());
            assert_eq!(code, Some("path_not_allowed"), "{path:?}");
            accepted.push(false);
            continue;
        }
        let answer = run(&street.project, place, path);
        if let Err(error) = &answer {
            let document = error.to_document();
            assert_eq!(document["error_code"], "path_not_allowed", "{path:?}: {document:#}");
            let echoed = document["value"].as_str().unwrap_or_default();
            assert!(echoed.chars().count() <= 201, "{path:?} is echoed whole");
        }
        accepted.push(answer.is_ok());
    }
    assert_eq!(street.neighbour_files(), before);
    street.project.assert_verified();
    accepted
}

/// Whether a path could lead out of the test's own folder.
fn is_beyond(street: &NeighbourFolders, path: &str) -> bool {
    let climbs = Path::new(path).components().filter(|part| *part == Component::ParentDir).count();
    (path.starts_with('/') && !Path::new(path).starts_with(street.root.path())) || climbs >= DEPTH
}

fn export_to(bench: &TestProject, _: usize, path: &str) -> Result<Value, Error> {
    bench.run_operation("export_file", &json!({ "dialogue_id": "talk", "output_path": path }))
}

fn create_in(bench: &TestProject, place: usize, path: &str) -> Result<Value, Error> {
    bench.run_operation("create", &json!({ "title": format!("Path {place}"), "output_dir": path }))
}

#[test]
fn an_export_goes_nowhere_it_may_not() {
    let street = NeighbourFolders::new();
    let accepted = check_paths(&street, &hostile_paths(), export_to);
    let through: Vec<_> = hostile_paths().into_iter().zip(accepted).filter(|(_, ok)| *ok).collect();
    assert_eq!(through, []);
    let pipe = std::fs::symlink_metadata(street.home().join("pipe")).unwrap();
    assert!(pipe.file_type().is_fifo());
    assert_eq!(std::fs::read_to_string(street.home().join("plain")).unwrap(), "a file");
}

#[test]
fn a_dialogue_lives_nowhere_it_may_not() {
    let street = NeighbourFolders::new();
    let paths: Vec<String> =
        hostile_paths().into_iter().filter(|path| path.len() <= 1_000).collect();
    let accepted = check_paths(&street, &paths, create_in);
    let through: Vec<_> = paths.into_iter().zip(accepted).filter(|(_, ok)| *ok).collect();
    assert_eq!(through, []);
    // A rejected request leaves no dialogue.
    assert_eq!(street.project.run_ok("stats", &json!({}))["dialogues"], 1);
}

#[test]
fn an_absolute_path_is_no_way_out() {
    let street = NeighbourFolders::new();
    let near = ["sentinel", "neighbour/new.json", "home2/sentinel", "home", "home/../sentinel"];
    let street_folder = create_folders(street.root.path());
    let mut paths: Vec<String> =
        near.map(|path| street_folder.join(path).to_str().unwrap().to_owned()).to_vec();
    // System paths: check them without writing.
    let far = ["/", "//", "/dev/null", "/dev/stdout", "/proc/self/cwd/../x", "/etc/passwd", "/tmp"];
    paths.extend(far.map(str::to_owned));
    assert!(!check_paths(&street, &paths, export_to).contains(&true));
    assert!(!check_paths(&street, &paths, create_in).contains(&true));
}

#[test]
fn no_known_traversal_leaves_the_folder_by_an_export() {
    let street = NeighbourFolders::new();
    let paths = corpora::read_corpus("path_traversal");
    let accepted = check_paths(&street, &paths, export_to);
    // Most are only odd names on this system; those that climb must be rejected.
    for (path, accepted) in paths.iter().zip(&accepted) {
        let climbs = path.starts_with('/') || path.split('/').any(|part| part == "..");
        assert!(!(climbs && *accepted), "{path:?} was accepted");
    }
    assert!(accepted.iter().any(|ok| *ok) && accepted.iter().any(|ok| !*ok));
}

#[test]
fn no_known_traversal_leaves_the_folder_by_an_output_dir() {
    let street = NeighbourFolders::new();
    let paths = corpora::read_corpus("path_traversal");
    let (short, long): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.len() <= 1_000);
    // Rejections are cheap, so all are tested; of the harmless odd names a sample is enough.
    let folders = &street.project.project.folders;
    let short: Vec<String> = short
        .into_iter()
        .enumerate()
        .filter(|(place, path)| place % 8 == 0 || folders.check_folder("output_dir", path).is_err())
        .map(|(_, path)| path)
        .collect();
    let accepted = check_paths(&street, &short, create_in);
    for (path, accepted) in short.iter().zip(&accepted) {
        let climbs = path.starts_with('/') || path.split('/').any(|part| part == "..");
        assert!(!(climbs && *accepted), "{path:?} was accepted");
    }
    // A folder name is a line of text, with the limit of every line.
    for path in long {
        let refusal = create_in(&street.project, 0, &path).unwrap_err().to_document();
        assert_eq!(refusal["error_code"], "field_too_long");
    }
}

#[test]
fn a_link_that_appears_later_leads_no_export_out() {
    let street = NeighbourFolders::new();
    let before = street.neighbour_files();
    let own = street.home().join(".plenary/dialogues");
    std::fs::create_dir_all(&own).unwrap();
    symlink(street.home().join("../neighbour"), own.join("talk")).unwrap();
    let refusal = street.project.expect_error("export_file", &json!({ "dialogue_id": "talk" }));
    assert_eq!(refusal["error_code"], "path_not_allowed");
    assert_eq!(street.neighbour_files(), before);
}

#[test]
fn a_planted_temporary_file_is_not_written_through() {
    let street = NeighbourFolders::new();
    let before = street.neighbour_files();
    let process = std::process::id();
    for temporary in [format!(".plenary-{process}.tmp"), format!(".plenary-{process}-0.tmp")] {
        symlink("../neighbour/sentinel", street.home().join(temporary)).unwrap();
    }
    export_to(&street.project, 0, "x.json").unwrap();
    assert_eq!(street.neighbour_files(), before);
    let written = std::fs::read_to_string(street.home().join("x.json")).unwrap();
    assert!(written.starts_with(r#"{"id":"talk""#));
}

#[test]
fn a_store_behind_a_link_is_guarded_where_it_really_lies() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("data/real.db"), folder.path().join("store/link.db"));
    for store in [&real, &link] {
        std::fs::create_dir_all(store.parent().unwrap()).unwrap();
    }
    drop(SqliteStore::open(&real).unwrap());
    symlink(&real, &link).unwrap();
    let project = Project::new(
        std::sync::Arc::new(SqliteStore::open(&link).unwrap()),
        std::sync::Arc::new(FixedClock::default()),
        AllowedFolders::new(folder.path(), &link, &[]),
    );
    let bench = TestProject { folder, project };
    open_dialogue(&bench, &["ann"]);
    for path in ["data/real.db", "data/real.db-wal", "store/link.db", "store/../data/real.db"] {
        let refusal = export_to(&bench, 0, path).map_err(|error| error.to_document());
        assert_eq!(refusal.unwrap_err()["error_code"], "path_not_allowed", "{path}");
    }
    bench.assert_verified();
}

#[test]
fn what_is_allowed_is_written() {
    let street = NeighbourFolders::new();
    for path in ["x.json", "deep/er/x.json", "new/folder/x.json", "deep/../y.json", "y"] {
        let exported = export_to(&street.project, 0, path).unwrap();
        let written = std::fs::read_to_string(exported["path"].as_str().unwrap()).unwrap();
        assert!(written.starts_with(r#"{"id":"talk""#), "{path}");
    }
    let absolute = street.home().join("absolute.json");
    export_to(&street.project, 0, absolute.to_str().unwrap()).unwrap();
    assert!(absolute.is_file());
    let left: Vec<_> = std::fs::read_dir(street.home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
