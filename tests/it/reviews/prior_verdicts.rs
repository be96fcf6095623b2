//! Earlier verdicts on the same type are shown to the adjudicator only.

use plenary_core::model::ask::AskPurpose;
use serde_json::json;

use super::harness::{
    ADJUDICATOR, blocking_judgement, expect_verdict, is_judging, read_log, review_council,
    run_review, write_artifact,
};
use crate::councils::harness::{SeatRequest, TestCouncil};
use crate::kit::ScriptedReply;

/// Every seat blocks everything and names the document.
fn blocking_council() -> TestCouncil {
    review_council(|asked| {
        if is_judging(asked) {
            blocking_judgement(asked, true)
        } else {
            numbered_adjudication(asked)
        }
    })
}

/// The n-th adjudication gives a numbered reason.
fn numbered_adjudication(asked: &SeatRequest<'_>) -> ScriptedReply {
    asked.valid_with(
        json!({ "final_verdict": "HOLD", "reasoning": format!("canary-{}", asked.nth) }),
    )
}

#[test]
fn two_holds_on_a_type_reach_the_third() {
    let council = blocking_council();
    for (path, artifact_type) in
        [("a.md", "post"), ("b.md", "post"), ("other.md", "poem"), ("c.md", "post")]
    {
        write_artifact(&council, path, &format!("This is {path}.\n"));
        expect_verdict(&run_review(&council, &[path, "--type", artifact_type]), "HOLD", 2);
    }
    let asked = council.requests_for(AskPurpose::Adjudication);
    let shown = |nth: usize| -> Vec<bool> {
        (1..=4).map(|canary| asked[nth - 1].user.contains(&format!("canary-{canary}"))).collect()
    };
    assert_eq!(shown(1), [false; 4]);
    assert_eq!(shown(2), [true, false, false, false]);
    assert_eq!(shown(3), [false; 4], "another type's");
    assert_eq!(shown(4), [true, true, false, false]);
    // Newest first.
    let last = &asked[3].user;
    assert!(last.find("canary-2") < last.find("canary-1"));
    for seen in council.server.requests() {
        let is_adjudicator = seen.model.ends_with(ADJUDICATOR);
        assert!(is_adjudicator || !seen.user.contains("canary-"), "{}", seen.model);
        assert!(!seen.system.contains("canary-"));
    }
    let rows = read_log(&council);
    let consulted: Vec<(bool, u64)> = rows
        .iter()
        .map(|row| {
            let word = &row["adjudicator"];
            (
                word["applied_compounding"] == true,
                word["prior_verdicts_consulted"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(consulted, [(false, 0), (true, 1), (false, 0), (true, 2)]);
}

#[test]
fn what_was_not_decided_or_only_played_is_not_consulted() {
    let council = review_council(|asked| match (asked.purpose, asked.nth) {
        // The first review gets no readable adjudication.
        (AskPurpose::Adjudication, 1 | 2) => ScriptedReply::Reply("canary-incomplete".to_owned()),
        (AskPurpose::Adjudication, _) => numbered_adjudication(asked),
        _ if is_judging(asked) => blocking_judgement(asked, true),
        _ => ScriptedReply::Valid,
    });
    expect_verdict(&run_review(&council, &["post.md"]), "INCOMPLETE", 3);
    let rehearsed = run_review(&council, &["post.md", "--rehearse"]);
    assert_eq!(rehearsed.value_at("rehearsal"), true);
    let result = run_review(&council, &["post.md"]);
    expect_verdict(&result, "HOLD", 2);
    let rows = read_log(&council);
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2]["adjudicator"]["prior_verdicts_consulted"], 0);
    assert_eq!(rows[1]["rehearsal"], true);
    let asked = council.requests_for(AskPurpose::Adjudication);
    assert!(!asked.last().unwrap().user.contains("PRIOR VERDICTS"));
}

#[test]
fn no_more_than_the_last_five_are_shown_each_cut_short() {
    let council = review_council(|asked| {
        if is_judging(asked) {
            return blocking_judgement(asked, true);
        }
        let reasoning = format!("canary-{} {}end", asked.nth, "x".repeat(2_000));
        asked.valid_with(json!({ "final_verdict": "HOLD", "reasoning": reasoning }))
    });
    for number in 1..=7 {
        write_artifact(&council, "n.md", &format!("Number {number}.\n"));
        run_review(&council, &["n.md"]);
    }
    let asked = council.requests_for(AskPurpose::Adjudication);
    let shown: Vec<bool> =
        (1..=7).map(|canary| asked[6].user.contains(&format!("canary-{canary} "))).collect();
    assert_eq!(shown, [false, true, true, true, true, true, false]);
    assert!(!asked[6].user.contains("xend"), "a prior was not cut");
}

#[test]
fn verdicts_of_others_are_consulted_once_they_are_imported() {
    let council = blocking_council();
    let row = json!({
        "v": 2, "ts": "2026-05-18T10:00:00Z", "artifact": "old.md", "artifact_type": "post",
        "round1": [], "round2": [],
        "adjudicator": { "final_verdict": "HOLD", "reasoning": "canary-imported",
            "revision_brief": "Cite it.", "applied_compounding": false, "prior_verdicts_consulted": 0 },
    });
    write_artifact(&council, "theirs.jsonl", &format!("{row}\n"));
    assert_eq!(council.program.run_command(&["log", "import", "theirs.jsonl"]).code, 0);
    expect_verdict(&run_review(&council, &["post.md", "--type", "post"]), "HOLD", 2);
    let asked = &council.requests_for(AskPurpose::Adjudication)[0];
    assert!(asked.user.contains("canary-imported") && asked.user.contains("Cite it."));
}

/// A person's decision stands beside the verdict that it replaced, and codes are counted over the
/// whole log of the type, not over the five verdicts alone.
#[test]
fn overrides_and_counts_of_codes_reach_the_adjudicator() {
    let council = review_council(|asked| match (is_judging(asked), asked.seat) {
        (true, "evidence") => asked.valid_with(json!({
            "verdict": "hold", "would_block": true, "irreducible": true,
            "concerns": [{ "locus": "L1", "issue": "No source.", "fix": "Name it.",
                "code": "no_source" }],
        })),
        (true, _) => ScriptedReply::Valid,
        (false, _) => numbered_adjudication(asked),
    });
    let mut newest = String::new();
    for number in 1..=7 {
        let path = format!("{number}.md");
        write_artifact(&council, &path, &format!("This is number {number}.\n"));
        let result = run_review(&council, &[&path, "--type", "post"]);
        expect_verdict(&result, "HOLD", 2);
        newest = result.value_at("verdict_id").as_str().unwrap().to_owned();
    }
    let why = "The board knows the source.";
    let decided = council.program.run_command(&["override", &newest, "--as", "ship", "--why", why]);
    assert_eq!(decided.code, 0, "{decided:?}");
    write_artifact(&council, "8.md", "This is the last one.\n");
    run_review(&council, &["8.md", "--type", "post"]);
    let asked = council.requests_for(AskPurpose::Adjudication);
    let last = &asked.last().unwrap().user;
    assert!(last.contains(why) && last.contains("\"override\""), "{last}");
    assert_eq!(last.matches("\"artifact\"").count(), 5, "five verdicts: {last}");
    let count =
        "{\"deliberator\":\"evidence\",\"code\":\"no_source\",\"reviews\":7,\"of_reviews\":7,";
    assert!(last.contains(count), "{last}");
    let first = &asked.first().unwrap().user;
    assert!(!first.contains("COUNTS OF CODES"), "nothing was logged before");
}
