//! Harness: a review in its own folder, with four deliberators, an adjudicator and a model server.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use crate::councils::harness::{CommandResult, SeatRequest, TestCouncil};
use crate::kit::ScriptedReply;

pub(super) const SEATS: [&str; 4] = ["skeptic", "voice_identity", "evidence", "strategy"];
pub(super) const ADJUDICATOR: &str = "adjudicator";

/// A short document for all seats to review.
pub(super) const ARTIFACT: &str = "# We launch\n\nOur cache is the fastest there is.\n";

/// All seats pass everything except where the script says otherwise. Each seat has its own model,
/// by which the server identifies it.
pub(super) fn review_council(
    script: impl Fn(&SeatRequest<'_>) -> ScriptedReply + Send + Sync + 'static,
) -> TestCouncil {
    review_council_with(script, |_| {})
}

/// The same with changed settings.
pub(super) fn review_council_with(
    script: impl Fn(&SeatRequest<'_>) -> ScriptedReply + Send + Sync + 'static,
    change: impl FnOnce(&mut Value),
) -> TestCouncil {
    let council = TestCouncil::with_settings(script, |settings| {
        let pattern = settings["council"]["providers"][0].clone();
        let provider = |seat: &str| {
            let mut provider = pattern.clone();
            provider["name"] = json!(format!("behind-{seat}"));
            provider["model"] = json!(format!("model-{seat}"));
            provider["family"] = json!(format!("family-{seat}"));
            provider
        };
        let all: Vec<&str> = SEATS.into_iter().chain([ADJUDICATOR]).collect();
        let providers: Vec<Value> = all.iter().map(|seat| provider(seat)).collect();
        settings["council"]["providers"] = json!(providers);
        let deliberators: Vec<Value> = SEATS
            .iter()
            .map(|seat| json!({ "name": seat, "provider": format!("behind-{seat}") }))
            .collect();
        settings["review"] = json!({
            "deliberators": deliberators,
            "adjudicator": { "provider": "behind-adjudicator" },
            "policy": { "name": "strict" },
        });
        change(settings);
    });
    write_artifact(&council, "post.md", ARTIFACT);
    council
}

pub(super) fn write_artifact(council: &TestCouncil, path: &str, text: &str) {
    let path = council.program.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Runs `review … --json` and verifies the record afterwards.
#[track_caller]
pub(super) fn run_review(council: &TestCouncil, arguments: &[&str]) -> CommandResult {
    council.run_command(&[&["review", "--json"], arguments].concat())
}

#[track_caller]
pub(super) fn expect_verdict<'a>(
    result: &'a CommandResult,
    verdict: &str,
    code: i32,
) -> &'a CommandResult {
    let got = (result.value_at("verdict").as_str().unwrap(), result.code);
    assert_eq!(got, (verdict, code), "{:#}\n{}", result.document, result.stderr);
    result
}

/// A valid judgement with a block.
pub(super) fn blocking_judgement(asked: &SeatRequest<'_>, irreducible: bool) -> ScriptedReply {
    asked.valid_with(json!({ "verdict": "hold", "would_block": true, "irreducible": irreducible }))
}

pub(super) fn is_judging(asked: &SeatRequest<'_>) -> bool {
    matches!(asked.purpose, AskPurpose::Judgement | AskPurpose::CrossReading)
}

/// The lines of the verdict log, parsed.
pub(super) fn read_log(council: &TestCouncil) -> Vec<Value> {
    let path = council.program.path().join("council_log.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
