//! Tests of what a sweep removes and what it must keep.

#![expect(clippy::disallowed_methods, reason = "files in a folder that goes away with the test")]

use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// Temporary folder that contains the user's scratch root.
fn temp_root() -> (TempDir, ScratchRoot) {
    let temporary = tempfile::tempdir().unwrap();
    let home = ScratchRoot::create(temporary.path()).unwrap();
    (temporary, home)
}

/// Scratch folder of a dead process.
fn create_abandoned(home: &ScratchRoot) -> PathBuf {
    let mut scratch = home.create_scratch().unwrap().unwrap();
    scratch.write_file("system.md", "text").unwrap();
    scratch.release_lock();
    scratch.folder.clone()
}

fn scratch_name(number: u8) -> String {
    format!("run-{number}-{number:016x}")
}

#[test]
fn a_sweep_removes_the_folders_of_dead_processes_only() {
    let (temporary, home) = temp_root();
    let alive = home.create_scratch().unwrap().unwrap();
    let dead = create_abandoned(&home);
    sweep_temp_folder(temporary.path());
    assert!(alive.work_folder().is_dir());
    assert!(!dead.exists());
    assert!(!dead.with_extension("lock").exists());
    let folder = alive.folder.clone();
    drop(alive);
    assert_eq!((folder.exists(), folder.with_extension("lock").exists()), (false, false));
}

#[test]
fn a_sweep_leaves_what_has_another_name() {
    let (temporary, home) = temp_root();
    let uppercase = format!("run-1-{}", "A".repeat(16));
    let names = [
        "results",
        "run-1",
        "run--0123456789abcdef",
        "run-1-0123456789abcde",
        "run-1-0123456789abcdef0",
        "run-x-0123456789abcdef",
        "run-1-0123456789abcdef.old",
        &uppercase,
    ];
    for name in names {
        std::fs::create_dir_all(home.path.join(name).join("kept")).unwrap();
        std::fs::write(home.path.join(format!("{name}.lock")), "").unwrap();
    }
    sweep_temp_folder(temporary.path());
    for name in names {
        assert!(home.path.join(name).join("kept").exists(), "{name}");
        assert!(home.path.join(format!("{name}.lock")).exists(), "{name}");
    }
}

#[test]
fn a_sweep_follows_no_link() {
    let (temporary, home) = temp_root();
    let elsewhere = temporary.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("results.csv"), "x").unwrap();
    // A link instead of a folder, a link instead of a lock, a folder instead of a lock.
    symlink(&elsewhere, home.path.join(scratch_name(1))).unwrap();
    std::fs::write(home.path.join(scratch_name(1)).with_extension("lock"), "").unwrap();
    std::fs::create_dir(home.path.join(scratch_name(2))).unwrap();
    symlink(elsewhere.join("results.csv"), home.path.join(scratch_name(2)).with_extension("lock"))
        .unwrap();
    std::fs::create_dir(home.path.join(scratch_name(3))).unwrap();
    std::fs::create_dir(home.path.join(scratch_name(3)).with_extension("lock")).unwrap();
    // A file instead of a folder, and a folder without a lock.
    std::fs::write(home.path.join(scratch_name(4)), "x").unwrap();
    std::fs::write(home.path.join(scratch_name(4)).with_extension("lock"), "").unwrap();
    std::fs::create_dir(home.path.join(scratch_name(5))).unwrap();
    sweep_temp_folder(temporary.path());
    for number in 1..=5 {
        assert!(home.path.join(scratch_name(number)).symlink_metadata().is_ok(), "{number}");
    }
    assert!(elsewhere.join("results.csv").exists());

    // A link inside a folder that is removed.
    let dead = create_abandoned(&home);
    symlink(&elsewhere, dead.join("link")).unwrap();
    sweep_temp_folder(temporary.path());
    assert!(!dead.exists());
    assert!(elsewhere.join("results.csv").exists());
}

/// Two hard links of one file: the second name may be anywhere.
#[test]
fn a_sweep_leaves_a_lock_file_with_a_second_name() {
    let (temporary, home) = temp_root();
    let dead = create_abandoned(&home);
    std::fs::hard_link(dead.with_extension("lock"), temporary.path().join("second")).unwrap();
    sweep_temp_folder(temporary.path());
    assert!(dead.exists());
}

#[test]
fn the_users_folder_is_no_link_and_no_file() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().canonicalize().unwrap().join(root_name());
    let check = |expected: &str| {
        let error = ScratchRoot::create(temporary.path()).unwrap_err();
        let hint = "set TMPDIR to a folder that only you can write to";
        assert_eq!(error.to_string(), format!("`{}` {expected}; {hint}", path.display()));
        // A sweep does not touch it either.
        sweep_temp_folder(temporary.path());
    };
    let elsewhere = temporary.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    check("is not a folder");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "x").unwrap();
    check("is not a folder");
}

#[test]
fn the_folders_are_for_their_owner_only() {
    let (temporary, home) = temp_root();
    let scratch = home.create_scratch().unwrap().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!(mode(&home.path), 0o700);
    assert_eq!(mode(&scratch.folder), 0o700);
    assert_eq!(mode(&scratch.folder.with_extension("lock")), 0o600);
    // A folder opened to others gets its permissions back.
    std::fs::set_permissions(&home.path, PermissionsExt::from_mode(0o755)).unwrap();
    ScratchRoot::create(temporary.path()).unwrap();
    assert_eq!(mode(&home.path), 0o700);
}

#[test]
fn a_folder_without_rights_is_removed_all_the_same() {
    let (temporary, home) = temp_root();
    let dead = create_abandoned(&home);
    let inner = dead.join("tmp/cache/module");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("file"), "x").unwrap();
    for (path, mode) in [(inner.clone(), 0o000), (dead.join("tmp/cache"), 0o500)] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    sweep_temp_folder(temporary.path());
    assert!(!dead.exists());
}

#[test]
fn only_a_supervisor_of_a_scratch_folder_adopts_it() {
    let (_temporary, home) = temp_root();
    let scratch = home.create_scratch().unwrap().unwrap();
    let adopted = ScratchFolder::open_existing(&scratch.folder).unwrap();
    adopted.write_outcome(&ProgramOutcome::NotStarted(2)).unwrap();
    assert_eq!(scratch.read_outcome(), Some(ProgramOutcome::NotStarted(2)));
    drop(adopted);
    assert!(scratch.folder.exists(), "the owner is responsible");
    assert!(ScratchFolder::open_existing(&home.path).is_err());
    assert!(ScratchFolder::open_existing(&scratch.work_folder()).is_err());
    assert!(ScratchFolder::open_existing(&home.path.join(scratch_name(1))).is_err());
}
