//! Hostile replies: none makes a parser panic or hang.

use std::path::Path;

use proptest::prelude::*;

use crate::parsing::plain_text::parse_restatement;
use crate::parsing::schema::ReplyShape;
use crate::protocols::conclusion::parse::{parse_audit, parse_conclusion, parse_revision};
use crate::protocols::conclusion::parse_tests::ConclusionFixture;
use crate::protocols::conclusion::types::ConclusionField;
use crate::protocols::council::parse::{parse_opinion, parse_peer_review, parse_report};
use crate::protocols::council::types::QuestionMode;
use crate::protocols::review::parse::{parse_adjudication, parse_judgement};
use crate::protocols::review::types::score_names;

const JUDGEMENT: &str = r#"{"verdict":"ship","scores":{"goal_fit":4,"stake_calibration":4,"opportunity_cost":4},"would_block":false,"irreducible":false,"concerns":[{"locus":"a","issue":"b","fix":"c"}],"revision_brief":"d"}"#;
const ADJUDICATION: &str =
    r#"{"final_verdict":"SHIP","reasoning":"a","revision_brief":"b","downgrade":false}"#;

const OPINION: &str = r#"{"summary":"Do it.","details":{"recommendation":"Adopt."},"confidence":"high","stance":"approve"}"#;

fn reason(reply: &str) -> String {
    parse_opinion(reply, QuestionMode::General).unwrap_err().reason
}

fn read_all(reply: &str) {
    let _ = parse_opinion(reply, QuestionMode::Review);
    let _ = parse_peer_review(reply, &['A', 'B']);
    let _ = parse_report(reply, &['A', 'B']);
    let (room, original) = (ConclusionFixture::new(), ConclusionFixture::new().conclusion());
    let _ = parse_conclusion(reply, &room.grounds());
    // A reviser cannot change a field that was not flagged.
    let flagged = [ConclusionField::KeyCondition, ConclusionField::UnresolvedPoints];
    if let Ok(read) = parse_revision(reply, &original, &flagged, &room.grounds()) {
        let differing = original.differing_fields(&read.document);
        assert!(differing.iter().all(|field| flagged.contains(field)), "{differing:?}: {reply}");
    }
    let _ = parse_restatement(reply);
    // An accepted judgement always states whether it blocks.
    for purpose in [ReplyShape::Judgement, ReplyShape::CrossReading] {
        for names in [None, score_names("strategy")] {
            let is_read = parse_judgement(reply, "", purpose, names).is_ok();
            assert!(!is_read || reply.contains("would_block"), "{reply}");
        }
    }
    assert!(parse_adjudication(reply, "").is_err() || reply.contains("final_verdict"), "{reply}");
    if parse_audit(reply).is_ok() {
        let is_verdict = reply.contains("PASS") || reply.contains("FLAG:");
        assert!(is_verdict, "{reply}");
    }
}

/// Every UTF-8 file of the JSON test suite.
#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
fn suite() -> Vec<(String, String)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/fixtures/corpora/jsontestsuite");
    let folders = ["test_parsing", "test_transform"].map(|name| root.join(name));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = files.map(|entry| entry.unwrap().path());
    let texts = files.map(|path| {
        let bytes = std::fs::read(&path).unwrap();
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            String::from_utf8_lossy(&bytes).into_owned(),
        )
    });
    texts.collect()
}

