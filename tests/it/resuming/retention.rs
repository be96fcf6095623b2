//! Without stored prompts, a repeated ask has exactly the same text.

use std::collections::BTreeMap;

use plenary_core::model::ask::AskMessages;
use plenary_core::model::journal::JournalEvent;

use super::harness::{ResumeProject, ResumedCouncil, request_name};
use super::scripted_seats::{CouncilFinale, attempt_of_request};

/// Each process dies with an unanswered seat; then the Principal intervenes.
const ATTEMPTS: [(&str, usize); 7] = [
    ("opinion-cid", 3),
    ("review-cid", 4),
    ("synthesis-ann", 2),
    ("conclusion-ann", 2),
    ("audit-bob", 2),
    ("revision-ann", 2),
    ("second-audit-bob", 2),
];

#[test]
fn what_is_asked_again_is_what_was_asked_whatever_was_said_since() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::with_finale(&house, "unkept", CouncilFinale::Unconverged);
    council.more = "retention: {keep_prompts: false}\n".to_owned();
    for (held, asked) in ATTEMPTS {
        let mut process = council.start_process(&[held]);
        process.wait_until_asked(asked, 1);
        let dead = process.kill_process();
        let message = [
            "whisper",
            &council.find_dialogue_id().unwrap(),
            &format!("Since {held}: mind the cost."),
        ];
        assert_eq!(house.program.run_command(&message).code, 0);
        council.record_kill(dead);
    }
    council.run_to_end();
    let mut sent: BTreeMap<String, Vec<AskMessages>> = BTreeMap::new();
    for seen in house
        .server
        .requests()
        .iter()
        .filter(|seen| attempt_of_request(seen).starts_with("unkept-"))
    {
        let messages = AskMessages::new(seen.system.as_str(), seen.user.as_str());
        sent.entry(request_name(seen)).or_default().push(messages);
    }
    let again: Vec<_> = sent.iter().filter(|(_, sent)| sent.len() > 1).collect();
    assert_eq!(again.len(), ATTEMPTS.len());
    for (what, sent) in &again {
        assert!(sent.iter().all(|messages| *messages == sent[0]), "{what} was asked otherwise");
    }
    // Later asks did contain it, so the check could have failed.
    let received = |what: &str| sent[what][0].user.matches("mind the cost").count();
    let received = ["R1 cid", "R2 cid", "R3 ann", "R4 ann", "R5 bob", "R6 ann"].map(received);
    assert_eq!(received, [0, 1, 2, 3, 0, 5]);
    let journal = &council.attempts.last().unwrap().journal;
    for change in journal.iter().flat_map(|entry| &entry.events) {
        let JournalEvent::AskPrepared { ask, messages, messages_sha256, .. } = change else {
            continue;
        };
        let digest = sent[&format!("R{} {}", ask.round, ask.seat)][0].content_hash();
        assert_eq!((messages, messages_sha256), (&None, &Some(digest)), "{ask:?}");
    }
}
