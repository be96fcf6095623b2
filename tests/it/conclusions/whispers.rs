//! Whispers: which seats read them, from which ask on, and which runs reject them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plenary::ambient::Machine;
use plenary::domain::ask::Purpose;
use plenary::domain::intervention::{Intervention, TEXT_CHARS_MAX};
use plenary::engine;
use plenary::store::SqliteStore;
use serde_json::{Value, json};

use super::harness::{
    QUESTION, Running, carriers, check_hearing, check_hearing_in, check_told, id, interventions,
    journal, resume, said, say,
};
use super::random_runs::draw;
use crate::councils::harness::{Asked, Council, check_all};
use crate::kit::{Gate, Play, pool, times};

const WORD: &str = "Mind the tax year.";

/// Cid answers when the gate opens; the critic objects once.
fn gated(gate: &Gate) -> Council {
    let gate = gate.clone();
    Council::new(move |asked| match (asked.purpose, asked.seat, asked.nth) {
        (Purpose::Opinion, "cid", _) => Play::Gated(gate.clone(), Box::new(Play::Fitting)),
        (Purpose::Audit, _, 1) => said("FLAG: key_condition - nothing supports it"),
        _ => Play::Fitting,
    })
}

/// Intervenes while the first round waits for cid, then lets the run complete.
#[track_caller]
fn after_saying(words: &[&str]) -> Council {
    let gate = Gate::default();
    let council = gated(&gate);
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    let told = running.say(words);
    assert_eq!((told.code, told.at("running")), (0, &json!(true)), "{:#}", told.document);
    gate.open();
    let told = running.end();
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), "revised");
    check_hearing(&council);
    check_told(&council, &told);
    let asides = told.stderr.lines().filter(|line| line.contains("» whisper to "));
    assert_eq!(asides.count(), 1, "{}", told.stderr);
    council
}

#[test]
fn a_whisper_is_read_in_every_later_ask_and_in_no_earlier_one() {
    let council = after_saying(&["whisper", WORD]);
    let later = ["conclusion dot", "review ann", "review bob", "review cid", "revision dot"];
    assert_eq!(carriers(&council, WORD), [&later[..], &["synthesis dot"]].concat());
}

/// Dot chairs, writes the conclusion and revises it; ann audits.
#[test]
fn a_private_whisper_is_read_by_its_seat_alone() {
    let council = after_saying(&["whisper", WORD, "--to", "bob"]);
    assert_eq!(carriers(&council, WORD), ["review bob"]);
    let council = after_saying(&["whisper", WORD, "--to", "dot"]);
    assert_eq!(carriers(&council, WORD), ["synthesis dot"]);
    let council = after_saying(&["whisper", WORD, "--to", "ann"]);
    assert_eq!(carriers(&council, WORD), ["review ann"]);
}

/// Bob's first call is answered with `first` when the gate opens.
fn answered_late(gate: &Gate, first: Play) -> Council {
    let gate = gate.clone();
    Council::new(move |asked| match (asked.purpose, asked.seat, asked.nth) {
        (Purpose::Opinion, "bob", 1) => Play::Gated(gate.clone(), Box::new(first.clone())),
        _ => Play::Fitting,
    })
}

#[track_caller]
fn opinions_with(first: Play, words: &[&str]) -> Vec<String> {
    let gate = Gate::default();
    let council = answered_late(&gate, first);
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    assert_eq!(running.say(words).code, 0);
    gate.open();
    running.end().expect("done", 0);
    check_hearing(&council);
    assert_eq!(council.calls(Purpose::Opinion), 4, "bob is asked twice");
    let mut carriers = carriers(&council, words[1]);
    carriers.retain(|who| who.starts_with("opinion"));
    carriers
}

#[test]
fn a_call_that_is_made_again_says_what_it_said_and_a_stricter_ask_is_a_later_one() {
    let down = Play::Status(500, Vec::new(), String::new());
    assert_eq!(opinions_with(down, &["whisper", WORD]), [""; 0]);
    assert_eq!(opinions_with(said("I would rather not say"), &["whisper", WORD]), ["opinion bob"]);
    // A directive waits for the next round, even if a seat is asked again in this one.
    let directive = ["direct", WORD, "--yes"];
    assert_eq!(opinions_with(said("I would rather not say"), &directive), [""; 0]);
}

