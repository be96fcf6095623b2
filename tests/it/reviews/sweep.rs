//! `sweep`: reviews changed files of a folder, each content once.

use std::time::{Duration, SystemTime};

use plenary_core::model::ask::AskPurpose;
use plenary_core::protocols::review::types::score_names;
use serde_json::{Value, json};

use super::harness::{SEATS, review_council_with};
use crate::kit::{ScriptedReply, TestProgram};

const TIER_RULES: &str = r#"
tier_rules:
  tier_1: {post: ["posts/**"]}
  tier_2: {draft: ["drafts/**"]}
  tier_3: {briefing: ["briefings/**"]}
"#;

/// A project with rules and these files, each with its age in hours.
fn project_with_files(files: &[(&str, u64)]) -> TestProgram {
    let program = TestProgram::new();
    write_aged(&program, "council.yaml", TIER_RULES, 0);
    for (path, hours) in files {
        write_aged(&program, path, &format!("What {path} says.\n"), *hours);
    }
    program
}

fn write_aged(program: &TestProgram, path: &str, text: &str, hours: u64) {
    let path = program.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    let changed = SystemTime::now() - Duration::from_secs(hours * 3_600);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(changed).unwrap();
}

/// The lines that `sweep --rehearse --json` prints.
#[track_caller]
fn run_sweep(program: &TestProgram, options: &str, code: i32) -> Vec<Value> {
    let line = format!("sweep --rehearse --json {options}");
    let ran = program.run_command(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ran.code, code, "{options}: {ran:?}");
    let parsed = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    ran.stdout.lines().map(parsed).collect()
}

fn field_texts(list: &Value, field: &str) -> Vec<String> {
    let text = |one: &Value| one[field].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(text).collect()
}

/// The files that a dry run would review.
#[track_caller]
fn selected_files(program: &TestProgram, options: &str) -> Vec<String> {
    let plan = run_sweep(program, &format!("--dry-run {options}"), 0).remove(0);
    field_texts(&plan["would_review"], "path")
}

/// The files that a dry run skips, as `path: code`.
#[track_caller]
fn skipped_files(program: &TestProgram, options: &str) -> Vec<String> {
    let plan = run_sweep(program, &format!("--dry-run {options}"), 0).remove(0);
    let [paths, codes] = ["path", "code"].map(|field| field_texts(&plan["passed_over"], field));
    paths.iter().zip(codes).map(|(path, code)| format!("{path}: {code}")).collect()
}

#[test]
fn what_changed_lately_is_judged_the_oldest_first() {
    let files = [("posts/new.md", 1), ("posts/old.md", 30), ("posts/deep/a.md", 5)];
    let program =
        project_with_files(&[files.as_slice(), &[("notes.md", 1), ("drafts/b.md", 1)]].concat());
    let lines = run_sweep(&program, "", 0);
    let [first, second, summary] = lines.as_slice() else { panic!("{lines:?}") };
    let result = [first, second].map(|one| (one["artifact"].as_str(), one["verdict"].as_str()));
    assert_eq!(
        result,
        [(Some("posts/deep/a.md"), Some("SHIP")), (Some("posts/new.md"), Some("SHIP"))]
    );
    assert_eq!((&first["artifact_type"], &first["tier"]), (&json!("post"), &json!(1)));
    assert_eq!(summary["verdicts"], json!({"SHIP": 2, "REVISE": 0, "HOLD": 0, "undecided": 0}));
    assert_eq!(summary["passed_over"], json!({"unchanged": 1}));
    // The settings file and the notes.
    assert_eq!(summary["counts"], json!({"looked_at": 6, "no_rule": 2, "tier_2": 1}));
    assert_eq!(selected_files(&program, "--since 7d"), ["posts/old.md"]);
    assert_eq!(selected_files(&program, "--since 2020-01-01"), ["posts/old.md"]);
    assert_eq!(selected_files(&program, "--since 29h"), [""; 0]);
}

#[test]
fn a_content_is_judged_once() {
    let program = project_with_files(&[("posts/a.md", 2)]);
    write_aged(&program, "posts/copy.md", "What posts/a.md says.\n", 1);
    assert_eq!(skipped_files(&program, ""), ["posts/copy.md: duplicate"]);
    assert_eq!(run_sweep(&program, "", 0).len(), 2);
    assert_eq!(skipped_files(&program, ""), ["posts/a.md: decided", "posts/copy.md: decided"]);
    let lines = run_sweep(&program, "", 0);
    assert_eq!((lines.len(), &lines[0]["reviewed"]), (1, &json!(0)));
    assert_eq!(lines[0]["passed_over"], json!({"decided": 2}));
    // A touched file has the same content; an edited file has new content.
    write_aged(&program, "posts/a.md", "What posts/a.md says.\n", 0);
    assert_eq!(selected_files(&program, ""), [""; 0]);
    write_aged(&program, "posts/a.md", "What it says now.\n", 0);
    assert_eq!(selected_files(&program, ""), ["posts/a.md"]);
}

