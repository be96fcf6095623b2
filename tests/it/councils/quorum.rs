//! Quorum, chairs, families, and retries.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use super::harness::{Asked, CHAIR, Council, PARTICIPANTS, check_all, seat_of};
use crate::kit::Play;

fn no() -> Play {
    Play::Status(401, vec![], "no".to_owned())
}

/// One seat fails for one purpose; all others reply validly.
fn turned_away(
    seats: &'static [&'static str],
    purpose: Purpose,
) -> impl Fn(&Asked<'_>) -> Play + Send + Sync {
    move |asked| match asked.purpose == purpose && seats.contains(&asked.seat) {
        true => no(),
        false => Play::Fitting,
    }
}

fn second_chair(settings: &mut Value) {
    let providers = settings["council"]["providers"].as_array_mut().unwrap();
    let mut eve = providers.last().unwrap().clone();
    (eve["name"], eve["model"]) = (json!("eve"), json!("model-eve"));
    providers.push(eve);
}

#[test]
fn another_provider_with_the_role_takes_the_chair() {
    let council = Council::with(turned_away(&[CHAIR], Purpose::Synthesis), second_chair);
    let told = council.ask(&[]);
    told.expect("done", 0);
    assert_eq!(*told.at("report.chair_provider"), "eve");
    assert_eq!(*told.at("report.fallback"), false);
    assert_eq!(*told.at("flags.degraded"), true);
    assert_eq!(*told.at("panel.failed.0.provider"), CHAIR);
    assert_eq!(*told.at("panel.attempted"), 5);
    assert_eq!(*told.at("panel.succeeded"), 4);
    assert_eq!(council.calls(Purpose::Synthesis), 2);
}

#[test]
fn a_named_chair_goes_first_and_the_configured_one_stands_in() {
    let council = Council::new(turned_away(&["bob"], Purpose::Synthesis));
    let told = council.ask(&["--chair", "bob"]);
    told.expect("done", 0);
    let asked: Vec<String> = council.seen(Purpose::Synthesis).iter().map(seat_of).collect();
    assert_eq!(asked, ["bob", CHAIR]);
    assert_eq!(*told.at("report.chair_provider"), CHAIR);
}

#[test]
fn without_allow_partial_one_absence_ends_the_run() {
    let rows = [
        (Purpose::Opinion, "bob", "in round 1", [3, 0, 0]),
        (Purpose::Review, "bob", "in round 2", [3, 3, 0]),
        (Purpose::Synthesis, CHAIR, "in round 3", [3, 3, 1]),
    ];
    check_all(&rows, |(purpose, seat, when, calls)| {
        let (purpose, seat) = (*purpose, *seat);
        let script = move |asked: &Asked<'_>| match asked.purpose == purpose && asked.seat == seat {
            true => no(),
            false => Play::Fitting,
        };
        let council = Council::with(script, |settings| {
            settings["council"]["quorum"] = json!({ "allow_partial": false });
        });
        let told = council.ask(&[]);
        told.expect("incomplete", 3);
        assert_eq!(*told.at("error.error_code"), "partial_not_allowed");
        assert!(
            told.at("error.message").as_str().unwrap().contains(when),
            "{:?}",
            told.at("error")
        );
        let seen = [Purpose::Opinion, Purpose::Review, Purpose::Synthesis];
        assert_eq!(seen.map(|purpose| council.calls(purpose)), *calls, "{when}");
    });
}

