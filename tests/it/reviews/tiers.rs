//! Which files are reviewed: tiers and rules.

use serde_json::{Value, json};

use super::harness::{read_log, review_council_with, run_review, write_artifact};
use crate::councils::harness::{CommandResult, TestCouncil};
use crate::kit::ScriptedReply;

fn council_with_rules() -> TestCouncil {
    review_council_with(
        |_| ScriptedReply::Valid,
        |settings| {
            settings["tier_rules"] = json!({
                "tier_1": { "post": ["posts/*.md"] },
                "tier_2": { "draft": ["drafts/**"] },
                "tier_3": { "briefing": ["briefings/**"] },
            });
        },
    )
}

/// Verdict, type and tier.
fn review_triage(result: &CommandResult) -> (String, String, u64) {
    let text = |path: &str| result.value_at(path).as_str().unwrap().to_owned();
    (text("verdict"), text("artifact_type"), result.value_at("tier").as_u64().unwrap())
}

fn triage_row(verdict: &str, artifact_type: &str, tier: u64) -> (String, String, u64) {
    (verdict.to_owned(), artifact_type.to_owned(), tier)
}

#[test]
fn rules_select_files_and_flags_override_them() {
    let council = council_with_rules();
    for path in ["posts/a.md", "drafts/deep/a.md", "notes/a.md"] {
        write_artifact(&council, path, &format!("A text for {path}.\n"));
    }
    let table: [(&[&str], _); 8] = [
        (&["posts/a.md"], triage_row("SHIP", "post", 1)),
        (&["drafts/deep/a.md"], triage_row("SKIPPED", "draft", 2)),
        (&["notes/a.md"], triage_row("SKIPPED", "document", 2)),
        (&["notes/a.md", "--tier", "1"], triage_row("SHIP", "document", 1)),
        (&["drafts/deep/a.md", "--force"], triage_row("SHIP", "draft", 2)),
        (&["notes/a.md", "--type", "post"], triage_row("SHIP", "post", 1)),
        (&["notes/a.md", "--type", "draft"], triage_row("SKIPPED", "draft", 2)),
        (&["posts/a.md", "--tier", "2"], triage_row("SKIPPED", "post", 2)),
    ];
    for (arguments, expected) in table {
        let result = run_review(&council, arguments);
        assert_eq!((review_triage(&result), result.code), (expected, 0), "{arguments:?}");
        let is_skipped = result.value_at("verdict") == "SKIPPED";
        assert_eq!(result.value_at("skipped_because").is_string(), is_skipped, "{arguments:?}");
    }
    // Skipped files are not logged.
    assert_eq!(read_log(&council).len(), 4);
}

#[test]
fn a_skip_names_its_reason_and_the_option_that_reviews_the_file() {
    let council = council_with_rules();
    write_artifact(&council, "notes/a.md", "A text.\n");
    let ran = council.program.run_command(&["review", "notes/a.md"]);
    assert_eq!(ran.code, 0);
    let message = ran.stdout + &ran.stderr;
    assert!(
        message.contains("SKIPPED")
            && message.contains("tier_rules")
            && message.contains("--force"),
        "{message}"
    );
    let ran = council.program.run_command(&["review", "notes/a.md", "--tier", "2"]);
    assert!(
        (ran.stdout + &ran.stderr)
            .contains("files of tier 2 are not reviewed; `--tier 1` reviews it")
    );
    assert!(!council.program.path().join(".plenary").exists(), "a skip leaves nothing behind");
}

#[test]
fn without_rules_every_named_file_is_reviewed() {
    let council = review_council_with(|_| ScriptedReply::Valid, |_| {});
    let result = run_review(&council, &["post.md"]);
    assert_eq!(review_triage(&result), triage_row("SHIP", "document", 1));
}

#[test]
fn the_same_file_on_two_machines_gets_the_same_answer() {
    let houses = [council_with_rules(), council_with_rules()];
    let verdicts = houses.each_ref().map(|council| {
        let result = |day: u32| {
            let path = format!("briefings/{day}.md");
            write_artifact(council, &path, "All is well.\n");
            run_review(council, &[&path]).value_at("verdict").as_str().unwrap().to_owned()
        };
        (0..12).map(result).collect::<Vec<_>>()
    });
    assert_eq!(verdicts[0], verdicts[1]);
    let judged: Vec<usize> = (0..12).filter(|day| verdicts[0][*day] == "SHIP").collect();
    // The sample according to a hash computed elsewhere.
    assert_eq!(judged, [6, 10, 11]);
}

