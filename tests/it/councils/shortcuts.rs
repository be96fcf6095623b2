//! When the protocol skips a round, and when shadow mode only records that it would.

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use super::harness::{Asked, Council, check_all};
use crate::kit::Play;

/// How the panel votes.
#[derive(Clone, Copy)]
enum Panel {
    Agrees,
    Splits,
    IsUnsure,
    SeesHighRisk,
    HasNoStance,
    FindsAnError,
}

struct Row {
    name: &'static str,
    rules: Value,
    arguments: &'static [&'static str],
    calls_max: u32,
    panel: Panel,
    /// Status and exit code, then the calls for reviews and for the report.
    ends: (&'static str, i32),
    calls: [usize; 2],
    /// Round, triggered, shadow, would have been right.
    decided: &'static [(u8, bool, bool, Option<bool>)],
}

const LOW: &[&str] = &["--stakes", "low"];

fn row(name: &'static str, rules: Value, panel: Panel) -> Row {
    let (arguments, calls_max, ends) = (&[][..], 60, ("done", 0));
    Row { name, rules, arguments, calls_max, panel, ends, calls: [3, 1], decided: &[] }
}

fn rows() -> Vec<Row> {
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
        Row { arguments: LOW, ..row("off by default", json!({}), Panel::Agrees) },
        Row {
            calls: [0, 1],
            decided: &[(2, true, false, None), (3, false, false, None)],
            ..row("agreement alone", agreement.clone(), Panel::Agrees)
        },
        Row { decided: held, ..row("no agreement", agreement.clone(), Panel::Splits) },
        Row { decided: held, ..row("low confidence", agreement.clone(), Panel::IsUnsure) },
        Row { decided: held, ..row("a high risk", agreement.clone(), Panel::SeesHighRisk) },
        Row { decided: held, ..row("agreeing on no stance", agreement, Panel::HasNoStance) },
        Row { decided: held, ..row("both, nobody spoke of stakes", both.clone(), Panel::Agrees) },
        Row {
            arguments: LOW,
            calls: [0, 1],
            decided: &[(2, true, false, None), (3, false, false, None)],
            ..row("both, low stakes", both.clone(), Panel::Agrees)
        },
        Row { arguments: LOW, decided: held, ..row("low stakes, split", both, Panel::Splits) },
        Row { arguments: LOW, decided: held, ..row("no rule at all", none.clone(), Panel::Agrees) },
        Row {
            calls: [3, 0],
            decided: &[(2, false, false, None), (3, true, false, None)],
            ..row("reviews confirm", confirmed.clone(), Panel::Agrees)
        },
        Row {
            decided: held,
            ..row("a review finds an error", confirmed.clone(), Panel::FindsAnError)
        },
        Row { decided: held, ..row("nothing to confirm", confirmed, Panel::Splits) },
        Row {
            calls_max: 6,
            calls: [3, 0],
            decided: &[(2, false, false, None), (3, true, false, None)],
            ..row("no budget for the chair", budget, Panel::Splits)
        },
        Row {
            calls_max: 6,
            calls: [3, 0],
            ends: ("incomplete", 3),
            decided: held,
            ..row("no budget, no rule for it", none, Panel::Agrees)
        },
        Row {
            arguments: LOW,
            decided: &[(2, true, true, Some(true)), (3, true, true, Some(true))],
            ..row("in shadow, right", shadow.clone(), Panel::Agrees)
        },
        Row {
            arguments: LOW,
            decided: &[(2, true, true, Some(false)), (3, false, true, None)],
            ..row("in shadow, wrong", shadow, Panel::FindsAnError)
        },
        Row {
            arguments: LOW,
            decided: &[(2, true, true, Some(true)), (3, true, true, Some(true))],
            ..row("shadow alone", only_shadow, Panel::Agrees)
        },
    ]
}

fn play(panel: Panel, asked: &Asked<'_>) -> Play {
    let (opinion, review) = match panel {
        Panel::Agrees => (json!({}), json!([])),
        Panel::Splits if asked.seat == "bob" => (json!({ "stance": "reject" }), json!([])),
        Panel::Splits => (json!({}), json!([])),
        Panel::IsUnsure => (json!({ "confidence": "low" }), json!([])),
        Panel::HasNoStance => (json!({ "stance": "none" }), json!([])),
        Panel::SeesHighRisk => {
            let risk = json!({ "description": "It cannot be undone.", "severity": "high" });
            (json!({ "risks": [risk] }), json!([]))
        }
        Panel::FindsAnError => {
            let error = json!({ "type": "error", "message": "Wrong.", "severity": "medium" });
            (json!({}), json!([error]))
        }
    };
    match asked.purpose {
        Purpose::Opinion => asked.with(opinion),
        Purpose::Review => {
            let mut targets = crate::kit::fitting(asked.seen)["targets"].clone();
            targets[0]["critiques"] = review;
            asked.with(json!({ "targets": targets }))
        }
        Purpose::Synthesis => Play::Fitting,
        Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => Play::Fitting,
    }
}

fn check(row: &Row) {
    let (name, panel) = (row.name, row.panel);
    let council = Council::with(
        move |asked| play(panel, asked),
        |settings| {
            settings["council"]["short_circuit"] = row.rules.clone();
            settings["budget"]["calls_max"] = json!(row.calls_max);
        },
    );
    let told = council.ask(row.arguments);
    assert_eq!((told.at("status").as_str().unwrap(), told.code), row.ends, "{name}");
    let calls = [Purpose::Review, Purpose::Synthesis].map(|purpose| council.calls(purpose));
    assert_eq!(calls, row.calls, "{name}");
    let decided: Vec<(u8, bool, bool, Option<bool>)> = told
        .at("transparency.short_circuit")
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
    assert_eq!(*told.at("flags.short_circuit"), json!(!acted.is_empty()), "{name}");
    assert_eq!(*told.at("metrics.session.short_circuit_triggered"), json!(!acted.is_empty()));
    for one in told.at("transparency.short_circuit").as_array().unwrap() {
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
    if told.code == 0 {
        check_delivery(name, &acted, told.at("report"));
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
    check_all(&rows(), check);
}
