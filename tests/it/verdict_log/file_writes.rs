//! The file follows the table, with other writers and in any location.

use std::path::Path;
use std::sync::Barrier;

use plenary_core::protocols::review::policy::ReviewVerdict;
use plenary_core::protocols::review::redaction::LogRedaction;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::verdict_log::log_file::LogFileError;
use plenary_engine::verdict_log::sync::{SyncResult, compare_log, repair_log, sync_log};

use super::file_harness::LogFileProject;
use crate::kit::insert_verdict;

#[test]
fn what_is_logged_is_appended_once() {
    let shelf = LogFileProject::with_verdicts(2);
    assert_eq!(shelf.sync_file(), SyncResult { appended: 2, ..SyncResult::default() });
    assert_eq!(shelf.read_file(), shelf.expected_file());
    assert_eq!(shelf.sync_file(), SyncResult::default());
    shelf.insert_verdict(3);
    assert_eq!(shelf.sync_file().appended, 1);
    assert_eq!(shelf.read_file(), shelf.expected_file());
}

#[test]
fn a_log_without_rows_is_no_file() {
    let shelf = LogFileProject::with_verdicts(0);
    shelf.sync_file();
    assert!(!shelf.log_path.exists());
    shelf.repair_file();
    assert!(!shelf.log_path.exists());
}

#[test]
fn more_rows_than_a_page_are_all_written() {
    let shelf = LogFileProject::with_verdicts(150);
    assert_eq!(shelf.sync_file().appended, 150);
    assert_eq!(shelf.read_file(), shelf.expected_file());
}

