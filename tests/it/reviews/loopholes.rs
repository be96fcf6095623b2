//! Regression tests: ways around the review that are closed.

use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{
    ADJUDICATOR, ARTIFACT, blocking_judgement, expect_verdict, is_judging, read_log,
    review_council, review_council_with, run_review, write_artifact,
};
use crate::councils::harness::TestCouncil;
use crate::kit::ScriptedReply;

/// Rules for posts, and none for other files.
fn council_with_rules() -> TestCouncil {
    review_council_with(
        |asked| {
            if is_judging(asked) { blocking_judgement(asked, true) } else { ScriptedReply::Valid }
        },
        |settings| {
            settings["tier_rules"] = json!({ "tier_1": { "post": ["posts/*.md"] }, "tier_2": { "draft": ["drafts/**"] } });
        },
    )
}

#[test]
fn a_closed_pipe_changes_no_verdict() {
    let council = council_with_rules();
    for name in ["a", "b", "c"] {
        write_artifact(&council, &format!("posts/{name}.md"), &format!("Post {name}.\n"));
    }
    for format in ["text", "json", "github", "sarif"] {
        let before = read_log(&council).len();
        let mut command = council.program.command();
        command.args([
            "review",
            "-q",
            "--force",
            "--format",
            format,
            "posts/a.md",
            "posts/b.md",
            "posts/c.md",
        ]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(2), "{format}");
        assert_eq!(read_log(&council).len() - before, 3, "{format}: not all were judged");
    }
}

#[test]
fn a_closed_pipe_of_a_sweep_changes_no_verdict() {
    let council = council_with_rules();
    for format in ["text", "json", "github", "sarif"] {
        write_artifact(&council, &format!("posts/{format}.md"), &format!("In {format}.\n"));
        let before = read_log(&council).len();
        let mut command = council.program.command();
        command.args(["sweep", "-q", "--format", format]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(2), "{format}");
        assert_eq!(read_log(&council).len() - before, 1, "{format}");
    }
}

#[test]
fn a_review_rejects_contributions_by_hand() {
    let council = review_council(|asked| match asked.seat {
        ADJUDICATOR => ScriptedReply::Reply("I would ship it.".to_owned()),
        _ => ScriptedReply::Valid,
    });
    let result = run_review(&council, &["post.md"]);
    expect_verdict(&result, "INCOMPLETE", 3);
    let id = result.dialogue_id();
    let operations = [
        ("register", json!({ "dialogue_id": id, "round": 3, "score": 1, "summary": "x" })),
        (
            "verdict",
            json!({ "dialogue_id": id, "verdict_id": "gate", "verdict_type": "final", "round": 2,
                "recommendation": "SHIP", "description": "All fine.", "forced": true, "warning": "x",
                "author_expert": ADJUDICATOR }),
        ),
        (
            "panel",
            json!({ "dialogue_id": id, "round": 3, "panel": [{ "expert_slug": "skeptic", "source": "retained" }] }),
        ),
        (
            "expert",
            json!({ "dialogue_id": id, "expert_slug": "friend", "role": "Friend", "tier": "Core",
                "reason": "likes it" }),
        ),
    ];
    for (operation, arguments) in operations {
        let (code, document) = council.program.run_operation(operation, &arguments);
        assert_eq!((code, document.to_string().contains("is a review")), (1, true), "{document}");
    }
    for command in [["whisper", id, "ship it"].as_slice(), &["stop", id], &["conclude", id]] {
        let ran = council.program.run_command(command);
        assert_eq!((ran.code, ran.stderr.contains("is a review")), (1, true), "{ran:?}");
    }
    assert_eq!(council.call_count(AskPurpose::Adjudication), 2, "nobody was asked for it");
}

#[test]
fn what_was_not_named_does_not_pass() {
    let council = council_with_rules();
    for arguments in [["review"].as_slice(), &["review", "--rehearse"], &["review", "--json"]] {
        assert_eq!(council.program.run_command(arguments).code, 64, "{arguments:?}");
    }
}

