//! Review verdicts, written directly into a store.

use plenary::domain::change::{Change, EntryKind};
use plenary::domain::dialogue::Protocol;
use plenary::domain::gate::{Decision, GateVerdict, LogRow, Override};
use plenary::domain::ids::DialogueId;
use plenary::store::{Store, StoreError, transact};
use serde_json::json;

use super::conclusion_rows::{Fate, moment, open_for};

/// Journal time of all verdicts; their `ts` differ by seconds.
const AT: &str = "2026-05-18T12:00:00Z";

/// A row of a type with this verdict and id, `seconds` after ten o'clock.
pub fn log_row(id: &str, artifact_type: &str, verdict: GateVerdict, seconds: u32) -> LogRow {
    let at = moment("2026-05-18T10:00:00Z").day().start();
    let ts =
        at.to_string().replace("00:00:00", &format!("10:{:02}:{:02}", seconds / 60, seconds % 60));
    let blocks = verdict != GateVerdict::Ship;
    let seat = |name: &str| {
        json!({
            "deliberator": name, "verdict": if blocks { "hold" } else { "ship" },
            "scores": {"argument_soundness": 3}, "would_block": blocks, "irreducible": false,
            "concerns": [{"locus": "L1", "issue": format!("{name} doubts {id}"), "fix": "say why"}],
            "revision_brief": "Say why.",
        })
    };
    serde_json::from_value(json!({
        "v": 2, "ts": ts, "artifact": format!("posts/{}.md", id.replace('/', "-")),
        "artifact_type": artifact_type, "round1": [seat("skeptic"), seat("evidence")],
        "round2": [seat("skeptic"), {"deliberator": "evidence", "absent": true, "error_type": "timeout"}],
        "adjudicator": {"final_verdict": verdict, "reasoning": format!("Reasons of {id}: “ü\n\\”."),
                        "revision_brief": "Say why.", "applied_compounding": false, "prior_verdicts_consulted": 0},
        "artifact_sha256": plenary::domain::digest::sha256_hex([id.as_bytes()]), "tier": 1,
        "producer": "scribe", "verdict_id": id, "rehearsal": false,
    }))
    .unwrap()
}

/// Opens the review with this id unless it exists.
fn open_review(store: &dyn Store, id: &str) -> DialogueId {
    let dialogue: DialogueId = id.parse().unwrap();
    if store.dialogue(&dialogue).unwrap().is_some() {
        return dialogue;
    }
    open_for(store, &Fate { id, title: id, protocol: Protocol::Review, at: AT, ..Fate::default() })
}

/// Logs rows in one entry of a review.
pub fn log_rows(store: &dyn Store, dialogue: &str, rows: &[LogRow]) {
    try_log_rows(store, dialogue, rows).unwrap_or_else(|error| panic!("{error:?}"));
}

/// The same, for a store that may reject it.
pub fn try_log_rows(store: &dyn Store, dialogue: &str, rows: &[LogRow]) -> Result<(), StoreError> {
    let id = open_review(store, dialogue);
    let changes: Vec<Change> =
        rows.iter().map(|row| Change::VerdictLogged(Box::new(row.clone()))).collect();
    apply(store, &id, EntryKind::VerdictLogged, &changes)
}

/// Logs the `n`-th verdict of a review.
pub fn log_verdict(store: &dyn Store, dialogue: &str, n: u32, verdict: GateVerdict) -> LogRow {
    let row = log_row(&format!("{dialogue}/{n}"), "post", verdict, n);
    log_rows(store, dialogue, std::slice::from_ref(&row));
    row
}

pub fn override_verdict(store: &dyn Store, dialogue: &str, n: u32, decision: Decision) {
    let verdict_id = format!("{dialogue}/{n}");
    let word = Override { verdict_id, decision, why: "It was read again.".to_owned() };
    let changes = [Change::Overridden(word)];
    apply(store, &dialogue.parse().unwrap(), EntryKind::Overridden, &changes).unwrap();
}

fn apply(
    store: &dyn Store,
    id: &DialogueId,
    kind: EntryKind,
    changes: &[Change],
) -> Result<(), StoreError> {
    transact(store, |unit| unit.apply(id, kind, moment(AT), changes)).map(drop)
}
