//! No content of the deliberation reaches the Blind Critic.

use std::sync::Mutex;

use plenary_core::model::ask::{Ask, AskMessages, AskPurpose, CallOutcome};
use plenary_core::model::journal::JournalEntry;
use plenary_core::model::run_state::{ParseOutcome, RunState};
use plenary_core::protocols::conclusion::critic_input::CriticInput;
use plenary_core::protocols::conclusion::next::{
    SECOND_AUDIT, draft_conclusion, revised_conclusion,
};
use plenary_core::protocols::council::types::QuestionMode;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::canary::CanaryString;
use super::harness::ask_contexts;
use super::random_models::RandomModels;
use super::random_runs::{QUESTION, RandomRunResult, run_random};
use crate::councils::harness::{TestCouncil, check_all, seat_of};
use crate::kit::instructions::{role_parts, system};
use crate::kit::{ModelRequest, ScriptedReply, pick_repeats};

/// Runs in parallel: they mostly wait.
const PARALLEL_RUNS: usize = 10;

/// Counts of what critics were sent, so that a test that proves nothing fails.
#[derive(Debug, Default)]
struct CriticCounts {
    first: usize,
    second: usize,
    stricter: usize,
    /// Audits repeated after a crash.
    repeated: usize,
    interventions: usize,
    /// Conclusions that cite ids of the record.
    cited: usize,
    ended: usize,
}

#[test]
fn no_text_of_the_transcript_reaches_the_critic_in_any_of_a_hundred_runs() {
    let sights = Mutex::new(CriticCounts::default());
    let config = ProptestConfig {
        cases: pick_repeats(100, 1_000) / PARALLEL_RUNS as u32,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    };
    let checked = TestRunner::new(config).run(&vec(any::<u64>(), PARALLEL_RUNS), |seeds| {
        check_all(&seeds, |seed| check_critic_messages(*seed, &run_random(*seed), &sights));
        Ok(())
    });
    checked.unwrap();
    let CriticCounts { first, second, stricter, repeated: again, interventions, cited, ended } =
        sights.into_inner().unwrap();
    let seen = [first, second, stricter, again, interventions, cited, ended];
    assert!(seen.iter().all(|times| *times > 0), "too little happened: {seen:?}");
}

/// Compares the critic's messages with the only two inputs it may see.
#[track_caller]
fn check_critic_messages(seed: u64, drawn: &RandomRunResult, sights: &Mutex<CriticCounts>) {
    let RandomRunResult { canary, seen, journal } = drawn;
    let state = RunState::from_entries(journal).unwrap();
    let asks = audit_messages(journal);
    let critics = critic_requests(seen, canary, &format!("seed {seed}"));
    for (ask, messages) in &asks {
        assert_eq!(messages, &expected_critic_input(&state, ask), "seed {seed}");
    }
    for request in &critics {
        let sent = |(_, messages): &(Ask, AskMessages)| messages.user_message() == request.user;
        assert!(asks.iter().any(sent), "seed {seed}: {}", request.user);
    }
    let reasons = state.asks.iter().filter_map(|asked| match &asked.parse_outcome {
        Some(ParseOutcome::Unreadable { reason, .. }) => Some(reason),
        Some(ParseOutcome::Parsed { .. }) | None => None,
    });
    for reason in reasons {
        let tells = |request: &&&ModelRequest| request.user.contains(reason.as_str());
        assert_eq!(critics.iter().filter(tells).count(), 0, "seed {seed}: {reason}");
    }
    if !state.recorded_rounds.is_empty() && state.participants.is_some() {
        let writers = seen.iter().filter(|seen| has_instructions_of(seen, AskPurpose::Conclusion));
        assert!(writers.clone().all(|seen| canary.occurs_in(&seen.user)), "seed {seed}");
    }
    count_audits(&state, &asks, &mut sights.lock().unwrap());
}

fn count_audits(state: &RunState, asks: &[(Ask, AskMessages)], sights: &mut CriticCounts) {
    sights.first += asks.iter().filter(|(ask, _)| ask.round != SECOND_AUDIT).count();
    sights.second += asks.iter().filter(|(ask, _)| ask.round == SECOND_AUDIT).count();
    sights.stricter += asks.iter().filter(|(ask, _)| ask.retry_reason.is_some()).count();
    let asked = state.asks.iter().filter(|asked| asked.ask.purpose == AskPurpose::Audit);
    let is_lost = |outcome: &CallOutcome| *outcome == CallOutcome::Lost;
    sights.repeated +=
        asked.flat_map(|asked| &asked.calls).filter(|call| is_lost(&call.outcome)).count();
    sights.interventions += state.interventions.len();
    sights.cited += usize::from(
        draft_conclusion(state).is_some_and(|draft| !draft.unresolved_points.is_empty()),
    );
    sights.ended += usize::from(state.conclusion_result.is_some());
}