/// Replies take a moment, so that interventions arrive in between; some seats need a retry.
fn brisk(asked: &Asked<'_>) -> Play {
    let nth = (asked.seat.len() + asked.seat.as_bytes()[0] as usize + asked.nth) % 4;
    let then = match (asked.purpose, asked.nth) {
        (Purpose::Opinion | Purpose::Conclusion, 1) if nth == 0 => said("Well, that depends."),
        (Purpose::Audit, 1) => said("FLAG: recommendation - it decides nothing"),
        _ => Play::Fitting,
    };
    Play::Slow(Duration::from_millis(10 + 20 * nth as u64), Box::new(then))
}

#[test]
fn whispers_at_any_moment_from_other_processes_never_break_a_run() {
    let runs: Vec<u32> = (0..times(4, 200)).collect();
    let heard = AtomicUsize::new(0);
    check_all(&runs, |nth| {
        let council = Council::new(brisk);
        let mut running = Running::ask(&council, &[]);
        running.until(|_| true);
        let mut words = 0;
        while !running.is_over() {
            words += 1;
            let text = format!("word {words} of {nth}.");
            let to: &[&str] = [&[][..], &["--to", "ann"], &["--to", "dot"]][words % 3];
            let told = running.say(&[&["whisper", &text], to].concat());
            // A run that has ended or is ending rejects the whisper.
            let code = told.document.get("error_code").and_then(Value::as_str);
            assert!(told.code == 0 || code == Some("dialogue_closed"), "{:#}", told.document);
        }
        let told = running.end();
        told.expect("done", 0);
        assert_eq!(told.at("terminal_state"), "revised");
        check_hearing(&council);
        check_told(&council, &told);
        heard.fetch_add(told.at("interventions").as_array().unwrap().len(), Ordering::SeqCst);
    });
    // On a busy machine a run may end before the second whisper arrives.
    assert!(heard.into_inner() >= runs.len() / 2, "hardly any whisper arrived in time");
}

#[test]
fn in_runs_of_every_kind_an_ask_carries_the_words_that_stand_before_it_and_no_other() {
    let seeds: Vec<u64> = (0..u64::from(times(24, 1_000))).map(|nth| nth << 32).collect();
    check_all(&seeds, |seed| {
        let drawn = draw(*seed);
        check_hearing_in(&drawn.journal, &drawn.seen);
    });
}

/// Without stored prompts the engine renders them again; later interventions must not appear in
/// them.
#[test]
fn an_ask_that_is_repeated_says_what_it_said_though_nobody_kept_it() {
    let gate = Gate::default();
    let council = gated(&gate);
    council.set(|settings| settings["retention"] = json!({ "keep_prompts": false }));
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    running.say(&["whisper", WORD]);
    running.say(&["direct", WORD, "--yes"]);
    running.kill();
    gate.open();
    resume(&council).expect("done", 0);
    let asked = council.seen(Purpose::Opinion);
    let cids: Vec<&Value> =
        asked.iter().filter(|seen| seen.model == "model-cid").map(|seen| &seen.body).collect();
    assert_eq!(cids.len(), 2);
    assert_eq!(cids[0], cids[1]);
    assert!(council.seen(Purpose::Review).iter().all(|seen| seen.user.contains(WORD)));
}

