//! What the panel replies as a rule: two tensions in round 0, answers in round 1, convergence in
//! round 2.

use plenary_core::ethos::conflict_ask::FIND_CONFLICTS;
use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::AlignmentRequest;

/// A valid reply that follows from the request alone.
pub(super) fn usual_reply(asked: &AlignmentRequest<'_>) -> String {
    match asked.purpose {
        AskPurpose::Design => usual_design().to_string(),
        AskPurpose::Panel => usual_panel(asked).to_string(),
        AskPurpose::Contribution => usual_contribution(&asked.expert, asked.round),
        AskPurpose::Reconciliation => usual_reconciliation(asked).to_string(),
        AskPurpose::Verdicts => usual_verdicts().to_string(),
        FIND_CONFLICTS => "{\"conflicts\": []}".to_owned(),
        AskPurpose::Opinion
        | AskPurpose::PeerReview
        | AskPurpose::Synthesis
        | AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Revision
        | AskPurpose::Restatement
        | AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Adjudication
        | AskPurpose::Other(_) => {
            let document = crate::kit::valid_reply(asked.request);
            document.as_str().map_or_else(|| document.to_string(), str::to_owned)
        }
    }
}

fn usual_design() -> Value {
    let expert = |nth: usize| {
        let tier = ["Core", "Adjacent", "Wildcard"][nth % 3];
        json!({ "role": format!("Role {nth}"), "tier": tier, "relevance": 0.5,
            "focus": "What breaks?", "description": "You look twice." })
    };
    json!({
        "domain": "Trust investment", "background": "The trust holds NVAI.",
        "experts": (0..12).map(expert).collect::<Vec<_>>(),
        "panel_size_reason": "Three tensions are likely.", "panel_size": 3, "constraints": [],
    })
}

/// Everyone stays.
fn usual_panel(asked: &AlignmentRequest<'_>) -> Value {
    let rows = asked.fenced_texts("EXPERTS");
    let rows: Vec<Value> = serde_json::from_str(&rows[0].1).unwrap();
    let seated = rows.iter().filter(|row| row["sat_in_last_round"] == true);
    let seats = seated.map(|row| {
        json!({ "expert_slug": row["expert_slug"], "tensions": [], "reason": "It argues well.",
            "source": "retained" })
    });
    json!({ "seats": seats.collect::<Vec<_>>() })
}

/// A local id, such as `MUFFIN-P0102`.
pub(super) fn local_id(expert: &str, kind: char, round: u8, nth: u8) -> String {
    format!("{}-{kind}{round:02}{nth:02}", expert.to_uppercase())
}

pub(super) fn usual_contribution(expert: &str, round: u8) -> String {
    let id = |kind| local_id(expert, kind, round, 1);
    let tension = match expert {
        "muffin" => format!("[{}: Income stops]\nThe swap ends the dividend.\n\n", id('T')),
        "cupcake" => format!("[{}: One name too large]\nNVDA would be a third.\n\n", id('T')),
        _ => String::new(),
    };
    match round {
        0 => format!(
            "[{}: View of {expert}]\n{expert} weighs income against growth.\n\n{tension}\
             [{}: Dividend history]\nThe deed asks for four percent.\n",
            id('P'),
            id('E'),
        ),
        1 => format!(
            "[{}: Answer of {expert}]\n{expert} proposes covered calls.\n[RE:ADDRESS T0001]\n\n\
             [{}: Sell calls]\nSell monthly calls on half.\n[RE:ADDRESS T0002]\n",
            id('P'),
            id('R'),
        ),
        _ => format!(
            "[{}: Last word of {expert}]\n{expert} is content: T0001 and T0002 are answered.\n\n\
             [MOVE:CONVERGE]\n",
            id('P'),
        ),
    }
}

/// Scores all replies; resolves T0001 in round 1 and T0002 in round 2.
fn usual_reconciliation(asked: &AlignmentRequest<'_>) -> Value {
    let replies = asked.fenced_texts("REPLY OF ");
    let is_prose = |line: &&str| !line.starts_with('[') && !line.trim().is_empty();
    let scores: Vec<Value> = replies
        .iter()
        .map(|(expert, text)| {
            json!({ "expert_slug": expert, "quote": text.lines().find(is_prose).unwrap_or(text),
                "wisdom": 3, "consistency": 2, "truth": 4, "relationships": 1 })
        })
        .collect();
    let update = |tension: &str, via: &str| {
        json!([{ "id": tension, "via": via, "reason": "Nothing speaks against it.",
            "status": "resolved" }])
    };
    let local: Vec<Value> = serde_json::from_str(&asked.fenced_texts("LOCAL IDS")[0].1).unwrap();
    let has = |id: &str| local.iter().any(|row| row["id"] == id);
    let updates = match asked.round {
        1 if has("MUFFIN-R0101") => update("T0001", "MUFFIN-R0101"),
        2 if has("CUPCAKE-P0201") => update("T0002", "CUPCAKE-P0201"),
        _ => json!([]),
    };
    json!({
        "merges": [], "tension_updates": updates, "accepted": [], "scores": scores, "gaps": [],
        "title": format!("Step {}", asked.round), "summary": "The panel weighed income.",
    })
}

fn usual_verdicts() -> Value {
    json!({
        "minority": [], "dissents": [],
        "final": {
            "key_evidence": ["E0001"], "key_claims": [], "recommendations_adopted": ["R0101"],
            "tensions_accepted": [], "description": "Calls replace the dividend.",
            "conditions": ["The trustee reviews the premiums each month."],
            "recommendation": "Swap half and sell calls.", "confidence": "strong",
        },
    })
}
