//! A council's entities and verdict in the record, and every command that reads them.

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use super::harness::{CHAIR, Council, Told};
use crate::kit::{Play, fitting};

/// Ann reports a high risk; bob criticises the first opinion he reads, agrees with it, and
/// disagrees.
fn quarrel(asked: &super::harness::Asked<'_>) -> Play {
    match (asked.seat, asked.purpose) {
        ("ann", Purpose::Opinion) => asked.with(json!({ "risks": [
            { "description": "It cannot be undone.", "severity": "high", "mitigation": "Wait." },
            { "description": "It is loud.", "severity": "medium" },
        ] })),
        (_, Purpose::Review) => {
            let mut targets = fitting(asked.seen)["targets"].clone();
            for target in targets.as_array_mut().unwrap() {
                target["critiques"] = json!([]);
                target["agreement_points"] = json!([]);
            }
            if asked.seat == "bob" {
                targets[0]["critiques"] = json!([{ "type": "error", "message": "The sum is wrong.",
                    "severity": "high", "suggested_correction": "Add again." }]);
                targets[0]["agreement_points"] = json!(["Somebody must decide"]);
                targets[0]["disagreement_points"] = json!([{ "topic": "When to begin",
                    "reviewer_position": "later", "target_position": "now", "rationale": "haste" }]);
            }
            asked.with(json!({ "targets": targets }))
        }
        _ => Play::Fitting,
    }
}

/// Fields of each entity, as lines.
fn lines(items: &Value, text: impl Fn(&Value) -> String) -> Vec<String> {
    items.as_array().unwrap().iter().map(text).collect()
}

fn told_and_exported(council: &Council) -> (Told, Value) {
    let told = council.ask(&[]);
    told.expect("done", 0);
    let exported = council.run(&["export", told.id(), "--json"]).document;
    (told, exported)
}

fn by(item: &Value) -> &str {
    item["contributors"][0].as_str().unwrap()
}

#[test]
fn what_was_said_becomes_entities() {
    let council = Council::new(quarrel);
    let (told, exported) = told_and_exported(&council);
    let plain =
        |item: &Value| format!("{} {} {}", item["id"].as_str().unwrap(), by(item), item["round"]);
    assert_eq!(
        lines(&exported["perspectives"], plain),
        ["P0101 ann 1", "P0102 bob 1", "P0103 cid 1"]
    );
    assert_eq!(
        lines(&exported["recommendations"], plain),
        ["R0101 ann 1", "R0102 bob 1", "R0103 cid 1"]
    );
    assert_eq!(exported["recommendations"][0]["parameters"]["stance"], "approve");
    // Bob's first target is the participant with the lowest letter other than his own.
    let letters = told.at("transparency.letter_map").as_object().unwrap();
    let about = letters.values().find(|seat| *seat != "bob").unwrap();
    let about = if about == "ann" { "P0101" } else { "P0103" };
    let claim = |item: &Value| {
        let reference = &item["references"][0];
        let (kind, target) =
            (reference["type"].as_str().unwrap(), reference["target"].as_str().unwrap());
        format!(
            "{} {} {kind} {target}: {}",
            plain(item),
            item["status"].as_str().unwrap(),
            item["label"].as_str().unwrap()
        )
    };
    assert_eq!(
        lines(&exported["claims"], claim),
        [
            format!("C0201 bob 2 asserted oppose {about}: error: The sum is wrong."),
            format!("C0202 bob 2 asserted support {about}: Somebody must decide"),
        ]
    );
    let tension = |item: &Value| {
        format!(
            "{}: {} ({})",
            plain(item),
            item["label"].as_str().unwrap(),
            item["status"].as_str().unwrap()
        )
    };
    assert_eq!(
        lines(&exported["tensions"], tension),
        ["T0101 ann 1: It cannot be undone. (open)", "T0201 bob 2: When to begin (open)"]
    );
    let experts = lines(&exported["experts"], |expert| {
        format!(
            "{} {} {}",
            expert["slug"].as_str().unwrap(),
            expert["tier"].as_str().unwrap(),
            expert["source"].as_str().unwrap()
        )
    });
    assert_eq!(experts, ["ann Core pool", "bob Core pool", "cid Core pool", "dot Core pool"]);
    let rounds = lines(&exported["rounds"], |round| {
        format!("{} {}", round["round"], round["title"].as_str().unwrap())
    });
    assert_eq!(rounds, ["1 Independent opinions", "2 Cross review", "3 Chair's report"]);
}

