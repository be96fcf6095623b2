//! `log repair`: compares the whole file with the table.

use plenary_core::protocols::review::redaction::LogRedaction;
use plenary_engine::verdict_log::sync::{LogDifferences, compare_log};

use super::file_harness::LogFileProject;

/// Builds a file from the table's lines; checks its differences and repairs it.
#[track_caller]
fn check_repair(make: impl Fn(&[String]) -> String, differs: LogDifferences, kept: &str) {
    let shelf = LogFileProject::with_verdicts(3);
    shelf.write_file(make(&shelf.table_lines()));
    let before = shelf.read_file();
    let result = compare_log(shelf.store(), &shelf.log_path, &LogRedaction::default()).unwrap();
    assert_eq!(result, LogDifferences { rows: 3, ..differs });
    assert_eq!(shelf.read_file(), before, "a dry run changes nothing");
    let repaired = shelf.repair_file();
    assert_eq!(LogDifferences { kept_aside: None, ..repaired }, result);
    assert_eq!(shelf.read_file(), format!("{kept}{}", shelf.expected_file()));
    assert!(!shelf.repair_file().has_any(), "once is enough");
    shelf.insert_verdict(4);
    assert_eq!(shelf.sync_file().appended, 1);
    assert_eq!(shelf.read_file(), format!("{kept}{}", shelf.expected_file()));
}

#[test]
fn a_file_that_is_as_it_should_be_is_left_alone() {
    let shelf = LogFileProject::with_verdicts(3);
    shelf.sync_file();
    let before = std::fs::metadata(&shelf.log_path).unwrap().modified().unwrap();
    assert_eq!(shelf.repair_file(), LogDifferences { rows: 3, ..LogDifferences::default() });
    assert_eq!(std::fs::metadata(&shelf.log_path).unwrap().modified().unwrap(), before);
}

#[test]
fn what_differs_is_told_and_mended() {
    let join =
        |lines: &[&String]| -> String { lines.iter().map(|line| format!("{line}\n")).collect() };
    let same = LogDifferences::default;
    check_repair(|_| String::new(), LogDifferences { missing: 3, ..same() }, "");
    check_repair(|l| join(&[&l[0], &l[2]]), LogDifferences { missing: 1, ..same() }, "");
    check_repair(
        |l| join(&[&l[0], &l[2], &l[1]]),
        LogDifferences { is_out_of_order: true, ..same() },
        "",
    );
    check_repair(
        |l| join(&[&l[0], &l[1], &l[1], &l[2]]),
        LogDifferences { repeated: 1, ..same() },
        "",
    );
    check_repair(
        |l| join(&[&l[0], &l[1], &l[2]]).replacen("HOLD", "SHIP", 1),
        LogDifferences { altered: 1, ..same() },
        "",
    );
    check_repair(
        |l| join(&[&l[0], &l[1], &l[2]]).replace('\n', "\r\n"),
        LogDifferences { altered: 3, ..same() },
        "",
    );
    check_repair(
        |l| format!("\n{}", join(&[&l[0], &l[1], &l[2]])),
        LogDifferences { blank: 1, ..same() },
        "",
    );
    let torn = LogDifferences { missing: 1, is_torn: true, ..same() };
    check_repair(|l| format!("{}{}", join(&[&l[0], &l[1]]), &l[2][..50]), torn.clone(), "");
    check_repair(|l| format!("{}\0\0", join(&[&l[0], &l[1]])), torn, "");
    let unended = LogDifferences { is_torn: true, ..same() };
    check_repair(|l| join(&[&l[0], &l[1], &l[2]]).trim_end().to_owned(), unended, "");
}

#[test]
fn lines_that_the_table_does_not_know_stay_before_ours() {
    let differs =
        LogDifferences { missing: 2, strangers: 2, is_torn: true, ..LogDifferences::default() };
    check_repair(
        |l| format!("{{\"theirs\":1}}\n{}\n{{\"theirs\":2}}", l[1]),
        differs,
        "{\"theirs\":1}\n{\"theirs\":2}\n",
    );
}

#[test]
fn strangers_among_ours_are_no_reason_to_write_anything() {
    let shelf = LogFileProject::with_verdicts(2);
    let lines = shelf.table_lines();
    shelf.write_file(format!("{}\n{{\"theirs\":1}}\n{}\n", lines[0], lines[1]));
    let repaired = shelf.repair_file();
    assert_eq!((repaired.has_any(), repaired.strangers), (false, 1));
}

#[test]
fn a_row_without_its_id_is_known_unless_it_says_more() {
    let bare = |line: &str, more: &str| {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        value.as_object_mut().unwrap().remove("verdict_id");
        if !more.is_empty() {
            value[more] = "x".into();
        }
        format!("{value}\n")
    };
    let altered = LogDifferences { missing: 2, altered: 1, ..LogDifferences::default() };
    check_repair(|l| bare(&l[0], ""), altered, "");
    let shelf = LogFileProject::with_verdicts(1);
    let theirs = bare(&shelf.table_lines()[0], "host");
    shelf.write_file(&theirs);
    assert_eq!(shelf.repair_file().strangers, 1);
    assert_eq!(shelf.read_file(), format!("{theirs}{}", shelf.expected_file()));
}

#[test]
fn its_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let shelf = LogFileProject::with_verdicts(2);
    shelf.write_file("");
    std::fs::set_permissions(&shelf.log_path, std::fs::Permissions::from_mode(0o640)).unwrap();
    shelf.repair_file();
    assert_eq!(std::fs::metadata(&shelf.log_path).unwrap().permissions().mode() & 0o777, 0o640);
    let folder = std::fs::read_dir(shelf.project.folder.path()).unwrap();
    let names: Vec<_> = folder.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "nothing is left behind: {names:?}");
}
