//! Cuts replies of every kind at every byte: none is accepted as complete.

use serde_json::{Value, json};

use crate::model::ask::CUT_OFF_REASON;
use crate::parsing::reply::ParseResult;
use crate::parsing::schema::ReplyShape;
use crate::protocols::conclusion::parse::{parse_audit, parse_conclusion, parse_revision};
use crate::protocols::conclusion::parse_tests::ConclusionFixture;
use crate::protocols::conclusion::types::{AuditReply, ConclusionField};
use crate::protocols::council::parse::{parse_opinion, parse_peer_review, parse_report};
use crate::protocols::council::types::QuestionMode;
use crate::protocols::review::parse::{parse_adjudication, parse_judgement};
use crate::protocols::review::types::score_names;

/// Result of parsing a cut reply.
#[derive(Debug, PartialEq)]
enum CutOutcome {
    Whole,
    Truncated,
    Unreadable(String),
}

fn outcome<T>(normalised: ParseResult<T>) -> CutOutcome {
    match normalised {
        Ok(read) if read.truncated => CutOutcome::Truncated,
        Ok(_) => CutOutcome::Whole,
        Err(unreadable) => CutOutcome::Unreadable(unreadable.reason),
    }
}

/// A kind of document: its name, a valid example, and its parser.
struct ParserCase {
    name: &'static str,
    valid: Value,
    read: fn(&str) -> CutOutcome,
}

/// A text with all characters that can confuse the search for the end of a string.
const TEXT: &str = "Go {now} \"if\" it's [so] \\ or } é";

fn kinds() -> Vec<ParserCase> {
    let opinion_of = json!({
        "summary": TEXT,
        "details": {
            "understanding": TEXT, "key_considerations": [TEXT, "b"],
            "recommendation": TEXT, "rationale": TEXT,
        },
        "confidence": "high",
        "stance": "approve",
        "risks": [{"description": TEXT, "severity": "high", "mitigation": TEXT}],
        "assumptions": [TEXT],
        "questions": [TEXT, "last?"],
    });
    let target = |letter: &str| {
        json!({
            "letter": letter, "rating": 7, "agreement_points": [TEXT],
            "critiques": [{"type": "error", "severity": "high", "message": TEXT}],
        })
    };
    let review_of =
        json!({ "targets": [target("A"), target("B")], "would_change_my_opinion": [TEXT] });
    let report_of = json!({
        "conclusion": {"outcome": "adopt", "statement": TEXT},
        "rationale": {"summary": TEXT},
        "disagreements": [{"topic": TEXT, "positions": [{"provider": "A", "position": TEXT}],
            "resolution": TEXT, "resolution_rationale": TEXT}],
        "consensus_points": [TEXT],
    });
    let conclusion_of = json!({
        "recommendation": TEXT, "key_condition": TEXT,
        "unresolved_points": [{"point": TEXT, "agents_involved": ["claude", "openai"],
            "claims": [{"id": "P0101", "agent": "claude", "claim": TEXT},
                {"id": "P0102", "agent": "openai", "claim": TEXT}]}],
        "review_by": "2026-05-31",
        "participants": [{"agent": "claude", "version": "9"}],
    });
    let judgement_of = json!({
        "verdict": "ship",
        "scores": {"goal_fit": 4, "stake_calibration": 4, "opportunity_cost": 4},
        "would_block": false, "irreducible": false, "revision_brief": TEXT,
        "concerns": [{"locus": TEXT, "issue": TEXT, "fix": TEXT}, {"locus": "a", "issue": "b", "fix": "c"}],
    });
    let adjudication_of = json!({
        "final_verdict": "SHIP", "downgrade": false, "reasoning": TEXT, "revision_brief": TEXT,
    });
    let kind = |name, valid, read| ParserCase { name, valid, read };
    vec![
        kind("opinion", opinion_of, |reply| outcome(parse_opinion(reply, QuestionMode::General))),
        kind("review", review_of, |reply| outcome(parse_peer_review(reply, &['A', 'B']))),
        kind("report", report_of, |reply| outcome(parse_report(reply, &['A', 'B']))),
        kind("conclusion", conclusion_of.clone(), |reply| {
            outcome(parse_conclusion(reply, &ConclusionFixture::new().grounds()))
        }),
        kind("revision", conclusion_of, |reply| {
            let (room, flagged) = (ConclusionFixture::new(), [ConclusionField::KeyCondition]);
            outcome(parse_revision(reply, &room.conclusion(), &flagged, &room.grounds()))
        }),
        kind("judgement", judgement_of, |reply| {
            let scores = score_names("strategy");
            outcome(parse_judgement(reply, "An artifact.", ReplyShape::Judgement, scores))
        }),
        kind("adjudication", adjudication_of, |reply| {
            outcome(parse_adjudication(reply, "An artifact."))
        }),
    ]
}

