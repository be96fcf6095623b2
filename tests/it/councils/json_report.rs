//! The document of `ask --json`: every key, and values that are known in advance.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{CHAIR, PARTICIPANTS, SeatRequest, TestCouncil, check_all, seat_of};
use crate::kit::{ScriptedReply, valid_reply, value_at};

/// The keys of SPEC 1, which are present in every run that started.
const REPORT_KEYS: [(&str, &str); 10] = [
    (
        "",
        "dialogue_id protocol mode rehearsal status terminal_state conclusion draft explanation \
         report rounds tally peer_choice audit panel flags metrics transparency warnings error",
    ),
    ("rounds", "r1 r2 r3"),
    ("rounds.r1", "opinions failed_providers round_duration_ms"),
    ("tally", "approve reject conditional abstain none"),
    ("panel", "attempted succeeded failed"),
    ("flags", "degraded false_consensus single_family short_circuit"),
    ("metrics", "rounds session"),
    (
        "metrics.session",
        "session_id mode total_duration_ms rounds_completed short_circuit_triggered \
         total_cost_estimate calls",
    ),
    (
        "transparency",
        "run_id query_sha256 providers context short_circuit letter_map anonymous_review",
    ),
    (
        "transparency.providers.0",
        "provider model family transport fallback rounds status latency_ms tokens_in tokens_out \
         cost_usd cost_source",
    ),
];

const DONE_KEYS: [(&str, &str); 8] = [
    (
        "rounds.r1.opinions.0",
        "provider model round timestamp mode summary details risks assumptions questions \
         confidence stance findings token_usage latency_ms",
    ),
    ("rounds.r1.opinions.0.details", "understanding key_considerations recommendation rationale"),
    (
        "rounds.r2.reviews.0",
        "reviewer_provider reviewer_model round timestamp targets would_change_my_opinion \
         token_usage latency_ms",
    ),
    (
        "rounds.r2.reviews.0.targets.0",
        "letter target_provider rating critiques agreement_points disagreement_points",
    ),
    ("rounds.r3", "final_report chair_provider round_duration_ms"),
    (
        "report",
        "conclusion rationale disagreements uncertainties risks next_actions consensus_points \
         alternatives verification_plan findings chair_provider run_id rounds_completed \
         providers_participated fallback",
    ),
    (
        "metrics.rounds.0",
        "round start_time end_time duration_ms providers_attempted providers_succeeded \
         providers_failed total_tokens_in total_tokens_out",
    ),
    ("peer_choice", "provider rating ratings summary recommendation basis"),
];

#[track_caller]
fn check_keys(document: &Value, places: &[(&str, &str)]) {
    for (place, keys) in places {
        let part = if place.is_empty() { document } else { value_at(document, place) };
        for key in keys.split_whitespace() {
            assert!(part.get(key).is_some(), "no `{key}` at `{place}` in {part:#}");
        }
    }
}

#[test]
fn every_key_is_there_however_the_run_ended() {
    // Number of participants that fail in the first round.
    let rows = [(0, "done", 0), (2, "incomplete", 3), (3, "failed", 3)];
    check_all(&rows, |&(absent, status, code)| {
        let council = TestCouncil::new(move |asked| {
            let fails = PARTICIPANTS[..absent].contains(&asked.seat);
            if fails {
                ScriptedReply::Status(401, vec![], "no".to_owned())
            } else {
                ScriptedReply::Valid
            }
        });
        let result = council.run_ask(&[]);
        result.expect_status(status, code);
        check_keys(&result.document, &REPORT_KEYS);
        if absent == 0 {
            check_keys(&result.document, &DONE_KEYS);
            assert_eq!(*result.value_at("error"), Value::Null);
        } else {
            check_keys(&result.document, &[("error", "error_code message suggestion")]);
            let resume = format!("plenary resume {}", result.dialogue_id());
            assert!(result.value_at("error.suggestion").as_str().unwrap().contains(&resume));
            assert_eq!(
                [
                    result.value_at("rounds.r2"),
                    result.value_at("rounds.r3"),
                    result.value_at("report")
                ],
                [&Value::Null; 3]
            );
        }
        for nothing in ["terminal_state", "conclusion", "draft", "explanation", "audit"] {
            assert_eq!(*result.value_at(nothing), Value::Null, "{nothing}");
        }
    });
}

