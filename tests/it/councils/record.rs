//! A council's entities and verdict in the record, and every command that reads them.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{CHAIR, CommandResult, TestCouncil};
use crate::kit::{ScriptedReply, valid_reply};

/// Ann reports a high risk; bob criticises the first opinion he reads, agrees with it, and disagrees
/// with both about one topic; ann disagrees about the same topic in other words.
fn disagreeing_reply(asked: &super::harness::SeatRequest<'_>) -> ScriptedReply {
    match (asked.seat, asked.purpose) {
        ("ann", AskPurpose::Opinion) => asked.valid_with(json!({ "risks": [
            { "description": "It cannot be undone.", "severity": "high", "mitigation": "Wait." },
            { "description": "It is loud.", "severity": "medium" },
        ], "questions": ["Who pays, and from which budget?"] })),
        (_, AskPurpose::Opinion) => asked.valid_with(json!({ "risks": [], "questions": [] })),
        (_, AskPurpose::PeerReview) => {
            let mut targets = valid_reply(asked.request)["targets"].clone();
            for target in targets.as_array_mut().unwrap() {
                target["critiques"] = json!([]);
                target["agreement_points"] = json!([]);
            }
            if asked.seat == "bob" {
                targets[0]["critiques"] = json!([{ "type": "error", "message": "The sum is wrong.",
                    "severity": "high", "suggested_correction": "Add again." }]);
                targets[0]["agreement_points"] = json!(["Somebody must decide"]);
            }
            let topic = if asked.seat == "bob" { "When to begin" } else { "when to begin?" };
            for target in targets.as_array_mut().unwrap().iter_mut().filter(|_| asked.seat != "cid")
            {
                target["disagreement_points"] = json!([{ "topic": topic,
                    "reviewer_position": "later", "target_position": "now", "rationale": "haste" }]);
            }
            asked.valid_with(json!({ "targets": targets }))
        }
        _ => ScriptedReply::Valid,
    }
}

/// Fields of each entity, as lines.
fn format_lines(items: &Value, text: impl Fn(&Value) -> String) -> Vec<String> {
    items.as_array().unwrap().iter().map(text).collect()
}

fn ask_and_export(council: &TestCouncil) -> (CommandResult, Value) {
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    let exported = council.run_command(&["export", result.dialogue_id(), "--json"]).document;
    (result, exported)
}

fn author_of(item: &Value) -> &str {
    item["contributors"][0].as_str().unwrap()
}

#[test]
fn what_was_said_becomes_entities() {
    let council = TestCouncil::new(disagreeing_reply);
    let (result, exported) = ask_and_export(&council);
    let plain = |item: &Value| {
        format!("{} {} {}", item["id"].as_str().unwrap(), author_of(item), item["round"])
    };
    assert_eq!(
        format_lines(&exported["perspectives"], plain),
        ["P0101 ann 1", "P0102 bob 1", "P0103 cid 1"]
    );
    assert_eq!(
        format_lines(&exported["recommendations"], plain),
        ["R0101 ann 1", "R0102 bob 1", "R0103 cid 1"]
    );
    assert_eq!(exported["recommendations"][0]["parameters"]["stance"], "approve");
    // Bob's first target is the participant with the lowest letter other than his own.
    let letters = result.value_at("transparency.letter_map").as_object().unwrap();
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
        format_lines(&exported["claims"], claim),
        [
            "C0101 ann 1 asserted depend P0101: medium risk: It is loud".to_owned(),
            "C0102 ann 1 asserted question P0101: open question: Who pays, and from which budget?"
                .to_owned(),
            format!("C0201 bob 2 asserted oppose {about}: error: The sum is wrong"),
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
        format_lines(&exported["tensions"], tension),
        ["T0101 ann 1: It cannot be undone (open)", "T0201 ann 2: when to begin? (open)"]
    );
    let shared = &exported["tensions"][1];
    assert_eq!(shared["contributors"], json!(["ann", "bob"]), "one tension per topic");
    assert_eq!(shared["references"].as_array().unwrap().len(), 3, "{shared:#}");
    let experts = format_lines(&exported["experts"], |expert| {
        format!(
            "{} {} {}",
            expert["slug"].as_str().unwrap(),
            expert["tier"].as_str().unwrap(),
            expert["source"].as_str().unwrap()
        )
    });
    assert_eq!(experts, ["ann Core pool", "bob Core pool", "cid Core pool", "dot Core pool"]);
    let rounds = format_lines(&exported["rounds"], |round| {
        format!("{} {}", round["round"], round["title"].as_str().unwrap())
    });
    assert_eq!(rounds, ["1 Independent opinions", "2 Cross review", "3 Chair's report"]);
}

