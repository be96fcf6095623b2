//! The gate does not judge the same bytes twice, and a person's decision applies at once.

use serde_json::{Value, json};

use super::harness::{blocking_judgement, expect_verdict, is_judging, review_council, run_review};
use crate::councils::harness::TestCouncil;
use crate::mcp::stdio_client::StdioClient;

/// Every deliberator blocks, so each review ends with HOLD.
fn strict_council() -> TestCouncil {
    review_council(|asked| match is_judging(asked) {
        true => blocking_judgement(asked, true),
        false => asked.valid_with(json!({ "final_verdict": "HOLD" })),
    })
}

#[test]
fn the_same_bytes_with_the_same_settings_are_not_judged_again() {
    let council = strict_council();
    let first = run_review(&council, &["post.md"]);
    expect_verdict(&first, "HOLD", 2);
    let calls = council.server.requests().len();
    let again = run_review(&council, &["post.md"]);
    expect_verdict(&again, "HOLD", 2);
    assert_eq!(council.server.requests().len(), calls, "no model is asked");
    assert_eq!(again.value_at("decided_before.by"), "gate");
    assert_eq!(again.value_at("verdict_id"), first.value_at("verdict_id"));
    let page = council.program.run_command(&["review", "post.md"]);
    assert!(page.stdout.contains("Same content and settings: the gate decided HOLD"), "{page:?}");
    assert_eq!(page.code, 2);
}

#[test]
fn force_other_settings_and_other_bytes_are_judged() {
    let council = strict_council();
    run_review(&council, &["post.md"]);
    let calls = council.server.requests().len();
    let counted = |arguments: &[&str]| {
        let before = council.server.requests().len();
        run_review(&council, arguments);
        council.server.requests().len() - before
    };
    assert_eq!(counted(&["post.md", "--force"]), calls);
    assert_eq!(counted(&["post.md", "--policy", "seed"]), calls);
    assert_eq!(counted(&["post.md", "--policy", "seed"]), 0);
    assert_eq!(counted(&["post.md", "--type", "email"]), calls);
    super::harness::write_artifact(&council, "post.md", "# We launch later\n");
    assert_eq!(counted(&["post.md"]), calls);
}

#[test]
fn an_override_applies_at_once_with_its_exit_code_until_force() {
    let council = strict_council();
    run_review(&council, &["post.md"]);
    let arguments = ["override", "latest", "--as", "SHIP", "--why", "Source added.", "--by", "Ann"];
    let ran = council.program.run_command(&arguments);
    assert!(ran.code == 0 && ran.stdout.contains("decided by Ann"), "{ran:?}");
    let calls = council.server.requests().len();
    // Other settings do not matter: a person decided on these bytes.
    let again = run_review(&council, &["post.md", "--policy", "seed"]);
    expect_verdict(&again, "SHIP", 0);
    assert_eq!(council.server.requests().len(), calls);
    assert_eq!(again.value_at("override.as"), "SHIP");
    assert_eq!(again.value_at("override.by"), "Ann");
    assert_eq!(again.value_at("override.why"), "Source added.");
    assert!(again.value_at("override.at").is_string());
    let shown = council.program.run_command(&["show", "latest"]).stdout;
    assert!(
        shown.contains("SHIP") && shown.contains("OVERRIDDEN by Ann, the gate said HOLD"),
        "{shown}"
    );
    let tail = council.program.run_command(&["log", "tail"]).stdout;
    assert!(tail.contains("SHIP by Ann: Source added."), "{tail}");
    expect_verdict(&run_review(&council, &["post.md", "--force"]), "HOLD", 2);
    expect_verdict(&run_review(&council, &["post.md"]), "HOLD", 2);
}

#[test]
fn an_agent_gets_the_earlier_decision_unless_it_forces_a_review() {
    let council = strict_council();
    let mut agent = StdioClient::new(&council.program);
    let mut review = |arguments: Value| {
        let outcome = agent.call_tool_ok("council_review", &arguments);
        (outcome["result"].clone(), council.server.requests().len())
    };
    let first = json!({ "path": "post.md", "wait_seconds": 30 });
    let (result, calls) = review(first.clone());
    assert_eq!(result["verdict"], "HOLD", "{result:#}");
    let (again, after) = review(first);
    assert_eq!((&again["verdict"], after), (&json!("HOLD"), calls), "{again:#}");
    assert_eq!(again["decided_before"]["by"], "gate");
    let (forced, after) = review(json!({ "path": "post.md", "wait_seconds": 30, "force": true }));
    assert_eq!(after, calls * 2);
    assert!(forced.get("decided_before").is_none(), "{forced:#}");
}

#[test]
fn an_override_needs_a_reason() {
    let council = strict_council();
    run_review(&council, &["post.md"]);
    let ran = council.program.run_command(&["override", "latest", "--as", "SHIP", "--why", " "]);
    assert!(ran.code == 64 && ran.stderr.contains("--why"), "{ran:?}");
}

#[test]
fn another_policy_is_replayed_over_recorded_judgements() {
    // One deliberator blocks: the strict policy says REVISE, the seed's says SHIP.
    let council = review_council(|asked| match is_judging(asked) && asked.seat == "skeptic" {
        true => blocking_judgement(asked, false),
        false => asked.valid_with(json!({})),
    });
    expect_verdict(&run_review(&council, &["post.md"]), "REVISE", 1);
    let calls = council.server.requests().len();
    let outcome = council.run_command(&["log", "replay", "--policy", "seed", "--json"]);
    assert_eq!(outcome.document["rows"], 1);
    assert_eq!(outcome.document["changed"][0]["was"], "REVISE");
    assert_eq!(outcome.document["changed"][0]["would_be"], "SHIP");
    assert_eq!(
        outcome.document["distribution"],
        json!({"was": {"REVISE": 1}, "would_be": {"SHIP": 1}})
    );
    let same = council.run_command(&["log", "replay", "--policy", "strict", "--json"]);
    assert_eq!(same.document["changed"], json!([]));
    assert_eq!(council.server.requests().len(), calls);
    let page = council.program.run_command(&["log", "replay", "--policy", "seed"]).stdout;
    assert!(page.contains("Policy `seed` over 1 verdict: 1 would change"), "{page}");
}