#[test]
fn a_cap_leaves_the_newest_for_the_next_sweep_and_says_so() {
    let program = project_with_files(&[("posts/a.md", 1), ("posts/b.md", 2), ("posts/c.md", 3)]);
    let plan = run_sweep(&program, "--dry-run --max 2", 0).remove(0);
    assert_eq!(field_texts(&plan["would_review"], "path"), ["posts/c.md", "posts/b.md"]);
    assert_eq!(plan["left"], json!(["posts/a.md"]));
    let ran = program.run_command(&["sweep", "--rehearse", "--max", "2"]);
    let message = "Reviewed 2 (2 SHIP), 1 left for the next sweep (`--max 2`).";
    assert!(ran.stdout.contains(message), "{ran:?}");
    assert_eq!(selected_files(&program, "--max 2"), ["posts/a.md"]);
    // The default limit is below twenty-one.
    let many: Vec<String> = (0..21).map(|number| format!("posts/{number}.md")).collect();
    let many: Vec<(&str, u64)> = many.iter().map(|path| (path.as_str(), 1)).collect();
    assert_eq!(selected_files(&project_with_files(&many), "").len(), 20);
    for max in ["0", "1001", "many"] {
        assert_eq!(program.run_command(&["sweep", "--rehearse", "--max", max]).code, 64);
    }
}

#[test]
fn of_tier_3_one_in_five_is_judged() {
    let files: Vec<String> = (0..20).map(|day| format!("briefings/{day}.md")).collect();
    let files: Vec<(&str, u64)> = files.iter().map(|path| (path.as_str(), 1)).collect();
    let program = project_with_files(&files);
    let drawn = selected_files(&program, "");
    assert!((1..=9).contains(&drawn.len()), "{drawn:?}");
    let passed = skipped_files(&program, "");
    assert_eq!(passed.len() + drawn.len(), 20);
    assert!(passed.iter().all(|one| one.ends_with(": not_drawn")), "{passed:?}");
    // `review` selects the same ones.
    let judged = program.run_command(&["review", "--rehearse", "--json", &drawn[0]]);
    assert!(judged.stdout.contains("SHIP"), "{judged:?}");
}

