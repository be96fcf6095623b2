//! The file follows the table, with other writers and in any location.

use std::path::Path;
use std::sync::Barrier;

use plenary::domain::gate::{GateVerdict, Redaction};
use plenary::store::SqliteStore;
use plenary::verdict_log::{LogFileError, Synced, compare, repair, sync};

use super::file_harness::Shelf;
use crate::kit::log_verdict;

#[test]
fn what_is_logged_is_appended_once() {
    let shelf = Shelf::with(2);
    assert_eq!(shelf.sync(), Synced { appended: 2, ..Synced::default() });
    assert_eq!(shelf.file(), shelf.table());
    assert_eq!(shelf.sync(), Synced::default());
    shelf.log(3);
    assert_eq!(shelf.sync().appended, 1);
    assert_eq!(shelf.file(), shelf.table());
}

#[test]
fn a_log_without_rows_is_no_file() {
    let shelf = Shelf::with(0);
    shelf.sync();
    assert!(!shelf.path.exists());
    shelf.repair();
    assert!(!shelf.path.exists());
}

#[test]
fn more_rows_than_a_page_are_all_written() {
    let shelf = Shelf::with(150);
    assert_eq!(shelf.sync().appended, 150);
    assert_eq!(shelf.file(), shelf.table());
}

#[test]
fn writers_at_once_end_in_the_order_of_the_table() {
    let shelf = Shelf::with(0);
    let (path, store_path) = (&shelf.path, shelf.bench.folder.path().join(".plenary/plenary.db"));
    let start = &Barrier::new(4);
    std::thread::scope(|scope| {
        for writer in ["ann", "bob", "cid", "dan"] {
            let store = SqliteStore::open(&store_path).unwrap();
            scope.spawn(move || {
                start.wait();
                for n in 1..=20 {
                    log_verdict(&store, writer, n, GateVerdict::Ship);
                    sync(&store, path).unwrap();
                    if n % 7 == 0 {
                        repair(&store, path, &Redaction::default()).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(shelf.file().lines().count(), 80);
    assert_eq!(shelf.file(), shelf.table());
    shelf.bench.verify();
}

#[test]
fn its_folder_is_made() {
    let shelf = Shelf::with(1);
    let path = shelf.bench.folder.path().join("logs/of/council_log.jsonl");
    sync(shelf.store(), &path).unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), shelf.table());
}

#[test]
fn a_link_is_refused_and_what_it_leads_to_stays() {
    let shelf = Shelf::with(1);
    let target = shelf.bench.folder.path().join("elsewhere.jsonl");
    std::fs::write(&target, "{}\n").unwrap();
    std::os::unix::fs::symlink(&target, &shelf.path).unwrap();
    let error = refused(&shelf, &shelf.path);
    assert!(matches!(error, LogFileError::Link { .. }), "{error:?}");
    let redaction = Redaction::default();
    for error in [
        repair(shelf.store(), &shelf.path, &redaction).unwrap_err(),
        compare(shelf.store(), &shelf.path, &redaction).unwrap_err(),
    ] {
        assert!(matches!(error, LogFileError::Link { .. }), "{error:?}");
    }
    assert!(shelf.path.is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "{}\n");
}

#[test]
fn a_link_beside_the_log_is_not_written_through() {
    let shelf = Shelf::with(1);
    let target = shelf.bench.folder.path().join("elsewhere");
    std::fs::write(&target, "of the user").unwrap();
    let beside = shelf.bench.folder.path().join("council_log.jsonl.torn");
    std::os::unix::fs::symlink(&target, &beside).unwrap();
    // The program would move this torn line into the linked file.
    shelf.write("a torn line");
    let error = refused(&shelf, &shelf.path);
    assert!(matches!(error, LogFileError::Unwritable { .. }), "{error:?}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "of the user");
    assert_eq!(shelf.file(), "a torn line");
    std::fs::remove_file(&beside).unwrap();
    shelf.sync();
    assert_eq!(shelf.file(), shelf.table());
}

#[track_caller]
fn refused(shelf: &Shelf, path: &Path) -> LogFileError {
    let error = sync(shelf.store(), path).unwrap_err();
    assert!(error.hint().is_some(), "{error}");
    error
}

#[test]
fn what_cannot_be_a_log_is_said_and_left_alone() {
    let shelf = Shelf::with(1);
    let folder = shelf.bench.folder.path();
    let error = refused(&shelf, folder);
    assert!(matches!(error, LogFileError::NotAFile { .. }), "{error:?}");
    let error = refused(&shelf, Path::new("/dev/null"));
    assert!(matches!(error, LogFileError::NotAFile { .. }), "{error:?}");
    let link = folder.join("link.jsonl");
    std::os::unix::fs::symlink(folder.join("nothing/here"), &link).unwrap();
    let error = refused(&shelf, &link);
    assert!(matches!(error, LogFileError::Link { .. }), "{error:?}");
    let below_a_file = folder.join(".plenary/plenary.db/log.jsonl");
    let error = refused(&shelf, &below_a_file);
    assert!(matches!(error, LogFileError::NoFolder { .. }), "{error:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_takes_no_more_is_said() {
    let shelf = Shelf::with(1);
    // The kernel rejects every write here.
    let error = refused(&shelf, Path::new("/proc/version"));
    assert!(matches!(error, LogFileError::Unwritable { .. }), "{error:?}");
    assert_eq!(shelf.lines().len(), 1, "the verdict stands in the store");
}

#[test]
fn a_log_that_another_process_holds_is_waited_for() {
    let shelf = Shelf::with(1);
    shelf.write("");
    let held = std::fs::File::open(&shelf.path).unwrap();
    held.lock().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| shelf.sync());
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(shelf.file(), "");
        drop(held);
        assert_eq!(writer.join().unwrap().appended, 1);
    });
    assert_eq!(shelf.file(), shelf.table());
}

#[test]
fn a_log_that_was_replaced_meanwhile_is_found_again() {
    let shelf = Shelf::with(1);
    shelf.write("{\"theirs\":1}\n");
    let held = std::fs::File::open(&shelf.path).unwrap();
    held.lock().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| shelf.sync());
        std::thread::sleep(std::time::Duration::from_millis(50));
        let fresh = shelf.path.with_extension("fresh");
        std::fs::write(&fresh, "{\"theirs\":2}\n").unwrap();
        std::fs::rename(&fresh, &shelf.path).unwrap();
        drop(held);
        assert_eq!(writer.join().unwrap().appended, 1);
    });
    assert_eq!(shelf.file(), format!("{{\"theirs\":2}}\n{}", shelf.table()));
}
