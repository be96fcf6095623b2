//! Council replies as models write them, and how each is parsed.

use serde_json::{Value, json};

use crate::model::run_state::ReplyDocument;
use crate::parsing::reply::{ParseResult, to_parse_outcome};
use crate::parsing::schema::OPINION_SCHEMA;
use crate::protocols::council::parse::{parse_opinion, parse_peer_review, parse_report};
use crate::protocols::council::report_types::ChairReport;
use crate::protocols::council::types::{OpinionAssessment, OpinionReply, PeerReview, QuestionMode};

const OPINION: &str = r#"{"summary":"Do it.","details":{"recommendation":"Adopt."},"confidence":"high","stance":"approve"}"#;

/// The parse result or the error, on one line: `read`, or `repaired` if the JSON needed repairs.
fn summary<T>(normalised: ParseResult<T>, describe: impl Fn(&T) -> String) -> String {
    match normalised {
        Ok(read) => {
            let how = if read.repaired { "repaired" } else { "read" };
            format!("{how}: {}", describe(&read.document))
        }
        Err(unreadable) => {
            let how = if unreadable.refusal { "refusal" } else { "unreadable" };
            format!("{how}: {}", unreadable.reason)
        }
    }
}

fn describe_opinion(opinion: &OpinionReply) -> String {
    let OpinionReply { summary, details, confidence, stance, .. } = opinion;
    format!("{summary} | {} | {confidence} | {stance}", details.recommendation)
}

#[track_caller]
fn check(reply: &str, expected: &str) {
    assert_eq!(summary(parse_opinion(reply, QuestionMode::General), describe_opinion), expected);
}

/// The opinion with one value replaced.
fn with(pointer: &str, value: Value) -> String {
    let mut document: Value = serde_json::from_str(OPINION).unwrap();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    parent.insert(name.to_owned(), value);
    document.to_string()
}

const READ: &str = "read: Do it. | Adopt. | high | approve";
const MENDED: &str = "repaired: Do it. | Adopt. | high | approve";

#[test]
fn a_document_is_found_wherever_it_stands() {
    check(OPINION, READ);
    check(&format!("\u{feff}{OPINION}\n"), READ);
    check(&format!("Here it is:\n\n{OPINION}\n\nAnything else?"), READ);
    check(&format!("```json\n{OPINION}\n```"), READ);
    check(&format!("~~~\n{OPINION}\n~~~"), READ);
    check(&format!("```json\n{OPINION}"), READ);
    check(&format!("Use {{curly}} braces. {OPINION} Or {{\"a\":1}}."), READ);
    check(&format!("<think>{{\"summary\":\"draft\"}}</think>{OPINION}"), READ);
    check(&format!("thinking {{\"summary\":1}}\n</think>\n{OPINION}"), READ);
    check(&format!("{{\"opinion\":{OPINION}}}"), READ);
    check(&format!("[{OPINION}]"), READ);
    check(&format!("{{\"properties\":{OPINION}}}"), READ);
}

#[test]
fn of_several_documents_the_last_fenced_one_counts() {
    let other = OPINION.replace("Do it.", "Do not.");
    check(&format!("First: {other}\nBetter: {OPINION}"), READ);
    check(&format!("```\n{other}\n```\nthen\n```\n{OPINION}\n```"), READ);
    check(&format!("```\n{OPINION}\n```\nnot {other}"), READ);
    check(&format!("{OPINION} {{\"summary\":\"unfinished\"}}"), READ);
}

#[test]
fn json_that_is_nearly_right_is_repaired_and_said_to_be() {
    check(&OPINION.replace('}', ",}"), MENDED);
    check(&OPINION.replace('"', "'"), MENDED);
    check(&OPINION.replace("\"summary\"", "summary"), MENDED);
    check(&OPINION.replace("{\"summary", "{// mine\n\"summary"), MENDED);
    check(
        &OPINION.replace("\"summary\":\"", "“summary”: “").replace("Do it.\"", "Do it.”"),
        MENDED,
    );
    check(&OPINION.replace('{', "{\"x\":NaN,\"y\":None,"), MENDED);
    check(&OPINION.replace("Do it.", "Do\nit."), "repaired: Do\nit. | Adopt. | high | approve");
    check(
        &OPINION.replace("Do it.", "Do \"it\" now."),
        "repaired: Do \"it\" now. | Adopt. | high | approve",
    );
    check(OPINION.strip_suffix('}').unwrap(), MENDED);
}

