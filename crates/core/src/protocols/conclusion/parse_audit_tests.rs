//! Audits and restatements as models write them: which are accepted, and why others are not.

use crate::parsing::plain_text::parse_restatement;
use crate::protocols::conclusion::parse::parse_audit;
use crate::protocols::conclusion::parse_tests::describe_result;
use crate::protocols::conclusion::types::{AuditObjection, AuditReply};

fn describe_audit(audit: &AuditReply) -> String {
    match audit {
        AuditReply::Pass => "PASS".to_owned(),
        AuditReply::Flag { objections } => {
            let outcome =
                |one: &AuditObjection| format!("{} {} ({})", one.field, one.objection, one.by);
            objections.iter().map(outcome).collect::<Vec<_>>().join("; ")
        }
    }
}

#[track_caller]
fn check_audit(reply: &str, expected: &str) {
    assert_eq!(describe_result(parse_audit(reply), describe_audit), expected, "{reply}");
}

#[test]
fn a_critic_passes_or_flags() {
    for reply in
        ["PASS", " PASS\n", "\u{feff}PASS", "<think>Is it? FLAG: x</think>\nPASS", "PASS\r\n"]
    {
        check_audit(reply, "read: PASS");
    }
    let flagged = "read: recommendation No source. (critic)";
    for reply in [
        "FLAG: recommendation - No source.",
        "FLAG: Recommendation – No source.",
        "FLAG: [recommendation] — No source.",
        "FLAG: `recommendation` - No source.",
        "FLAG:recommendation-No source.",
        "\n  FLAG:  RECOMMENDATION  -  No source.  \n",
        "<think>PASS?</think>FLAG: recommendation - No source.",
        "FLAG: key condition - Hm.\n</think>\nFLAG: recommendation - No source.",
        "FLAG: recommendation - No source.\nFLAG: recommendation - No source.",
    ] {
        check_audit(reply, flagged);
    }
    check_audit(
        "FLAG: key condition - Two at once - which?\n\nFLAG: [Review By] - Too late.\nFLAG: unresolved_points - Made up.",
        "read: key_condition Two at once - which? (critic); review_by Too late. (critic); \
         unresolved_points Made up. (critic)",
    );
}

#[test]
fn anything_else_is_no_audit() {
    for (reply, expected) in [
        ("", "the reply is empty"),
        ("<think>PASS</think>", "the reply contains only thinking and no answer"),
        ("<think>PASS", "the reply contains only thinking and no answer"),
        ("pass", "neither PASS nor FLAG"),
        ("Pass", "neither PASS nor FLAG"),
        ("PASS.", "PASS, but not PASS alone"),
        ("PASS - all is well", "PASS, but not PASS alone"),
        ("PASS\nBecause it holds.", "PASS, but not PASS alone"),
        ("PASSABLE", "PASS, but not PASS alone"),
        ("**PASS**", "neither PASS nor FLAG"),
        ("Verdict: PASS", "neither PASS nor FLAG"),
        ("```\nPASS\n```", "PASS, but not PASS alone"),
        ("PASS\nFLAG: recommendation - x", "both PASS and FLAG"),
        ("FLAG: recommendation - x\nPASS", "both PASS and FLAG"),
        ("FLAG: recommendation - It says:\n</think>\nPASS", "both PASS and FLAG"),
        ("FLAG: recommendation - x\n</think>\n\n</thinking>PASS", "both PASS and FLAG"),
        ("Hm.\n  FLAG: key condition - x\nNo.</reasoning>PASS", "both PASS and FLAG"),
        ("It looks fine to me.", "neither PASS nor FLAG"),
        ("{\"verdict\":\"PASS\"}", "neither PASS nor FLAG"),
        ("FLAG recommendation - x", "neither PASS nor FLAG"),
        ("flag: recommendation - x", "neither PASS nor FLAG"),
        ("FLAG: recommendation: x", "line 1: no dash between field and objection"),
        ("FLAG: recommendation -", "line 1: no objection"),
        ("FLAG: recommendation - ...", "line 1: no objection"),
        (
            "FLAG: recommendation - [Exact Objection]",
            "line 1: `?Exact Objection?` is not an objection",
        ),
        ("FLAG: recommendation - <objection>", "line 1: `?objection?` is not an objection"),
        ("Here:\nFLAG: recommendation - x", "line 1: no FLAG"),
        ("FLAG: recommendation - x\n\nHope this helps!", "line 3: no FLAG"),
        ("FLAG: recommendation - x\nmore of it", "line 2: no FLAG"),
        (
            "FLAG: tone - x",
            "line 1: `tone` is not one of recommendation, key_condition, unresolved_points, review_by, participants",
        ),
        (
            "FLAG: [Field Name] - [Exact Objection]",
            "line 1: `?Field Name?` is not one of recommendation, key_condition, unresolved_points, review_by, participants",
        ),
    ] {
        check_audit(reply, &format!("unreadable: {expected}"));
    }
    check_audit("I'm sorry, but I can't help with that.", "refusal: the model declined to answer");
    check_audit(
        "FLAG: recommendation - I cannot provide that is no answer.",
        "read: recommendation I cannot provide that is no answer. (critic)",
    );
    let long = "FLAG: recommendation - ".to_owned() + &"x".repeat(2_001);
    check_audit(&long, "unreadable: line 1: an objection of over 2000 characters");
    let many: String = (0..51).map(|number| format!("FLAG: recommendation - {number}\n")).collect();
    check_audit(&many, "unreadable: 51 lines, over 50");
}

