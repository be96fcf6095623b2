//! `log`: shows and exports the verdict log.

use plenary_core::protocols::review::log_row::LogRow;
use plenary_core::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use serde_json::{Value, json};

use super::program_harness::{LogProgram, foreign_row, to_lines};
use crate::kit::{insert_log_rows, insert_override, make_log_row};

#[test]
fn the_tail_is_a_table() {
    let project = LogProgram::new();
    let store = project.open_store();
    let rehearsed =
        LogRow { rehearsal: true, ..make_log_row("b/1", "post", ReviewVerdict::Ship, 2) };
    let odd = LogRow {
        artifact: "a/very/long/path/to/a/document/that/does/not/fit\u{1b}[31m.md".into(),
        ..make_log_row("c/1", "a_type_that_is_longer_than_most", ReviewVerdict::Incomplete, 3)
    };
    insert_log_rows(&store, "a", &[make_log_row("a/1", "linkedin_post", ReviewVerdict::Hold, 1)]);
    insert_log_rows(&store, "b", &[rehearsed]);
    insert_log_rows(&store, "c", &[odd]);
    insert_override(&store, "a", 1, ReviewDecision::Revise);
    insert_override(&store, "a", 1, ReviewDecision::Ship);
    project.write_file("theirs.jsonl", to_lines(&[foreign_row(1, "REVISE")]));
    project.run_ok(&["log", "import", "theirs.jsonl"]);
    let shown = project.run_ok(&["log", "tail"]).stdout;
    let hexed = without_random_values(&shown);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    insta::assert_snapshot!(hexed, @r"
    WHEN (UTC)        VERDICT       TYPE                ARTIFACT
    2026-05-18 10:00  ▲ HOLD        linkedin_post       posts/a-1.md
                      a/1
                      ● SHIP by a person: It was read again.
    2026-05-18 10:00  ● SHIP        post                posts/b-1.md
                      b/1  rehearsal
    2026-05-18 10:00  × INCOMPLETE  a_type_that_is_lo…  a/very/long/path/to/a/docum…
                      c/1
    2026-03-02 10:01  ◐ REVISE      linkedin_post       posts/1.md
                      imported-verdicts-theirs-jsonl-XXXXXXXX/1  imported
    ");
    let last = project.run_ok(&["log", "tail", "-n", "1"]).stdout;
    assert_eq!(last.lines().count(), 3, "{last}");
    let of_type = project.run_ok(&["log", "tail", "--type", "post"]).stdout;
    assert!(of_type.contains("b/1") && !of_type.contains("a/1"), "{of_type}");
}

/// The table without random values.
fn without_random_values(shown: &str) -> String {
    let digits = |line: &str| match line.split_once("theirs-jsonl-") {
        Some((before, after)) => format!("{before}theirs-jsonl-XXXXXXXX{}", &after[8..]),
        None => line.to_owned(),
    };
    shown.lines().map(digits).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_tail_as_documents_has_what_stands() {
    let project = LogProgram::with_verdicts(2);
    insert_override(&project.open_store(), "review", 1, ReviewDecision::Ship);
    let ran = project.run_ok(&["log", "tail", "--json"]);
    let rows: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let standing: Vec<_> = rows.iter().map(|row| row["standing"].as_str().unwrap()).collect();
    assert_eq!(standing, ["SHIP", "HOLD"]);
    assert_eq!(rows[0]["adjudicator"]["final_verdict"], "HOLD");
    assert_eq!(rows[0]["overridden"]["why"], "It was read again.");
    assert_eq!((&rows[1]["overridden"], &rows[1]["dialogue_id"]), (&Value::Null, &json!("review")));
}

#[test]
fn an_empty_log_is_said() {
    let project = LogProgram::new();
    let ran = project.run_ok(&["log", "tail"]);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("the verdict log is empty"), "{ran:?}");
    assert!(!project.program.path().join(".plenary").exists(), "looking leaves nothing behind");
    assert_eq!(project.run_ok(&["log", "tail", "--json"]).stdout, "");
    assert_eq!(project.run_ok(&["log", "export"]).stdout, "");
    let ran = project.run_command(&["log", "tail", "-n", "0"]);
    assert_eq!(ran.code, 64);
}

#[test]
fn an_export_can_be_narrowed_and_written_to_a_file() {
    let project = LogProgram::new();
    let store = project.open_store();
    let rows: Vec<LogRow> = (1..=150)
        .map(|n| {
            let artifact_type = if n % 3 == 0 { "memo" } else { "post" };
            make_log_row(&format!("r/{n}"), artifact_type, ReviewVerdict::Hold, n)
        })
        .collect();
    insert_log_rows(&store, "r", &rows);
    let exported = project.run_ok(&["log", "export", "--type", "memo"]).stdout;
    assert_eq!(exported.lines().count(), 50);
    assert_eq!(
        project.run_ok(&["log", "export", "--since", "2026-05-18"]).stdout.lines().count(),
        150
    );
    assert_eq!(project.run_ok(&["log", "export", "--since", "2026-05-19"]).stdout, "");
    let arguments = ["log", "export", "--type", "memo", "--output", "out/memos.jsonl"];
    let (code, document) = project.run_json(&arguments);
    assert_eq!((code, &document["rows"]), (0, &json!(50)));
    assert_eq!(project.read_file("out/memos.jsonl"), exported);
    // Lines of this log are replaced; other lines would be lost, so the export is rejected.
    assert_eq!(project.run_ok(&arguments).stderr, "");
    project.write_file("out/memos.jsonl", format!("{exported}{{\"mine\":1}}\n"));
    let (code, document) = project.run_json(&arguments);
    assert_eq!((code, document["error_code"].as_str()), (1, Some("path_not_allowed")));
    assert!(document["suggestion"].as_str().unwrap().contains("--force"), "{document:#}");
    project.run_ok(&[&arguments[..], &["--force"]].concat());
    assert_eq!(project.read_file("out/memos.jsonl"), exported);
    let (code, document) = project.run_json(&["log", "export", "--output", "/etc/memos.jsonl"]);
    assert_eq!((code, document["error_code"].as_str()), (1, Some("path_not_allowed")));
}

#[test]
fn a_repair_says_what_it_did() {
    let project = LogProgram::with_verdicts(3);
    let whole = project.read_log_file();
    assert!(project.run_ok(&["log", "repair"]).stdout.contains("has the 3 lines of the store"));
    let first = whole.lines().next().unwrap();
    project
        .write_file("council_log.jsonl", format!("{{\"theirs\":1}}\n{first}\n{first}\n{{\"v\":2,"));
    let ran = project.run_command(&["log", "repair", "--dry-run"]);
    assert_eq!(ran.code, 1);
    let message = ran.stdout.split_once('\n').unwrap().1.to_owned();
    insta::assert_snapshot!(message, @r"
    2 lines: missing
    1 line: repeated
    1 line: unknown to the store; kept before the others
    the last line has no line break
    ");
    assert_eq!(project.read_log_file().lines().count(), 4, "a dry run changes nothing");
    let (code, document) = project.run_json(&["log", "repair"]);
    assert_eq!((code, &document["differed"]), (0, &json!(true)));
    assert_eq!((&document["missing"], &document["torn"]), (&json!(2), &json!(true)));
    assert_eq!(project.read_log_file(), format!("{{\"theirs\":1}}\n{whole}"));
}

#[test]
fn a_log_that_cannot_be_written_is_a_warning_for_an_import_and_an_error_for_a_repair() {
    let project = LogProgram::new();
    project.write_settings("review: {log_path: logs}\n");
    std::fs::create_dir(project.program.path().join("logs")).unwrap();
    project.write_file("theirs.jsonl", to_lines(&[foreign_row(1, "HOLD")]));
    let ran = project.run_ok(&["log", "import", "theirs.jsonl"]);
    assert!(ran.stdout.starts_with("Imported 1 verdict"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("is not a file") && ran.stderr.contains("log_path"),
        "{}",
        ran.stderr
    );
    let ran = project.run_command(&["log", "repair"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.stderr.contains("hint: name a file with `review.log_path`"), "{}", ran.stderr);
}

#[test]
fn whoever_looks_mends_what_is_torn() {
    let project = LogProgram::with_verdicts(2);
    let verdict = ["override", "review/1", "--as", "SHIP", "--why", "Read again."];
    let looks: [&[&str]; 4] =
        [&["log", "tail"], &["log", "export", "--type", "none"], &["audit"], &verdict];
    for look in looks {
        let whole = project.read_log_file();
        project.write_file("council_log.jsonl", &whole[..whole.len() - 20]);
        project.run_ok(look);
        assert_eq!(project.read_log_file(), project.expected_file(), "{look:?}");
    }
}

#[test]
fn a_part_of_the_log_does_not_take_its_place() {
    let project = LogProgram::with_verdicts(2);
    let whole = project.read_log_file();
    let ran = project.run_command(&["log", "export", "--type", "none", "-o", "council_log.jsonl"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("it is council.yaml, the verdict log"), "{ran:?}");
    assert_eq!(project.read_log_file(), whole);
}