#[test]
fn ignored_hidden_and_own_files_are_left_out() {
    let program = project_with_files(&[
        ("posts/a.md", 1),
        ("posts/ignored.md", 1),
        ("posts/private/b.md", 1),
        ("posts/.hidden.md", 1),
        ("posts/node_modules/c.md", 1),
        ("posts/.env", 1),
    ]);
    write_aged(&program, ".gitignore", "ignored.md\n", 0);
    write_aged(&program, ".councilignore", "private\n", 0);
    assert_eq!(selected_files(&program, ""), ["posts/a.md"]);
    let expected = [
        "posts/.env: left_out",
        "posts/.hidden.md: left_out",
        "posts/ignored.md: left_out",
        "posts/node_modules: left_out",
        "posts/private: left_out",
    ];
    assert_eq!(skipped_files(&program, ""), expected);
    // A rule that matches everything does not match the log and the store.
    let all = "tier_rules: {tier_1: {all: [\"**\"]}}\nreview: {log_path: posts/log.jsonl}\n";
    write_aged(
        &program,
        "council.yaml",
        &format!("{all}storage: {{url: \"sqlite:posts/s.db\"}}\n"),
        0,
    );
    run_sweep(&program, "", 0);
    write_aged(&program, "posts/z.md", "One more.\n", 0);
    assert_eq!(selected_files(&program, ""), ["posts/z.md"]);
    let own = skipped_files(&program, "");
    for path in ["posts/log.jsonl: left_out", "posts/s.db: left_out"] {
        assert!(own.iter().any(|one| one == path), "{own:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_no_way_around_the_gate() {
    use std::os::unix::fs::symlink;
    let program = project_with_files(&[("posts/a.md", 1), ("elsewhere/b.md", 1)]);
    let posts = program.path().join("posts");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.md"), "secret").unwrap();
    symlink(outside.path().join("secret.md"), posts.join("out.md")).unwrap();
    symlink(outside.path(), posts.join("folder")).unwrap();
    symlink("a.md", posts.join("same.md")).unwrap();
    // No rule matches the link's target; `review posts/b.md` would review it.
    symlink("../elsewhere/b.md", posts.join("b.md")).unwrap();
    let plan = run_sweep(&program, "--dry-run", 0).remove(0);
    assert_eq!(field_texts(&plan["would_review"], "path"), ["posts/a.md", "posts/b.md"]);
    assert_eq!(field_texts(&plan["unreadable"], "path"), ["posts/out.md"]);
    let reasons = field_texts(&plan["passed_over"], "reason");
    assert_eq!(
        reasons,
        ["a link that leads out of the folder", "the same content as `posts/a.md`"]
    );
    assert_eq!(program.run_command(&["sweep", "--rehearse"]).code, 4);
}

#[test]
fn a_file_that_a_rule_names_is_reviewed_under_any_name() {
    let program = project_with_files(&[
        ("dist/notes.md", 1),
        ("dist/app.js", 1),
        ("build/deep/notes.md", 1),
        ("build/other/notes.md", 1),
        ("posts/credentials-policy.md", 1),
        ("posts/secrets.yaml", 1),
        ("press/a/ignored.md", 1),
        ("vendor/a.md", 1),
    ]);
    write_aged(&program, ".gitignore", "press/a/\n", 0);
    let rules = r#"tier_rules: {tier_1: {
        release: ["dist/*.md", "build/deep/*"], post: ["posts/**"], press: ["press/**/*.md"]}}"#;
    write_aged(&program, "council.yaml", rules, 0);
    let mut judged = selected_files(&program, "");
    judged.sort();
    assert_eq!(judged, ["build/deep/notes.md", "dist/notes.md", "posts/credentials-policy.md"]);
    assert_eq!(skipped_files(&program, ""), ["posts/secrets.yaml: left_out", "press/a: left_out"]);
    // A real sweep names them too.
    let ran = program.run_command(&["sweep", "--rehearse"]);
    assert!(ran.stdout.contains("\nLeft out: posts/secrets.yaml, press/a.\n"), "{ran:?}");
}