#[test]
fn an_objection_of_vague_words_alone_is_asked_again() {
    for message in [
        "needs more concrete detail",
        "the tone could be improved",
        "the condition is rather generic and should be stronger",
        "consider rephrasing",
        "not convincing",
    ] {
        let result = describe_result(
            parse_audit(&format!("FLAG: key_condition - {message}")),
            describe_audit,
        );
        assert!(result.ends_with("names neither what is wrong nor what would fix it"), "{result}");
    }
    for message in ["No source.", "nothing supports it", "a stronger limit: 5 ms", "no figure"] {
        check_audit(
            &format!("FLAG: key_condition - {message}"),
            &format!("read: key_condition {message} (critic)"),
        );
    }
}

#[track_caller]
fn check_restatement(reply: &str, expected: &str) {
    assert_eq!(describe_result(parse_restatement(reply), Clone::clone), expected, "{reply}");
}

#[test]
fn a_restatement_is_one_sentence_on_one_line() {
    let read = "read: You want the cheapest option, e.g. SQLite.";
    for reply in [
        "You want the cheapest option, e.g. SQLite.",
        " \"You want the cheapest option, e.g. SQLite.\"\n",
        "“You want the cheapest option, e.g. SQLite.”",
        "<think>Hm.\nWell.</think>\nYou want the cheapest option, e.g. SQLite.",
    ] {
        check_restatement(reply, read);
    }
    check_restatement("'It' is \"it\"", "read: 'It' is \"it\"");
    for (reply, expected) in [
        ("", "the reply is empty"),
        ("\"\"", "no sentence"),
        ("...", "no sentence"),
        ("You want it.\nFast.", "2 lines, but one is expected"),
        ("You want it. You want it now.", "2 sentences, but one is expected"),
        ("{\"restatement\":\"You want it.\"}", "not plain text"),
        ("You want\u{0} it.", "not plain text"),
        ("```You want it.```", "not plain text"),
    ] {
        check_restatement(reply, &format!("unreadable: {expected}"));
    }
    check_restatement(&"x".repeat(401), "unreadable: 401 characters, over 400");
    check_restatement(
        "I'm sorry, but I can't help with that.",
        "refusal: the model declined to answer",
    );
}