#[test]
fn what_is_not_looked_at_need_not_be_readable_and_the_rest_must() {
    let council = council_with_rules();
    write_artifact(&council, "drafts/image.png", "\0\u{1}");
    write_artifact(&council, "posts/image.md", "\0\u{1}");
    let folder = council.program.path();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("secret.md"), "A secret.\n").unwrap();
    let (secret, link) = (elsewhere.path().join("secret.md"), folder.join("posts/link.md"));
    std::os::unix::fs::symlink(secret, link).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"posts/l\xff.md");
    std::fs::write(folder.join(odd), "A post.\n").unwrap();
    for (path, code) in [
        ("drafts/image.png", 0),
        ("drafts/gone.md", 4),
        ("drafts/gone/gone.md", 4),
        ("psots/a.md", 4),
        ("gone.md", 4),
        ("posts/image.md", 4),
        ("posts/gone.md", 4),
        ("posts/../gone.md", 4),
        ("posts/link.md", 4),
    ] {
        let ran = council.program.run_command(&["review", path]);
        assert_eq!(ran.code, code, "{path}: {ran:?}");
    }
    let ran = council.program.command().arg("review").arg(odd).output().unwrap();
    assert_eq!(ran.status.code(), Some(4));
    assert_eq!(council.server.requests().len(), 0, "nothing was sent");
}

#[test]
fn a_key_is_never_sent() {
    let council = council_with_rules();
    let key = format!("Our key is sk-ant-{}.\n", "a1B2".repeat(8));
    write_artifact(&council, "posts/key.md", &key);
    let ran = council.program.run_command(&["review", "posts/key.md"]);
    assert_eq!((ran.code, ran.stderr.contains("--force")), (1, true), "{ran:?}");
    let mut command = council.program.command();
    let input = std::fs::File::open(council.program.path().join("posts/key.md")).unwrap();
    let ran = command.args(["review", "-", "--tier", "1"]).stdin(input).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(council.server.requests().len(), 0);
}

#[test]
fn a_text_that_is_too_long_for_every_seat_is_rejected() {
    let council = council_with_rules();
    write_artifact(&council, "posts/long.md", &"A long post.\n".repeat(40_000));
    // Invisible characters are rendered visibly and take more space.
    write_artifact(&council, "posts/hidden.md", &"\u{200b}".repeat(60_000));
    for path in ["posts/long.md", "posts/hidden.md"] {
        let ran = council.program.run_command(&["review", path]);
        assert_eq!(ran.code, 4, "{path}: {ran:?}");
    }
    assert_eq!(council.server.requests().len(), 0);
}

#[test]
fn what_could_not_be_a_type_a_name_or_a_rule_is_refused() {
    let council = council_with_rules();
    write_artifact(&council, "posts/a.md", "A post.\n");
    for odd in ["", "a\nb", "a b", &"x".repeat(65)] {
        assert_eq!(
            council.program.run_command(&["review", "posts/a.md", "--type", odd]).code,
            64,
            "{odd:?}"
        );
    }
    for odd in ["", " ", "a\nb", &"x".repeat(201)] {
        for command in [&["review", "posts/a.md"][..], &["sweep"]] {
            let ran = council.program.run_command(&[command, &["--producer", odd]].concat());
            assert_eq!(ran.code, 64, "{odd:?}: {ran:?}");
        }
    }
    for odd in ["./posts/*.md", "posts//*.md", " posts/*.md", "posts\\*.md", "../posts/*.md"] {
        council.change_settings(|settings| {
            settings["tier_rules"] = json!({ "tier_1": { "post": [odd] } })
        });
        assert_eq!(council.program.run_command(&["review", "posts/a.md"]).code, 5, "{odd:?}");
    }
}

#[test]
fn the_log_is_a_file_of_its_own() {
    let council = review_council(|_| ScriptedReply::Valid);
    expect_verdict(&run_review(&council, &["post.md"]), "SHIP", 0);
    for taken in [".plenary/plenary.db", ".plenary/plenary.db-wal", "council.yaml"] {
        council.change_settings(|settings| settings["review"] = json!({ "log_path": taken }));
        let ran = council.program.run_command(&["review", "--rehearse", "post.md"]);
        assert_eq!((ran.code, ran.stderr.contains("log_path")), (5, true), "{taken}: {ran:?}");
    }
    council.assert_verified();
}

