//! The specification's prompt format, on its own example: the NVIDIA dialogue before its third
//! round, with a geopolitical analyst added.

use std::path::Path;

use serde_json::json;

use super::prompt_parser::{ParsedPrompt, read_prompt, render_prompt};
use crate::kit::{TestProject, make_batch, make_item, open_dialogue, value_at};
use crate::specification::{ID, run_steps};

/// The steps of the example before its round 2 is registered.
const BEFORE_ROUND_2: usize = 6;

fn project_before_round_2() -> TestProject {
    let bench = TestProject::new();
    run_steps(&bench, BEFORE_ROUND_2);
    bench
}

/// Checks that the lines occur in this order.
#[track_caller]
fn assert_in_order(found: &[&str], expected: &[&str]) {
    let mut rest = found.iter();
    for line in expected {
        assert!(rest.any(|found| found == line), "no {line:?}, or not in its place: {found:#?}");
    }
}

#[test]
fn a_retained_expert_reads_the_specifications_sections_in_its_order() {
    let bench = project_before_round_2();
    let text = render_prompt(&bench, ID, 2, "muffin");
    let walked = ParsedPrompt::parse_prompt(&text);
    assert_in_order(
        &walked.outside,
        &[
            "# Dialogue",
            "**Question:**",
            "**Round:** 2 of ? | **Status:** open | **Total ALIGNMENT:** 162",
            "---",
            "## Background",
            "---",
            "## Your Role",
            "### Your Task This Round",
            "---",
            "## Prior Rounds",
            "### Round 0 (Score: 117)",
            "#### Muffin (You)",
            "#### Cupcake",
            "#### Donut",
            "---",
            "### Judge Synthesis — Round 0",
            "### Round 1 (Score: 45)",
            "#### Muffin (You)",
            "### Judge Synthesis — Round 1",
            "---",
            "## Active Tensions",
            "---",
            "## Resolved Tensions",
            "---",
            "## Markers",
            "---",
            "## Instructions",
        ],
    );
    assert!(!text.contains("Context Brief"), "a retained expert needs no brief");
    assert_eq!(walked.outside.iter().filter(|line| line.contains("(You)")).count(), 2);
}

#[test]
fn each_section_holds_what_the_specification_shows_there() {
    let bench = project_before_round_2();
    let text = render_prompt(&bench, ID, 2, "muffin");
    let walked = ParsedPrompt::parse_prompt(&text);
    let has = |label: &str, part: &str| {
        let held = walked.fenced_text(label);
        assert!(held.contains(part), "no {part:?} in {label}:\n{held}");
    };
    has("QUESTION", "Title: NVIDIA Investment Decision\n");
    has("TITLE OF ROUND 0", "Opening Arguments");
    has("ROUND 0 MUFFIN", "Role: Value Analyst\n");
    has("QUESTION", "Should Acme Trust swap its NVAI position for NVDA shares?");
    has(
        "BACKGROUND",
        "| Constraint | Requirement |\n|------------|-------------|\n| Income mandate | 4% annual",
    );
    has(
        "YOUR ROLE",
        "**Muffin** 🧁 | Value Analyst | Core\nFocus: Intrinsic value, margin of safety\n",
    );
    has("YOUR ROLE", "\nYour score: 20 | Source: retained\n\nYou evaluate investments");
    has("YOUR TASK", "Donut amended the collar with you (R0101).");
    has(
        "ROUND 0 MUFFIN",
        "[P0001: Income mandate mismatch] (muffin) · refined\nNVIDIA's zero dividend",
    );
    has("ROUND 0 CUPCAKE", "[TENSION T0003: Supply chain concentration] (cupcake, scone) · open\n");
    has("ROUND 0 DONUT", "| covered_call_delta | 0.20-0.25 |");
    has("ROUND 1 MUFFIN", "\n[RE:REFINE P0001] [RE:SUPPORT R0001] [RE:ADDRESS T0001]\n");
    has("SYNTHESIS OF ROUND 0", "11-1 split: majority concerns");
    has("ACTIVE TENSIONS", "| T0001 | Growth vs income | Muffin | addressed | originator |");
    has("ACTIVE TENSIONS", "| T0003 | Supply chain concentration | Cupcake and Scone | open | — |");
    assert!(!walked.fenced_text("ACTIVE TENSIONS").contains("T0002"), "T0002 is resolved");
    has("RESOLVED TENSIONS", "| T0002 | Concentration risk | ");
    let own = ["`MUFFIN-P0201`", "/round-2/response-muffin.md`", "since round 1?"];
    let (_, instructions) = text.split_once("\n## Instructions\n").unwrap();
    for part in own {
        assert!(instructions.contains(part), "no {part} in {instructions}");
    }
    assert!(instructions.contains("You are Muffin 🧁, an expert participating in round 2"));
}

