//! Whispers: which seats read them, from which ask on, and which runs reject them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::intervention::{INTERVENTION_CHARS_MAX, Intervention};
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::clock::RealSystem;
use plenary_engine::engine::interventions::record_intervention;
use plenary_engine::store::sqlite::store::SqliteStore;
use serde_json::{Value, json};

use super::harness::{
    CouncilProcess, QUESTION, check_delivery_in, check_intervention_delivery, check_output,
    find_dialogue_id, intervene_in, read_interventions, read_journal, resume_council, seats_sent,
    text_reply,
};
use super::random_runs::run_random;
use crate::councils::harness::{SeatRequest, TestCouncil, check_all};
use crate::kit::{ReplyGate, ScriptedReply, make_pool, pick_repeats};

const WHISPER_TEXT: &str = "Mind the tax year.";

/// Cid answers when the gate opens; the critic objects once.
fn gated_council(gate: &ReplyGate) -> TestCouncil {
    let gate = gate.clone();
    TestCouncil::new(move |asked| match (asked.purpose, asked.seat, asked.nth) {
        (AskPurpose::Opinion, "cid", _) => {
            ScriptedReply::Gated(gate.clone(), Box::new(ScriptedReply::Valid))
        }
        (AskPurpose::Audit, _, 1) => text_reply("FLAG: key_condition - nothing supports it"),
        _ => ScriptedReply::Valid,
    })
}

/// Intervenes while the first round waits for cid, then lets the run complete.
#[track_caller]
fn run_with_intervention(words: &[&str]) -> TestCouncil {
    let gate = ReplyGate::default();
    let council = gated_council(&gate);
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    let result = running.intervene(words);
    assert_eq!(
        (result.code, result.value_at("running")),
        (0, &json!(true)),
        "{:#}",
        result.document
    );
    gate.open();
    let result = running.wait_result();
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "revised");
    check_intervention_delivery(&council);
    check_output(&council, &result);
    let asides = result.stderr.lines().filter(|line| line.contains("» whisper to "));
    assert_eq!(asides.count(), 1, "{}", result.stderr);
    council
}

#[test]
fn a_whisper_is_read_in_every_later_ask_and_in_no_earlier_one() {
    let council = run_with_intervention(&["whisper", WHISPER_TEXT]);
    let later = ["conclusion dot", "review ann", "review bob", "review cid", "revision dot"];
    assert_eq!(seats_sent(&council, WHISPER_TEXT), [&later[..], &["synthesis dot"]].concat());
}

/// Dot chairs, writes the conclusion and revises it; ann audits.
#[test]
fn a_private_whisper_is_read_by_its_seat_alone() {
    let council = run_with_intervention(&["whisper", WHISPER_TEXT, "--to", "bob"]);
    assert_eq!(seats_sent(&council, WHISPER_TEXT), ["review bob"]);
    let council = run_with_intervention(&["whisper", WHISPER_TEXT, "--to", "dot"]);
    assert_eq!(seats_sent(&council, WHISPER_TEXT), ["synthesis dot"]);
    let council = run_with_intervention(&["whisper", WHISPER_TEXT, "--to", "ann"]);
    assert_eq!(seats_sent(&council, WHISPER_TEXT), ["review ann"]);
}

/// Bob's first call is answered with `first` when the gate opens.
fn council_with_late_bob(gate: &ReplyGate, first: ScriptedReply) -> TestCouncil {
    let gate = gate.clone();
    TestCouncil::new(move |asked| match (asked.purpose, asked.seat, asked.nth) {
        (AskPurpose::Opinion, "bob", 1) => {
            ScriptedReply::Gated(gate.clone(), Box::new(first.clone()))
        }
        _ => ScriptedReply::Valid,
    })
}