#[test]
fn families_min_counts_the_families_that_were_heard() {
    // The families of ann, bob and cid; the absent seats; the expected status.
    type Row = ([&'static str; 3], &'static [&'static str], &'static str, bool);
    let rows: [Row; 3] = [
        (["one", "one", "one"], &[], "incomplete", true),
        (["one", "one", "two"], &[], "done", false),
        (["one", "one", "two"], &["cid"], "incomplete", true),
    ];
    check_all(&rows, |(families, absent, status, single)| {
        let council = Council::with(turned_away(absent, Purpose::Opinion), |settings| {
            settings["council"]["quorum"] = json!({ "families_min": 2 });
            for (place, family) in families.iter().enumerate() {
                settings["council"]["providers"][place]["family"] = json!(family);
            }
        });
        let told = council.ask(&[]);
        told.expect(status, if *status == "done" { 0 } else { 3 });
        assert_eq!(*told.at("flags.single_family"), *single, "{families:?} {absent:?}");
        if *status != "done" {
            assert_eq!(*told.at("error.error_code"), "families_not_met");
            assert_eq!(council.calls(Purpose::Review), 0);
        }
    });
}

#[test]
fn a_chair_that_is_not_required_need_not_be_paid_for() {
    let rows = [(true, "incomplete", 3), (false, "done", 0)];
    check_all(&rows, |(required, status, code)| {
        let council = Council::with(
            |_| Play::Fitting,
            |settings| {
                settings["council"]["quorum"] = json!({ "r3_required": required });
                // Enough for two rounds of three calls.
                settings["budget"]["calls_max"] = json!(6);
            },
        );
        let told = council.ask(&[]);
        told.expect(status, *code);
        assert_eq!(council.calls(Purpose::Synthesis), 0);
        match required {
            true => assert_eq!(*told.at("error.error_code"), "budget_exhausted"),
            false => assert_eq!(*told.at("report.fallback"), true),
        }
    });
}

#[test]
fn required_or_not_a_failed_chair_is_stood_in_for() {
    check_all(&[true, false], |required| {
        let council = Council::with(turned_away(&[CHAIR], Purpose::Synthesis), |settings| {
            settings["council"]["quorum"] = json!({ "r3_required": required });
        });
        let told = council.ask(&[]);
        told.expect("done", 0);
        assert_eq!(*told.at("report.fallback"), true);
    });
}

#[test]
fn the_most_complete_opinion_stands_in_for_the_chair() {
    // Seats that leave out their questions, and the seat whose opinion is shown.
    let rows: [(&[&str], &str); 3] = [(&[], "ann"), (&["ann"], "bob"), (&["ann", "bob"], "cid")];
    check_all(&rows, |&(terse, best)| {
        let council = Council::new(move |asked| match asked.purpose {
            Purpose::Opinion if terse.contains(&asked.seat) => {
                asked.with(json!({ "questions": [] }))
            }
            Purpose::Synthesis => Play::Refusal,
            Purpose::Opinion | Purpose::Review => Play::Fitting,
            Purpose::Conclusion
            | Purpose::Audit
            | Purpose::Revision
            | Purpose::Restatement
            | Purpose::Other(_)
            | Purpose::Judgement
            | Purpose::CrossReading
            | Purpose::Adjudication => Play::Fitting,
        });
        let told = council.ask(&[]);
        told.expect("done", 0);
        assert_eq!(*told.at("report.rationale.supporting_opinions.0.provider"), best, "{terse:?}");
    });
}

#[test]
fn who_failed_in_the_first_round_still_reviews_the_others() {
    let told = Council::new(turned_away(&["ann"], Purpose::Opinion)).ask(&[]);
    told.expect("done", 0);
    let reviews = told.at("rounds.r2.reviews").as_array().unwrap();
    let about = |reviewer: &str| -> Vec<&str> {
        let review = reviews.iter().find(|review| review["reviewer_provider"] == reviewer).unwrap();
        let targets = review["targets"].as_array().unwrap().iter();
        let mut about: Vec<&str> =
            targets.map(|target| target["target_provider"].as_str().unwrap()).collect();
        about.sort_unstable();
        about
    };
    assert_eq!(about("ann"), ["bob", "cid"]);
    assert_eq!(about("bob"), ["cid"]);
    assert_eq!(about("cid"), ["bob"]);
    assert_eq!(*told.at("transparency.providers.0.status"), "partial");
}

#[test]
fn a_stricter_ask_says_what_was_wrong() {
    let council = Council::new(|asked| match (asked.seat, asked.purpose, asked.nth) {
        ("bob", Purpose::Opinion, 1) => Play::Reply(r#"{"summary": "Yes."}"#.to_owned()),
        _ => Play::Fitting,
    });
    let told = council.ask(&[]);
    told.expect("done", 0);
    assert_eq!(*told.at("panel.failed"), json!([]));
    assert_eq!(*told.at("flags.degraded"), false);
    let seen = council.seen(Purpose::Opinion);
    let asked: Vec<&str> =
        seen.iter().filter(|seen| seat_of(seen) == "bob").map(|seen| seen.user.as_str()).collect();
    let [first, second] = asked.as_slice() else { panic!("asked {} times", asked.len()) };
    assert!(second.starts_with(first), "the question changed");
    assert!(second.contains("BEGIN REASON") && second.contains("missing field"), "{second}");
}

#[test]
fn a_server_that_refuses_the_schema_is_sent_none_for_the_rest_of_the_run() {
    let council = Council::new(|asked| match asked.seen.structured {
        true => {
            let body = json!({ "error": { "message": "response_format is not supported" } });
            Play::Status(400, vec![], body.to_string())
        }
        false => Play::Fitting,
    });
    let told = council.ask(&[]);
    told.expect("done", 0);
    assert_eq!(*told.at("panel.failed"), json!([]));
    let calls = [Purpose::Opinion, Purpose::Review, Purpose::Synthesis]
        .map(|purpose| council.calls(purpose));
    // Each provider is called twice for its first ask and once for later ones.
    assert_eq!(calls, [6, 3, 2]);
    assert_eq!(*told.at("metrics.session.calls"), 7);
}

#[test]
fn a_resumed_run_asks_only_those_who_were_not_heard() {
    let mended = Arc::new(AtomicBool::new(false));
    let is_mended = Arc::clone(&mended);
    let council = Council::new(move |asked| {
        let fails = asked.purpose == Purpose::Opinion && asked.seat != "ann";
        if fails && !is_mended.load(Ordering::SeqCst) { no() } else { Play::Fitting }
    });
    let told = council.ask(&[]);
    told.expect("incomplete", 3);
    mended.store(true, Ordering::SeqCst);
    let resumed = council.run(&["resume", told.id(), "--json"]);
    resumed.expect("done", 0);
    assert_eq!(*resumed.at("panel.failed"), json!([]));
    assert_eq!(*resumed.at("transparency.starts"), 2);
    let mut asked: Vec<String> = council.seen(Purpose::Opinion).iter().map(seat_of).collect();
    asked.sort();
    assert_eq!(asked, ["ann", "bob", "bob", "cid", "cid"]);
    let again = council.run(&["resume", told.id(), "--json"]);
    assert_eq!((again.code, &again.document), (0, &resumed.document), "finished is finished");
}

#[test]
fn nobody_sees_a_name_or_an_opinion_of_their_own() {
    let word = |seat: &str| match seat {
        "ann" => "alpha",
        "bob" => "beta",
        _ => "gamma",
    };
    let council = Council::new(move |asked| match asked.purpose {
        Purpose::Opinion => {
            let summary = format!("I am model-{0}, and I say {1}.", asked.seat, word(asked.seat));
            asked.with(json!({ "summary": summary }))
        }
        Purpose::Review | Purpose::Synthesis => Play::Fitting,
        Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => Play::Fitting,
    });
    council.ask(&[]).expect("done", 0);
    for seen in council.seen(Purpose::Review).iter().chain(&council.seen(Purpose::Synthesis)) {
        let reader = seat_of(seen);
        for name in PARTICIPANTS {
            assert!(!seen.user.contains(&format!("model-{name}")), "{reader} reads who {name} is");
            let reads = seen.user.contains(&format!("I say {}.", word(name)));
            assert_eq!(reads, reader != name, "{reader} and the opinion of {name}");
        }
    }
}

#[test]
fn a_run_that_is_out_of_calls_goes_on_when_there_are_more() {
    let council = Council::with(
        |_| Play::Fitting,
        |settings| {
            settings["budget"] = json!({ "calls_max": 4 });
        },
    );
    let told = council.ask(&[]);
    told.expect("incomplete", 3);
    assert_eq!(*told.at("error.error_code"), "budget_exhausted");
    assert!(told.at("error.suggestion").as_str().unwrap().contains("budget.calls_max"));
    council.set(|settings| settings["budget"] = json!({ "calls_max": 60 }));
    council.run(&["resume", told.id(), "--json"]).expect("done", 0);
}

#[test]
fn peers_that_only_the_chair_knows_of_are_taken_out_and_said() {
    let council = Council::new(|asked| match asked.purpose {
        Purpose::Synthesis => asked.with(json!({
            "disagreements": [{
                "topic": "Whether",
                "positions": [
                    { "provider": "A", "position": "yes" },
                    { "provider": "Z", "position": "no" },
                    { "provider": "A and B", "position": "both" },
                ],
            }],
        })),
        Purpose::Opinion | Purpose::Review => Play::Fitting,
        Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => Play::Fitting,
    });
    let told = council.ask(&[]);
    told.expect("done", 0);
    let positions = told.at("report.disagreements.0.positions").as_array().unwrap();
    assert_eq!(positions.len(), 1, "{positions:?}");
    let warnings = told.at("warnings").to_string();
    assert!(warnings.contains("2 participants that there are not"), "{warnings}");
}

#[test]
fn who_never_answered_did_not_succeed() {
    let council = Council::new(|asked| match asked.seat {
        "cid" => Play::Hang,
        _ => Play::Fitting,
    });
    let told = council.ask(&["--deadline", "1500ms"]);
    told.expect("incomplete", 3);
    assert_eq!(*told.at("panel.attempted"), 3);
    assert_eq!(*told.at("panel.succeeded"), 2);
    let providers = told.at("transparency.providers").as_array().unwrap();
    let cid = providers.iter().find(|known| known["provider"] == "cid").unwrap();
    assert_eq!(cid["status"], "unanswered");
}