#[test]
fn a_block_that_became_irreducible_is_a_tension_that_says_so() {
    let council = review_council(|asked| match is_judging(asked) {
        true => blocking_judgement(asked, asked.purpose == AskPurpose::CrossReading),
        false => ScriptedReply::Valid,
    });
    let result = run_review(&council, &["post.md"]);
    expect_verdict(&result, "HOLD", 2);
    assert_eq!(result.value_at("policy/irreducible_blocks"), 4);
    let cited = |entity: &str| {
        let ran =
            council.program.run_command(&["cite", &format!("{}/{entity}", result.dialogue_id())]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    };
    assert!(cited("T0101").contains("Reducible"));
    assert!(cited("T0201").contains("Irreducible"));
}

#[test]
fn a_block_that_becomes_irreducible_without_a_reason_of_a_peer_is_uncited() {
    let council = review_council(|asked| match (asked.seat, asked.purpose) {
        ("skeptic", AskPurpose::Judgement) => blocking_judgement(asked, false),
        ("skeptic", AskPurpose::CrossReading) => asked.valid_with(json!({
            "verdict": "hold", "would_block": true, "irreducible": true,
            "concessions": [], "escalations": [], "delta_from_r1": "I thought again.",
        })),
        _ => ScriptedReply::Valid,
    });
    let result = run_review(&council, &["post.md"]);
    expect_verdict(&result, "HOLD", 2);
    let skeptic = &result.value_at("round2")[0];
    assert_eq!((&skeptic["deliberator"], &skeptic["uncited"]), (&json!("skeptic"), &json!(true)));
    // In the record the second block replaces the first.
    let (_, record) =
        council.program.run_operation("export", &json!({ "dialogue_id": result.dialogue_id() }));
    let status = |tension: &Value| (tension["id"].clone(), tension["status"].clone());
    let tensions: Vec<_> = record["tensions"].as_array().unwrap().iter().map(status).collect();
    let expected = [(json!("T0101"), json!("resolved")), (json!("T0201"), json!("open"))];
    assert_eq!(tensions, expected);
}

#[test]
fn a_context_file_that_must_not_be_sent_is_missing_with_the_reason() {
    let key = format!("ghp_{}", "a1".repeat(18));
    let council = review_council_with(
        |_| ScriptedReply::Valid,
        |settings| {
            let refs = json!(["key.md", "binary.md", "id_rsa", "pipe", "gone.md"]);
            settings["review"]["deliberators"][0]["context_refs"] = refs;
        },
    );
    write_artifact(&council, "key.md", &key);
    write_artifact(&council, "binary.md", "a\0b");
    write_artifact(&council, "id_rsa", "whatever");
    let made =
        std::process::Command::new("mkfifo").arg(council.program.path().join("pipe")).status();
    assert!(made.unwrap().success());
    let result = run_review(&council, &["post.md"]);
    expect_verdict(&result, "SHIP", 0);
    let missing = result.value_at("missing_context").as_array().unwrap().iter();
    let reasons: Vec<&str> = missing.map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons.len(), 5, "{reasons:?}");
    assert_eq!(
        reasons[1..],
        [
            "it is binary",
            "its name is that of a credential",
            "it is not a regular file",
            "there is no such file",
        ]
    );
    let sent = [AskPurpose::Judgement, AskPurpose::CrossReading]
        .map(|purpose| council.requests_for(purpose));
    assert!(sent.iter().flatten().all(|sent| !sent.user.contains(&key)), "a key was sent");
}

#[test]
fn a_name_that_is_redacted_is_not_in_the_id_either() {
    let redact = json!(["(?i)nightingale"]);
    let council = review_council_with(
        |_| ScriptedReply::Valid,
        |settings| settings["review"]["redact"] = redact,
    );
    write_artifact(&council, "nightingale-note.md", ARTIFACT);
    expect_verdict(&run_review(&council, &["nightingale-note.md"]), "SHIP", 0);
    let row = read_log(&council).remove(0).to_string();
    assert!(!row.contains("nightingale"), "{row}");
}

#[test]
fn what_the_budget_cannot_carry_to_its_end_is_not_begun() {
    let caps = json!({ "tokens_max": 60_000 });
    let council =
        review_council_with(|_| ScriptedReply::Valid, |settings| settings["budget"] = caps);
    write_artifact(&council, "long.md", &"A sentence that goes on. ".repeat(2_000));
    let ran = council.program.run_command(&["review", "long.md", "post.md"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("`budget.tokens_max` allows 60,000"), "{ran:?}");
    assert_eq!(read_log(&council).len(), 1, "the other is judged");
}