#[track_caller]
fn opinion_prompts_after(first: ScriptedReply, words: &[&str]) -> Vec<String> {
    let gate = ReplyGate::default();
    let council = council_with_late_bob(&gate, first);
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    assert_eq!(running.intervene(words).code, 0);
    gate.open();
    running.wait_result().expect_status("done", 0);
    check_intervention_delivery(&council);
    assert_eq!(council.call_count(AskPurpose::Opinion), 4, "bob is asked twice");
    let mut carriers = seats_sent(&council, words[1]);
    carriers.retain(|who| who.starts_with("opinion"));
    carriers
}

#[test]
fn a_call_that_is_made_again_says_what_it_said_and_a_stricter_ask_is_a_later_one() {
    let down = ScriptedReply::Status(500, Vec::new(), String::new());
    assert_eq!(opinion_prompts_after(down, &["whisper", WHISPER_TEXT]), [""; 0]);
    assert_eq!(
        opinion_prompts_after(text_reply("I would rather not say"), &["whisper", WHISPER_TEXT]),
        ["opinion bob"]
    );
    // A directive waits for the next round, even if a seat is asked again in this one.
    let directive = ["direct", WHISPER_TEXT, "--yes"];
    assert_eq!(opinion_prompts_after(text_reply("I would rather not say"), &directive), [""; 0]);
}

/// Replies take a moment, so that interventions arrive in between; some seats need a retry.
fn delayed_reply(asked: &SeatRequest<'_>) -> ScriptedReply {
    let nth = (asked.seat.len() + asked.seat.as_bytes()[0] as usize + asked.nth) % 4;
    let then = match (asked.purpose, asked.nth) {
        (AskPurpose::Opinion | AskPurpose::Conclusion, 1) if nth == 0 => {
            text_reply("Well, that depends.")
        }
        (AskPurpose::Audit, 1) => text_reply("FLAG: recommendation - it decides nothing"),
        _ => ScriptedReply::Valid,
    };
    ScriptedReply::Slow(Duration::from_millis(10 + 20 * nth as u64), Box::new(then))
}

#[test]
fn whispers_at_any_moment_from_other_processes_never_break_a_run() {
    let runs: Vec<u32> = (0..pick_repeats(4, 200)).collect();
    let received = AtomicUsize::new(0);
    check_all(&runs, |nth| {
        let council = TestCouncil::new(delayed_reply);
        let mut running = CouncilProcess::start_ask(&council, &[]);
        running.wait_until_state(|_| true);
        let mut words = 0;
        while !running.has_exited() {
            words += 1;
            let text = format!("word {words} of {nth}.");
            let to: &[&str] = [&[][..], &["--to", "ann"], &["--to", "dot"]][words % 3];
            let result = running.intervene(&[&["whisper", &text], to].concat());
            // A run that has ended or is ending rejects the whisper.
            let code = result.document.get("error_code").and_then(Value::as_str);
            assert!(result.code == 0 || code == Some("dialogue_closed"), "{:#}", result.document);
        }
        let result = running.wait_result();
        result.expect_status("done", 0);
        assert_eq!(result.value_at("terminal_state"), "revised");
        check_intervention_delivery(&council);
        check_output(&council, &result);
        received.fetch_add(
            result.value_at("interventions").as_array().unwrap().len(),
            Ordering::SeqCst,
        );
    });
    // On a busy machine a run may end before the second whisper arrives.
    assert!(received.into_inner() >= runs.len() / 2, "hardly any whisper arrived in time");
}

#[test]
fn in_runs_of_every_kind_an_ask_carries_the_words_that_stand_before_it_and_no_other() {
    let seeds: Vec<u64> = (0..u64::from(pick_repeats(24, 1_000))).map(|nth| nth << 32).collect();
    check_all(&seeds, |seed| {
        let drawn = run_random(*seed);
        check_delivery_in(&drawn.journal, &drawn.seen);
    });
}