#[test]
fn writers_at_once_end_in_the_order_of_the_table() {
    let shelf = LogFileProject::with_verdicts(0);
    let (path, store_path) =
        (&shelf.log_path, shelf.project.folder.path().join(".plenary/plenary.db"));
    let start = &Barrier::new(4);
    std::thread::scope(|scope| {
        for writer in ["ann", "bob", "cid", "dan"] {
            let store = SqliteStore::open(&store_path).unwrap();
            scope.spawn(move || {
                start.wait();
                for n in 1..=20 {
                    insert_verdict(&store, writer, n, ReviewVerdict::Ship);
                    sync_log(&store, path).unwrap();
                    if n % 7 == 0 {
                        repair_log(&store, path, &LogRedaction::default()).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(shelf.read_file().lines().count(), 80);
    assert_eq!(shelf.read_file(), shelf.expected_file());
    shelf.project.assert_verified();
}

#[test]
fn its_folder_is_made() {
    let shelf = LogFileProject::with_verdicts(1);
    let path = shelf.project.folder.path().join("logs/of/council_log.jsonl");
    sync_log(shelf.store(), &path).unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), shelf.expected_file());
}

#[test]
fn a_link_is_refused_and_what_it_leads_to_stays() {
    let shelf = LogFileProject::with_verdicts(1);
    let target = shelf.project.folder.path().join("elsewhere.jsonl");
    std::fs::write(&target, "{}\n").unwrap();
    std::os::unix::fs::symlink(&target, &shelf.log_path).unwrap();
    let error = sync_error(&shelf, &shelf.log_path);
    assert!(matches!(error, LogFileError::Link { .. }), "{error:?}");
    let redaction = LogRedaction::default();
    for error in [
        repair_log(shelf.store(), &shelf.log_path, &redaction).unwrap_err(),
        compare_log(shelf.store(), &shelf.log_path, &redaction).unwrap_err(),
    ] {
        assert!(matches!(error, LogFileError::Link { .. }), "{error:?}");
    }
    assert!(shelf.log_path.is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "{}\n");
}

#[test]
fn a_hard_link_is_refused_and_the_other_name_keeps_its_content() {
    let shelf = LogFileProject::with_verdicts(1);
    let target = shelf.project.folder.path().join("notes.txt");
    std::fs::write(&target, "of the user").unwrap();
    std::fs::hard_link(&target, &shelf.log_path).unwrap();
    let redaction = LogRedaction::default();
    for error in [
        sync_error(&shelf, &shelf.log_path),
        repair_log(shelf.store(), &shelf.log_path, &redaction).unwrap_err(),
        compare_log(shelf.store(), &shelf.log_path, &redaction).unwrap_err(),
    ] {
        assert!(matches!(error, LogFileError::Link { .. }), "{error:?}");
    }
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "of the user");
    std::fs::remove_file(&shelf.log_path).unwrap();
    shelf.sync_file();
    assert_eq!(shelf.read_file(), shelf.expected_file());
}

#[test]
fn a_link_beside_the_log_is_not_written_through() {
    let shelf = LogFileProject::with_verdicts(1);
    let target = shelf.project.folder.path().join("elsewhere");
    std::fs::write(&target, "of the user").unwrap();
    let beside = shelf.project.folder.path().join("council_log.jsonl.torn");
    std::os::unix::fs::symlink(&target, &beside).unwrap();
    // The program would move this torn line into the linked file.
    shelf.write_file("a torn line");
    let error = sync_error(&shelf, &shelf.log_path);
    assert!(matches!(error, LogFileError::Unwritable { .. }), "{error:?}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "of the user");
    assert_eq!(shelf.read_file(), "a torn line");
    std::fs::remove_file(&beside).unwrap();
    shelf.sync_file();
    assert_eq!(shelf.read_file(), shelf.expected_file());
}

#[track_caller]
fn sync_error(shelf: &LogFileProject, path: &Path) -> LogFileError {
    let error = sync_log(shelf.store(), path).unwrap_err();
    assert!(error.hint().is_some(), "{error}");
    error
}

#[test]
fn what_cannot_be_a_log_is_said_and_left_alone() {
    let shelf = LogFileProject::with_verdicts(1);
    let folder = shelf.project.folder.path();
    let error = sync_error(&shelf, folder);
    assert!(matches!(error, LogFileError::NotAFile { .. }), "{error:?}");
    let error = sync_error(&shelf, Path::new("/dev/null"));
    assert!(matches!(error, LogFileError::NotAFile { .. }), "{error:?}");
    let link = folder.join("link.jsonl");
    std::os::unix::fs::symlink(folder.join("nothing/here"), &link).unwrap();
    let error = sync_error(&shelf, &link);
    assert!(matches!(error, LogFileError::Link { .. }), "{error:?}");
    let below_a_file = folder.join(".plenary/plenary.db/log.jsonl");
    let error = sync_error(&shelf, &below_a_file);
    assert!(matches!(error, LogFileError::NoFolder { .. }), "{error:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_takes_no_more_is_said() {
    let shelf = LogFileProject::with_verdicts(1);
    // The kernel rejects every write here.
    let error = sync_error(&shelf, Path::new("/proc/version"));
    assert!(matches!(error, LogFileError::Unwritable { .. }), "{error:?}");
    assert_eq!(shelf.table_lines().len(), 1, "the verdict stands in the store");
}

#[test]
fn a_log_that_another_process_holds_is_waited_for() {
    let shelf = LogFileProject::with_verdicts(1);
    shelf.write_file("");
    let held = std::fs::File::open(&shelf.log_path).unwrap();
    held.lock().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| shelf.sync_file());
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(shelf.read_file(), "");
        drop(held);
        assert_eq!(writer.join().unwrap().appended, 1);
    });
    assert_eq!(shelf.read_file(), shelf.expected_file());
}

#[test]
fn a_log_that_was_replaced_meanwhile_is_found_again() {
    let shelf = LogFileProject::with_verdicts(1);
    shelf.write_file("{\"theirs\":1}\n");
    let held = std::fs::File::open(&shelf.log_path).unwrap();
    held.lock().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| shelf.sync_file());
        std::thread::sleep(std::time::Duration::from_millis(50));
        let fresh = shelf.log_path.with_extension("fresh");
        std::fs::write(&fresh, "{\"theirs\":2}\n").unwrap();
        std::fs::rename(&fresh, &shelf.log_path).unwrap();
        drop(held);
        assert_eq!(writer.join().unwrap().appended, 1);
    });
    assert_eq!(shelf.read_file(), format!("{{\"theirs\":2}}\n{}", shelf.expected_file()));
}
