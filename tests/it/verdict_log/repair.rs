//! `log repair`: compares the whole file with the table.

use plenary::domain::gate::Redaction;
use plenary::verdict_log::{Differences, compare};

use super::file_harness::Shelf;

/// Builds a file from the table's lines; checks its differences and repairs it.
#[track_caller]
fn check(make: impl Fn(&[String]) -> String, differs: Differences, kept: &str) {
    let shelf = Shelf::with(3);
    shelf.write(make(&shelf.lines()));
    let before = shelf.file();
    let told = compare(shelf.store(), &shelf.path, &Redaction::default()).unwrap();
    assert_eq!(told, Differences { rows: 3, ..differs });
    assert_eq!(shelf.file(), before, "a dry run changes nothing");
    let repaired = shelf.repair();
    assert_eq!(Differences { kept_aside: None, ..repaired }, told);
    assert_eq!(shelf.file(), format!("{kept}{}", shelf.table()));
    assert!(!shelf.repair().has_any(), "once is enough");
    shelf.log(4);
    assert_eq!(shelf.sync().appended, 1);
    assert_eq!(shelf.file(), format!("{kept}{}", shelf.table()));
}

#[test]
fn a_file_that_is_as_it_should_be_is_left_alone() {
    let shelf = Shelf::with(3);
    shelf.sync();
    let before = std::fs::metadata(&shelf.path).unwrap().modified().unwrap();
    assert_eq!(shelf.repair(), Differences { rows: 3, ..Differences::default() });
    assert_eq!(std::fs::metadata(&shelf.path).unwrap().modified().unwrap(), before);
}

#[test]
fn what_differs_is_told_and_mended() {
    let join =
        |lines: &[&String]| -> String { lines.iter().map(|line| format!("{line}\n")).collect() };
    let same = Differences::default;
    check(|_| String::new(), Differences { missing: 3, ..same() }, "");
    check(|l| join(&[&l[0], &l[2]]), Differences { missing: 1, ..same() }, "");
    check(|l| join(&[&l[0], &l[2], &l[1]]), Differences { is_out_of_order: true, ..same() }, "");
    check(|l| join(&[&l[0], &l[1], &l[1], &l[2]]), Differences { repeated: 1, ..same() }, "");
    check(
        |l| join(&[&l[0], &l[1], &l[2]]).replacen("HOLD", "SHIP", 1),
        Differences { altered: 1, ..same() },
        "",
    );
    check(
        |l| join(&[&l[0], &l[1], &l[2]]).replace('\n', "\r\n"),
        Differences { altered: 3, ..same() },
        "",
    );
    check(
        |l| format!("\n{}", join(&[&l[0], &l[1], &l[2]])),
        Differences { blank: 1, ..same() },
        "",
    );
    let torn = Differences { missing: 1, is_torn: true, ..same() };
    check(|l| format!("{}{}", join(&[&l[0], &l[1]]), &l[2][..50]), torn.clone(), "");
    check(|l| format!("{}\0\0", join(&[&l[0], &l[1]])), torn, "");
    let unended = Differences { is_torn: true, ..same() };
    check(|l| join(&[&l[0], &l[1], &l[2]]).trim_end().to_owned(), unended, "");
}

#[test]
fn lines_that_the_table_does_not_know_stay_before_ours() {
    let differs = Differences { missing: 2, strangers: 2, is_torn: true, ..Differences::default() };
    check(
        |l| format!("{{\"theirs\":1}}\n{}\n{{\"theirs\":2}}", l[1]),
        differs,
        "{\"theirs\":1}\n{\"theirs\":2}\n",
    );
}

#[test]
fn strangers_among_ours_are_no_reason_to_write_anything() {
    let shelf = Shelf::with(2);
    let lines = shelf.lines();
    shelf.write(format!("{}\n{{\"theirs\":1}}\n{}\n", lines[0], lines[1]));
    let repaired = shelf.repair();
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
    let altered = Differences { missing: 2, altered: 1, ..Differences::default() };
    check(|l| bare(&l[0], ""), altered, "");
    let shelf = Shelf::with(1);
    let theirs = bare(&shelf.lines()[0], "host");
    shelf.write(&theirs);
    assert_eq!(shelf.repair().strangers, 1);
    assert_eq!(shelf.file(), format!("{theirs}{}", shelf.table()));
}

#[test]
fn its_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let shelf = Shelf::with(2);
    shelf.write("");
    std::fs::set_permissions(&shelf.path, std::fs::Permissions::from_mode(0o640)).unwrap();
    shelf.repair();
    assert_eq!(std::fs::metadata(&shelf.path).unwrap().permissions().mode() & 0o777, 0o640);
    let folder = std::fs::read_dir(shelf.bench.folder.path()).unwrap();
    let names: Vec<_> = folder.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "nothing is left behind: {names:?}");
}