/// Without stored prompts the engine renders them again; later interventions must not appear in
/// them.
#[test]
fn an_ask_that_is_repeated_says_what_it_said_though_nobody_kept_it() {
    let gate = ReplyGate::default();
    let council = gated_council(&gate);
    council.change_settings(|settings| settings["retention"] = json!({ "keep_prompts": false }));
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    running.intervene(&["whisper", WHISPER_TEXT]);
    running.intervene(&["direct", WHISPER_TEXT, "--yes"]);
    running.kill_process();
    gate.open();
    resume_council(&council).expect_status("done", 0);
    let asked = council.requests_for(AskPurpose::Opinion);
    let cids: Vec<&Value> =
        asked.iter().filter(|seen| seen.model == "model-cid").map(|seen| &seen.body).collect();
    assert_eq!(cids.len(), 2);
    assert_eq!(cids[0], cids[1]);
    assert!(
        council
            .requests_for(AskPurpose::PeerReview)
            .iter()
            .all(|seen| seen.user.contains(WHISPER_TEXT))
    );
}

#[test]
fn what_was_said_outlives_the_process_it_was_said_to() {
    let gate = ReplyGate::default();
    let council = gated_council(&gate);
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    running.intervene(&["whisper", WHISPER_TEXT]);
    running.intervene(&["direct", "Only reads count.", "--yes"]);
    running.kill_process();
    let result = intervene_in(&council, &["whisper", "Nobody is there.", "--to", "cid"]);
    assert_eq!((result.code, result.value_at("running")), (0, &json!(false)));
    gate.open();
    let result = resume_council(&council);
    result.expect_status("done", 0);
    check_intervention_delivery(&council);
    assert_eq!(council.call_count(AskPurpose::Opinion), 4, "only cid is asked again");
    assert!(seats_sent(&council, WHISPER_TEXT).iter().all(|who| !who.starts_with("opinion")));
    assert_eq!(seats_sent(&council, "Nobody is there."), ["review cid"]);
    assert_eq!(
        read_interventions(&result),
        json!([
            { "round": 1, "kind": "whisper", "text": WHISPER_TEXT, "to": null, "restated": null,
              "confirmed": null },
            { "round": 1, "kind": "direct", "text": "Only reads count.", "to": null,
              "restated": "Go ahead, but slowly.", "confirmed": true },
            { "round": 1, "kind": "whisper", "text": "Nobody is there.", "to": "cid",
              "restated": null, "confirmed": null },
        ])
    );
}

#[test]
fn during_the_ending_only_those_who_write_it_can_be_told_anything() {
    let gate = ReplyGate::default();
    let council = {
        let gate = gate.clone();
        TestCouncil::new(move |asked| match (asked.purpose, asked.nth) {
            (AskPurpose::Audit, 1) => {
                let flag = text_reply("FLAG: key_condition - nothing supports it");
                ScriptedReply::Gated(gate.clone(), Box::new(flag))
            }
            _ => ScriptedReply::Valid,
        })
    };
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Audit, 1, 1);
    assert_eq!(running.intervene(&["whisper", WHISPER_TEXT]).code, 0);
    let refused: [&[&str]; 3] =
        [&["whisper", "x", "--to", "ann"], &["direct", "x", "--yes"], &["stop"]];
    for words in refused {
        let result = running.intervene(words);
        assert_eq!(
            (result.code, result.value_at("error_code")),
            (1, &json!("dialogue_closed")),
            "{words:?}"
        );
    }
    gate.open();
    let result = running.wait_result();
    result.expect_status("done", 0);
    assert_eq!(seats_sent(&council, WHISPER_TEXT), ["revision dot"]);
    assert_eq!(council.call_count(AskPurpose::Restatement), 0);
    assert_eq!(result.value_at("interventions").as_array().unwrap().len(), 1);
}

#[track_caller]
fn expect_error(council: &TestCouncil, arguments: &[&str], code: i32, error_code: &str) -> Value {
    let result = council.run_command(&[arguments, &["--json"]].concat());
    assert_eq!(
        (result.code, result.value_at("error_code")),
        (code, &json!(error_code)),
        "{arguments:?}"
    );
    result.document
}