#[test]
fn a_report_is_a_final_verdict_that_accepts_what_stayed_open() {
    let council = Council::new(quarrel);
    let (told, exported) = told_and_exported(&council);
    let verdict = &exported["verdicts"][0];
    assert_eq!((&verdict["type"], &verdict["author"]), (&json!("final"), &json!(CHAIR)));
    assert_eq!(verdict["tensionsAccepted"], json!(["T0101", "T0201"]));
    assert_eq!(verdict["tensionsResolved"], json!([]));
    assert_eq!(verdict["recommendation"], "Go ahead in small steps.");
    assert_eq!(exported["status"], "converged");
    assert_eq!(exported["verdicts"].as_array().unwrap().len(), 1);
    assert_eq!(*told.at("report.fallback"), false);
}

#[test]
fn a_report_in_a_failed_chairs_place_is_interim() {
    let council = Council::new(|asked| match asked.purpose {
        Purpose::Synthesis => Play::Status(401, vec![], "no".to_owned()),
        Purpose::Opinion | Purpose::Review => quarrel(asked),
        Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => Play::Fitting,
    });
    let (_, exported) = told_and_exported(&council);
    let verdict = &exported["verdicts"][0];
    assert_eq!((&verdict["type"], &verdict["author"]), (&json!("interim"), &Value::Null));
    let text = verdict["description"].as_str().unwrap();
    assert!(text.contains("Chair synthesis failed; showing best individual opinion"), "{text}");
    assert_ne!(exported["status"], "converged", "it settles nothing");
}

#[test]
fn every_command_reads_a_council() {
    let council = Council::new(quarrel);
    let told = council.ask(&[]);
    let id = told.id();
    let shown = council.program.run(&["show", id]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stdout.contains("Shall we go ahead?") && shown.stdout.contains("ADOPT"));
    let listed = council.run(&["list", "--json"]);
    assert_eq!(*listed.at("dialogues.0.dialogue_id"), id);
    assert_eq!(*listed.at("dialogues.0.protocol"), "council");
    assert_eq!(*listed.at("dialogues.0.rounds"), 3);
    let cited = council.run(&["cite", &format!("{id}/C0201"), "--json"]);
    assert_eq!(*cited.at("citations.0.contributors"), json!(["bob"]));
    assert_eq!(*cited.at("citations.0.references.0.type"), "oppose", "{:#}", cited.document);
    let progress = council.run(&["dialogue", "progress", id, "--json"]);
    assert_eq!(
        [progress.at("status"), progress.at("estimated_rounds_remaining")],
        [&json!("converged"), &json!(0)]
    );
    assert_eq!(*progress.at("open_tensions"), 2);
    for (query, matched) in [("ahead", "title"), ("undone", "tension"), ("sum", "claim")] {
        let similar = council.run(&["dialogue", "similar", query, "--json"]);
        assert_eq!(*similar.at("results.0.dialogue_id"), id, "{query}");
        let found = similar.at("results.0.matched").as_str().unwrap();
        assert!(found.contains(matched), "{query}: {found}");
    }
    let verified = council.run(&["verify", id, "--json"]);
    assert_eq!((verified.code, verified.at("verified")), (0, &json!(true)));
    let head = verified.at("head").as_str().unwrap();
    assert_eq!(council.program.run(&["verify", "--head", head]).code, 0);
    let again = council.run(&["export", id, "--json"]);
    assert_eq!(again.document, council.run(&["export", id, "--json"]).document);
}

#[test]
fn statistics_know_real_councils_and_no_rehearsal() {
    let council = Council::new(|_| Play::Fitting);
    council.ask(&[]).expect("done", 0);
    let rehearsed = council.ask(&["--rehearse"]);
    rehearsed.expect("done", 0);
    assert_eq!(*rehearsed.at("rehearsal"), true);
    let stats = council.run(&["dialogue", "stats", "--json"]);
    assert_eq!(*stats.at("dialogues"), 1);
    assert_eq!(*stats.at("by_protocol"), json!({ "council": 1 }));
    assert_eq!(*stats.at("entities.perspectives"), 3);
    let listed = council.run(&["list", "--json"]);
    assert_eq!(listed.at("dialogues").as_array().unwrap().len(), 2, "a list shows both");
    assert_eq!(council.server.seen().len(), 7, "a rehearsal asks nobody");
}
