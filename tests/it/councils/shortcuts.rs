//! When the protocol skips a round, and when shadow mode only records that it would.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{SeatRequest, TestCouncil, check_all};
use crate::kit::ScriptedReply;

/// How the panel votes.
#[derive(Clone, Copy)]
enum PanelVote {
    Agrees,
    Splits,
    IsUnsure,
    SeesHighRisk,
    HasNoStance,
    FindsAnError,
}

struct ShortcutRow {
    name: &'static str,
    rules: Value,
    arguments: &'static [&'static str],
    calls_max: u32,
    panel: PanelVote,
    /// Status and exit code, then the calls for reviews and for the report.
    ends: (&'static str, i32),
    calls: [usize; 2],
    /// Round, triggered, shadow, would have been right.
    decided: &'static [(u8, bool, bool, Option<bool>)],
}

const LOW_STAKES: &[&str] = &["--stakes", "low"];

fn make_row(name: &'static str, rules: Value, panel: PanelVote) -> ShortcutRow {
    let (arguments, calls_max, ends) = (&[][..], 60, ("done", 0));
    ShortcutRow { name, rules, arguments, calls_max, panel, ends, calls: [3, 1], decided: &[] }
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn shortcut_rows() -> Vec<ShortcutRow> {
    let agreement =
        json!({ "enabled": true, "skip_r2_if": ["high_agreement_in_r1"], "skip_r3_if": [] });
    let both = json!({ "enabled": true, "skip_r3_if": [] });
    let confirmed =
        json!({ "enabled": true, "skip_r2_if": [], "skip_r3_if": ["r2_confirms_r1_consensus"] });
    let budget = json!({ "enabled": true, "skip_r2_if": [], "skip_r3_if": ["budget_constraint"] });
    let none = json!({ "enabled": true, "skip_r2_if": [], "skip_r3_if": [] });
    let shadow = json!({ "enabled": true, "shadow": true });
    let only_shadow = json!({ "shadow": true });
    let held: &[_] = &[(2, false, false, None), (3, false, false, None)];
    vec![
        ShortcutRow {
            arguments: LOW_STAKES,
            ..make_row("off by default", json!({}), PanelVote::Agrees)
        },
        ShortcutRow {
            calls: [0, 1],
            decided: &[(2, true, false, None), (3, false, false, None)],
            ..make_row("agreement alone", agreement.clone(), PanelVote::Agrees)
        },
        ShortcutRow {
            decided: held,
            ..make_row("no agreement", agreement.clone(), PanelVote::Splits)
        },
        ShortcutRow {
            decided: held,
            ..make_row("low confidence", agreement.clone(), PanelVote::IsUnsure)
        },
        ShortcutRow {
            decided: held,
            ..make_row("a high risk", agreement.clone(), PanelVote::SeesHighRisk)
        },
        ShortcutRow {
            decided: held,
            ..make_row("agreeing on no stance", agreement, PanelVote::HasNoStance)
        },
        ShortcutRow {
            decided: held,
            ..make_row("both, nobody spoke of stakes", both.clone(), PanelVote::Agrees)
        },
        ShortcutRow {
            arguments: LOW_STAKES,
            calls: [0, 1],
            decided: &[(2, true, false, None), (3, false, false, None)],
            ..make_row("both, low stakes", both.clone(), PanelVote::Agrees)
        },
        ShortcutRow {
            arguments: LOW_STAKES,
            decided: held,
            ..make_row("low stakes, split", both, PanelVote::Splits)
        },
        ShortcutRow {
            arguments: LOW_STAKES,
            decided: held,
            ..make_row("no rule at all", none.clone(), PanelVote::Agrees)
        },
        ShortcutRow {
            calls: [3, 0],
            decided: &[(2, false, false, None), (3, true, false, None)],
            ..make_row("reviews confirm", confirmed.clone(), PanelVote::Agrees)
        },
        ShortcutRow {
            decided: held,
            ..make_row("a review finds an error", confirmed.clone(), PanelVote::FindsAnError)
        },
        ShortcutRow {
            decided: held,
            ..make_row("nothing to confirm", confirmed, PanelVote::Splits)
        },
        ShortcutRow {
            calls_max: 6,
            calls: [3, 0],
            decided: &[(2, false, false, None), (3, true, false, None)],
            ..make_row("no budget for the chair", budget, PanelVote::Splits)
        },
        ShortcutRow {
            calls_max: 6,
            calls: [3, 0],
            ends: ("incomplete", 3),
            decided: held,
            ..make_row("no budget, no rule for it", none, PanelVote::Agrees)
        },
        ShortcutRow {
            arguments: LOW_STAKES,
            decided: &[(2, true, true, Some(true)), (3, true, true, Some(true))],
            ..make_row("in shadow, right", shadow.clone(), PanelVote::Agrees)
        },
        ShortcutRow {
            arguments: LOW_STAKES,
            decided: &[(2, true, true, Some(false)), (3, false, true, None)],
            ..make_row("in shadow, wrong", shadow, PanelVote::FindsAnError)
        },
        ShortcutRow {
            arguments: LOW_STAKES,
            decided: &[(2, true, true, Some(true)), (3, true, true, Some(true))],
            ..make_row("shadow alone", only_shadow, PanelVote::Agrees)
        },
    ]
}

fn panel_reply(panel: PanelVote, asked: &SeatRequest<'_>) -> ScriptedReply {
    let (opinion, review) = match panel {
        PanelVote::Agrees => (json!({}), json!([])),
        PanelVote::Splits if asked.seat == "bob" => (json!({ "stance": "reject" }), json!([])),
        PanelVote::Splits => (json!({}), json!([])),
        PanelVote::IsUnsure => (json!({ "confidence": "low" }), json!([])),
        PanelVote::HasNoStance => (json!({ "stance": "none" }), json!([])),
        PanelVote::SeesHighRisk => {
            let risk = json!({ "description": "It cannot be undone.", "severity": "high" });
            (json!({ "risks": [risk] }), json!([]))
        }
        PanelVote::FindsAnError => {
            let error = json!({ "type": "error", "message": "Wrong.", "severity": "medium" });
            (json!({}), json!([error]))
        }
    };
    match asked.purpose {
        AskPurpose::Opinion => asked.valid_with(opinion),
        AskPurpose::PeerReview => {
            let mut targets = crate::kit::valid_reply(asked.request)["targets"].clone();
            targets[0]["critiques"] = review;
            asked.valid_with(json!({ "targets": targets }))
        }
        AskPurpose::Synthesis => ScriptedReply::Valid,
        AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Revision
        | AskPurpose::Restatement
        | AskPurpose::Other(_)
        | AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Adjudication => ScriptedReply::Valid,
    }
}

fn check_row(row: &ShortcutRow) {
    let (name, panel) = (row.name, row.panel);
    let council = TestCouncil::with_settings(
        move |asked| panel_reply(panel, asked),
        |settings| {
            settings["council"]["short_circuit"] = row.rules.clone();
            settings["budget"]["calls_max"] = json!(row.calls_max);
        },
    );
    let result = council.run_ask(row.arguments);
    assert_eq!((result.value_at("status").as_str().unwrap(), result.code), row.ends, "{name}");
    let calls =
        [AskPurpose::PeerReview, AskPurpose::Synthesis].map(|purpose| council.call_count(purpose));
    assert_eq!(calls, row.calls, "{name}");
    let decided: Vec<(u8, bool, bool, Option<bool>)> = result
        .value_at("transparency.short_circuit")
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let right = one.get("would_have_been_right").and_then(Value::as_bool);
            let is = |field: &str| one[field].as_bool().unwrap();
            (
                u8::try_from(one["round"].as_u64().unwrap()).unwrap(),
                is("triggered"),
                is("shadow"),
                right,
            )
        })
        .collect();
    assert_eq!(decided, row.decided, "{name}");
    let acted: Vec<u8> = decided.iter().filter(|one| one.1 && !one.2).map(|one| one.0).collect();
    assert_eq!(*result.value_at("flags.short_circuit"), json!(!acted.is_empty()), "{name}");
    assert_eq!(
        *result.value_at("metrics.session.short_circuit_triggered"),
        json!(!acted.is_empty())
    );
    for one in result.value_at("transparency.short_circuit").as_array().unwrap() {
        let round = u8::try_from(one["round"].as_u64().unwrap()).unwrap();
        let (adjustment, skipped) = match acted.contains(&round) {
            true => (-1, json!([format!("R{round}")])),
            false => (0, json!([])),
        };
        assert_eq!(
            (&one["confidence_adjustment"], &one["rounds_skipped"]),
            (&json!(adjustment), &skipped)
        );
        assert!(
            !one["reason"].as_str().unwrap().is_empty() || row.rules["skip_r2_if"] == json!([]),
            "{name}"
        );
    }
    if result.code == 0 {
        check_delivery(name, &acted, result.value_at("report"));
    }
}

/// A skipped round lowers confidence by one step; a skipped synthesis is labelled.
fn check_delivery(name: &str, skipped: &[u8], report: &Value) {
    let confidence = &report["uncertainties"][0]["confidence"];
    match skipped {
        [3] => {
            let label = "The chair's round was skipped; showing the opinion its peers rated best";
            assert_eq!(report["disclaimer"], label, "{name}");
            assert_eq!(report["fallback"], false, "{name}");
            assert_eq!(*confidence, "medium", "{name}: high before");
        }
        [2] => assert_eq!(*confidence, "low", "{name}: medium before"),
        _ => assert_eq!(*confidence, "medium", "{name}"),
    }
}

#[test]
fn rounds_are_skipped_by_the_rules_and_by_nothing_else() {
    check_all(&shortcut_rows(), check_row);
}