#[test]
fn a_word_that_cannot_be_heard_is_refused_and_says_why() {
    let gate = ReplyGate::default();
    let council = gated_council(&gate);
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    let id = find_dialogue_id(&council).unwrap();
    let before = read_journal(&council).len();
    for seat in ["zoe", "No Such Seat!", ""] {
        let document = expect_error(
            &council,
            &["whisper", &id, "x", "--to", seat],
            1,
            "expert_not_in_dialogue",
        );
        assert_eq!(document["valid_options"], json!(["ann", "bob", "cid", "dot"]));
        assert_eq!(document["value"], seat);
    }
    expect_error(&council, &["whisper", &id, " \n"], 1, "missing_field");
    expect_error(&council, &["direct", &id, "", "--yes"], 1, "missing_field");
    let long = "x".repeat(INTERVENTION_CHARS_MAX + 1);
    expect_error(&council, &["whisper", &id, &long], 1, "field_too_long");
    expect_error(&council, &["direct", &id, &long, "--yes"], 1, "field_too_long");
    for command in ["whisper", "direct"] {
        expect_error(&council, &[command, "nobody-knows", "x"], 4, "dialogue_not_found");
        expect_error(&council, &[command, "../etc", "x"], 4, "dialogue_not_found");
    }
    expect_error(&council, &["stop", "nobody-knows"], 4, "dialogue_not_found");
    // The command line cannot pass this text, but other clients can.
    let store = SqliteStore::open(&council.program.path().join(".plenary/plenary.db")).unwrap();
    let nul = Intervention::Whisper { text: "a\0b".to_owned(), to: None };
    let error = record_intervention(
        &Protocols::built_in(),
        &store,
        &RealSystem,
        &id.parse().unwrap(),
        &nul,
    )
    .unwrap_err();
    assert_eq!(error.to_document()["error_code"], "invalid_type");
    assert_eq!(read_journal(&council).len(), before, "what is refused leaves nothing behind");
    assert_eq!(council.call_count(AskPurpose::Restatement), 0);
    let fits = "é".repeat(INTERVENTION_CHARS_MAX);
    assert_eq!(running.intervene(&["whisper", &fits]).code, 0);
    gate.open();
    running.wait_result().expect_status("done", 0);
    for words in [&["whisper", &id, "x"][..], &["direct", &id, "x", "--yes"], &["stop", &id]] {
        expect_error(&council, words, 1, "dialogue_closed");
    }
}

#[test]
fn there_is_an_end_to_what_is_said_to_one_run_and_it_can_be_stopped_all_the_same() {
    let gate = ReplyGate::default();
    let council = gated_council(&gate);
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    let id = find_dialogue_id(&council).unwrap();
    let store = SqliteStore::open(&council.program.path().join(".plenary/plenary.db")).unwrap();
    for nth in 0..100 {
        let word = Intervention::Whisper { text: format!("Word {nth:03}."), to: None };
        record_intervention(
            &Protocols::built_in(),
            &store,
            &RealSystem,
            &id.parse().unwrap(),
            &word,
        )
        .unwrap();
    }
    expect_error(&council, &["whisper", &id, "x"], 1, "not_supported");
    expect_error(&council, &["direct", &id, "x", "--yes"], 1, "not_supported");
    assert_eq!(running.intervene(&["stop"]).code, 0);
    running.wait_result().expect_status("done", 0);
    check_intervention_delivery(&council);
    let sent = &council.requests_for(AskPurpose::Conclusion)[0].user;
    assert!(sent.contains("Word 000.") && sent.contains("Word 099."));
}

#[test]
fn whoever_has_no_run_cannot_be_spoken_to() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    let create = json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) });
    assert_eq!(council.program.run_operation("create", &create).0, 0);
    for words in
        [&["whisper", "talk", "x"][..], &["direct", "talk", "x", "--yes"], &["stop", "talk"]]
    {
        expect_error(&council, words, 1, "not_supported");
    }
    let result = council.run_command(&["ask", "--json", "--quiet", "--deadline", "1ms", QUESTION]);
    let id = result.dialogue_id().to_owned();
    assert_eq!(council.program.run_operation("abandon", &json!({ "dialogue_id": id })).0, 0);
    expect_error(&council, &["whisper", &id, "x"], 1, "dialogue_closed");
    expect_error(&council, &["resume", &id], 1, "dialogue_closed");
    expect_error(&council, &["conclude", &id], 1, "dialogue_closed");
}

