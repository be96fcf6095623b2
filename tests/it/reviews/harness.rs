//! Harness: a review in its own folder, with four deliberators, an adjudicator and a model server.

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use crate::councils::harness::{Asked, Council, Told};
use crate::kit::Play;

pub(super) const SEATS: [&str; 4] = ["skeptic", "voice_identity", "evidence", "strategy"];
pub(super) const ADJUDICATOR: &str = "adjudicator";

/// A short document for all seats to review.
pub(super) const ARTIFACT: &str = "# We launch\n\nOur cache is the fastest there is.\n";

/// All seats pass everything except where the script says otherwise. Each seat has its own model,
/// by which the server identifies it.
pub(super) fn gate(script: impl Fn(&Asked<'_>) -> Play + Send + Sync + 'static) -> Council {
    gate_with(script, |_| {})
}

/// The same with changed settings.
pub(super) fn gate_with(
    script: impl Fn(&Asked<'_>) -> Play + Send + Sync + 'static,
    change: impl FnOnce(&mut Value),
) -> Council {
    let council = Council::with(script, |settings| {
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
    write(&council, "post.md", ARTIFACT);
    council
}

pub(super) fn write(council: &Council, path: &str, text: &str) {
    let path = council.program.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Runs `review … --json` and verifies the record afterwards.
#[track_caller]
pub(super) fn review(council: &Council, arguments: &[&str]) -> Told {
    council.run(&[&["review", "--json"], arguments].concat())
}

#[track_caller]
pub(super) fn expect<'a>(told: &'a Told, verdict: &str, code: i32) -> &'a Told {
    let got = (told.at("verdict").as_str().unwrap(), told.code);
    assert_eq!(got, (verdict, code), "{:#}\n{}", told.document, told.stderr);
    told
}

/// A valid judgement with a block.
pub(super) fn blocks(asked: &Asked<'_>, irreducible: bool) -> Play {
    asked.with(json!({ "verdict": "hold", "would_block": true, "irreducible": irreducible }))
}

pub(super) fn is_judging(asked: &Asked<'_>) -> bool {
    matches!(asked.purpose, Purpose::Judgement | Purpose::CrossReading)
}

/// The lines of the verdict log, parsed.
pub(super) fn log(council: &Council) -> Vec<Value> {
    let path = council.program.path().join("council_log.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