#[test]
fn a_created_expert_gets_the_brief_with_its_six_parts() {
    let bench = project_before_round_2();
    let text = render_prompt(&bench, ID, 2, "palmier");
    let walked = ParsedPrompt::parse_prompt(&text);
    assert_in_order(
        &walked.outside,
        &[
            "## Background",
            "## Your Role",
            "### Your Task This Round",
            "## Context Brief (You are joining in Round 2)",
            "You were brought in to address **T0003**.",
            "### The Dialogue Question",
            "### Background",
            "### Why You're Here",
            "### Your Mandate",
            "### Key Context: The Tension You're Addressing",
            "### Relevant Prior Perspectives",
            "### Relevant Prior Evidence",
            "### Dialogue Progress",
            "- **Current ALIGNMENT:** 162 (velocity -72, open, 8 tensions active)",
            "### What the Panel Needs From You",
            "## Prior Rounds",
            "## Active Tensions",
            "## Instructions",
        ],
    );
    let held = |label: &str| walked.fenced_text(label);
    assert_eq!(held("QUESTION").matches("Should Acme Trust").count(), 2);
    assert_eq!(held("BACKGROUND").matches("| Time horizon | 20+ years |").count(), 2);
    assert!(held("REASON").contains("T0003 (supply chain concentration) requires"));
    assert!(held("YOUR MANDATE").contains("1. Evaluate the geopolitical risk of Taiwan"));
    assert!(held("KEY CONTEXT").contains(
        "**T0003: Supply chain concentration** (raised by Cupcake and Scone, Round 0, open):\n> NVIDIA's 87%"
    ));
    // The specification's example shows what supports T0003 and what T0003 cites.
    for id in ["P0004", "P0005", "P0008"] {
        assert!(held("RELEVANT PERSPECTIVES").contains(&format!("**{id}: ")), "{id} is missing");
    }
    assert!(!held("RELEVANT PERSPECTIVES").contains("P0001"));
    assert!(held("PROGRESS").contains("- **Round 0 (Score: 117):** 11-1 split"));
    assert!(held("PROGRESS").contains("- **Round 1 (Score: 45):** Panel converging"));
    // The full record besides the brief, too.
    assert!(held("ROUND 0 MUFFIN").contains("[P0001: Income mandate mismatch] (muffin)"));
}

#[test]
fn the_brief_counts_as_progress_does() {
    let bench = project_before_round_2();
    let progress = bench.run_ok("progress", &json!({ "dialogue_id": ID }));
    let line = format!(
        "- **Current ALIGNMENT:** {} (velocity {}, {}, {} tensions active)",
        value_at(&progress, "total_alignment"),
        value_at(&progress, "velocity"),
        value_at(&progress, "status").as_str().unwrap(),
        value_at(&progress, "open_tensions"),
    );
    assert!(render_prompt(&bench, ID, 2, "palmier").contains(&line), "{line}");
}

#[test]
fn everyone_from_pool_or_created_is_briefed_and_nobody_else() {
    let bench = project_before_round_2();
    let context = bench.run_ok("context", &json!({ "dialogue_id": ID, "render": true }));
    let files = value_at(&context, "prompts").as_array().unwrap();
    assert_eq!(files.len(), 13);
    for file in files {
        let slug = value_at(file, "expert_slug").as_str().unwrap();
        let text = read_prompt(value_at(file, "prompt_path"));
        let is_briefed = ParsedPrompt::parse_prompt(&text)
            .list_headings()
            .contains(&"## Context Brief (You are joining in Round 2)");
        let source = value_at(&context, &format!("experts.{slug}.source"));
        assert_eq!(is_briefed, source != "retained", "{slug}");
    }
}

#[test]
fn who_was_there_before_is_told_so() {
    let bench = project_before_round_2();
    let text = render_prompt(&bench, ID, 2, "brioche");
    assert!(text.contains("You spoke in it last in round 0; what you said is marked (You)."));
    assert!(text.contains("#### Brioche (You)\n"));
    assert!(text.contains("You were brought in to address **T0008**."), "{text}");
}

