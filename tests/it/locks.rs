//! Lock files are in our own folder, and the program removes no other file.

use std::fs::File;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use plenary_engine::engine::process_lock::ProcessLock;
use plenary_engine::store::error::StoreError;
use plenary_engine::store::sqlite::store::SqliteStore;
use rustix::fs::{CWD, FileType, Mode};

use crate::kit::{CommandOutput, TestProgram};

/// A lock name in the format that a process uses.
const TOKEN: &str = "4321-0123456789abcdef";

/// Creates something under the name of the lock folder.
type MakeFolder<'a> = &'a dyn Fn(&Path);

/// Creates a file with a modification time two hours ago.
fn write_old(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    let then = SystemTime::now() - Duration::from_secs(2 * 3_600);
    File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

fn run_rehearsal(program: &TestProgram) -> CommandOutput {
    program.run_command(&["--store", "plenary.db", "ask", "--rehearse", "x?"])
}

/// The names in a folder, in order.
fn list_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A program with an existing store, and its lock folder.
fn used_program() -> (TestProgram, PathBuf) {
    let program = TestProgram::new();
    let ran = run_rehearsal(&program);
    assert_eq!(ran.code, 0, "{ran:?}");
    let locks = program.path().join("plenary.db-locks");
    assert_eq!(list_names(&locks), [".gitignore", "PLENARY-LOCKS"]);
    (program, locks)
}

#[test]
fn old_files_of_the_user_are_not_ours_to_remove() {
    let program = TestProgram::new();
    let names_of_files =
        ["results.csv", "a.txt", "123", "4321-notes", TOKEN, "4321-0123456789ABCDEF", ".hidden"];
    let folders = ["runs", "locks", "plenary.db-lock", "runs/deeper"];
    for (folder, name) in
        folders.iter().flat_map(|folder| names_of_files.map(|name| (folder, name)))
    {
        write_old(&program.path().join(folder).join(name), "mine");
    }
    let ran = run_rehearsal(&program);
    assert_eq!(ran.code, 0, "{ran:?}");
    for (folder, name) in
        folders.iter().flat_map(|folder| names_of_files.map(|name| (folder, name)))
    {
        let file = program.path().join(folder).join(name);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine", "{}", file.display());
    }
}

#[test]
fn stale_locks_are_removed_and_nothing_else() {
    let (program, locks) = used_program();
    let outside = program.path().join("thesis.txt");
    write_old(&outside, "mine");
    for stale in [TOKEN, "1-ffffffffffffffff", "4294967295-0000000000000000"] {
        write_old(&locks.join(stale), "");
    }
    // Too young, or locked by a running process.
    std::fs::write(locks.join("77-0000000000000001"), "").unwrap();
    write_old(&locks.join("77-0000000000000002"), "");
    let held = File::open(locks.join("77-0000000000000002")).unwrap();
    held.lock().unwrap();
    // Not locks: other names, and lock names that are not files.
    write_old(&locks.join("results.csv"), "mine");
    write_old(&locks.join("4321-0123456789abcdef.bak"), "mine");
    write_old(&locks.join("0-0123456789abcdef"), "mine");
    symlink(&outside, locks.join("78-0000000000000001")).unwrap();
    symlink("nowhere", locks.join("78-0000000000000002")).unwrap();
    write_old(&locks.join("78-0000000000000003/notes.txt"), "mine");
    std::fs::create_dir(locks.join("78-0000000000000004")).unwrap();
    let pipe = locks.join("78-0000000000000005");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let ran = run_rehearsal(&program);
    assert_eq!(ran.code, 0, "{ran:?}");
    let left = [
        ".gitignore",
        "0-0123456789abcdef",
        "4321-0123456789abcdef.bak",
        "77-0000000000000001",
        "77-0000000000000002",
        "78-0000000000000001",
        "78-0000000000000002",
        "78-0000000000000003",
        "78-0000000000000004",
        "78-0000000000000005",
        "PLENARY-LOCKS",
        "results.csv",
    ];
    assert_eq!(list_names(&locks), left);
    assert_eq!(list_names(&locks.join("78-0000000000000003")), ["notes.txt"]);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine");
}

#[test]
fn a_folder_that_is_not_ours_is_an_error() {
    let elsewhere = tempfile::tempdir().unwrap();
    write_old(&elsewhere.path().join(TOKEN), "mine");
    let make_folder = |locks: &Path| write_old(&locks.join(TOKEN), "mine");
    let make_link = |locks: &Path| symlink(elsewhere.path(), locks).unwrap();
    let make_file = |locks: &Path| write_old(locks, "mine");
    let broken_link = |locks: &Path| symlink("nowhere", locks).unwrap();
    let wrong_marker = |locks: &Path| {
        std::fs::create_dir(locks).unwrap();
        symlink(elsewhere.path().join(TOKEN), locks.join("PLENARY-LOCKS")).unwrap();
    };
    let cases: [(&str, MakeFolder<'_>); 5] = [
        ("it contains other files", &make_folder),
        ("it is a link or a file", &make_link),
        ("it is a link or a file", &make_file),
        ("it is a link or a file", &broken_link),
        ("it contains other files", &wrong_marker),
    ];
    for (found, make) in cases {
        let program = TestProgram::new();
        let locks = program.path().join("plenary.db-locks");
        make(&locks);
        let ran = run_rehearsal(&program);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(
            ran.stderr.contains("was not created by Plenary") && ran.stderr.contains(found),
            "{ran:?}"
        );
        assert!(ran.stderr.contains("move the folder away"), "{ran:?}");
        let document =
            program.run_command(&["--store", "plenary.db", "ask", "--rehearse", "x?", "--json"]);
        assert!(document.stdout.contains("\"locks_foreign\""), "{document:?}");
        assert_eq!(std::fs::read_to_string(elsewhere.path().join(TOKEN)).unwrap(), "mine");
    }
    assert_eq!(list_names(elsewhere.path()), [TOKEN]);
}

#[test]
fn a_folder_of_another_user_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("plenary.db");
    drop(SqliteStore::open(&store).unwrap());
    let locks = folder.path().join("plenary.db-locks");
    std::fs::create_dir(&locks).unwrap();
    // Only root can change the owner; otherwise the folder keeps its owner.
    let other = rustix::process::geteuid().as_raw() + 1;
    let is_given = std::os::unix::fs::chown(&locks, Some(other), None).is_ok();
    let opened = ProcessLock::new(&store, 1).map(drop);
    let is_refused = matches!(
        &opened,
        Err(StoreError::ForeignLocks { found: "it belongs to another user", .. })
    );
    assert_eq!(is_refused, is_given, "{opened:?}");
    if is_given {
        // The owner of the store may change it anyway, so its locks are trusted.
        std::os::unix::fs::chown(&store, Some(other), None).unwrap();
        ProcessLock::new(&store, 1).unwrap();
    }
}

#[test]
fn two_stores_in_a_folder_have_locks_of_their_own() {
    let program = TestProgram::new();
    for store in ["a.db", "b.db"] {
        let ran = program.run_command(&["--store", store, "ask", "--rehearse", "x?"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let folders: Vec<String> =
        list_names(program.path()).into_iter().filter(|name| name.ends_with("-locks")).collect();
    assert_eq!(folders, ["a.db-locks", "b.db-locks"]);
}

#[test]
fn a_store_behind_a_link_has_its_locks_where_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("data/real.db"), folder.path().join("link.db"));
    drop(SqliteStore::open(&real).unwrap());
    symlink(&real, &link).unwrap();
    let owners = [ProcessLock::new(&real, 1).unwrap(), ProcessLock::new(&link, 2).unwrap()];
    assert_eq!(list_names(&folder.path().join("data/real.db-locks")).len(), 4);
    assert!(!folder.path().join("link.db-locks").exists());
    drop(owners);
    assert_eq!(list_names(&folder.path().join("data/real.db-locks")).len(), 2);
}

fn file_mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_store_is_for_its_owner_alone() {
    let program = TestProgram::new();
    let store = program.path().join(".plenary/plenary.db");
    // While the store is open, so that SQLite's files are beside it.
    let open = SqliteStore::open(&store).unwrap();
    let owner = ProcessLock::new(&store, 1).unwrap();
    let locks = program.path().join(".plenary/plenary.db-locks");
    for file in [".plenary/plenary.db", ".plenary/plenary.db-wal", ".plenary/plenary.db-shm"] {
        assert_eq!(file_mode(&program.path().join(file)), 0o600, "{file}");
    }
    assert_eq!([file_mode(&program.path().join(".plenary")), file_mode(&locks)], [0o700; 2]);
    for name in list_names(&locks) {
        assert_eq!(file_mode(&locks.join(&name)), 0o600, "{name}");
    }
    drop((owner, open));
    // The same through the program, also where the store's name is a dangling link.
    let program = TestProgram::new();
    symlink("real.db", program.path().join("plenary.db")).unwrap();
    assert_eq!(run_rehearsal(&program).code, 0);
    assert_eq!(file_mode(&program.path().join("real.db")), 0o600);
}

#[test]
fn a_store_that_a_team_shares_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("plenary.db");
    drop(SqliteStore::open(&store).unwrap());
    for (file, locks) in [(0o644, 0o755), (0o660, 0o770)] {
        std::fs::set_permissions(&store, std::fs::Permissions::from_mode(file)).unwrap();
        let open = SqliteStore::open(&store).unwrap();
        let _owner = ProcessLock::new(&store, 1).unwrap();
        let beside = folder.path().join("plenary.db-wal");
        assert_eq!([file_mode(&store), file_mode(&beside)], [file; 2]);
        assert_eq!(file_mode(&folder.path().join("plenary.db-locks")), locks);
        drop(open);
        std::fs::remove_dir_all(folder.path().join("plenary.db-locks")).unwrap();
    }
}
