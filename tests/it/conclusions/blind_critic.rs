//! No content of the deliberation reaches the Blind Critic.

use std::sync::Mutex;

use plenary::domain::ask::{Ask, Messages, Purpose};
use plenary::domain::change::Entry;
use plenary::domain::council::words::Mode;
use plenary::domain::transcript::{CallOutcome, Reading, Transcript};
use plenary::prompting::conclusion::Case;
use plenary::protocols::conclusion::{SECOND_AUDIT, draft, revised};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::canary::Canary;
use super::harness::heard;
use super::random_models::Manners;
use super::random_runs::{Drawn, QUESTION, draw};
use crate::councils::harness::{Council, check_all, seat_of};
use crate::kit::instructions::system;
use crate::kit::{Play, Seen, times};

/// Runs in parallel: they mostly wait.
const AT_ONCE: usize = 10;

/// Counts of what critics were sent, so that a test that proves nothing fails.
#[derive(Debug, Default)]
struct Sights {
    first: usize,
    second: usize,
    stricter: usize,
    /// Audits repeated after a crash.
    again: usize,
    interventions: usize,
    /// Conclusions that cite ids of the record.
    cited: usize,
    ended: usize,
}

#[test]
fn no_text_of_the_transcript_reaches_the_critic_in_any_of_a_hundred_runs() {
    let sights = Mutex::new(Sights::default());
    let config = ProptestConfig {
        cases: times(100, 1_000) / AT_ONCE as u32,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    };
    let checked = TestRunner::new(config).run(&vec(any::<u64>(), AT_ONCE), |seeds| {
        check_all(&seeds, |seed| check(*seed, &draw(*seed), &sights));
        Ok(())
    });
    checked.unwrap();
    let Sights { first, second, stricter, again, interventions, cited, ended } =
        sights.into_inner().unwrap();
    let seen = [first, second, stricter, again, interventions, cited, ended];
    assert!(seen.iter().all(|times| *times > 0), "too little happened: {seen:?}");
}

/// Compares the critic's messages with the only two inputs it may see.
#[track_caller]
fn check(seed: u64, drawn: &Drawn, sights: &Mutex<Sights>) {
    let Drawn { canary, seen, journal } = drawn;
    let transcript = Transcript::of(journal).unwrap();
    let asks = audits(journal);
    let critics = to_the_critic(seen, canary, &format!("seed {seed}"));
    for (ask, messages) in &asks {
        assert_eq!(messages, &case(&transcript, ask), "seed {seed}");
    }
    for request in &critics {
        let sent = |(_, messages): &(Ask, Messages)| messages.user == request.user;
        assert!(asks.iter().any(sent), "seed {seed}: {}", request.user);
    }
    let reasons = transcript.asks.iter().filter_map(|asked| match &asked.reading {
        Some(Reading::Unreadable { reason, .. }) => Some(reason),
        Some(Reading::Read { .. }) | None => None,
    });
    for reason in reasons {
        let tells = |request: &&&Seen| request.user.contains(reason.as_str());
        assert_eq!(critics.iter().filter(tells).count(), 0, "seed {seed}: {reason}");
    }
    if !transcript.rounds_held.is_empty() && transcript.participants.is_some() {
        let writers = seen.iter().filter(|seen| is_for(seen, Purpose::Conclusion));
        assert!(writers.clone().all(|seen| canary.is_in(&seen.user)), "seed {seed}");
    }
    note(&transcript, &asks, &mut sights.lock().unwrap());
}

fn note(transcript: &Transcript, asks: &[(Ask, Messages)], sights: &mut Sights) {
    sights.first += asks.iter().filter(|(ask, _)| ask.round != SECOND_AUDIT).count();
    sights.second += asks.iter().filter(|(ask, _)| ask.round == SECOND_AUDIT).count();
    sights.stricter += asks.iter().filter(|(ask, _)| ask.stricter.is_some()).count();
    let asked = transcript.asks.iter().filter(|asked| asked.ask.purpose == Purpose::Audit);
    let is_lost = |outcome: &CallOutcome| *outcome == CallOutcome::Lost;
    sights.again +=
        asked.flat_map(|asked| &asked.calls).filter(|call| is_lost(&call.outcome)).count();
    sights.interventions += transcript.interventions.len();
    sights.cited +=
        usize::from(draft(transcript).is_some_and(|draft| !draft.unresolved_points.is_empty()));
    sights.ended += usize::from(transcript.ending.is_some());
}

