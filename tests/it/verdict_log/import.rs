//! `log import`: rows of other logs.

use plenary_core::protocols::review::policy::ReviewVerdict;
use plenary_engine::store::traits::Store;
use serde_json::{Value, json};

use super::program_harness::{LogProgram, foreign_row, to_lines};
use crate::kit::insert_verdict;

fn import_counts(document: &Value) -> [u64; 4] {
    ["lines", "imported", "known", "malformed"].map(|key| document[key].as_u64().unwrap())
}

#[test]
fn rows_of_others_come_in_once() {
    let project = LogProgram::with_verdicts(1);
    project.write_file(
        "theirs.jsonl",
        to_lines(&[foreign_row(1, "HOLD"), foreign_row(2, "SHIP"), foreign_row(1, "HOLD")]),
    );
    let (code, document) = project.run_json(&["log", "import", "theirs.jsonl"]);
    assert_eq!((code, import_counts(&document)), (0, [3, 2, 1, 0]));
    let id = document["dialogue_id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("imported-verdicts-theirs-jsonl-"), "{id}");
    project.assert_verified();
    assert_eq!(project.read_log_file().lines().count(), 3, "ours, and two of theirs");
    let (code, document) = project.run_json(&["log", "import", "theirs.jsonl"]);
    assert_eq!((code, import_counts(&document)), (0, [3, 0, 3, 0]));
    assert_eq!(document["dialogue_id"], Value::Null, "nothing new, so no dialogue");
    project.assert_verified();
    let shown = project.run_ok(&["show", &id]);
    assert!(shown.stdout.contains("Imported verdicts: theirs.jsonl"), "{}", shown.stdout);
}

#[test]
fn imported_rows_are_priors_and_say_that_they_were_imported() {
    let project = LogProgram::new();
    project.write_file(
        "theirs.jsonl",
        to_lines(&[foreign_row(1, "HOLD"), foreign_row(2, "INCOMPLETE")]),
    );
    project.run_ok(&["log", "import", "theirs.jsonl"]);
    let priors = project.open_store().prior_verdicts("linkedin_post", 5).unwrap();
    assert_eq!(priors.len(), 1);
    assert!(priors[0].imported && priors[0].verdict_id.is_some());
}

#[test]
fn what_is_no_row_is_told_and_the_rest_comes_in() {
    let project = LogProgram::new();
    let (first, second) = (foreign_row(1, "HOLD"), foreign_row(2, "SHIP"));
    let mut future = foreign_row(3, "SHIP");
    future["ts"] = json!("9999-01-01T00:00:00Z");
    let mut file = format!("{first}\n{{\"v\":2\n\n{{\"v\":1}}\n{future}\n").into_bytes();
    file.extend(b"\"\xff\"\n");
    file.extend(format!("{second}").bytes());
    project.write_file("mixed.jsonl", file);
    let ran = project.run_command(&["log", "import", "mixed.jsonl"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.starts_with("Imported 2 verdicts, 4 lines malformed\n"), "{}", ran.stdout);
    insta::assert_snapshot!(ran.stderr, @r"
    line 2: it is not JSON: EOF while parsing an object at column 6
    line 4: `v` must be 2
    line 5: `ts` lies in the future
    line 6: it is not UTF-8
    ");
    project.assert_verified();
}

#[test]
fn a_file_of_nothing_but_faults_leaves_nothing() {
    let project = LogProgram::new();
    project.write_file("bad.jsonl", "x\n".repeat(250));
    let (code, document) = project.run_json(&["log", "import", "bad.jsonl"]);
    assert_eq!((code, import_counts(&document)), (1, [250, 0, 0, 250]));
    assert_eq!(document["malformed_lines"].as_array().unwrap().len(), 100);
    assert_eq!(project.open_store().load_log_lines(0, 9).unwrap(), []);
    assert!(!project.program.path().join("council_log.jsonl").exists());
}

#[test]
fn standard_input_is_read_too() {
    use std::io::Write;
    use std::process::Stdio;
    let project = LogProgram::new();
    let mut command = project.program.command();
    command.args(["log", "import", "-"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(to_lines(&[foreign_row(1, "HOLD")]).as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    project.assert_verified();
    assert_eq!(project.read_log_file().lines().count(), 1);
}

#[test]
fn what_cannot_be_read_is_said() {
    let project = LogProgram::new();
    for (file, code, error) in
        [("nothing.jsonl", 4, "unreadable"), (".", 4, "unreadable"), ("/dev/zero", 4, "unreadable")]
    {
        let (found, document) = project.run_json(&["log", "import", file]);
        assert_eq!((found, document["error_code"].as_str()), (code, Some(error)), "{file}");
    }
    project.write_file("empty.jsonl", "");
    let ran = project.run_command(&["log", "import", "empty.jsonl"]);
    assert!(ran.code == 1 && ran.stderr.contains("no line to import"), "{ran:?}");
    let mut long = foreign_row(1, "HOLD");
    long["adjudicator"]["reasoning"] = json!("x".repeat(17 * 1024 * 1024));
    project.write_file("long.jsonl", to_lines(&[long, foreign_row(2, "HOLD")]));
    let (code, document) = project.run_json(&["log", "import", "long.jsonl"]);
    assert_eq!((code, import_counts(&document)), (1, [2, 1, 0, 1]));
    assert_eq!(document["malformed_lines"][0]["reason"], "it is over the limit of 16777216 bytes");
    let huge = std::fs::File::create(project.program.path().join("huge.jsonl")).unwrap();
    huge.set_len(65 * 1024 * 1024).unwrap();
    let (code, document) = project.run_json(&["log", "import", "huge.jsonl"]);
    assert_eq!(code, 4, "{document}");
    assert!(document["message"].as_str().unwrap().contains("over the limit of 67108864 bytes"));
}

#[test]
fn what_is_exported_can_be_imported_and_says_the_same() {
    let (one, two) = (LogProgram::with_verdicts(4), LogProgram::new());
    let exported = one.run_ok(&["log", "export"]).stdout;
    assert_eq!(exported, one.read_log_file());
    two.write_file("from-one.jsonl", &exported);
    let (code, document) = two.run_json(&["log", "import", "from-one.jsonl"]);
    assert_eq!((code, import_counts(&document)), (0, [4, 4, 0, 0]));
    two.assert_verified();
    let again = two.run_ok(&["log", "export"]).stdout;
    assert_eq!(again.replace(",\"imported\":true", ""), exported, "but for the mark");
    one.write_file("back.jsonl", &again);
    let (_, document) = one.run_json(&["log", "import", "back.jsonl"]);
    assert_eq!(import_counts(&document), [4, 0, 4, 0]);
    assert_eq!(document["otherwise"], json!([]));
    one.assert_verified();
}

#[test]
fn after_a_lost_store_its_own_log_brings_the_verdicts_back() {
    let old = LogProgram::with_verdicts(3);
    let new = LogProgram::new();
    new.write_file("council_log.jsonl", old.read_log_file());
    let (code, document) = new.run_json(&["log", "import", "council_log.jsonl"]);
    assert_eq!((code, import_counts(&document)), (0, [3, 3, 0, 0]));
    new.assert_verified();
    assert_eq!(new.read_log_file().lines().count(), 3, "each stands in it once");
    assert_eq!(new.open_store().prior_verdicts("post", 9).unwrap().len(), 3);
}

#[test]
fn a_log_that_others_began_goes_on_as_ours() {
    let project = LogProgram::new();
    project.write_file(
        "council_log.jsonl",
        to_lines(&[foreign_row(1, "HOLD"), foreign_row(2, "SHIP")]),
    );
    insert_verdict(&project.open_store(), "review", 1, ReviewVerdict::Hold);
    project.write_file("more.jsonl", to_lines(&[foreign_row(3, "HOLD")]));
    let ran = project.run_ok(&["log", "import", "more.jsonl"]);
    assert!(ran.stderr.contains("has 2 lines that the store does not know"), "{}", ran.stderr);
    assert_eq!(
        project.read_log_file(),
        to_lines(&[foreign_row(1, "HOLD"), foreign_row(2, "SHIP")]) + &project.expected_file()
    );
    project.run_ok(&["log", "import", "council_log.jsonl"]);
    project.assert_verified();
    assert_eq!(project.read_log_file().lines().count(), 4);
}

#[test]
fn a_line_that_says_more_than_its_row_stays_in_the_file() {
    let project = LogProgram::new();
    let mut more = foreign_row(1, "HOLD");
    more["host"] = json!("ci-7");
    project.write_file("council_log.jsonl", to_lines(std::slice::from_ref(&more)));
    project.run_ok(&["log", "import", "council_log.jsonl"]);
    assert_eq!(project.read_log_file(), to_lines(&[more]) + &project.expected_file());
}

#[test]
fn the_stores_own_verdicts_cannot_be_forged() {
    let project = LogProgram::with_verdicts(1);
    let ours: Value = serde_json::from_str(project.read_log_file().trim()).unwrap();
    let mut changed = ours.clone();
    changed["adjudicator"]["final_verdict"] = json!("SHIP");
    let mut next = ours;
    next["verdict_id"] = json!("review/2");
    next["ts"] = json!("2026-05-18T11:00:00Z");
    project.write_file("forged.jsonl", to_lines(&[changed, next]));
    let ran = project.run_command(&["log", "import", "forged.jsonl"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.stderr, @r"
    line 2: `verdict_id` names a dialogue of this store that has no such verdict
    line 1: the store has review/1 with another text
    ");
    project.assert_verified();
    project.insert_verdict(2, ReviewVerdict::Ship);
    project.run_ok(&["log", "repair"]);
    project.assert_verified();
}

#[test]
fn redaction_applies_to_what_comes_in() {
    let project = LogProgram::new();
    project.write_settings("review: {redact: ['Reasons \\d+', 'posts/']}\n");
    project.write_file("theirs.jsonl", to_lines(&[foreign_row(1, "HOLD")]));
    project.run_ok(&["log", "import", "theirs.jsonl"]);
    let dump = crate::kit::dump_store(project.program.path());
    assert!(!dump.contains("Reasons 1") && dump.contains("[redacted]"), "{dump}");
    assert!(project.read_log_file().contains("[redacted]1.md"));
    project.assert_verified();
    let (_, document) = project.run_json(&["log", "import", "theirs.jsonl"]);
    assert_eq!(import_counts(&document), [1, 0, 1, 0]);
}

#[test]
fn what_is_redacted_is_in_no_line_after_the_log_was_taken_in() {
    let project = LogProgram::with_verdicts(1);
    let mut row = foreign_row(1, "HOLD");
    row["adjudicator"]["reasoning"] = "It names secret-20.".into();
    project.write_file(
        "council_log.jsonl",
        format!("{}{}", to_lines(&[row]), project.read_log_file()),
    );
    project.write_settings("review: {redact: ['secret-[0-9]+']}\n");
    let (code, result) = project.run_json(&["log", "import", "council_log.jsonl"]);
    assert_eq!(
        (code, &result["imported"], &result["known"]),
        (0, &json!(1), &json!(1)),
        "{result:#}"
    );
    assert_eq!(result["otherwise"], json!([]), "{result:#}");
    assert!(!project.read_log_file().contains("secret-20"), "{}", project.read_log_file());
    assert_eq!(project.read_log_file(), project.expected_file());
}
