//! `log import`: rows of other logs.

use plenary::domain::gate::GateVerdict;
use plenary::store::Store;
use serde_json::{Value, json};

use super::program_harness::{Desk, lines, theirs};
use crate::kit::log_verdict;

fn counts(document: &Value) -> [u64; 4] {
    ["lines", "imported", "known", "malformed"].map(|key| document[key].as_u64().unwrap())
}

#[test]
fn rows_of_others_come_in_once() {
    let desk = Desk::with(1);
    desk.write("theirs.jsonl", lines(&[theirs(1, "HOLD"), theirs(2, "SHIP"), theirs(1, "HOLD")]));
    let (code, document) = desk.document(&["log", "import", "theirs.jsonl"]);
    assert_eq!((code, counts(&document)), (0, [3, 2, 1, 0]));
    let id = document["dialogue_id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("imported-verdicts-theirs-jsonl-"), "{id}");
    desk.verify();
    assert_eq!(desk.file().lines().count(), 3, "ours, and two of theirs");
    let (code, document) = desk.document(&["log", "import", "theirs.jsonl"]);
    assert_eq!((code, counts(&document)), (0, [3, 0, 3, 0]));
    assert_eq!(document["dialogue_id"], Value::Null, "nothing new, so no dialogue");
    desk.verify();
    let shown = desk.must(&["show", &id]);
    assert!(shown.stdout.contains("Imported verdicts: theirs.jsonl"), "{}", shown.stdout);
}

#[test]
fn imported_rows_are_priors_and_say_that_they_were_imported() {
    let desk = Desk::new();
    desk.write("theirs.jsonl", lines(&[theirs(1, "HOLD"), theirs(2, "INCOMPLETE")]));
    desk.must(&["log", "import", "theirs.jsonl"]);
    let priors = desk.store().priors("linkedin_post", 5).unwrap();
    assert_eq!(priors.len(), 1);
    assert!(priors[0].imported && priors[0].verdict_id.is_some());
}

#[test]
fn what_is_no_row_is_told_and_the_rest_comes_in() {
    let desk = Desk::new();
    let (first, second) = (theirs(1, "HOLD"), theirs(2, "SHIP"));
    let mut future = theirs(3, "SHIP");
    future["ts"] = json!("9999-01-01T00:00:00Z");
    let mut file = format!("{first}\n{{\"v\":2\n\n{{\"v\":1}}\n{future}\n").into_bytes();
    file.extend(b"\"\xff\"\n");
    file.extend(format!("{second}").bytes());
    desk.write("mixed.jsonl", file);
    let ran = desk.run(&["log", "import", "mixed.jsonl"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.starts_with("Imported 2 verdicts, 4 malformed\n"), "{}", ran.stdout);
    insta::assert_snapshot!(ran.stderr, @r"
    line 2: it is not JSON: EOF while parsing an object at column 6
    line 4: `v` must be 2
    line 5: `ts` lies in the future
    line 6: it is not UTF-8
    ");
    desk.verify();
}

#[test]
fn a_file_of_nothing_but_faults_leaves_nothing() {
    let desk = Desk::new();
    desk.write("bad.jsonl", "x\n".repeat(250));
    let (code, document) = desk.document(&["log", "import", "bad.jsonl"]);
    assert_eq!((code, counts(&document)), (1, [250, 0, 0, 250]));
    assert_eq!(document["malformed_lines"].as_array().unwrap().len(), 100);
    assert_eq!(desk.store().log_lines(0, 9).unwrap(), []);
    assert!(!desk.program.path().join("council_log.jsonl").exists());
}

#[test]
fn standard_input_is_read_too() {
    use std::io::Write;
    use std::process::Stdio;
    let desk = Desk::new();
    let mut command = desk.program.command();
    command.args(["log", "import", "-"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines(&[theirs(1, "HOLD")]).as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    desk.verify();
    assert_eq!(desk.file().lines().count(), 1);
}

#[test]
fn what_cannot_be_read_is_said() {
    let desk = Desk::new();
    for (file, code, error) in
        [("nothing.jsonl", 4, "unreadable"), (".", 4, "unreadable"), ("/dev/zero", 4, "unreadable")]
    {
        let (found, document) = desk.document(&["log", "import", file]);
        assert_eq!((found, document["error_code"].as_str()), (code, Some(error)), "{file}");
    }
    let mut long = theirs(1, "HOLD");
    long["adjudicator"]["reasoning"] = json!("x".repeat(17 * 1024 * 1024));
    desk.write("long.jsonl", lines(&[long, theirs(2, "HOLD")]));
    let (code, document) = desk.document(&["log", "import", "long.jsonl"]);
    assert_eq!((code, counts(&document)), (1, [2, 1, 0, 1]));
    assert_eq!(document["malformed_lines"][0]["reason"], "it is over the limit of 16777216 bytes");
    let huge = std::fs::File::create(desk.program.path().join("huge.jsonl")).unwrap();
    huge.set_len(65 * 1024 * 1024).unwrap();
    let (code, document) = desk.document(&["log", "import", "huge.jsonl"]);
    assert_eq!(code, 4, "{document}");
    assert!(document["message"].as_str().unwrap().contains("over the limit of 67108864 bytes"));
}

#[test]
fn what_is_exported_can_be_imported_and_says_the_same() {
    let (one, two) = (Desk::with(4), Desk::new());
    let exported = one.must(&["log", "export"]).stdout;
    assert_eq!(exported, one.file());
    two.write("from-one.jsonl", &exported);
    let (code, document) = two.document(&["log", "import", "from-one.jsonl"]);
    assert_eq!((code, counts(&document)), (0, [4, 4, 0, 0]));
    two.verify();
    let again = two.must(&["log", "export"]).stdout;
    assert_eq!(again.replace(",\"imported\":true", ""), exported, "but for the mark");
    one.write("back.jsonl", &again);
    let (_, document) = one.document(&["log", "import", "back.jsonl"]);
    assert_eq!(counts(&document), [4, 0, 4, 0]);
    assert_eq!(document["otherwise"], json!([]));
    one.verify();
}

#[test]
fn after_a_lost_store_its_own_log_brings_the_verdicts_back() {
    let old = Desk::with(3);
    let new = Desk::new();
    new.write("council_log.jsonl", old.file());
    let (code, document) = new.document(&["log", "import", "council_log.jsonl"]);
    assert_eq!((code, counts(&document)), (0, [3, 3, 0, 0]));
    new.verify();
    assert_eq!(new.file().lines().count(), 3, "each stands in it once");
    assert_eq!(new.store().priors("post", 9).unwrap().len(), 3);
}

#[test]
fn a_log_that_others_began_goes_on_as_ours() {
    let desk = Desk::new();
    desk.write("council_log.jsonl", lines(&[theirs(1, "HOLD"), theirs(2, "SHIP")]));
    log_verdict(&desk.store(), "review", 1, GateVerdict::Hold);
    desk.write("more.jsonl", lines(&[theirs(3, "HOLD")]));
    let ran = desk.must(&["log", "import", "more.jsonl"]);
    assert!(ran.stderr.contains("holds 2 lines that the store does not know"), "{}", ran.stderr);
    assert_eq!(desk.file(), lines(&[theirs(1, "HOLD"), theirs(2, "SHIP")]) + &desk.table());
    desk.must(&["log", "import", "council_log.jsonl"]);
    desk.verify();
    assert_eq!(desk.file().lines().count(), 4);
}

#[test]
fn a_line_that_says_more_than_its_row_stays_in_the_file() {
    let desk = Desk::new();
    let mut more = theirs(1, "HOLD");
    more["host"] = json!("ci-7");
    desk.write("council_log.jsonl", lines(std::slice::from_ref(&more)));
    desk.must(&["log", "import", "council_log.jsonl"]);
    assert_eq!(desk.file(), lines(&[more]) + &desk.table());
}

#[test]
fn the_stores_own_verdicts_cannot_be_forged() {
    let desk = Desk::with(1);
    let ours: Value = serde_json::from_str(desk.file().trim()).unwrap();
    let mut changed = ours.clone();
    changed["adjudicator"]["final_verdict"] = json!("SHIP");
    let mut next = ours;
    next["verdict_id"] = json!("review/2");
    next["ts"] = json!("2026-05-18T11:00:00Z");
    desk.write("forged.jsonl", lines(&[changed, next]));
    let ran = desk.run(&["log", "import", "forged.jsonl"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.stderr, @r"
    line 2: `verdict_id` is one of a dialogue of this store, which has no such verdict
    line 1: review/1 is known, and reads otherwise here
    ");
    desk.verify();
    desk.log(2, GateVerdict::Ship);
    desk.must(&["log", "repair"]);
    desk.verify();
}

#[test]
fn redaction_applies_to_what_comes_in() {
    let desk = Desk::new();
    desk.configure("review: {redact: ['Reasons \\d+', 'posts/']}\n");
    desk.write("theirs.jsonl", lines(&[theirs(1, "HOLD")]));
    desk.must(&["log", "import", "theirs.jsonl"]);
    let dump = crate::kit::dump(desk.program.path());
    assert!(!dump.contains("Reasons 1") && dump.contains("[redacted]"), "{dump}");
    assert!(desk.file().contains("[redacted]1.md"));
    desk.verify();
    let (_, document) = desk.document(&["log", "import", "theirs.jsonl"]);
    assert_eq!(counts(&document), [1, 0, 1, 0]);
}

#[test]
fn what_is_redacted_is_in_no_line_after_the_log_was_taken_in() {
    let desk = Desk::with(1);
    let mut row = theirs(1, "HOLD");
    row["adjudicator"]["reasoning"] = "It names secret-20.".into();
    desk.write("council_log.jsonl", format!("{}{}", lines(&[row]), desk.file()));
    desk.configure("review: {redact: ['secret-[0-9]+']}\n");
    let (code, told) = desk.document(&["log", "import", "council_log.jsonl"]);
    assert_eq!((code, &told["imported"], &told["known"]), (0, &json!(1), &json!(1)), "{told:#}");
    assert_eq!(told["otherwise"], json!([]), "{told:#}");
    assert!(!desk.file().contains("secret-20"), "{}", desk.file());
    assert_eq!(desk.file(), desk.table());
}
