//! Several files in one command: concurrent reviews, the summary, and what no rule names.

use serde_json::{Value, json};

use super::harness::{review_council, review_council_with, write_artifact};
use crate::councils::harness::TestCouncil;

/// A council with rules: posts are reviewed, drafts never, other files have no rule.
fn council_with_rules() -> TestCouncil {
    let council = review_council_with(
        |asked| asked.valid_with(json!({})),
        |settings| {
            settings["tier_rules"] =
                json!({"tier_1": {"post": ["posts/*.md"]}, "tier_2": {"draft": ["drafts/**"]}});
        },
    );
    for name in ["posts/a.md", "posts/b.md", "posts/c.md", "drafts/d.md", "notes.md"] {
        write_artifact(&council, name, &format!("# {name}\n\nText.\n"));
    }
    council
}

#[test]
fn files_run_at_once_and_are_printed_in_order_with_a_summary() {
    let council = council_with_rules();
    let files = ["posts/a.md", "posts/b.md", "posts/c.md", "notes.md"];
    let ran = council.program.run_command(&[&["review"], files.as_slice()].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let summary = ran.stdout.rsplit_once("VERDICT").unwrap().1;
    let places: Vec<Option<usize>> = files.iter().map(|file| summary.find(file)).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{summary}");
    assert!(
        summary.contains("Not covered by any rule of `tier_rules`:\n  notes.md\n"),
        "{summary}"
    );
    let ran = council.program.run_command(&["review", "notes.md", "drafts/d.md", "--json"]);
    let rows: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["not_covered"], &rows[1]["not_covered"]), (&json!(true), &Value::Null));
}

#[test]
fn one_job_at_a_time_gives_the_same_verdicts() {
    let council = council_with_rules();
    let files = ["posts/a.md", "posts/b.md", "--json", "--jobs", "1"];
    let ran = council.program.run_command(&[&["review"], files.as_slice()].concat());
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2), "{ran:?}");
    for bad in ["0", "x", "1000"] {
        let ran = council.program.run_command(&["review", "posts/a.md", "--jobs", bad]);
        assert_eq!(ran.code, 64, "{ran:?}");
    }
}

#[test]
fn an_unknown_type_lists_the_known_ones() {
    let council = council_with_rules();
    let ran = council.program.run_command(&["review", "posts/a.md", "--type", "pots"]);
    assert_eq!(ran.code, 64, "1 would be REVISE: {ran:?}");
    for part in ["no type 'pots'", "use one of: post, draft"] {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
}

#[test]
fn an_empty_file_a_missing_file_and_a_folder_do_not_pass_in_any_tier() {
    let council = council_with_rules();
    write_artifact(&council, "drafts/empty.md", "");
    write_artifact(&council, "posts/empty.md", " \n\n");
    write_artifact(&council, "empty.md", "");
    std::fs::create_dir_all(council.program.path().join("drafts/folder.md")).unwrap();
    let files = [
        "drafts/empty.md",
        "posts/empty.md",
        "empty.md",
        "drafts/lost.md",
        "lost.md",
        "drafts/folder.md",
        "posts",
    ];
    for file in files {
        let ran = council.program.run_command(&["review", file]);
        assert!(ran.code == 4 && ran.stderr.contains("error:"), "{file}: {ran:?}");
    }
    assert_eq!(council.server.requests().len(), 0);
}

#[test]
fn junit_and_markdown_have_a_row_for_every_file_and_escape_its_text() {
    let council = review_council(|asked| {
        let concern = json!({"locus": "x", "issue": "<b> & \"c\" | d", "fix": "fix"});
        asked.valid_with(json!({"verdict": "hold", "would_block": true, "concerns": [concern]}))
    });
    write_artifact(&council, "b.md", "# B\n\nText.\n");
    let run = |format: &str| {
        let ran = council
            .program
            .run_command(&["review", "post.md", "b.md", "lost.md", "--format", format]);
        assert!(ran.code >= 2, "{ran:?}");
        ran.stdout
    };
    let junit = run("junit");
    assert!(junit.starts_with("<?xml version=\"1.0\""), "{junit}");
    assert!(junit.contains("tests=\"3\" failures=\"2\" errors=\"1\" skipped=\"0\""), "{junit}");
    assert!(junit.contains("&lt;b&gt; &amp; &quot;c&quot;") && !junit.contains("<b>"), "{junit}");
    for format in ["markdown", "md"] {
        let comment = run(format);
        assert!(comment.starts_with("<!-- plenary review -->\n## Plenary review"), "{comment}");
        assert!(comment.contains("| post.md | **HOLD** |"), "{comment}");
        assert!(comment.contains("| lost.md | **not reviewed** |"), "{comment}");
        assert!(comment.contains("\\<b>") && !comment.contains(" <b>"), "{comment}");
    }
}