#[test]
fn a_run_counts_what_it_did() {
    let result = TestCouncil::new(|_| ScriptedReply::Valid).run_ask(&[]);
    result.expect_status("done", 0);
    let id = result.value_at("dialogue_id");
    for same in ["report.run_id", "metrics.session.session_id", "transparency.run_id"] {
        assert_eq!(result.value_at(same), id, "{same}");
    }
    let rounds = result.value_at("metrics.rounds").as_array().unwrap();
    let counted: Vec<Value> = rounds
        .iter()
        .map(|round| {
            let seats =
                ["attempted", "succeeded", "failed"].map(|n| &round[format!("providers_{n}")]);
            json!([round["round"], seats])
        })
        .collect();
    assert_eq!(json!(counted), json!([["R1", [3, 3, 0]], ["R2", [3, 3, 0]], ["R3", [1, 1, 0]]]));
    assert!(rounds.iter().all(|round| round["total_tokens_out"].as_u64().unwrap() > 0));
    assert_eq!(*result.value_at("metrics.session.calls"), 7);
    assert_eq!(*result.value_at("metrics.session.rounds_completed"), 3);
    assert_eq!(*result.value_at("report.rounds_completed"), 3);
    assert_eq!(
        *result.value_at("tally"),
        json!({ "approve": 3, "reject": 0, "conditional": 0, "abstain": 0, "none": 0 })
    );
    assert_eq!(
        *result.value_at("report.providers_participated"),
        json!(["ann", "bob", "cid", "dot"])
    );
    let mut seats: Vec<&str> = result
        .value_at("transparency.letter_map")
        .as_object()
        .unwrap()
        .values()
        .map(|seat| seat.as_str().unwrap())
        .collect();
    seats.sort_unstable();
    assert_eq!(seats, PARTICIPANTS, "everybody has a letter, the chair has none");
}

#[test]
fn costs_say_where_they_come_from() {
    let council = TestCouncil::with_settings(
        |_| ScriptedReply::Valid,
        |settings| {
            settings["council"]["providers"][1]["price"] =
                json!({ "input_per_mtok": 1.0, "output_per_mtok": 10.0 });
        },
    );
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    let cost = |place: usize| {
        let usd =
            result.value_at(&format!("transparency.providers.{place}.cost_usd")).as_f64().unwrap();
        (
            usd,
            result
                .value_at(&format!("transparency.providers.{place}.cost_source"))
                .as_str()
                .unwrap(),
        )
    };
    assert_eq!(cost(0), (0.0, "computed"), "a provider on loopback costs nothing unless priced");
    let (usd, source) = cost(1);
    assert_eq!(source, "computed");
    let tokens = |way: &str| {
        result.value_at(&format!("transparency.providers.1.tokens_{way}")).as_f64().unwrap()
    };
    // Each of its two calls is rounded up to a millionth.
    let exact = (tokens("in") + tokens("out") * 10.0) / 1e6;
    assert!((usd - exact).abs() <= 2e-6, "{usd} for {exact}");
    assert_eq!(result.value_at("metrics.session.total_cost_estimate").as_f64(), Some(usd));
}

#[test]
fn a_second_transport_is_named_with_its_reason_and_kept() {
    let opinion = json!({
        "summary": "By another way.", "details": { "recommendation": "Go." },
        "confidence": "high", "stance": "approve",
    });
    let rated = ["A", "B", "C"].map(|letter| json!({ "letter": letter, "rating": 5 }));
    let review = json!({ "targets": rated });
    let answer = format!(
        "if grep -q 'You are a reviewer'; then printf '%s' '{review}'; else printf '%s' '{opinion}'; fi"
    );
    let command = json!(["/bin/sh", "-c", answer]);
    let council = TestCouncil::with_settings(
        |asked| match (asked.seat, asked.purpose) {
            ("ann", AskPurpose::Opinion) => {
                ScriptedReply::Status(401, vec![], "no such key".to_owned())
            }
            _ => ScriptedReply::Valid,
        },
        move |settings| {
            let ann = &mut settings["council"]["providers"][0];
            ann["transports"] = json!(["http", "cli"]);
            ann["command"] = command;
        },
    );
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(*result.value_at("rounds.r1.opinions.0.summary"), "By another way.");
    assert_eq!(*result.value_at("panel.failed"), json!([]));
    let fallback = result.value_at("transparency.providers.0.fallback");
    assert_eq!(fallback["from"], "http");
    assert!(fallback["reason"].as_str().unwrap().contains("no such key"), "{fallback}");
    let by_http = council.server.requests().iter().filter(|seen| seat_of(seen) == "ann").count();
    assert_eq!(by_http, 1, "a way that was closed is not tried again in every round");
    assert_eq!(*result.value_at("transparency.providers.0.transport"), "cli");
}

