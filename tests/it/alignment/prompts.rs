//! What is sent: the cost of a round grows with what is new, because each prompt begins with the
//! bytes of the round before.

use std::collections::BTreeMap;

use plenary_core::model::ask::AskPurpose;

use super::harness::{AlignmentTest, read_request};

/// The beginning of a message that all seats share: all before the role.
fn shared_part(user: &str) -> &str {
    let roles = ["\nYou are the expert `", "\nYou are the Judge."];
    let role = roles.iter().filter_map(|role| user.find(role)).min();
    &user[..role.expect("no role in the message") + 1]
}

#[test]
fn each_round_begins_with_the_bytes_of_the_round_before() {
    let test = AlignmentTest::new(|_| None);
    let ended = test.run();
    ended.expect_end("done", "converged", true, 3);
    let requests = test.server.requests();
    assert!(requests.iter().all(|seen| seen.system == requests[0].system), "one system message");
    let mut blocks: BTreeMap<u8, String> = BTreeMap::new();
    for seen in &requests {
        let (purpose, round, expert) = read_request(seen);
        // The verdicts follow the last round.
        let round = if purpose == AskPurpose::Verdicts { 3 } else { round };
        let shared = shared_part(&seen.user);
        let known = blocks.entry(round).or_insert_with(|| shared.to_owned());
        assert_eq!(known, shared, "{purpose} {expert} {round}");
    }
    assert_eq!(blocks.len(), 4);
    for round in 0..3 {
        let (before, after) = (&blocks[&round], &blocks[&(round + 1)]);
        assert!(after.starts_with(before.as_str()), "round {round} was rendered anew");
        let message = ended.value_at("scoreboard.rounds")[usize::from(round)]["round"].as_u64();
        assert_eq!(message, Some(u64::from(round)));
        // What is new is the round that was registered, and nothing of an earlier one.
        let new = &after[before.len()..];
        for expert in ["muffin", "cupcake", "scone"] {
            for other in 0..3 {
                let text = super::scripted_panel::usual_contribution(expert, other);
                let line = text.lines().nth(1).unwrap();
                assert_eq!(new.contains(line), other == round, "{line} in round {round}");
            }
        }
    }
}

#[test]
fn the_role_stands_on_a_line_of_its_own_and_words_of_models_in_fences() {
    let test = AlignmentTest::new(|_| None);
    let test = test.with_rules(|rules| (rules.pool, rules.panel_size) = (None, None));
    test.run();
    for seen in test.server.requests() {
        let own = seen.instructions();
        let (purpose, _, expert) = read_request(&seen);
        let role = match purpose {
            AskPurpose::Contribution => format!("You are the expert `{expert}`."),
            _ => "You are the Judge.".to_owned(),
        };
        assert!(own.lines().any(|line| line == role), "{purpose}: {own}");
        // The Judge wrote these.
        let judged =
            ["You look twice.", "What breaks?", "The trust holds NVAI.", "It argues well."];
        for words in judged.into_iter().chain(["Role 0", "Step 0"]) {
            assert!(!own.contains(words), "{purpose}: {words} is outside a fence");
        }
    }
}