/// Every request to the critic; none may contain part of the canary, a schema or a tool.
#[track_caller]
fn to_the_critic<'a>(seen: &'a [Seen], canary: &Canary, which: &str) -> Vec<&'a Seen> {
    let critics: Vec<&Seen> = seen.iter().filter(|seen| is_for(seen, Purpose::Audit)).collect();
    for request in &critics {
        let headers = request.headers.iter().map(|(name, value)| format!("{name}: {value}"));
        let all = [request.path.clone(), request.body.to_string()].into_iter().chain(headers);
        for text in all {
            assert!(!canary.is_in(&text), "{which}: the critic was sent {text}");
        }
        let mut fields: Vec<&String> = request.body.as_object().unwrap().keys().collect();
        fields.sort();
        assert_eq!(fields, ["max_tokens", "messages", "model"], "{which}");
        let roles = request.body["messages"].as_array().unwrap().iter().map(|one| &one["role"]);
        assert!(roles.eq(["system", "user"]), "{which}: {}", request.body);
    }
    critics
}

/// Whether a request has exactly the instructions of a role.
fn is_for(seen: &Seen, purpose: Purpose) -> bool {
    Mode::ALL.iter().any(|mode| seen.system == system(purpose, *mode))
}

/// The critic's asks and messages according to the journal.
fn audits(journal: &[Entry]) -> Vec<(Ask, Messages)> {
    let asks = heard(journal).into_iter().map(|(ask, messages, _)| (ask, messages));
    asks.filter(|(ask, _)| ask.purpose == Purpose::Audit).collect()
}

/// The messages that follow from the question and the conclusion alone.
fn case(transcript: &Transcript, ask: &Ask) -> Messages {
    let is_second = ask.round == SECOND_AUDIT;
    let conclusion = if is_second { revised(transcript) } else { draft(transcript) };
    let case = Case::new(QUESTION, conclusion.unwrap());
    let secret = &transcript.plan.secret;
    let prepared = match ask.stricter {
        None => case.asked(secret, ask.round),
        Some(_) => case.asked_again(secret, ask.round),
    };
    prepared.messages
}

/// The same through the program over HTTP, with files, whispers and failures.
#[test]
fn nor_when_the_program_runs() {
    check_all(&["1", "2", "3", "4", "5", "6"], |secret| {
        let canary = Canary::of(secret);
        let manners = Manners::new(secret, &canary);
        let council = Council::new(move |asked| manners.play(asked.seen));
        std::fs::write(council.program.path().join("notes.md"), canary.sentence()).unwrap();
        let ask = ["ask", "--json", "--quiet", QUESTION, "--context", "notes.md"];
        let mut told = council.run(&ask);
        for _ in 0..8 {
            if told.code == 0 {
                break;
            }
            let id = told.id().to_owned();
            let _ = council.program.run(&["whisper", &id, &canary.sentence(), "--quiet"]);
            let _ = council.program.run(&["direct", &id, &canary.sentence(), "--yes", "--quiet"]);
            told = council.run(&["resume", &id, "--json", "--quiet"]);
        }
        let seen = council.server.seen();
        let critics = to_the_critic(&seen, &canary, secret);
        assert!(told.code != 0 || !critics.is_empty(), "{:#}", told.document);
        assert!(seen.iter().any(|seen| canary.is_in(&seen.user)), "{secret}");
    });
}

/// The synthesizer and the critic according to the record.
fn roles(families: [&str; 4], conclusion: &Value) -> (Value, Value) {
    let conclusion = conclusion.clone();
    let council = Council::with(
        |_| Play::Fitting,
        move |settings| {
            let providers = settings["council"]["providers"].as_array_mut().unwrap();
            for (provider, family) in providers.iter_mut().zip(families) {
                provider["family"] = json!(family);
            }
            if !conclusion.is_null() {
                settings["conclusion"] = conclusion;
            }
        },
    );
    let told = council.run(&["ask", "--json", "--quiet", QUESTION]);
    told.expect("done", 0);
    assert_eq!(told.at("audit.critic.seat"), &json!(seat_of(&council.seen(Purpose::Audit)[0])));
    (told.at("synthesizer").clone(), told.at("audit").clone())
}

/// `dot` chairs and therefore writes the conclusion.
#[test]
fn the_critic_is_of_another_family_where_there_is_one_and_the_record_says_which() {
    let (writer, audit) = roles(["red", "red", "blue", "red"], &Value::Null);
    assert_eq!(writer, json!({ "seat": "dot", "model": "model-dot", "family": "red" }));
    let blue = json!({ "seat": "cid", "model": "model-cid", "family": "blue" });
    assert_eq!((&audit["critic"], &audit["same_family"]), (&blue, &json!(false)));

    let (_, audit) = roles(["red"; 4], &Value::Null);
    let red = json!({ "seat": "ann", "model": "model-ann", "family": "red" });
    assert_eq!((&audit["critic"], &audit["same_family"]), (&red, &json!(true)));

    let named = json!({ "synthesizer": "ann", "critic": "bob" });
    let (writer, audit) = roles(["red", "red", "blue", "red"], &named);
    assert_eq!((&writer["seat"], &audit["critic"]["seat"]), (&json!("ann"), &json!("bob")));
}