/// Each opinion has a unique text by which a reviewer recognises it under any letter.
const OPINION_TEXTS: [(&str, &str); 3] = [("ann", "alpha"), ("bob", "beta"), ("cid", "gamma")];

/// Opinions with those texts, and reviews that rate by them.
fn rated_reply(asked: &SeatRequest<'_>, ratings: [u8; 3]) -> ScriptedReply {
    match asked.purpose {
        AskPurpose::Opinion => {
            let (_, word) = OPINION_TEXTS.iter().find(|(seat, _)| *seat == asked.seat).unwrap();
            asked.valid_with(json!({ "summary": format!("The {word} way.") }))
        }
        AskPurpose::PeerReview => {
            let mut targets = valid_reply(asked.request)["targets"].clone();
            for target in targets.as_array_mut().unwrap() {
                let letter = target["letter"].as_str().unwrap();
                let begin = asked
                    .request
                    .user
                    .find(&format!("===== BEGIN material OPINION {letter} "))
                    .unwrap();
                let text = &asked.request.user[begin..];
                let text = &text[..text.find("===== END material OPINION").unwrap()];
                let place = OPINION_TEXTS.iter().position(|(_, word)| text.contains(word)).unwrap();
                target["rating"] = json!(ratings[place]);
            }
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

#[test]
fn the_best_rated_opinion_stands_beside_the_report_or_in_its_place() {
    // Ratings of ann, bob and cid; the chosen opinion and its mean.
    let rows = [
        ([3, 9, 6], "bob", 9.0),
        ([8, 2, 1], "ann", 8.0),
        ([5, 5, 5], "ann", 5.0),
        ([4, 4, 7], "cid", 7.0),
    ];
    check_all(&rows, |&(ratings, best, mean)| {
        let council = TestCouncil::new(move |asked| rated_reply(asked, ratings));
        let result = council.run_ask(&[]);
        result.expect_status("done", 0);
        assert_eq!(*result.value_at("report.chair_provider"), CHAIR);
        let selected = council.run_ask(&["--select"]);
        selected.expect_status("done", 0);
        for result in [&result, &selected] {
            assert_eq!(*result.value_at("peer_choice.provider"), best, "{ratings:?}");
            assert_eq!(result.value_at("peer_choice.rating").as_f64(), Some(mean));
            assert_eq!(*result.value_at("peer_choice.ratings"), 2);
            assert_eq!(*result.value_at("peer_choice.basis"), "peer_ratings");
        }
        assert_eq!(*selected.value_at("report.rationale.supporting_opinions.0.provider"), best);
        assert_eq!(*selected.value_at("report.fallback"), false);
        assert_eq!(*selected.value_at("report.chair_provider"), Value::Null);
        let label = "This is the opinion with the best peer ratings, not a synthesis";
        assert_eq!(*selected.value_at("report.disclaimer"), label);
        assert_eq!(council.call_count(AskPurpose::Synthesis), 1, "a selection needs no chair");
    });
}

#[test]
fn a_split_that_the_report_is_silent_about_is_a_false_consensus() {
    let rows = [
        (["approve", "approve", "approve"], false, false),
        (["approve", "reject", "approve"], false, true),
        (["approve", "reject", "approve"], true, false),
        (["approve", "conditional", "approve"], false, true),
        (["none", "none", "none"], false, false),
    ];
    check_all(&rows, |&(stances, named, expected)| {
        let council = TestCouncil::new(move |asked| match asked.purpose {
            AskPurpose::Opinion => {
                let place = PARTICIPANTS.iter().position(|name| *name == asked.seat).unwrap();
                asked.valid_with(json!({ "stance": stances[place] }))
            }
            AskPurpose::Synthesis if named => asked.valid_with(json!({ "disagreements": [{
                "topic": "When", "positions": [{ "provider": "A", "position": "now" }],
                "resolution": "soon", "resolution_rationale": "both",
            }] })),
            AskPurpose::PeerReview | AskPurpose::Synthesis => ScriptedReply::Valid,
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
        });
        let result = council.run_ask(&[]);
        result.expect_status("done", 0);
        assert_eq!(*result.value_at("flags.false_consensus"), expected, "{stances:?} {named}");
        let approving = stances.iter().filter(|stance| **stance == "approve").count();
        assert_eq!(*result.value_at("tally.approve"), approving);
        let warned = result.value_at("warnings").to_string().contains("split");
        assert_eq!(warned, expected, "{stances:?}");
        if named {
            let provider =
                result.value_at("report.disagreements.0.positions.0.provider").as_str().unwrap();
            assert_eq!(
                *result.value_at("transparency.letter_map.A"),
                provider,
                "names stand for letters"
            );
        }
    });
}

#[test]
fn providers_and_chair_are_chosen_on_the_command_line() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    let result = council.run_ask(&["--providers", "cid,ann", "--chair", "ann"]);
    result.expect_status("done", 0);
    assert_eq!(*result.value_at("report.providers_participated"), json!(["cid", "ann"]));
    assert_eq!(*result.value_at("report.chair_provider"), "ann");
    let named_for_it = council.run_ask(&["--providers", "bob,cid,dot"]);
    assert_eq!(
        *named_for_it.value_at("rounds.r1.opinions.2.provider"),
        CHAIR,
        "whoever is named speaks"
    );

    let asked = council.server.requests().len();
    let refused = [
        (&["--providers", "ann,zed"][..], "no_panel", 5),
        (&["--providers", "ann,ann"], "no_panel", 5),
        (&["--providers", "ann"], "no_panel", 5),
        (&["--chair", "zed"], "no_panel", 5),
    ];
    for (arguments, error, code) in refused {
        let result = council.run_ask(arguments);
        assert_eq!(
            (result.value_at("error_code").as_str().unwrap(), result.code),
            (error, code),
            "{arguments:?}"
        );
    }
    assert_eq!(council.server.requests().len(), asked, "nobody was asked");
}

/// Ann and bob give one id to different faults and find two at one place. The chair credits all to
/// all and invents a finding.
#[test]
fn who_reported_and_confirmed_a_finding_follows_from_the_replies() {
    let finding = |id: &str, place: &str| {
        json!({ "id": id, "title": format!("{id} at {place}"), "category": "SEC",
            "location": place, "description": "It fails.", "fix_approach": "Check it.",
            "severity": "high" })
    };
    let council = TestCouncil::new(move |asked| match (asked.seat, asked.purpose) {
        ("ann", AskPurpose::Opinion) => {
            asked.valid_with(json!({ "findings": [finding("SEC-001", "a.rs:1")] }))
        }
        ("bob", AskPurpose::Opinion) => {
            let places = [finding("SEC-001", "a.rs:2"), finding("PERF-001", "a.rs:1")];
            asked.valid_with(json!({ "findings": places }))
        }
        ("cid", AskPurpose::PeerReview) => {
            let mut targets = valid_reply(asked.request)["targets"].clone();
            for target in targets.as_array_mut().unwrap() {
                target["finding_positions"] = json!([
                    { "id": "sec-001", "reason": "Seen.", "position": "confirm" },
                    { "id": "PERF-001", "reason": "Cheap.", "position": "dispute" },
                ]);
            }
            asked.valid_with(json!({ "targets": targets }))
        }
        (_, AskPurpose::Synthesis) => {
            let merged = [
                ("SEC-001", "a.rs:1"),
                ("SEC-001", "a.rs:2"),
                ("PERF-001", "a.rs:1"),
                ("SEC-099", "a.rs"),
            ];
            let merged = merged.map(|(id, place)| {
                let mut merged = finding(id, place);
                for field in ["reported_by", "confirmed_by", "disputed_by"] {
                    merged[field] = json!(["A", "B", "C"]);
                }
                merged
            });
            asked.valid_with(json!({ "findings": merged }))
        }
        _ => ScriptedReply::Valid,
    });
    std::fs::write(council.program.path().join("a.rs"), "one\ntwo\n").unwrap();
    let result = council.run_ask(&["--mode", "review", "--context", "a.rs"]);
    result.expect_status("done", 0);
    let expected = [
        json!([["ann"], ["cid"], []]),
        json!([["bob"], ["cid"], []]),
        json!([["bob"], [], ["cid"]]),
        json!([[], [], []]),
    ];
    for (place, expected) in expected.iter().enumerate() {
        let found = result.value_at(&format!("report.findings.{place}"));
        let credits = ["reported_by", "confirmed_by", "disputed_by"].map(|field| &found[field]);
        assert_eq!(json!(credits), *expected, "{found:#}");
    }
    let warnings = result.value_at("warnings").to_string();
    assert!(warnings.contains("finding `SEC-099` of the report is in no opinion"), "{warnings}");
}