#[test]
fn a_reply_that_breaks_off_says_so() {
    check(
        r#"{"summary":"Do it.","details":{"recommendation":"Ado"#,
        "unreadable: confidence: missing field (the reply was cut off before it ended)",
    );
}

#[test]
fn values_that_mean_one_thing_are_fitted() {
    check(&with("/confidence", json!("Critical")), READ);
    check(&with("/stance", json!("Approved")), READ);
    check(&with("/risks", json!(null)), READ);
    check(&with("/assumptions", json!("one")), READ);
    check(&with("/unknown", json!({"deep": [1]})), READ);
    check(&with("/details/understanding", json!(null)), READ);
}

#[test]
fn a_reason_names_the_place_and_the_fault() {
    check(&with("/details", json!({})), "unreadable: details.recommendation: missing field");
    check(&with("/details", json!("x")), "unreadable: details: `x`, not an object");
    check(&with("/summary", json!("  ")), "unreadable: summary: empty");
    check(&with("/summary", json!(null)), "unreadable: summary: is null, but a value is required");
    check(&with("/details/recommendation", json!("")), "unreadable: details.recommendation: empty");
    check(
        &with("/confidence", json!("sure")),
        "unreadable: confidence: `sure` is not one of low, medium, high",
    );
    check(
        &with("/risks", json!([{"description": "x", "severity": "low"}, {"description": "y"}])),
        "unreadable: risks[1].severity: missing field",
    );
    check(&with("/risks", json!(["x"])), "unreadable: risks[0]: `x`, not an object");
    check(
        &OPINION.replace("\"stance\"", "\"summary\":\"again\",\"stance\""),
        "unreadable: duplicate key `summary`",
    );
}

#[test]
fn what_holds_no_document_says_what_it_is() {
    check("", "unreadable: the reply is empty");
    check(" \n\u{feff}", "unreadable: the reply is empty");
    check("<think>hm</think>", "unreadable: the reply contains only thinking and no answer");
    check("<think>never done {", "unreadable: the reply contains only thinking and no answer");
    check("I would adopt it.", "unreadable: the reply contains no JSON object");
    check("null", "unreadable: the reply contains no JSON object");
    check("[1,2]", "unreadable: the reply contains no JSON object");
    check("{}", "unreadable: summary: missing field");
    check("\u{0}\u{0}", "unreadable: the reply contains no JSON object");
    check("I'm sorry, but I can't help with that.", "refusal: the model declined to answer");
    check(
        r#"{"error":"I cannot provide an opinion on this."}"#,
        "refusal: the model declined to answer",
    );
    check(
        &with("/summary", json!("I can't help with that as asked, but: do it.")),
        "read: I can't help with that as asked, but: do it. | Adopt. | high | approve",
    );
}

#[test]
fn a_schema_that_is_sent_back_is_known() {
    let echoed = "unreadable: the reply repeats the schema without values";
    check(&OPINION_SCHEMA.to_string(), echoed);
    check(&OPINION_SCHEMA["properties"].to_string(), echoed);
    check(&format!("{} {OPINION}", *OPINION_SCHEMA), READ);
}

#[test]
fn findings_are_kept_in_mode_review_alone() {
    let finding = json!({"id": "SEC-001", "title": "t", "severity": "severe", "description": "d"});
    let reply = with("/findings", json!([finding]));
    let count = |mode| parse_opinion(&reply, mode).unwrap().document.findings.len();
    assert_eq!(
        (
            count(QuestionMode::Review),
            count(QuestionMode::General),
            count(QuestionMode::Architecture)
        ),
        (1, 0, 0)
    );
}

fn describe_review(review: &PeerReview) -> String {
    let target = |target: &OpinionAssessment| {
        format!("{} {} ({})", target.letter, target.rating, target.critiques.len())
    };
    review.targets.iter().map(target).collect::<Vec<_>>().join(", ")
}

#[track_caller]
fn check_review(targets: &Value, expected: &str) {
    let reply = json!({ "targets": targets }).to_string();
    assert_eq!(summary(parse_peer_review(&reply, &['A', 'C', 'D']), describe_review), expected);
}