/// Every request to the critic; none may contain part of the canary, a schema or a tool.
#[track_caller]
fn critic_requests<'a>(
    seen: &'a [ModelRequest],
    canary: &CanaryString,
    which: &str,
) -> Vec<&'a ModelRequest> {
    let critics: Vec<&ModelRequest> =
        seen.iter().filter(|seen| has_instructions_of(seen, AskPurpose::Audit)).collect();
    for request in &critics {
        let headers = request.headers.iter().map(|(name, value)| format!("{name}: {value}"));
        let all = [request.path.clone(), request.body.to_string()].into_iter().chain(headers);
        for text in all {
            assert!(!canary.occurs_in(&text), "{which}: the critic was sent {text}");
        }
        let mut fields: Vec<&String> = request.body.as_object().unwrap().keys().collect();
        fields.sort();
        assert_eq!(
            fields,
            ["max_tokens", "messages", "model", "stream", "stream_options"],
            "{which}"
        );
        let roles = request.body["messages"].as_array().unwrap().iter().map(|one| &one["role"]);
        assert!(roles.eq(["system", "user"]), "{which}: {}", request.body);
    }
    critics
}

/// Whether a request has exactly the instructions of a role.
fn has_instructions_of(seen: &ModelRequest, purpose: AskPurpose) -> bool {
    QuestionMode::ALL.iter().any(|mode| {
        let role = role_parts(purpose, *mode).role;
        let is_told = purpose == AskPurpose::Audit || seen.instructions().contains(&role);
        seen.system == system(purpose, *mode) && is_told
    })
}

/// The critic's asks and messages according to the journal.
fn audit_messages(journal: &[JournalEntry]) -> Vec<(Ask, AskMessages)> {
    let asks = ask_contexts(journal).into_iter().map(|(ask, messages, _)| (ask, messages));
    asks.filter(|(ask, _)| ask.purpose == AskPurpose::Audit).collect()
}

/// The messages that follow from the question and the conclusion alone.
fn expected_critic_input(state: &RunState, ask: &Ask) -> AskMessages {
    let is_second = ask.round == SECOND_AUDIT;
    let conclusion = if is_second { revised_conclusion(state) } else { draft_conclusion(state) };
    let case = CriticInput::new(QUESTION, conclusion.unwrap());
    let secret = &state.plan.secret;
    let prepared = match ask.retry_reason {
        None => case.first_prompt(secret, ask.round),
        Some(_) => case.retry_prompt(secret, ask.round),
    };
    prepared.messages
}

/// The same through the program over HTTP, with files, whispers and failures.
#[test]
fn nor_when_the_program_runs() {
    check_all(&["1", "2", "3", "4", "5", "6"], |secret| {
        let canary = CanaryString::from_secret(secret);
        let manners = RandomModels::new(secret, &canary);
        let council = TestCouncil::new(move |asked| manners.choose_reply(asked.request));
        std::fs::write(council.program.path().join("notes.md"), canary.make_sentence()).unwrap();
        let ask = ["ask", "--json", "--quiet", QUESTION, "--context", "notes.md"];
        let mut result = council.run_command(&ask);
        for _ in 0..8 {
            if result.code == 0 {
                break;
            }
            let id = result.dialogue_id().to_owned();
            let _ =
                council.program.run_command(&["whisper", &id, &canary.make_sentence(), "--quiet"]);
            let _ = council.program.run_command(&[
                "direct",
                &id,
                &canary.make_sentence(),
                "--yes",
                "--quiet",
            ]);
            result = council.run_command(&["resume", &id, "--json", "--quiet"]);
        }
        let seen = council.server.requests();
        let critics = critic_requests(&seen, &canary, secret);
        assert!(result.code != 0 || !critics.is_empty(), "{:#}", result.document);
        assert!(seen.iter().any(|seen| canary.occurs_in(&seen.user)), "{secret}");
    });
}

/// The synthesizer and the critic according to the record.
fn expected_roles(families: [&str; 4], conclusion: &Value) -> (Value, Value) {
    let conclusion = conclusion.clone();
    let council = TestCouncil::with_settings(
        |_| ScriptedReply::Valid,
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
    let result = council.run_command(&["ask", "--json", "--quiet", QUESTION]);
    result.expect_status("done", 0);
    assert_eq!(
        result.value_at("audit.critic.seat"),
        &json!(seat_of(&council.requests_for(AskPurpose::Audit)[0]))
    );
    (result.value_at("synthesizer").clone(), result.value_at("audit").clone())
}

/// `dot` chairs and therefore writes the conclusion.
#[test]
fn the_critic_is_of_another_family_where_there_is_one_and_the_record_says_which() {
    let (writer, audit) = expected_roles(["red", "red", "blue", "red"], &Value::Null);
    assert_eq!(writer, json!({ "seat": "dot", "model": "model-dot", "family": "red" }));
    let blue = json!({ "seat": "cid", "model": "model-cid", "family": "blue" });
    assert_eq!((&audit["critic"], &audit["same_family"]), (&blue, &json!(false)));

    let (_, audit) = expected_roles(["red"; 4], &Value::Null);
    let red = json!({ "seat": "ann", "model": "model-ann", "family": "red" });
    assert_eq!((&audit["critic"], &audit["same_family"]), (&red, &json!(true)));

    let named = json!({ "synthesizer": "ann", "critic": "bob" });
    let (writer, audit) = expected_roles(["red", "red", "blue", "red"], &named);
    assert_eq!((&writer["seat"], &audit["critic"]["seat"]), (&json!("ann"), &json!("bob")));
}
