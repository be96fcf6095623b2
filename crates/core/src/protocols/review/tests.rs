//! The policy, in every case there is; and the rounds that lead to it.

use crate::model::hash::canonical_sha256;
use crate::model::journal::JournalEvent;
use crate::model::run_state::{ReplyDocument, RunState, RunStopReason};
use crate::protocols::protocol::Step;
use crate::protocols::review::policy::{PolicyName, ReviewDecision};
use crate::protocols::review::sample::{SEATS, begin, hold, judgement, plan, say, word};
use crate::protocols::review::seat_results::{FIRST, SECOND, list_seat_results, tally_blocks};
use crate::protocols::review::to_entities::round_batch;
use crate::protocols::review::types::{DeliberatorJudgement, DeliberatorVerdict};
use crate::protocols::sample::{changes_of, describe, held_round, next};

/// What a seat came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Absent,
    Passes,
    Reducible,
    Irreducible,
}

const CAME: [Came; 4] = [Came::Absent, Came::Passes, Came::Reducible, Came::Irreducible];

/// How the adjudicator speaks of a downgrade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Downgrade {
    No,
    WithoutReason,
    WithReason,
}

const DOWNGRADES: [Downgrade; 3] = [Downgrade::No, Downgrade::WithoutReason, Downgrade::WithReason];

impl Came {
    fn said(self) -> Option<ReplyDocument> {
        // The words are chosen against the blocks: a block is `would_block`, nothing else.
        let message = match self {
            Self::Absent => return None,
            Self::Passes => judgement(DeliberatorVerdict::Hold, false, true),
            Self::Reducible => judgement(DeliberatorVerdict::Ship, true, false),
            Self::Irreducible => judgement(DeliberatorVerdict::Revise, true, true),
        };
        Some(ReplyDocument::Judgement(Box::new(message)))
    }
}

/// The rule as SPEC 5 says it, word by word, in strictness from 0 (SHIP) to 2 (HOLD); nothing
/// when it is INCOMPLETE.
fn stated(
    policy: PolicyName,
    minimum: usize,
    came: &[Came],
    word: u8,
    how: Downgrade,
) -> Option<u8> {
    let count = |what: &[Came]| came.iter().filter(|one| what.contains(one)).count();
    let present = count(&[Came::Passes, Came::Reducible, Came::Irreducible]);
    if present < minimum {
        return None;
    }
    let (blocks, irreducible) =
        (count(&[Came::Reducible, Came::Irreducible]), count(&[Came::Irreducible]));
    let downgraded = how == Downgrade::WithReason;
    let by_policy = match policy {
        // "3 or more block and 3 or more of the blocks are irreducible: HOLD."
        PolicyName::Seed if blocks >= 3 && irreducible >= 3 => 2,
        // "3 or more block otherwise: REVISE if the adjudicator downgrades and says why, else HOLD."
        PolicyName::Seed if blocks >= 3 => {
            if downgraded {
                1
            } else {
                2
            }
        }
        // "Fewer than 3: SHIP, with the revision brief."
        PolicyName::Seed => 0,
        // "no blocks SHIP; 1 or 2 reducible REVISE; 3 or more, or any irreducible, HOLD", where
        // the downgrade is open without any irreducible.
        PolicyName::Strict => match (blocks, irreducible) {
            (0, _) => 0,
            (1 | 2, 0) => 1,
            (_, 0) if downgraded => 1,
            (_, _) => 2,
        },
    };
    // "the adjudicator may be stricter than the policy, never softer"
    Some(if word > by_policy { word } else { by_policy })
}

fn played(policy: PolicyName, minimum: usize, came: &[Came]) -> RunState {
    let mut state = begin(plan(policy, minimum));
    for round in [FIRST, SECOND] {
        for (seat, came) in SEATS.iter().zip(came) {
            say(&mut state, seat, round, came.said());
        }
        if held_round(&next(&state)).is_some() {
            hold(&mut state, round);
        }
    }
    state
}

fn every_panel() -> Vec<[Came; 4]> {
    let mut panels = Vec::new();
    for number in 0..CAME.len().pow(4) {
        panels.push([0, 1, 2, 3].map(|place| CAME[number / CAME.len().pow(place) % CAME.len()]));
    }
    panels
}

#[test]
fn the_policy_holds_in_every_case() {
    let mut seen = 0;
    for policy in PolicyName::ALL {
        for minimum in 1..=4 {
            for came in every_panel() {
                let state = played(*policy, minimum, &came);
                for (strictness, verdict) in (0..).zip(ReviewDecision::ALL) {
                    for how in DOWNGRADES {
                        let expected = stated(*policy, minimum, &came, strictness, how);
                        let case = format!("{policy} {minimum} {came:?} {verdict} {how:?}");
                        assert_eq!(decided(&state, *verdict, how), expected, "{case}");
                        seen += 1;
                    }
                }
            }
        }
    }
    // Two policies, four minimums, every panel of four (absent or one of three), three words,
    // three ways to speak of a downgrade.
    assert_eq!(seen, 2 * 4 * 256 * 3 * 3);
}

fn decided(state: &RunState, verdict: ReviewDecision, how: Downgrade) -> Option<u8> {
    if let Step::Stop(stop) = next(state) {
        assert!(matches!(stop, RunStopReason::Quorum { round: FIRST, .. }), "{stop:?}");
        return None;
    }
    let mut state = state.clone();
    let reason = match how {
        Downgrade::No => None,
        Downgrade::WithoutReason => Some(" "),
        Downgrade::WithReason => Some("A revision lifts them."),
    };
    let message = ReplyDocument::Adjudication(Box::new(word(verdict, reason)));
    say(&mut state, "adjudicator", 3, Some(message));
    let step = next(&state);
    let changes = changes_of(&step);
    let Some(JournalEvent::ReviewDecided(ruling)) = changes.first() else {
        panic!("{}", describe(&step))
    };
    Some(ruling.verdict as u8)
}