#[test]
fn a_review_names_opinions_that_were_shown() {
    check_review(&json!([{"letter": "A", "rating": 7}]), "read: A 7 (0)");
    check_review(
        &json!([{"letter": "Opinion A", "rating": "8/10"}, {"letter": "c", "rating": 8.0}, {"letter": "[D]", "rating": 1}]),
        "read: A 8 (0), C 8 (0), D 1 (0)",
    );
    let critique = json!({"type": "Factual error", "message": "m", "severity": "moderate"});
    check_review(
        &json!([{"letter": "**Opinion C**", "rating": 10, "critiques": [critique]}]),
        "read: C 10 (1)",
    );
    // What stands in both entries counts once.
    check_review(
        &json!([
            {"letter": "A", "rating": 9, "critiques": [critique]},
            {"letter": "letter a", "rating": 7, "critiques": [critique]},
        ]),
        "repaired: A 7 (1)",
    );
    check_review(
        &json!([]),
        "unreadable: targets: the list is empty, but at least one item is required",
    );
    check_review(
        &json!(null),
        "unreadable: targets: the list is empty, but at least one item is required",
    );
    // `B` was not shown: it is usually the reviewer's own.
    check_review(
        &json!([{"letter": "A", "rating": 7}, {"letter": "B", "rating": 7}]),
        "read: A 7 (0)",
    );
    check_review(
        &json!([{"letter": "B", "rating": 7}]),
        "unreadable: targets[0].letter: `B` was not shown; shown: A, C, D",
    );
    check_review(
        &json!([{"letter": "A", "rating": 7}, {"letter": "opinion a", "rating": 9}]),
        "repaired: A 7 (0)",
    );
    check_review(
        &json!([{"letter": "all of them", "rating": 7}]),
        "unreadable: targets[0].letter: `all of them` was not shown; shown: A, C, D",
    );
    check_review(
        &json!([{"letter": "A", "rating": 0}]),
        "unreadable: targets[0].rating: 0 is not from 1 to 10",
    );
}

fn describe_report(report: &ChairReport) -> String {
    let supporters =
        report.rationale.supporting_opinions.iter().map(|point| point.provider.as_str());
    let risks = report.risks.iter().flat_map(|risk| &risk.mentioned_by).map(String::as_str);
    let named: Vec<&str> = supporters.chain(risks).collect();
    format!("{} | {} | {}", report.conclusion.outcome, report.conclusion.statement, named.join(" "))
}

#[track_caller]
fn check_report(fields: &Value, expected: &str) {
    let mut document = json!({
        "conclusion": {"outcome": "adopt", "statement": "Do it."},
        "rationale": {"summary": "All agree."},
    });
    for (name, value) in fields.as_object().unwrap() {
        document[name] = value.clone();
    }
    assert_eq!(
        summary(parse_report(&document.to_string(), &['A', 'B']), describe_report),
        expected
    );
}

#[test]
fn a_report_is_read_with_its_letters() {
    check_report(&json!({}), "read: adopt | Do it. | ");
    check_report(
        &json!({
            "rationale": {"summary": "s", "supporting_opinions": [
                {"provider": "Opinion A", "key_point": "k", "weight": "high"},
                {"provider": "Opinion Z", "key_point": "k", "weight": "high"},
            ]},
            "risks": [{"description": "d", "severity": "low", "mentioned_by": "b", "consensus": "Agreed"}],
        }),
        "read: adopt | Do it. | A Opinion Z B",
    );
    let need = |reason| json!({"conclusion": {"outcome": "Need info", "statement": "s", "reason": reason}});
    check_report(&need(json!("no figures")), "read: need-info | s | ");
    check_report(&need(json!(null)), "unreadable: conclusion.reason: empty; need-info needs it");
    check_report(
        &json!({"conclusion": {"outcome": "maybe", "statement": "s"}}),
        "unreadable: conclusion.outcome: `maybe` is not one of adopt, reject, need-info, answer",
    );
    check_report(&json!({"rationale": {"summary": ""}}), "unreadable: rationale.summary: empty");
    let finding = json!({"id": "S-1", "title": "t", "severity": "high", "description": "d", "reported_by": ["a"]});
    check_report(&json!({"findings": [finding]}), "read: adopt | Do it. | ");
}

#[test]
fn a_reading_is_kept_as_the_transcript_wants_it() {
    let kept = |reply| {
        serde_json::to_value(to_parse_outcome(
            parse_opinion(reply, QuestionMode::General),
            |found| ReplyDocument::Opinion(Box::new(found)),
        ))
        .unwrap()
    };
    assert_eq!(kept("")["reading"], "unreadable");
    assert_eq!(kept("")["reason"], "the reply is empty");
    assert_eq!(kept(OPINION)["document"]["document"], "opinion");
}