#[test]
fn what_cannot_be_read_does_not_pass() {
    let program = project_with_files(&[("posts/a.md", 2)]);
    std::fs::write(program.path().join("posts/picture.png"), b"a\0b").unwrap();
    let key = format!("ghp_{}", "a1".repeat(18));
    write_aged(&program, "posts/key.md", &key, 1);
    let plan = run_sweep(&program, "--dry-run", 0).remove(0);
    assert_eq!(field_texts(&plan["unreadable"], "path"), ["posts/key.md", "posts/picture.png"]);
    let ran = program.run_command(&["sweep", "--rehearse"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stdout.contains("Reviewed 1 (1 SHIP), 2 could not be reviewed."), "{ran:?}");
    assert!(ran.stderr.contains("cannot review `posts/picture.png`: it is binary"), "{ran:?}");
    assert!(!ran.stdout.contains(&key) && !ran.stderr.contains(&key), "{ran:?}");
    // A file with a key is refused even alone.
    std::fs::remove_file(program.path().join("posts/picture.png")).unwrap();
    assert_eq!(program.run_command(&["sweep", "--rehearse"]).code, 1);
}

#[test]
fn a_folder_of_the_project_can_be_swept_from_anywhere() {
    let program =
        project_with_files(&[("posts/a.md", 1), ("posts/sub/b.md", 1), ("briefings/c.md", 1)]);
    assert_eq!(selected_files(&program, "posts/sub"), ["posts/sub/b.md"]);
    // The first argument after `--rehearse` is a folder unless it is a script.
    let ran = program.run_command(&["sweep", "--json", "--dry-run", "--rehearse", "posts/sub"]);
    assert!(ran.stdout.contains("posts/sub/b.md"), "{ran:?}");
    let mut command = program.command();
    let output = command
        .current_dir(program.path().join("posts/sub"))
        .args(["sweep", "--rehearse", "--dry-run", "--json"])
        .output()
        .unwrap();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found = field_texts(&plan["would_review"], "path");
    found.retain(|path| path.starts_with("posts"));
    assert_eq!(found, ["posts/a.md", "posts/sub/b.md"], "the whole project is the default");
    let outside = tempfile::tempdir().unwrap();
    let ran = program.run_command(&["sweep", "--rehearse", outside.path().to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("lies outside the folder of council.yaml"), "{ran:?}");
    for missing in ["gone", "posts/a.md"] {
        assert_eq!(program.run_command(&["sweep", "--rehearse", missing]).code, 4, "{missing}");
    }
}

#[test]
fn without_rules_nothing_is_swept() {
    let program = TestProgram::new();
    write_aged(&program, "post.md", "x", 0);
    let ran = program.run_command(&["sweep", "--rehearse"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.stderr.contains("council.yaml has no `tier_rules`"), "{ran:?}");
    assert!(ran.stderr.contains("hint:"), "{ran:?}");
    // It does not rehearse by default.
    let program = project_with_files(&[("posts/a.md", 1)]);
    let ran = program.run_command(&["sweep"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.stderr.contains("no provider is configured"), "{ran:?}");
}

#[test]
fn a_dry_run_calls_no_model_and_writes_nothing() {
    let program = project_with_files(&[("posts/a.md", 1), ("posts/old.md", 99)]);
    let ran = program.run_command(&["sweep", "--rehearse", "--dry-run", "-q"]);
    assert_eq!(ran.code, 0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("CHANGED           TIER  TYPE  WOULD REVIEW"), "{ran:?}");
    assert!(lines[1].ends_with("  1     post  posts/a.md"), "{ran:?}");
    assert!(ran.stdout.contains("No model was called. 1 document would take 9 calls"), "{ran:?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{ran:?}");
    let left: Vec<_> = std::fs::read_dir(program.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn the_greatest_exit_code_counts_and_formats_stay_what_they_are() {
    let program = project_with_files(&[("posts/a.md", 2), ("posts/b.md", 1)]);
    // Every seat blocks the first file.
    let names = SEATS.iter().flat_map(|seat| score_names(seat).unwrap());
    let scores: Value = names.map(|name| (name.to_owned(), json!(1))).collect();
    let reply = json!({"verdict": "hold", "scores": scores, "would_block": true,
                       "irreducible": true, "concerns": [], "revision_brief": "Do not."});
    let cue = |round: u8| json!({"contains": "What posts/a.md says", "round": round, "reply": reply.to_string()});
    let blocks = json!([cue(1), cue(2)]).to_string();
    write_aged(&program, "script.yaml", &blocks, 0);
    let ran = program.run_command(&["sweep", "--rehearse", "script.yaml", "--format", "sarif"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(serde_json::from_str::<Value>(&ran.stdout).is_ok(), "{ran:?}");
    assert!(ran.stderr.contains("Reviewed 2 (1 SHIP, 1 HOLD)"), "{ran:?}");
    // Without files it still prints a document.
    let ran = program.run_command(&["sweep", "--rehearse", "--format", "sarif"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(serde_json::from_str::<Value>(&ran.stdout).is_ok(), "{ran:?}");
    assert!(ran.stderr.contains("Nothing to review."), "{ran:?}");
}

#[test]
fn a_rehearsal_decides_nothing_for_a_real_sweep_and_an_incomplete_review_nothing_at_all() {
    let council = review_council_with(
        |asked| match asked.purpose == AskPurpose::Adjudication && asked.nth <= 2 {
            true => ScriptedReply::Reply("Hard to say.".to_owned()),
            false => asked.valid_with(json!({})),
        },
        |settings| settings["tier_rules"] = json!({"tier_1": {"post": ["posts/**"]}}),
    );
    write_aged(&council.program, "posts/a.md", "We launch.\n", 1);
    let real = |code: i32, judged: usize, says: &str| {
        let ran = council.program.run_command(&["sweep"]);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.stdout.contains(says), "{ran:?}");
        assert_eq!(council.call_count(AskPurpose::Judgement), judged * 4);
    };
    assert_eq!(run_sweep(&council.program, "", 0).len(), 2);
    real(3, 1, "Reviewed 1 (1 undecided).");
    real(0, 2, "Reviewed 1 (1 SHIP).");
    real(0, 2, "Nothing to review.");
}

#[test]
fn of_two_sweeps_at_once_one_waits_for_another_day() {
    let program = project_with_files(&[("posts/a.md", 1)]);
    let rules = std::fs::File::open(program.path().join("council.yaml")).unwrap();
    rules.lock().unwrap();
    let ran = program.run_command(&["sweep", "--rehearse"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("another sweep is running in this project"), "{ran:?}");
    assert_eq!(selected_files(&program, ""), ["posts/a.md"], "looking is always possible");
    drop(rules);
    assert_eq!(program.run_command(&["sweep", "--rehearse"]).code, 0);
}