#[test]
fn a_report_is_a_final_verdict_that_accepts_what_stayed_open() {
    let council = TestCouncil::new(disagreeing_reply);
    let (result, exported) = ask_and_export(&council);
    let verdict = &exported["verdicts"][0];
    assert_eq!((&verdict["type"], &verdict["author"]), (&json!("final"), &json!(CHAIR)));
    assert_eq!(verdict["tensionsAccepted"], json!(["T0101", "T0201"]));
    assert_eq!(verdict["tensionsResolved"], json!([]));
    assert_eq!(verdict["recommendation"], "Go ahead in small steps.");
    assert_eq!(exported["status"], "converged");
    assert_eq!(exported["verdicts"].as_array().unwrap().len(), 1);
    assert_eq!(*result.value_at("report.fallback"), false);
}

#[test]
fn a_report_in_a_failed_chairs_place_is_interim() {
    let council = TestCouncil::new(|asked| match asked.purpose {
        AskPurpose::Synthesis => ScriptedReply::Status(401, vec![], "no".to_owned()),
        AskPurpose::Opinion | AskPurpose::PeerReview => disagreeing_reply(asked),
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
    let (_, exported) = ask_and_export(&council);
    let verdict = &exported["verdicts"][0];
    assert_eq!((&verdict["type"], &verdict["author"]), (&json!("interim"), &Value::Null));
    let text = verdict["description"].as_str().unwrap();
    assert!(text.contains("Chair synthesis failed; showing best individual opinion"), "{text}");
    assert_ne!(exported["status"], "converged", "it settles nothing");
}

#[test]
fn every_command_reads_a_council() {
    let council = TestCouncil::new(disagreeing_reply);
    let result = council.run_ask(&[]);
    let id = result.dialogue_id();
    let shown = council.program.run_command(&["show", id]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stdout.contains("Shall we go ahead?") && shown.stdout.contains("ADOPT"));
    let listed = council.run_command(&["list", "--json"]);
    assert_eq!(*listed.value_at("dialogues.0.dialogue_id"), id);
    assert_eq!(*listed.value_at("dialogues.0.protocol"), "council");
    assert_eq!(*listed.value_at("dialogues.0.rounds"), 3);
    let cited = council.run_command(&["cite", &format!("{id}/C0201"), "--json"]);
    assert_eq!(*cited.value_at("citations.0.contributors"), json!(["bob"]));
    assert_eq!(*cited.value_at("citations.0.references.0.type"), "oppose", "{:#}", cited.document);
    let progress = council.run_command(&["dialogue", "progress", id, "--json"]);
    assert_eq!(
        [progress.value_at("status"), progress.value_at("estimated_rounds_remaining")],
        [&json!("converged"), &json!(0)]
    );
    assert_eq!(*progress.value_at("open_tensions"), 2);
    for (query, matched) in [("ahead", "title"), ("undone", "tension"), ("sum", "claim")] {
        let similar = council.run_command(&["dialogue", "similar", query, "--json"]);
        assert_eq!(*similar.value_at("results.0.dialogue_id"), id, "{query}");
        let found = similar.value_at("results.0.matched").as_str().unwrap();
        assert!(found.contains(matched), "{query}: {found}");
    }
    let verified = council.run_command(&["verify", id, "--json"]);
    assert_eq!((verified.code, verified.value_at("verified")), (0, &json!(true)));
    let head = verified.value_at("head").as_str().unwrap();
    assert_eq!(council.program.run_command(&["verify", "--head", head]).code, 0);
    let again = council.run_command(&["export", id, "--json"]);
    assert_eq!(again.document, council.run_command(&["export", id, "--json"]).document);
}

const FILE_BYTES: usize = 48_000;

/// Runs a council with a file of 48 kB. The journal must have at most this many tenths of its bytes,
/// and the replies. Returns it.
fn check_journal_bytes(
    council: &TestCouncil,
    ending: &[&str],
    tenths: usize,
) -> (String, CommandResult) {
    let lines =
        (1..).map(|n| format!("Line {n}: a read takes 4 ms, and a \"write\" takes 9 ms.\n"));
    let mut text = String::new();
    lines
        .take_while(|line| {
            text.push_str(line);
            text.len() < FILE_BYTES
        })
        .for_each(drop);
    std::fs::write(council.program.path().join("notes.md"), &text).unwrap();
    let question = ["ask", "--json", "Shall we go ahead?", "--context", "notes.md"];
    let result = council.run_command(&[&question, ending].concat());
    result.expect_status("done", 0);
    let path = council.program.path().join(".plenary/plenary.db");
    let connection = rusqlite::Connection::open(path).unwrap();
    let payloads: Vec<String> = connection
        .prepare("SELECT payload FROM journal")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let all = payloads.concat();
    assert_eq!(all.matches("Line 77: a read takes").count(), 1, "the file is stored once");
    let shown = council.run_command(&["show", result.dialogue_id(), "--prompts", "--json"]);
    let calls = shown.document.as_array().unwrap();
    let replies: usize = calls
        .iter()
        .map(|call| {
            let call = call["call"].to_string();
            let shown =
                council.run_command(&["show", result.dialogue_id(), "--call", &call, "--json"]);
            shown.value_at("raw").as_str().unwrap().len()
        })
        .sum();
    let limit = text.len() * tenths / 10 + replies;
    assert!(all.len() <= limit, "{} bytes, over {limit}", all.len());
    // What a seat saw is still whole.
    let seen: Vec<String> = council.server.requests().into_iter().map(|seen| seen.user).collect();
    for call in calls {
        let content = call["messages"][1]["content"].as_str().unwrap();
        assert!(seen.iter().any(|seen| seen == content), "{}", call["purpose"]);
    }
    council.assert_verified();
    (all, result)
}

/// The journal keeps the text of a file once, in the plan. The shared block refers to it, and the
/// messages of a round's seats refer to each other.
#[test]
fn a_journal_is_little_more_than_three_times_its_files() {
    check_journal_bytes(&TestCouncil::new(|_| ScriptedReply::Valid), &["--no-conclusion"], 30);
}

/// Each reviewer, the chair, Synthesizer and reviser read opinions of 6 kB; the journal has each
/// text that was sent once.
#[test]
fn a_journal_of_long_opinions_has_what_was_sent_once() {
    let council = TestCouncil::new(|asked| {
        if asked.purpose != AskPurpose::Opinion {
            return ScriptedReply::Valid;
        }
        let mut opinion = valid_reply(asked.request);
        let line = |n: usize| format!("{} finds in line {n} that a cache misses. ", asked.seat);
        opinion["details"]["rationale"] = (1..140).map(line).collect::<String>().into();
        ScriptedReply::Reply(opinion.to_string())
    });
    let (journal, _) = check_journal_bytes(&council, &["--no-conclusion"], 32);
    // The reply, what the parser read, the entity, and one section of the prompts.
    assert_eq!(journal.matches("ann finds in line 77 that").count(), 4);
}

/// A conclusion that is revised: Synthesizer and
/// reviser are shown the record, and the journal has it once.
#[test]
fn a_journal_has_the_record_of_a_revised_conclusion_once() {
    let council = TestCouncil::new(|asked| match (asked.purpose, asked.nth) {
        (AskPurpose::Opinion, _) => {
            let mut opinion = valid_reply(asked.request);
            let details = &mut opinion["details"];
            details["rationale"] =
                format!("{} says: a cache misses. ", asked.seat).repeat(20).into();
            details["evidence"] = json!(["12 percent of the reads miss (notes.md, line 4)."]);
            details["alternatives_considered"] =
                json!(["A larger server: it costs twice as much."]);
            ScriptedReply::Reply(opinion.to_string())
        }
        (AskPurpose::Audit, 1) => {
            let objection = "no figure says when it fails; name the share of misses.";
            ScriptedReply::Reply(format!("FLAG: key_condition - {objection}"))
        }
        _ => ScriptedReply::Valid,
    });
    let (journal, result) = check_journal_bytes(&council, &[], 30);
    assert_eq!(*result.value_at("terminal_state"), "revised");
    assert_eq!(journal.matches("Evidence: 12 percent of the reads").count(), 3 * 2, "{journal}");
    for purpose in [AskPurpose::Conclusion, AskPurpose::Revision] {
        let [seen] = council.requests_for(purpose).try_into().unwrap();
        for part in ["Evidence: 12 percent of the reads", "Considered: A larger server"] {
            assert!(seen.user.contains(part), "{purpose}: {part}");
        }
    }
}

#[test]
fn statistics_know_real_councils_and_no_rehearsal() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    council.run_ask(&[]).expect_status("done", 0);
    let rehearsed = council.run_ask(&["--rehearse"]);
    rehearsed.expect_status("done", 0);
    assert_eq!(*rehearsed.value_at("rehearsal"), true);
    let stats = council.run_command(&["dialogue", "stats", "--json"]);
    assert_eq!(*stats.value_at("dialogues"), 1);
    assert_eq!(*stats.value_at("by_protocol"), json!({ "council": 1 }));
    assert_eq!(*stats.value_at("entities.perspectives"), 3);
    let listed = council.run_command(&["list", "--json"]);
    assert_eq!(listed.value_at("dialogues").as_array().unwrap().len(), 2, "a list shows both");
    assert_eq!(council.server.requests().len(), 7, "a rehearsal asks nobody");
}