#[test]
fn the_three_commands_say_what_was_noted_and_whoever_watches_sees_it() {
    let gate = ReplyGate::default();
    let council = gated_council(&gate);
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    let id = find_dialogue_id(&council).unwrap();
    let watching = CouncilProcess::start_command(&council, &["watch", &id, "--json"]);
    let result = [
        running.intervene(&["whisper", WHISPER_TEXT]),
        running.intervene(&["whisper", WHISPER_TEXT, "--to", "cid"]),
        running.intervene(&["direct", "Only reads count.", "--yes"]),
        running.intervene(&["stop"]),
    ];
    let shown = result.iter().map(|result| {
        let mut document = result.document.clone();
        assert_eq!(document["dialogue_id"], id.as_str());
        assert!(document["intervention"]["at"].as_str().unwrap().ends_with('Z'));
        document["dialogue_id"] = json!("ID");
        document["intervention"]["at"] = json!("AT");
        document.to_string()
    });
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
    {"status":"success","dialogue_id":"ID","running":true,"intervention":{"at":"AT","round":1,"kind":"whisper","text":"Mind the tax year.","to":null,"restated":null,"confirmed":null}}
    {"status":"success","dialogue_id":"ID","running":true,"intervention":{"at":"AT","round":1,"kind":"whisper","text":"Mind the tax year.","to":"cid","restated":null,"confirmed":null}}
    {"status":"success","dialogue_id":"ID","running":true,"intervention":{"at":"AT","round":1,"kind":"direct","text":"Only reads count.","to":null,"restated":"Go ahead, but slowly.","confirmed":true}}
    {"status":"success","dialogue_id":"ID","running":true,"intervention":{"at":"AT","round":1,"kind":"stop","text":null,"to":null,"restated":null,"confirmed":null}}
    "#);
    running.wait_result().expect_status("done", 0);
    let events = watching.wait_lines();
    let seen = events.iter().filter(|event| event["event"] == "intervened");
    let kinds: Vec<&str> = seen.map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["whisper", "whisper", "direct", "stop"]);
    let replay = council.program.run_command(&["replay", &id, "--json"]);
    let replayed: Vec<Value> =
        replay.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(replayed, events);
}

#[test]
fn in_words_each_says_what_will_come_of_it() {
    let gate = ReplyGate::default();
    let council = gated_council(&gate);
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    let id = find_dialogue_id(&council).unwrap();
    let say = |words: &[&str]| {
        let ran = council.program.run_command(words);
        format!("{}{}", ran.stderr, ran.stdout).replace(&id, "ID")
    };
    let result = [
        say(&["whisper", &id, WHISPER_TEXT]),
        say(&["whisper", &id, WHISPER_TEXT, "--to", "bob"]),
        say(&["direct", &id, "Only reads count.", "--yes"]),
        say(&["whisper", &id, WHISPER_TEXT, "--to", "zoe"]),
    ];
    running.kill_process();
    let alone = [say(&["stop", &id])];
    insta::assert_snapshot!(result.iter().chain(&alone).cloned().collect::<String>(), @r"
    Recorded. Every seat that is asked from now on reads it.
    Recorded. Only bob reads it, from its next prompt on.
    dot understands: Go ahead, but slowly.
    Recorded. Every seat follows it from the next round on.
    error: 'zoe' is not a seat of this council
    hint: its seats are ann, bob, cid, dot
    Stopping. The council asks no other seat and concludes on its answers, if they are enough.
    No process works on this run; `plenary resume ID` continues it.
    ");
}
