//! Interventions during a run: which prompts contain them, and from which ask on.

use plenary_core::model::ask::{Ask, AskPurpose, CallCost, CostSource, FinishReason, ModelReply};
use plenary_core::model::hash::SeededRandom;
use plenary_core::model::intervention::{DirectiveRestatement, Intervention};
use plenary_core::model::run_state::ReplyDocument;
use plenary_core::prompting::layout::RenderedPrompt;
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::protocol::Protocols;

use crate::kit::council_driver::{
    CouncilDriver, PLAN_SECRET, make_opinion, make_plan, make_review, make_seat,
};
use crate::kit::instructions::{role_parts, show_layout};
use crate::kit::pick_repeats;

fn council_of_three() -> CouncilDriver {
    let seats = ["ann", "bob", "cid"].map(|name| make_seat(name, "zork-1", "zork")).to_vec();
    CouncilDriver::new("Shall we keep the archive?", make_plan(seats, PLAN_SECRET))
}

fn make_whisper(text: &str, to: Option<&str>) -> Intervention {
    let to = to.map(|seat| seat.parse().unwrap());
    Intervention::Whisper { text: text.to_owned(), to }
}

fn make_directive(text: &str, restated: Option<&str>, confirmed: bool) -> Intervention {
    let restatement = restated.map(|sentence| DirectiveRestatement {
        seat: "ann".parse().unwrap(),
        sentence: sentence.to_owned(),
        reply: ModelReply {
            text: sentence.to_owned(),
            usage: None,
            model: None,
            finish: FinishReason::Stop,
            cost: CallCost { usd_micros: None, source: CostSource::Unknown },
            latency_ms: 1,
            structured: false,
            first_byte_ms: None,
        },
    });
    Intervention::Directive { text: text.to_owned(), restatement, confirmed }
}

fn record_opinions(driver: &mut CouncilDriver, asks: &[(Ask, RenderedPrompt)]) {
    for (ask, _) in asks {
        let message = match ask.round {
            1 => ReplyDocument::Opinion(Box::new(make_opinion("Said."))),
            _ => ReplyDocument::PeerReview(Box::new(make_review(&[], "Said."))),
        };
        driver.record_answer(ask, message);
    }
}

