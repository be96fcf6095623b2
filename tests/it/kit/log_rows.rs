//! Review verdicts, written directly into a store.

use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::hash::sha256_hex;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::protocols::review::log_row::LogRow;
use plenary_core::protocols::review::policy::{ReviewDecision, ReviewVerdict, VerdictOverride};
use plenary_engine::store::error::StoreError;
use plenary_engine::store::traits::{Store, in_transaction};
use serde_json::json;

use super::conclusion_rows::{ConclusionSpec, open_spec_dialogue, parse_moment};

/// Journal time of all verdicts; their `ts` differ by seconds.
const LOGGED_AT: &str = "2026-05-18T12:00:00Z";

/// A row of a type with this verdict and id, `seconds` after ten o'clock.
pub fn make_log_row(id: &str, artifact_type: &str, verdict: ReviewVerdict, seconds: u32) -> LogRow {
    let at = parse_moment("2026-05-18T10:00:00Z").utc_day().start_moment();
    let ts =
        at.to_string().replace("00:00:00", &format!("10:{:02}:{:02}", seconds / 60, seconds % 60));
    let blocks = verdict != ReviewVerdict::Ship;
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
        "artifact_sha256": sha256_hex([id.as_bytes()]), "tier": 1,
        "producer": "scribe", "verdict_id": id, "rehearsal": false,
    }))
    .unwrap()
}

/// Opens the review with this id unless it exists.
fn open_review(store: &dyn Store, id: &str) -> DialogueId {
    let dialogue: DialogueId = id.parse().unwrap();
    if store.load_dialogue(&dialogue).unwrap().is_some() {
        return dialogue;
    }
    open_spec_dialogue(
        store,
        &ConclusionSpec {
            id,
            title: id,
            protocol: ProtocolKind::Review,
            concluded_at: LOGGED_AT,
            ..ConclusionSpec::default()
        },
    )
}

/// Logs rows in one entry of a review.
pub fn insert_log_rows(store: &dyn Store, dialogue: &str, rows: &[LogRow]) {
    try_insert_log_rows(store, dialogue, rows).unwrap_or_else(|error| panic!("{error:?}"));
}

/// The same, for a store that may reject it.
pub fn try_insert_log_rows(
    store: &dyn Store,
    dialogue: &str,
    rows: &[LogRow],
) -> Result<(), StoreError> {
    let id = open_review(store, dialogue);
    let changes: Vec<JournalEvent> =
        rows.iter().map(|row| JournalEvent::VerdictLogged(Box::new(row.clone()))).collect();
    apply_events(store, &id, JournalEntryKind::VerdictLogged, &changes)
}

/// Logs the `n`-th verdict of a review.
pub fn insert_verdict(store: &dyn Store, dialogue: &str, n: u32, verdict: ReviewVerdict) -> LogRow {
    let row = make_log_row(&format!("{dialogue}/{n}"), "post", verdict, n);
    insert_log_rows(store, dialogue, std::slice::from_ref(&row));
    row
}

pub fn insert_override(store: &dyn Store, dialogue: &str, n: u32, decision: ReviewDecision) {
    let verdict_id = format!("{dialogue}/{n}");
    let word = VerdictOverride {
        verdict_id,
        decision,
        why: "It was read again.".to_owned(),
        by: None,
        decided_at: None,
    };
    let changes = [JournalEvent::VerdictOverridden(word)];
    apply_events(store, &dialogue.parse().unwrap(), JournalEntryKind::VerdictOverridden, &changes)
        .unwrap();
}

fn apply_events(
    store: &dyn Store,
    id: &DialogueId,
    kind: JournalEntryKind,
    changes: &[JournalEvent],
) -> Result<(), StoreError> {
    in_transaction(store, |unit| unit.append_entry(id, kind, parse_moment(LOGGED_AT), changes))
        .map(drop)
}
