//! Without stored prompts, a repeated ask has exactly the same text.

use std::collections::BTreeMap;

use plenary::domain::ask::Messages;
use plenary::domain::change::Change;

use super::harness::{Council, House, named};
use super::scripted_seats::{Finale, life};

/// Each process dies with an unanswered seat; then the Principal intervenes.
const LIVES: [(&str, usize); 7] = [
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
    let house = House::new();
    let mut council = Council::ending(&house, "unkept", Finale::Unconverged);
    council.more = "retention: {keep_prompts: false}\n".to_owned();
    for (held, asked) in LIVES {
        let mut process = council.start(&[held]);
        process.wait_until_asked(asked, 1);
        let dead = process.kill();
        let said = ["whisper", &council.id().unwrap(), &format!("Since {held}: mind the cost.")];
        assert_eq!(house.program.run(&said).code, 0);
        council.died(dead);
    }
    council.finish();
    let mut sent: BTreeMap<String, Vec<Messages>> = BTreeMap::new();
    for seen in house.server.seen().iter().filter(|seen| life(seen).starts_with("unkept-")) {
        let messages = Messages { system: seen.system.clone(), user: seen.user.clone() };
        sent.entry(named(seen)).or_default().push(messages);
    }
    let again: Vec<_> = sent.iter().filter(|(_, sent)| sent.len() > 1).collect();
    assert_eq!(again.len(), LIVES.len());
    for (what, sent) in &again {
        assert!(sent.iter().all(|messages| *messages == sent[0]), "{what} was asked otherwise");
    }
    // Later asks did contain it, so the check could have failed.
    let heard = |what: &str| sent[what][0].user.matches("mind the cost").count();
    let heard = ["R1 cid", "R2 cid", "R3 ann", "R4 ann", "R5 bob", "R6 ann"].map(heard);
    assert_eq!(heard, [0, 1, 2, 3, 0, 5]);
    let journal = &council.lives.last().unwrap().journal;
    for change in journal.iter().flat_map(|entry| &entry.changes) {
        let Change::AskPrepared { ask, messages, messages_sha256, .. } = change else { continue };
        let digest = sent[&format!("R{} {}", ask.round, ask.seat)][0].digest();
        assert_eq!((messages, messages_sha256), (&None, &Some(digest)), "{ask:?}");
    }
}