#[test]
fn of_several_files_the_greatest_code_counts() {
    let council = council_with_rules();
    write_artifact(&council, "posts/a.md", "A text.\n");
    write_artifact(&council, "posts/b.md", "\0");
    write_artifact(&council, "notes/a.md", "A text.\n");
    let ran = council.program.run_command(&[
        "review",
        "--json",
        "notes/a.md",
        "posts/a.md",
        "posts/gone.md",
        "posts/b.md",
    ]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let verdicts: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(verdicts.len(), 4);
    assert_eq!(
        (&verdicts[0]["verdict"], &verdicts[1]["verdict"]),
        (&json!("SKIPPED"), &json!("SHIP"))
    );
    assert_eq!(
        (&verdicts[2]["status"], &verdicts[3]["status"]),
        (&json!("error"), &json!("error"))
    );
}

#[test]
fn a_gate_does_not_rehearse_by_itself() {
    let program = crate::kit::TestProgram::new();
    std::fs::write(program.path().join("a.md"), "A text.\n").unwrap();
    let ran = program.run_command(&["review", "a.md"]);
    assert_eq!(ran.code, 5);
    assert!(ran.stderr.contains("--rehearse"), "{}", ran.stderr);
    let ran = program.run_command(&["review", "--rehearse", "a.md", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_skipped_file_needs_no_provider() {
    let program = crate::kit::TestProgram::new();
    let rules =
        "tier_rules: {tier_1: {post: [\"posts/*.md\"]}, tier_2: {draft: [\"drafts/**\"]}}\n";
    program.write_text("council.yaml", rules);
    program.write_text("drafts/a.md", "A draft.\n");
    program.write_text("posts/a.md", "A post.\n");
    assert_eq!(program.run_command(&["review", "drafts/a.md"]).code, 0);
    assert_eq!(program.run_command(&["sweep", "--since", "2030-01-01"]).code, 0);
    assert_eq!(program.run_command(&["review", "drafts/a.md", "posts/a.md"]).code, 5);
}

#[test]
fn the_rules_of_a_user_are_meant_from_where_they_work() {
    let program = crate::kit::TestProgram::new();
    program.write_text(
        "home/plenary/council.yaml",
        "tier_rules: {tier_1: {post: [\"posts/*.md\"]}}\n",
    );
    program.write_text("work/posts/a.md", "A post.\n");
    let mut command = program.command();
    command.current_dir(program.path().join("work"));
    command.env("XDG_CONFIG_HOME", program.path().join("home"));
    let output = command.args(["review", "--rehearse", "--json", "posts/a.md"]).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["verdict"], &result["artifact_type"]), (&json!("SHIP"), &json!("post")));
}

#[test]
fn elsewhere_the_lot_is_drawn_by_the_name() {
    let program = crate::kit::TestProgram::new();
    program.write_text("here/council.yaml", "tier_rules: {tier_1: {post: [\"posts/*.md\"]}}\n");
    for number in 0..10 {
        let name = format!("{number}.md");
        program.write_text(&format!("there/{name}"), "A briefing.\n");
        let verdict = |path: String| {
            let mut command = program.command();
            command.current_dir(program.path().join("here"));
            command.args(["review", "--rehearse", "--json", "--tier", "3", &path]);
            let result: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
            result["verdict"].clone()
        };
        let whole = program.path().join("there").join(&name).display().to_string();
        assert_eq!(verdict(format!("../there/{name}")), verdict(whole), "{name}");
    }
}

#[test]
fn a_folder_and_a_text_without_a_path_do_not_pass_unseen() {
    let program = crate::kit::TestProgram::new();
    program.write_text("council.yaml", "tier_rules: {tier_1: {post: [\"posts/*.md\"]}}\n");
    program.write_text("posts/a.md", "A post.\n");
    let ran = program.run_command(&["review", "--rehearse", "posts"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("`posts` is a folder"), "{ran:?}");
    let ran = program.run_command(&["review", "--rehearse", "-", "posts/a.md"]);
    assert_eq!(ran.code, 64, "{ran:?}");
    assert!(ran.stderr.contains("`--type`, `--tier` or `--force`"), "{ran:?}");
    // The record and the token stay out of the repository.
    program.run_command(&["review", "--rehearse", "posts/a.md"]);
    let ignored = std::fs::read_to_string(program.path().join(".plenary/.gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
}