#[test]
fn what_was_said_outlives_the_process_it_was_said_to() {
    let gate = Gate::default();
    let council = gated(&gate);
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    running.say(&["whisper", WORD]);
    running.say(&["direct", "Only reads count.", "--yes"]);
    running.kill();
    let told = say(&council, &["whisper", "Nobody is there.", "--to", "cid"]);
    assert_eq!((told.code, told.at("running")), (0, &json!(false)));
    gate.open();
    let told = resume(&council);
    told.expect("done", 0);
    check_hearing(&council);
    assert_eq!(council.calls(Purpose::Opinion), 4, "only cid is asked again");
    assert!(carriers(&council, WORD).iter().all(|who| !who.starts_with("opinion")));
    assert_eq!(carriers(&council, "Nobody is there."), ["review cid"]);
    assert_eq!(
        interventions(&told),
        json!([
            { "round": 1, "kind": "whisper", "text": WORD, "to": null, "restated": null,
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
    let gate = Gate::default();
    let council = {
        let gate = gate.clone();
        Council::new(move |asked| match (asked.purpose, asked.nth) {
            (Purpose::Audit, 1) => {
                let flag = said("FLAG: key_condition - nothing supports it");
                Play::Gated(gate.clone(), Box::new(flag))
            }
            _ => Play::Fitting,
        })
    };
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Audit, 1, 1);
    assert_eq!(running.say(&["whisper", WORD]).code, 0);
    let refused: [&[&str]; 3] =
        [&["whisper", "x", "--to", "ann"], &["direct", "x", "--yes"], &["stop"]];
    for words in refused {
        let told = running.say(words);
        assert_eq!((told.code, told.at("error_code")), (1, &json!("dialogue_closed")), "{words:?}");
    }
    gate.open();
    let told = running.end();
    told.expect("done", 0);
    assert_eq!(carriers(&council, WORD), ["revision dot"]);
    assert_eq!(council.calls(Purpose::Restatement), 0);
    assert_eq!(told.at("interventions").as_array().unwrap().len(), 1);
}

#[track_caller]
fn refused(council: &Council, arguments: &[&str], code: i32, error_code: &str) -> Value {
    let told = council.run(&[arguments, &["--json"]].concat());
    assert_eq!((told.code, told.at("error_code")), (code, &json!(error_code)), "{arguments:?}");
    told.document
}

#[test]
fn a_word_that_cannot_be_heard_is_refused_and_says_why() {
    let gate = Gate::default();
    let council = gated(&gate);
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    let id = id(&council).unwrap();
    let before = journal(&council).len();
    for seat in ["zoe", "No Such Seat!", ""] {
        let document =
            refused(&council, &["whisper", &id, "x", "--to", seat], 1, "expert_not_in_dialogue");
        assert_eq!(document["valid_options"], json!(["ann", "bob", "cid", "dot"]));
        assert_eq!(document["value"], seat);
    }
    refused(&council, &["whisper", &id, " \n"], 1, "missing_field");
    refused(&council, &["direct", &id, "", "--yes"], 1, "missing_field");
    let long = "x".repeat(TEXT_CHARS_MAX + 1);
    refused(&council, &["whisper", &id, &long], 1, "field_too_long");
    refused(&council, &["direct", &id, &long, "--yes"], 1, "field_too_long");
    for command in ["whisper", "direct"] {
        refused(&council, &[command, "nobody-knows", "x"], 4, "dialogue_not_found");
        refused(&council, &[command, "../etc", "x"], 4, "dialogue_not_found");
    }
    refused(&council, &["stop", "nobody-knows"], 4, "dialogue_not_found");
    // The command line cannot pass this text, but other clients can.
    let store = SqliteStore::open(&council.program.path().join(".plenary/plenary.db")).unwrap();
    let nul = Intervention::Whisper { text: "a\0b".to_owned(), to: None };
    let error = engine::intervene(&store, &Machine, &id.parse().unwrap(), &nul).unwrap_err();
    assert_eq!(error.document()["error_code"], "invalid_type");
    assert_eq!(journal(&council).len(), before, "what is refused leaves nothing behind");
    assert_eq!(council.calls(Purpose::Restatement), 0);
    let fits = "é".repeat(TEXT_CHARS_MAX);
    assert_eq!(running.say(&["whisper", &fits]).code, 0);
    gate.open();
    running.end().expect("done", 0);
    for words in [&["whisper", &id, "x"][..], &["direct", &id, "x", "--yes"], &["stop", &id]] {
        refused(&council, words, 1, "dialogue_closed");
    }
}

#[test]
fn there_is_an_end_to_what_is_said_to_one_run_and_it_can_be_stopped_all_the_same() {
    let gate = Gate::default();
    let council = gated(&gate);
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    let id = id(&council).unwrap();
    let store = SqliteStore::open(&council.program.path().join(".plenary/plenary.db")).unwrap();
    for nth in 0..100 {
        let word = Intervention::Whisper { text: format!("Word {nth:03}."), to: None };
        engine::intervene(&store, &Machine, &id.parse().unwrap(), &word).unwrap();
    }
    refused(&council, &["whisper", &id, "x"], 1, "not_supported");
    refused(&council, &["direct", &id, "x", "--yes"], 1, "not_supported");
    assert_eq!(running.say(&["stop"]).code, 0);
    running.end().expect("done", 0);
    check_hearing(&council);
    let sent = &council.seen(Purpose::Conclusion)[0].user;
    assert!(sent.contains("Word 000.") && sent.contains("Word 099."));
}

#[test]
fn whoever_has_no_run_cannot_be_spoken_to() {
    let council = Council::new(|_| Play::Fitting);
    let create = json!({ "title": "Talk", "expert_pool": pool(&["ann", "bob"]) });
    assert_eq!(council.program.operation("create", &create).0, 0);
    for words in
        [&["whisper", "talk", "x"][..], &["direct", "talk", "x", "--yes"], &["stop", "talk"]]
    {
        refused(&council, words, 1, "not_supported");
    }
    let told = council.run(&["ask", "--json", "--quiet", "--deadline", "1ms", QUESTION]);
    let id = told.id().to_owned();
    assert_eq!(council.program.operation("abandon", &json!({ "dialogue_id": id })).0, 0);
    refused(&council, &["whisper", &id, "x"], 1, "dialogue_closed");
    refused(&council, &["resume", &id], 1, "dialogue_closed");
    refused(&council, &["conclude", &id], 1, "dialogue_closed");
}

#[test]
fn the_three_commands_say_what_was_noted_and_whoever_watches_sees_it() {
    let gate = Gate::default();
    let council = gated(&gate);
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    let id = id(&council).unwrap();
    let watching = Running::start(&council, &["watch", &id, "--json"]);
    let told = [
        running.say(&["whisper", WORD]),
        running.say(&["whisper", WORD, "--to", "cid"]),
        running.say(&["direct", "Only reads count.", "--yes"]),
        running.say(&["stop"]),
    ];
    let shown = told.iter().map(|told| {
        let mut document = told.document.clone();
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
    running.end().expect("done", 0);
    let events = watching.lines();
    let seen = events.iter().filter(|event| event["event"] == "intervened");
    let kinds: Vec<&str> = seen.map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["whisper", "whisper", "direct", "stop"]);
    let replay = council.program.run(&["replay", &id, "--json"]);
    let replayed: Vec<Value> =
        replay.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(replayed, events);
}

#[test]
fn in_words_each_says_what_will_come_of_it() {
    let gate = Gate::default();
    let council = gated(&gate);
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    let id = id(&council).unwrap();
    let say = |words: &[&str]| {
        let ran = council.program.run(words);
        format!("{}{}", ran.stderr, ran.stdout).replace(&id, "ID")
    };
    let told = [
        say(&["whisper", &id, WORD]),
        say(&["whisper", &id, WORD, "--to", "bob"]),
        say(&["direct", &id, "Only reads count.", "--yes"]),
        say(&["whisper", &id, WORD, "--to", "zoe"]),
    ];
    running.kill();
    let alone = [say(&["stop", &id])];
    insta::assert_snapshot!(told.iter().chain(&alone).cloned().collect::<String>(), @r"
    Noted. Everybody who is asked from now on will read it.
    Noted. bob alone will read it, whenever it is asked from now on.
    dot understands: Go ahead, but slowly.
    Noted. All take it up when the next round begins.
    error: nobody called 'zoe' speaks in this council
    hint: these do: ann, bob, cid, dot
    Stopping: nobody else is asked; it concludes on what was heard, if that is enough.
    Nobody is working on it now: `plenary resume ID` goes on.
    ");
}