/// A reply around a document, and the range in which a cut must be detected.
struct ReplyCase {
    how: &'static str,
    text: String,
    /// End of the document.
    end: usize,
}

fn reply(how: &'static str, before: &str, document: &str, after: &str) -> ReplyCase {
    let text = format!("{before}{document}{after}");
    ReplyCase { how, text, end: before.len() + document.len() }
}

fn replies(valid: &Value) -> Vec<ReplyCase> {
    let (flat, tall) = (valid.to_string(), serde_json::to_string_pretty(valid).unwrap());
    // Text that a model may write before its answer and that is not the answer.
    let thought = format!("<think>\nPerhaps {{so}}: {flat}\n</think>\n");
    vec![
        reply("bare", "", &flat, ""),
        reply("in prose", "Here {it} is, \"as asked\":\n", &flat, "\nI hope that helps."),
        reply("behind an open brace", "A set { of things.\n", &flat, ""),
        reply("fenced in prose", "Here it is:\n```json\n", &tall, "\n```\nDone."),
        reply("after thinking in prose", &format!("Sure.\n{thought}"), &tall, ""),
        reply("nearly JSON", "", &flat.replacen('{', "{ // mine\n", 1).replace("\"}", "\",}"), ""),
    ]
}

#[track_caller]
fn check_cuts(kind: &ParserCase, reply: &ReplyCase, from: usize) {
    let ParserCase { name, read, .. } = kind;
    let ReplyCase { how, text, end } = reply;
    assert_eq!(read(text), CutOutcome::Whole, "{name} {how}: {text}");
    for at in (from..*end).filter(|at| text.is_char_boundary(*at)) {
        let cut = &text[..at];
        assert_ne!(read(cut), CutOutcome::Whole, "{name} {how} cut at {at}: {cut}");
    }
    for at in (*end..=text.len()).filter(|at| text.is_char_boundary(*at)) {
        assert_eq!(
            read(&text[..at]),
            CutOutcome::Whole,
            "{name} {how} cut at {at}, behind its end"
        );
    }
}

#[test]
fn no_reply_that_is_cut_at_any_byte_is_read_as_whole() {
    for kind in kinds() {
        for reply in replies(&kind.valid) {
            check_cuts(&kind, &reply, 0);
        }
    }
}

#[test]
fn a_wrapper_that_is_not_closed_is_a_cut() {
    for kind in kinds() {
        let text = json!({ "result": kind.valid }).to_string();
        let end = text.len();
        check_cuts(&kind, &ReplyCase { how: "wrapped", text, end }, 0);
    }
}

#[test]
fn a_draft_before_an_answer_that_is_cut_is_not_the_answer() {
    for kind in kinds() {
        let draft = format!("First I thought {}, but rather ", kind.valid);
        let whole = reply("after a draft", &draft, &kind.valid.to_string(), "");
        // Before the second object begins, nothing indicates a cut.
        check_cuts(&kind, &whole, draft.len() + 1);
    }
}

#[test]
fn what_is_in_single_quotes_shows_its_cut_too() {
    let text = "{'summary':'Deploy {now} unless','details':{'recommendation':'Adopt, it's } so'},'confidence':'high','stance':'approve','questions':['a } b','c']}";
    let read = |reply: &str| outcome(parse_opinion(reply, QuestionMode::General));
    assert_eq!(read(text), CutOutcome::Whole);
    for at in 0..text.len() {
        assert_ne!(read(&text[..at]), CutOutcome::Whole, "cut at {at}: {}", &text[..at]);
    }
}

#[test]
fn an_audit_that_is_cut_never_passes() {
    let flags = "FLAG: key_condition - PASS is not what it says.\nFLAG: review_by - Too late.";
    for at in 0..=flags.len() {
        if let Ok(read) = parse_audit(&flags[..at]) {
            assert!(matches!(read.document, AuditReply::Flag { .. }), "cut at {at}");
        }
    }
    for cut in ["", "P", "PA", "PAS"] {
        assert!(parse_audit(cut).is_err(), "{cut}");
    }
}

#[test]
fn a_cut_is_given_as_the_reason_so_that_a_shorter_reply_is_asked_for() {
    for kind in kinds() {
        let text = kind.valid.to_string();
        match (kind.read)(&text[..text.len() / 3]) {
            CutOutcome::Unreadable(reason) => {
                assert!(reason.contains(CUT_OFF_REASON), "{}: {reason}", kind.name);
            }
            // The part before the cut has all required fields.
            CutOutcome::Truncated => {}
            CutOutcome::Whole => panic!("{} is whole", kind.name),
        }
    }
}
