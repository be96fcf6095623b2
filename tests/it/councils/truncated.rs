//! A truncated reply is asked for again and never counts as complete.

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use super::harness::{Asked, CHAIR, Council, Told};
use crate::kit::{Play, fitting};

const CUT_OFF: &str = "the reply was cut off before it ended";

/// A valid document that ends in the middle of a text.
fn cut_opinion(asked: &Asked<'_>) -> String {
    let mut document = fitting(asked.seen);
    let fields = document.as_object_mut().unwrap();
    fields.shift_remove("questions");
    fields.insert("questions".to_owned(), json!(["Deploy now unless the"]));
    let text = document.to_string();
    let end = text.find("unless the").unwrap() + "unless the".len();
    text[..end].to_owned()
}

/// A council in which ann's replies are truncated at these calls of this purpose.
fn cut_at(purpose: Purpose, is_cut: fn(usize) -> bool, cut: fn(&Asked<'_>) -> Play) -> Council {
    Council::new(move |asked| {
        let is_hers = asked.seat == "ann" || asked.seat == CHAIR;
        match is_hers && asked.purpose == purpose && is_cut(asked.nth) {
            true => cut(asked),
            false => Play::Fitting,
        }
    })
}

#[track_caller]
fn check_unmarked(told: &Told) {
    told.expect("done", 0);
    let flags =
        json!({ "truncated": told.at("flags/truncated"), "degraded": told.at("flags/degraded") });
    assert_eq!(flags, json!({ "truncated": false, "degraded": false }));
    assert!(!told.document.to_string().contains("cut off"), "{:#}", told.document);
}

#[test]
fn a_reply_that_was_cut_off_is_asked_for_again_and_shorter() {
    let cuts: [fn(&Asked<'_>) -> Play; 3] = [
        |asked| Play::Reply(cut_opinion(asked)),
        |_| Play::OutOfTokens(0),
        |_| Play::WithoutLast(1),
    ];
    for cut in cuts {
        let council = cut_at(Purpose::Opinion, |nth| nth == 1, cut);
        check_unmarked(&council.ask(&[]));
        let hers =
            council.seen(Purpose::Opinion).into_iter().filter(|seen| seen.model == "model-ann");
        let hers: Vec<String> = hers.map(|seen| seen.user).collect();
        let [first, second] = hers.as_slice() else { panic!("{} calls", hers.len()) };
        assert!(!first.contains("shorter"), "{first}");
        assert!(second.contains("Write a shorter one that you can finish"), "{second}");
        assert!(second.contains(CUT_OFF), "{second}");
    }
}

#[test]
fn an_opinion_that_is_cut_off_twice_is_used_and_marked_everywhere() {
    let cut: fn(&Asked<'_>) -> Play = |asked| Play::Reply(cut_opinion(asked));
    let council = cut_at(Purpose::Opinion, |_| true, cut);
    let told = council.ask(&[]);
    told.expect("done", 0);
    assert_eq!(council.calls(Purpose::Opinion), 4);
    assert_eq!(
        (told.at("flags/truncated"), told.at("flags/degraded")),
        (&json!(true), &json!(true))
    );
    let marks = told.at("rounds/r1/opinions").as_array().unwrap().iter();
    let marks: Vec<Value> = marks.map(|one| json!([one["provider"], one["truncated"]])).collect();
    assert_eq!(marks, [json!(["ann", true]), json!(["bob", null]), json!(["cid", null])]);
    assert_eq!(told.at("transparency/providers/0/truncated"), &json!(["R1"]));
    let warned = "the opinion of ann in R1 was cut off, also when it was asked for again: its end is missing";
    assert!(
        told.at("warnings").as_array().unwrap().contains(&json!(warned)),
        "{:#}",
        told.document
    );
    // Readers are told.
    let label = "(it was cut off: its end is missing)";
    for seen in council.seen(Purpose::Review).iter().chain(&council.seen(Purpose::Synthesis)) {
        assert_eq!(seen.user.contains(label), seen.model != "model-ann", "{}", seen.user);
    }
    check_pages(&council, told.id());
}

/// The pages of that council for people, and its event stream for programs.
#[track_caller]
fn check_pages(council: &Council, id: &str) {
    let page = council.program.run(&["show", id]).stdout;
    let head = page.split("HOW THEY STOOD").next().unwrap();
    assert!(head.contains("3 of 3 heard · ann's opinion was cut off"), "{page}");
    let markdown = council.program.run(&["export", id, "--format", "markdown"]).stdout;
    assert!(markdown.contains("**(cut off)**"), "{markdown}");
    let events = council.program.run(&["replay", id, "--json"]).stdout;
    let marked = |line: &&str| line.contains(r#""truncated":true"#);
    assert_eq!(events.lines().filter(marked).count(), 1, "{events}");
    let exported = council.run(&["export", id, "--json"]).document;
    let hers = &exported["recommendations"][0];
    assert_eq!(hers["parameters"]["truncated"], true, "{hers:#}");
    let summary = exported["rounds"].to_string();
    assert!(summary.contains("The opinion of ann was cut off."), "{summary}");
}

#[test]
fn a_review_that_is_cut_off_twice_is_marked() {
    let council = cut_at(Purpose::Review, |_| true, |_| Play::WithoutLast(1));
    let told = council.ask(&[]);
    told.expect("done", 0);
    assert_eq!(told.at("flags/truncated"), true);
    assert_eq!(told.at("rounds/r2/reviews/0/truncated"), true);
    let page = council.program.run(&["show", told.id()]).stdout;
    assert!(page.contains("ann's review was cut off"), "{page}");
}

#[test]
fn a_report_that_is_cut_off_twice_is_not_delivered() {
    let cuts: [fn(&Asked<'_>) -> Play; 2] = [|_| Play::WithoutLast(1), |_| Play::OutOfTokens(0)];
    for cut in cuts {
        let council = cut_at(Purpose::Synthesis, |_| true, cut);
        let told = council.ask(&[]);
        assert_eq!(
            (told.at("report/fallback"), told.at("flags/degraded")),
            (&json!(true), &json!(true))
        );
        let failed = told.at("panel/failed/0");
        assert_eq!(
            (&failed["provider"], &failed["error_message"]),
            (&json!(CHAIR), &json!(CUT_OFF))
        );
    }
}

#[test]
fn an_opinion_that_was_cut_off_stands_in_for_no_chair_and_skips_no_round() {
    let council = Council::with(
        |asked| match (asked.seat, asked.purpose) {
            ("ann", Purpose::Opinion) => Play::Reply(cut_opinion(asked)),
            (_, Purpose::Synthesis) => Play::Refusal,
            _ => Play::Fitting,
        },
        |settings| {
            settings["council"]["short_circuit"] =
                json!({ "enabled": true, "skip_r2_if": ["high_agreement_in_r1"] });
        },
    );
    let told = council.ask(&[]);
    assert_eq!(told.at("flags/short_circuit"), false, "{:#}", told.document);
    let best = told.at("report/rationale/supporting_opinions/0/provider");
    assert_ne!(best, "ann", "{:#}", told.document);
}

#[test]
fn a_conclusion_that_was_cut_off_is_none() {
    let ask = ["ask", "--json", "Shall we go ahead?"];
    for purpose in [Purpose::Conclusion, Purpose::Audit] {
        let council = Council::new(move |asked| match asked.purpose == purpose {
            true => Play::OutOfTokens(0),
            false => Play::Fitting,
        });
        let told = council.run(&ask);
        told.expect("incomplete", 3);
        assert_eq!(council.calls(purpose), 2, "{purpose}");
        assert_eq!(told.at("terminal_state"), &Value::Null, "{purpose}");
        let again = council.seen(purpose).pop().unwrap().user;
        assert!(again.contains("Your last reply was cut off before its end"), "{again}");
    }
}