/// Seats that were sent a text, in the order of the asks: `1 ann, 1 bob`.
fn seats_sent(text: &str, asks: &[(Ask, RenderedPrompt)]) -> String {
    let received =
        asks.iter().filter(|(_, prepared)| prepared.messages.user_message().contains(text));
    let names = received.map(|(ask, _)| format!("{} {}", ask.round, ask.seat));
    names.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_private_whisper_is_in_no_other_seats_messages() {
    let mut driver = council_of_three();
    driver.record_intervention(0, make_whisper("Heron.", Some("bob")));
    let mut all = driver.next_asks();
    record_opinions(&mut driver, &all);
    let second = driver.next_asks();
    record_opinions(&mut driver, &second);
    all.extend(second);
    driver.record_intervention(2, make_whisper("Stork.", Some("ann")));
    all.extend(driver.next_asks());
    assert_eq!(seats_sent("Heron.", &all), "1 bob, 2 bob");
    // Ann chairs: she sees her own whisper there and no other.
    assert_eq!(seats_sent("Stork.", &all), "3 ann");
}

#[test]
fn an_ask_never_has_a_later_whisper() {
    let mut driver = council_of_three();
    let first = driver.next_asks();
    driver.record_intervention(1, make_whisper("Heron.", None));
    for (ask, prepared) in &first {
        assert_eq!(
            Protocols::built_in().render_messages(&driver.run_state, None, ask).as_ref(),
            Some(prepared),
            "{}",
            ask.seat
        );
    }
    driver.record_unreadable(&first[0].0, "no JSON");
    record_opinions(&mut driver, &first[1..]);
    // Asked again, she is shown interventions made since.
    let again = driver.next_asks();
    assert_eq!(seats_sent("Heron.", &again), "1 ann");
    record_opinions(&mut driver, &again);
    let second = driver.next_asks();
    assert_eq!(seats_sent("Heron.", &second), "2 ann, 2 bob, 2 cid");
}

#[test]
fn a_directive_is_taken_up_by_all_when_the_next_round_begins() {
    let mut driver = council_of_three();
    let first = driver.next_asks();
    driver.record_intervention(1, make_directive("heron!", Some("Think of the heron."), true));
    driver.record_intervention(1, make_directive("stork!", Some("Think of the stork."), false));
    driver.record_intervention(1, make_directive("crane!", None, true));
    driver.record_unreadable(&first[0].0, "no JSON");
    record_opinions(&mut driver, &first[1..]);
    let again = driver.next_asks();
    assert_eq!(seats_sent("heron", &again), "", "the round had begun without it");
    record_opinions(&mut driver, &again);
    let second = driver.next_asks();
    for text in ["Think of the heron.", "heron!", "crane!"] {
        assert_eq!(seats_sent(text, &second), "2 ann, 2 bob, 2 cid", "{text}");
    }
    assert_eq!(seats_sent("stork", &second), "", "it was not meant so");
}

#[test]
fn what_was_added_comes_last_and_all_before_it_stays_the_same() {
    let mut driver = council_of_three();
    driver.record_intervention(0, make_whisper("Think of the zork-1 heron.", Some("bob")));
    let asks = driver.next_asks();
    let [ann, bob] = [0, 1].map(|place| asks[place].1.messages.user_message());
    let shared = asks[0].1.messages.shared_text();
    assert!(ann.starts_with(shared) && bob.starts_with(shared), "{bob}");
    let role = role_parts(AskPurpose::Opinion, QuestionMode::General);
    let added = show_layout(&asks[1].1.messages, &role);
    let (_, added) = added.split_once("[role]\n\n").unwrap();
    let added = added.replace("[format]", "").trim_end().to_owned();
    insta::assert_snapshot!(added, @r"
    ===== BEGIN request WHISPER TO YOU ALONE ROUND =====
    Think of the zork-1 heron.
    ===== END request WHISPER TO YOU ALONE ROUND =====
    ");
    assert_eq!(asks[0].1.messages, asks[2].1.messages);
}

#[test]
fn what_the_principal_names_to_all_is_named_in_opinions_too() {
    let shown = |to: Option<&str>| {
        let mut driver = council_of_three();
        driver.record_intervention(0, make_whisper("Is Gemini any better?", to));
        driver.run_state.plan.seats[1].model = "gemini-2.0-flash".to_owned();
        let first = driver.next_asks();
        for (ask, _) in &first {
            driver.record_answer(
                ask,
                ReplyDocument::Opinion(Box::new(make_opinion("I, Gemini, am better."))),
            );
        }
        driver.next_asks()[2].1.messages.user.clone()
    };
    assert!(shown(None).contains("I, Gemini, am better."));
    let private = shown(Some("cid"));
    assert!(private.contains("Is Gemini any better?"), "her words are not masked");
    assert!(private.contains("I, [a model], am better."), "they unmask nobody else");
}

#[test]
fn nobody_hears_what_is_not_theirs_whenever_it_is_said() {
    let mut dice = SeededRandom::new(7);
    for _ in 0..pick_repeats(30, 1_000) {
        let mut driver = council_of_three();
        // Text, recipient, and the first ask that may contain it.
        let mut words: Vec<(String, Option<&str>, u32)> = Vec::new();
        let mut all = Vec::new();
        for round in 0..3 {
            for _ in 0..dice.next_u64() % 3 {
                let to =
                    [None, Some("ann"), Some("bob"), Some("cid")][dice.next_u64() as usize % 4];
                let canary = format!("canary {} sings.", dice.next_u64());
                driver.record_intervention(round, make_whisper(&canary, to));
                words.push((canary, to, driver.run_state.next_ask_id()));
            }
            let asks = driver.next_asks();
            record_opinions(&mut driver, &asks);
            all.extend(asks);
        }
        for (ask, prepared) in &all {
            for (canary, to, from) in &words {
                let is_theirs = to.is_none_or(|to| to == ask.seat.as_str());
                let expected = usize::from(is_theirs && ask.id >= *from);
                let received = prepared.messages.user.matches(canary).count();
                assert_eq!(received, expected, "{canary} to {to:?} in {ask:?}");
                assert!(!prepared.messages.system.contains(canary));
            }
        }
    }
}