#[test]
fn a_review_takes_nine_calls_on_a_path_of_three() {
    let mut state = begin(plan(PolicyName::Seed, 3));
    let mut steps = Vec::new();
    let passes = Came::Passes.said();
    loop {
        let step = next(&state);
        steps.push(describe(&step));
        match &step {
            Step::Ask(asks) => {
                for ask in asks {
                    let message = match ask.round {
                        3 => Some(ReplyDocument::Adjudication(Box::new(word(
                            ReviewDecision::Ship,
                            None,
                        )))),
                        _ => passes.clone(),
                    };
                    say(&mut state, ask.seat.as_str(), ask.round, message);
                }
            }
            Step::Append(_) | Step::Finish | Step::Stop(_) => match held_round(&step) {
                Some(round) => hold(&mut state, round),
                None => break,
            },
        }
    }
    assert_eq!(state.asks.len(), 9);
    insta::assert_snapshot!(steps.join("\n"), @r"
    ask skeptic, voice_identity, evidence, strategy in round 1
    hold 1
    ask skeptic, voice_identity, evidence, strategy in round 2
    hold 2
    ask adjudicator in round 3
    rule SHIP
    ");
}

#[test]
fn whoever_is_silent_in_the_second_round_is_held_to_the_first() {
    let mut state = begin(plan(PolicyName::Strict, 3));
    for seat in SEATS {
        say(&mut state, seat, FIRST, Came::Irreducible.said());
    }
    hold(&mut state, FIRST);
    for seat in SEATS {
        let message = if seat == "evidence" { None } else { Came::Passes.said() };
        say(&mut state, seat, SECOND, message);
    }
    hold(&mut state, SECOND);
    let positions = list_seat_results(&state);
    let fallback: Vec<bool> = positions.iter().map(|one| one.is_fallback()).collect();
    assert_eq!(fallback, [false, false, true, false]);
    let counted = tally_blocks(&state).unwrap();
    assert_eq!((counted.present, counted.blocks, counted.irreducible_blocks), (4, 1, 1));
}

#[test]
fn whoever_was_absent_may_still_be_heard_in_the_second_round() {
    let mut state = begin(plan(PolicyName::Seed, 3));
    for seat in SEATS {
        let message = if seat == "skeptic" { None } else { Came::Passes.said() };
        say(&mut state, seat, FIRST, message);
    }
    hold(&mut state, FIRST);
    let step = describe(&next(&state));
    assert_eq!(step, "ask skeptic, voice_identity, evidence, strategy in round 2");
}

#[test]
fn without_an_adjudicator_nothing_is_decided() {
    let mut state = played(PolicyName::Seed, 3, &[Came::Passes; 4]);
    say(&mut state, "adjudicator", 3, None);
    let step = next(&state);
    let Step::Stop(RunStopReason::Unadjudicated { seat, reason }) = step else {
        panic!("{step:?}")
    };
    assert_eq!((seat.as_str(), reason.as_str()), ("adjudicator", "it is down"));
}

#[test]
fn a_change_that_cites_nobody_is_marked() {
    let changed = |message: &str| DeliberatorJudgement {
        delta_from_r1: message.to_owned(),
        ..judgement(DeliberatorVerdict::Hold, true, false)
    };
    let cases = [
        ("I thought again.", true),
        ("evidence-1 convinced me.", false),
        ("evidence-2 does not exist.", true),
        ("My own skeptic-1 convinced me.", true),
    ];
    for (message, uncited) in cases {
        let mut state = begin(plan(PolicyName::Seed, 3));
        for seat in SEATS {
            say(&mut state, seat, FIRST, Came::Passes.said());
        }
        let second = ReplyDocument::Judgement(Box::new(changed(message)));
        say(&mut state, "skeptic", SECOND, Some(second));
        let positions = list_seat_results(&state);
        assert_eq!(positions[0].is_uncited(&positions), uncited, "{message}");
        assert!(!positions[1].is_uncited(&positions));
    }
}

/// The request that would register the same round has the same digest.
#[test]
fn a_lifted_block_is_part_of_the_digest() {
    let mut state = begin(plan(PolicyName::Seed, 1));
    let mut lifted = judgement(DeliberatorVerdict::Ship, false, false);
    lifted.concerns.clear();
    "It is fixed.".clone_into(&mut lifted.delta_from_r1);
    for (round, message) in
        [(FIRST, judgement(DeliberatorVerdict::Revise, true, false)), (SECOND, lifted)]
    {
        for (place, seat) in SEATS.iter().enumerate() {
            let message = ReplyDocument::Judgement(Box::new(message.clone()));
            say(&mut state, seat, round, (place == 0).then_some(message));
        }
        if round == FIRST {
            hold(&mut state, round);
        }
    }
    let batch = round_batch(&state, SECOND);
    let seat = SEATS[0].to_uppercase();
    let request = serde_json::json!({
        "dialogue_id": state.opening.dialogue_id, "round": 2, "score": 0,
        "title": "Cross-reading", "summary": "1 of 4 seats answered.",
        "perspectives": [{
            "local_id": format!("{seat}-P0201"), "label": batch.items()[0].label,
            "content": batch.items()[0].text,
            "references": [{ "type": "refine", "target": format!("{seat}-P0101") }],
        }],
        "tension_updates": [{
            "id": format!("{seat}-T0101"), "status": "resolved", "by": [SEATS[0]],
            "reason": "It is fixed.",
        }],
    });
    assert_eq!(batch.sha256, canonical_sha256(&request));
}