#[test]
fn no_file_of_the_json_test_suite_is_taken_for_an_answer() {
    let suite = suite();
    assert!(suite.len() > 300, "found only {}", suite.len());
    for (name, text) in suite {
        assert!(parse_opinion(&text, QuestionMode::General).is_err(), "{name}");
        assert!(parse_conclusion(&text, &ConclusionFixture::new().grounds()).is_err(), "{name}");
        assert!(parse_audit(&text).is_err(), "{name}");
        assert!(parse_judgement(&text, "", ReplyShape::Judgement, None).is_err(), "{name}");
        assert!(parse_adjudication(&text, "").is_err(), "{name}");
        read_all(&text);
        read_all(&format!("Here it is:\n```json\n{text}\n```\nDone."));
        read_all(&format!(r#"{{"summary":{text},"targets":[{text}],"conclusion":{text}}}"#));
        read_all(&format!(r#"{{"key_condition":{text},"unresolved_points":[{text}]}}"#));
        read_all(&format!("FLAG: {text} - {text}"));
        read_all(&format!(r#"{{"scores":{text},"concerns":[{text}],"would_block":{text}}}"#));
    }
}

#[test]
fn an_answer_is_found_beside_any_of_them() {
    // A text with unclosed brackets swallows what follows it, so the answer is placed before it.
    for (name, text) in suite() {
        let found =
            parse_opinion(&format!("```json\n{OPINION}\n```\n{text}"), QuestionMode::General);
        assert!(found.is_ok(), "{name}: {found:?}");
    }
}

#[test]
fn depth_has_an_end() {
    for open in ["{", "[", "{\"a\":", "[{\"summary\":", "{\"summary\":["] {
        let deep = open.repeat(100_000);
        read_all(&deep);
        read_all(&format!("{OPINION} {deep}"));
    }
    let nested = format!("{}{}{}", "{\"a\":".repeat(100), "1", "}".repeat(100));
    assert_eq!(reason(&nested), "nested deeper than 64 levels");
    assert_eq!(
        reason(&OPINION.replace("\"Do it.\"", &"[".repeat(90))),
        "nested deeper than 64 levels"
    );
}

#[test]
fn size_has_an_end() {
    assert_eq!(reason(&"x".repeat(5_000_000)), "the reply has over 1000000 characters");
    assert_eq!(reason(&"é".repeat(1_000_001)), "the reply has over 1000000 characters");
    let long = OPINION.replace("Do it.", &"x".repeat(200_000));
    assert_eq!(reason(&long), "summary: 200000 characters, over 100000");
    let prose = format!("{}\n{OPINION}", "word ".repeat(150_000));
    assert!(parse_opinion(&prose, QuestionMode::General).is_ok());
}

#[test]
fn what_repeats_costs_no_more_than_its_length() {
    for piece in [
        "{\"",
        "{'a':",
        "\"",
        "'",
        "\\",
        "```\n{",
        "<think>",
        "</think>",
        "{}",
        "/*{",
        "// \n{",
        "{\"a\":\"b\" ",
        "“{",
        "\\ud800",
        "<",
        "x <",
        "</think> ",
    ] {
        read_all(&piece.repeat(900_000 / piece.len() / 4));
    }
}

#[test]
fn nul_and_other_controls_are_text() {
    let reply = OPINION.replace("Do it.", "Do\u{0} it.");
    assert_eq!(
        parse_opinion(&reply, QuestionMode::General).unwrap().document.summary,
        "Do\u{0} it."
    );
    assert!(parse_opinion(&format!("\u{0}{OPINION}\u{0}"), QuestionMode::General).is_ok());
}

/// Fragments of documents, in random order.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "'",
        "“",
        "”",
        "\\",
        "\n",
        "```",
        "```json\n",
        "<think>",
        "</think>",
        "\"summary\"",
        "\"details\"",
        "summary",
        "null",
        "NaN",
        "True",
        "1",
        "-",
        "8/10",
        "//",
        "/*",
        "*/",
        "#",
        "\\u",
        "d83d",
        "é",
        "\u{0}",
        "\"targets\":[",
        "\"letter\":\"A\"",
        " ",
        "\"conclusion\":{",
        "\"key_condition\":\"x\"",
        "\"unresolved_points\":[",
        "\"claims\":[",
        "\"agents_involved\":[\"A\"]",
        "\"would_block\":false",
        "\"irreducible\":true",
        "\"verdict\":\"ship\"",
        "\"scores\":{\"a\":1}",
        "\"final_verdict\":\"SHIP\"",
        JUDGEMENT,
        ADJUDICATION,
        "PASS",
        "FLAG: recommendation - ",
        OPINION,
    ]);
    prop_oneof![6 => fixed.prop_map(str::to_owned), 1 => any::<String>()]
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(reply in any::<String>()) {
        read_all(&reply);
    }

    #[test]
    fn any_mixture_is_read_or_refused(pieces in prop::collection::vec(piece(), 0..60)) {
        read_all(&pieces.concat());
    }

    #[test]
    fn any_cut_of_a_document_is_read_or_refused(end in 0..OPINION.len()) {
        read_all(OPINION.get(..end).unwrap());
    }
}

/// A judgement that would let the artifact pass, corrupted in one place.
#[test]
fn what_is_not_quite_a_judgement_is_none() {
    let strategy = score_names("strategy");
    let read = |reply: &str| parse_judgement(reply, "", ReplyShape::Judgement, strategy);
    assert!(read(JUDGEMENT).is_ok());
    let spoiled = |from: &str, to: &str| JUDGEMENT.replace(from, to);
    let echoed = r#"{"type":"object","properties":{"verdict":{"type":"string"},"scores":{"type":"object"},"would_block":{"type":"boolean"},"irreducible":{"type":"boolean"}}}"#;
    let table = [
        (String::new(), "the reply is empty"),
        ("I can't help with that.".to_owned(), "the model declined to answer"),
        ("I would ship it.".to_owned(), "the reply contains no JSON object"),
        (format!("<think>{JUDGEMENT}</think>"), "the reply contains only thinking and no answer"),
        (echoed.to_owned(), "the reply repeats the schema without values"),
        (
            spoiled("\"would_block\":false", "\"would_block\":true,\"would_block\":false"),
            "duplicate key `would_block`",
        ),
        (spoiled("\"would_block\":false,", ""), "would_block: missing field"),
        (
            spoiled("\"goal_fit\":4", "\"goal_fit\":NaN"),
            "scores.goal_fit: is null, but a value is required",
        ),
        (spoiled("\"goal_fit\":4", "\"goal_fit\":1e999"), "not JSON: number out of range"),
        (spoiled("\"d\"", &"[".repeat(90)), "nested deeper than 64 levels"),
        (ADJUDICATION.to_owned(), "scores: missing field"),
    ];
    for (reply, expected) in table {
        assert_eq!(read(&reply).unwrap_err().reason, expected, "{reply}");
    }
    // Of two different judgements, none is accepted.
    let other = spoiled("\"would_block\":false", "\"would_block\":true");
    let two = read(&format!("{JUDGEMENT}\n{other}")).unwrap_err();
    assert_eq!(two.reason, "the reply contains two judgements that differ");
    assert!(read(&format!("{OPINION}\n{other}\n{{}}")).unwrap().document.would_block);
}

#[test]
fn any_cut_of_a_conclusion_is_refused() {
    let room = ConclusionFixture::new();
    let whole = serde_json::to_string(&room.conclusion()).unwrap();
    assert!(parse_conclusion(&whole, &room.grounds()).is_ok());
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        let cut = whole.get(..end).unwrap();
        assert!(parse_conclusion(cut, &room.grounds()).is_err(), "{cut}");
        let cut =
            parse_revision(cut, &room.conclusion(), &[ConclusionField::ReviewBy], &room.grounds());
        assert!(cut.is_err(), "{cut:?}");
    }
}