#[test]
fn the_opening_round_says_that_nothing_was_said() {
    let bench = TestProject::new();
    run_steps(&bench, 1);
    let text = render_prompt(&bench, ID, 0, "churro");
    assert!(!text.contains("Context Brief"), "there is nothing to be briefed on:\n{text}");
    for part in [
        "This is the opening round: no expert has spoken yet, and all answer at once.",
        "1. Give the evidence that an expert in your role knows",
        "This is the opening round: nothing was said before it.",
        "None: no tension is active.",
        "You are Churro 🧁, an expert participating in round 0",
        "`CHURRO-P0001`",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn a_dialogue_with_nothing_but_a_title_has_prompts() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    bench.run_ok(
        "register",
        &make_batch(0, json!({ "perspectives": [make_item("ANN-P0001", "")] })),
    );
    let text = render_prompt(&bench, "talk", 1, "ann");
    for part in [
        "# Dialogue\n",
        "\nTitle: Talk\n",
        "The dialogue was opened with nothing but its question.",
        "### Round 0 (Score: 10)\n",
        "The Judge wrote none.",
        "2. Answers to you. Where others opposed, questioned or refined what you said",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn a_past_round_is_told_as_its_panel_found_it() {
    let bench = TestProject::new();
    run_steps(&bench, 10);
    let text = render_prompt(&bench, ID, 1, "muffin");
    let walked = ParsedPrompt::parse_prompt(&text);
    assert!(text.contains("**Round:** 1 of ? | **Status:** open | **Total ALIGNMENT:** 117"));
    assert!(!text.contains("[P0101: "), "round 1 was not held yet");
    assert!(walked.fenced_text("ACTIVE TENSIONS").contains("| T0002 | Concentration risk |"));
}

/// Requests, moves and verdicts of earlier rounds, in the prompt and in the context.
#[test]
fn an_expert_learns_what_was_asked_of_the_panel_and_decided_so_far() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let moves = json!([
        { "expert": "ann", "type": "request", "context": "What does a rollback cost?" },
        { "expert": "bob", "type": "converge" },
    ]);
    let fields = json!({ "perspectives": [make_item("ANN-P0001", "")], "moves": moves });
    bench.run_ok("register", &make_batch(0, fields));
    let verdict = json!({
        "dialogue_id": "talk", "verdict_id": "v1", "verdict_type": "interim", "round": 0,
        "recommendation": "Look at the costs first.", "description": "No figure is known.",
        "conditions": ["by Friday"],
    });
    bench.run_ok("verdict", &verdict);
    let text = render_prompt(&bench, "talk", 1, "bob");
    let walked = ParsedPrompt::parse_prompt(&text);
    let request = "- Ann [MOVE:REQUEST]: What does a rollback cost?";
    assert_eq!(walked.fenced_text("REQUESTS TO THE PANEL").trim(), request);
    let moves = format!("{request}\n- Bob [MOVE:CONVERGE]");
    assert_eq!(walked.fenced_text("MOVES OF ROUND 0").trim(), moves);
    let result = walked.fenced_text("VERDICTS");
    assert!(
        result.contains("**v1** (interim, by the Judge, Round 0): Look at the costs first.\nNo")
    );
    assert!(result.contains("\n- Condition: by Friday"), "{result}");
    // Ann asked herself; the request is the others' to answer.
    assert!(!render_prompt(&bench, "talk", 1, "ann").contains("## Requests to the Panel"));
    let context = bench.run_ok("context", &json!({ "dialogue_id": "talk" }));
    assert_eq!(value_at(&context, "requests.0.context"), "What does a rollback cost?");
    assert_eq!(value_at(&context, "prior_rounds.0.moves.1.type"), "converge");
    assert_eq!(value_at(&context, "verdicts.0.recommendation"), "Look at the costs first.");
    assert_eq!(value_at(&context, "resolved_tensions"), &json!([]));
}

/// What the Judge writes to an expert is a request; what experts said is material.
#[test]
fn the_kind_of_a_fence_says_whether_to_follow_or_to_judge() {
    let bench = project_before_round_2();
    let text = render_prompt(&bench, ID, 2, "palmier");
    let walked = ParsedPrompt::parse_prompt(&text);
    for (label, _) in &walked.inside {
        let (kind, name) = label.split_once(' ').unwrap();
        let is_asked = ["QUESTION", "YOUR ROLE", "YOUR TASK", "YOUR MANDATE"].contains(&name);
        assert_eq!(kind, if is_asked { "request" } else { "material" }, "{name}");
    }
}

#[test]
fn the_markers_are_left_out_for_experts_who_have_the_skill() {
    let bench = project_before_round_2();
    let prompt = |is_loaded: bool| {
        let arguments = json!({ "dialogue_id": ID, "skill_loaded": is_loaded });
        let project = &bench.project;
        plenary_engine::app::round_context::render_prompt(project, &arguments, "muffin")
            .unwrap()
            .prompt
    };
    let (with, without) = (prompt(false), prompt(true));
    assert!(with.contains("\n## Markers\n\n### Local ids\n"), "{with}");
    assert!(with.contains("| `[MOVE:BRIDGE {id} {id}]` | These two can be combined |"));
    assert!(with.contains("using the markers explained above (P, R"));
    assert!(!without.contains("## Markers") && !without.contains("MOVE:BRIDGE {id}"));
    assert!(without.contains("using the markers from your skill (P, R"));
}

/// `docs/examples/prompt-palmier.md` must equal this prompt except for the folder and the mark,
/// which differ between runs. `PLENARY_RENEW=1` rewrites it.
#[test]
fn the_example_in_the_documentation_is_what_is_written() {
    const MARK: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    let bench = project_before_round_2();
    let text = render_prompt(&bench, ID, 2, "palmier");
    let folder = bench.folder.path().canonicalize().unwrap();
    let text = text.replace(ParsedPrompt::parse_prompt(&text).mark, MARK);
    let text = text.replace(folder.to_str().unwrap(), "/home/ada/trust");
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("docs/examples/prompt-palmier.md");
    if std::env::var_os("PLENARY_RENEW").is_some() {
        std::fs::write(&example, &text).unwrap();
    }
    let expected = std::fs::read_to_string(example).unwrap();
    for (place, (found, expected)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of the example", place + 1);
    }
    assert_eq!(text, expected);
}
