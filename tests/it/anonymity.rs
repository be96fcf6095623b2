//! Reviewers cannot tell who wrote an opinion, even if the opinions contain names.

use std::collections::BTreeMap;

use plenary_core::model::ask::{Ask, AskPurpose};
use plenary_core::model::hash::SeededRandom;
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::Seat;
use plenary_core::model::run_state::ReplyDocument;
use plenary_core::prompting::layout::RenderedPrompt;
use plenary_core::protocols::council::answers::SeatLetters;
use plenary_core::protocols::council::types::QuestionMode;
use proptest::prelude::*;

use crate::kit::council_driver::{CouncilDriver, make_opinion, make_plan, make_review, make_seat};
use crate::kit::instructions::{system, without_fences, without_own_opinion};
use crate::kit::pick_repeats;

/// Realistic names: seat, model, family.
const REAL_NAMES: [(&str, &str, &str); 12] = [
    ("claude", "claude-sonnet-4-20250514", "anthropic"),
    ("openai", "gpt-4o", "openai"),
    ("gemini", "gemini-2.0-flash", "google"),
    ("ollama", "llama3.2:3b", "meta"),
    ("groq", "llama-3.3-70b-versatile", "meta"),
    ("openrouter", "meta-llama/llama-3.1-405b-instruct", "meta"),
    ("deepseek", "deepseek-chat", "deepseek"),
    ("mistral", "mistral-large-latest", "mistral"),
    ("grok", "grok-2-1212", "xai"),
    ("qwen", "qwen2.5:14b-instruct-q4_K_M", "qwen"),
    ("phi-home", "phi3:mini", "microsoft"),
    ("kimi", "kimi-k2-0905-preview", "moonshot"),
];

/// Well-known vendor and model names that must be masked in any position.
const KNOWN_NAMES: [&str; 16] = [
    "claude",
    "anthropic",
    "openai",
    "chatgpt",
    "gpt4o",
    "gemini",
    "llama",
    "deepseek",
    "mistral",
    "grok2",
    "qwen",
    "kimi",
    "ollama",
    "groq",
    "openrouter",
    "phi3",
];

const QUESTIONS: [&str; 3] = [
    "Shall we move the archive?",
    "Shall we buy Gemini, or stay with what we have?",
    "Is openai-compatible enough, or do we need Claude itself?",
];

#[derive(Debug, Clone)]
struct RandomPanel {
    seats: Vec<Seat>,
    secret: String,
    question: &'static str,
    /// Index of the seat that gives no answer in the first round, if it exists.
    silent_seat: usize,
    seed: u64,
}

/// The letters of made-up names occur in no hex digits and in few other texts.
fn panel_strategy() -> impl Strategy<Value = RandomPanel> {
    let one = (0..REAL_NAMES.len() + 4, "[gkqvxz]{4,7}", "[gkqvxz]{3,6}-[0-9]{1,2}");
    let seats = prop::collection::vec(one, 2..=6);
    (seats, "[0-9a-f]{32}", 0..QUESTIONS.len(), 0..12_usize, any::<u64>()).prop_map(
        |(drawn, secret, question, silent, dice)| {
            let mut seats: Vec<Seat> = Vec::new();
            for (place, (real, name, model)) in drawn.iter().enumerate() {
                let (name, model, family) =
                    REAL_NAMES.get(*real).copied().unwrap_or((name, model, "homemade"));
                let mut made = make_seat(name, model, family);
                if seats.iter().any(|known| known.name == made.name) {
                    made.name = format!("{name}-{}", place + 1).parse().unwrap();
                }
                seats.push(made);
            }
            RandomPanel {
                seats,
                secret,
                question: QUESTIONS[question],
                silent_seat: silent,
                seed: dice,
            }
        },
    )
}

/// Spelling variants of a name.
fn respell_name(name: &str, dice: &mut SeededRandom) -> String {
    let title = || name[..1].to_uppercase() + &name[1..];
    match dice.next_u64() % 12 {
        0 => name.to_owned(),
        1 => name.to_uppercase(),
        2 => title(),
        3 => format!("`{name}`"),
        4 => format!("**{}**", title()),
        5 => format!("({name})"),
        6 => format!("{}'s", title()),
        7 => format!("\"{name}\","),
        8 => format!("@{name}:"),
        9 => format!("我是{name}模型"),
        10 => format!("\n- {}.", title()),
        _ => format!("—{name}—"),
    }
}

/// Models are also spelled with spaces or underscores between their parts.
fn respell_model(model: &str, dice: &mut SeededRandom) -> String {
    let model = match dice.next_u64() % 4 {
        0 => model.replace('-', " "),
        1 => model.replace('-', "_"),
        2 => model.replace("gpt-4o", "GPT4o"),
        _ => model.to_owned(),
    };
    respell_name(&model, dice)
}

/// A text in which an author names itself in every way.
fn revealing_text(own: &Seat, canary: &str, dice: &mut SeededRandom) -> String {
    format!(
        "{canary} I am {} and I say so. My name is {}. I, {}, hold this dear. I was made by {}. ",
        respell_model(&own.model, dice),
        respell_name(own.name.as_str(), dice),
        respell_model(own.model.rsplit('/').next().unwrap(), dice),
        respell_name(own.provider.as_str(), dice),
    )
}

/// A text that names its author once more.
fn passing_mention(own: &Seat, dice: &mut SeededRandom) -> String {
    format!("as I am {}", respell_name(own.name.as_str(), dice))
}

fn make_canary(seat: &ExpertSlug) -> String {
    // A sentence derived from the name that does not reveal it.
    let sum =
        seat.as_str().bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(131) + u64::from(byte));
    format!("A heron counted {} pebbles twice.", SeededRandom::new(sum).next_u64())
}

/// Letters and digits only, so that spacing cannot hide a name.
fn alphanumeric_only(text: &str) -> String {
    text.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// Names in a message that do not occur in the question.
fn find_names(panel: &RandomPanel, message: &str) -> Vec<String> {
    let asked = alphanumeric_only(panel.question);
    let shown = alphanumeric_only(&message.replace(panel.question, ""));
    let own = panel.seats.iter().flat_map(|seat| {
        let short = seat.model.rsplit('/').next().unwrap();
        [seat.name.as_str(), seat.provider.as_str(), &seat.model, short].map(alphanumeric_only)
    });
    let known = KNOWN_NAMES.iter().map(|name| (*name).to_owned()).filter(|name| {
        let is_of = |text: &str| alphanumeric_only(text).contains(name.as_str());
        panel.seats.iter().any(|seat| is_of(&seat.model) || is_of(seat.name.as_str()))
    });
    let mut found: Vec<String> = own.chain(known).collect();
    found.retain(|name| shown.contains(name.as_str()) && !asked.contains(name.as_str()));
    found
}

/// The letters of the opinions in a message, in order, each with its text.
fn shown_opinions(message: &str) -> Vec<(char, &str)> {
    let pieces = message.split("===== BEGIN material OPINION ").skip(1);
    pieces
        .map(|piece| {
            let end = piece.find("\n===== END material OPINION ").unwrap();
            (piece.chars().next().unwrap(), &piece[..end])
        })
        .collect()
}

struct CompletedRounds {
    first: Vec<(Ask, RenderedPrompt)>,
    second: Vec<(Ask, RenderedPrompt)>,
    third: Vec<(Ask, RenderedPrompt)>,
    driver: CouncilDriver,
}

/// Runs all three rounds with texts that reveal as much as they can.
fn run_rounds(panel: &RandomPanel, anonymous: bool) -> CompletedRounds {
    let mut dice = SeededRandom::new(panel.seed);
    let mut plan = make_plan(panel.seats.clone(), &panel.secret);
    plan.anonymous_review = anonymous;
    plan.quorum.r1_min = 1;
    let mut chamber = CouncilDriver::new(panel.question, plan);
    let first = chamber.next_asks();
    for (place, (ask, _)) in first.iter().enumerate() {
        let own = chamber.run_state.plan.find_seat(&ask.seat).unwrap().clone();
        if place == panel.silent_seat {
            chamber.record_refusal(ask);
        } else {
            let mut printed = make_opinion(&passing_mention(&own, &mut dice));
            printed.summary = revealing_text(&own, &make_canary(&own.name), &mut dice);
            chamber.record_answer(ask, ReplyDocument::Opinion(Box::new(printed)));
        }
    }
    let second = chamber.next_asks();
    for (ask, prepared) in &second {
        let own = chamber.run_state.plan.find_seat(&ask.seat).unwrap().clone();
        let letters: Vec<char> = shown_opinions(&prepared.messages.user_message())
            .iter()
            .map(|(letter, _)| *letter)
            .collect();
        let mut printed = make_review(&letters, &passing_mention(&own, &mut dice));
        printed.would_change_my_opinion = vec![revealing_text(&own, "", &mut dice)];
        chamber.record_answer(ask, ReplyDocument::PeerReview(Box::new(printed)));
    }
    let third = chamber.next_asks();
    CompletedRounds { first, second, third, driver: chamber }
}

fn check_first_round(panel: &RandomPanel, held: &CompletedRounds) {
    assert_eq!(held.first.len(), panel.seats.len());
    for (_, prepared) in &held.first {
        // Byte for byte, so that a provider's prompt cache can answer.
        assert_eq!(prepared.messages, held.first[0].1.messages);
    }
}

fn check_second_round(panel: &RandomPanel, held: &CompletedRounds) {
    let letters = SeatLetters::from_plan(&held.driver.run_state.plan);
    let spoke: Vec<&ExpertSlug> = held.first.iter().map(|(ask, _)| &ask.seat).collect();
    for (ask, prepared) in &held.second {
        let user = &without_own_opinion(&prepared.messages.user_message());
        assert_eq!(prepared.messages.system, system(AskPurpose::PeerReview, QuestionMode::General));
        assert_eq!(find_names(panel, user), Vec::<String>::new(), "{}: {user}", ask.seat);
        assert!(!user.contains(&make_canary(&ask.seat)), "{} sees its own opinion", ask.seat);
        let opinions = shown_opinions(user);
        for (place, other) in spoke.iter().enumerate() {
            let expected = usize::from(place != panel.silent_seat && **other != ask.seat);
            assert_eq!(
                user.matches(&make_canary(other)).count(),
                expected,
                "{other} for {}",
                ask.seat
            );
            if expected == 1 {
                let letter = letters.letter_of(other).unwrap();
                let text = opinions.iter().find(|(known, _)| *known == letter).unwrap().1;
                assert!(text.contains(&make_canary(other)), "{other} is not under {letter}");
            }
        }
    }
}

fn check_third_round(panel: &RandomPanel, held: &CompletedRounds) {
    let letters = SeatLetters::from_plan(&held.driver.run_state.plan);
    for (ask, prepared) in &held.third {
        let user = &prepared.messages.user_message();
        assert_eq!(prepared.messages.system, system(AskPurpose::Synthesis, QuestionMode::General));
        // The chair reads the opinions unmasked; our own text names no seat.
        let own = without_fences(user);
        assert_eq!(find_names(panel, &own), Vec::<String>::new(), "{}: {own}", ask.seat);
        for (letter, text) in shown_opinions(user) {
            let whose = letters.seat_of(&letter.to_string()).unwrap();
            assert!(text.contains(&make_canary(whose)), "{whose} is not under {letter}");
        }
        assert_eq!(user.matches("===== BEGIN material REVIEW BY ").count(), held.second.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: pick_repeats(24, 2_000), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_message_says_who_anybody_is(panel in panel_strategy()) {
        let held = run_rounds(&panel, true);
        check_first_round(&panel, &held);
        check_second_round(&panel, &held);
        check_third_round(&panel, &held);
        let again = run_rounds(&panel, true);
        prop_assert_eq!(&again.second, &held.second);
        prop_assert_eq!(&again.third, &held.third);
    }

    #[test]
    fn open_reviews_say_it(panel in panel_strategy()) {
        let held = run_rounds(&panel, false);
        for (ask, prepared) in &held.second {
            for (place, other) in panel.seats.iter().enumerate() {
                let is_shown = place != panel.silent_seat && other.name != ask.seat;
                let head = format!(" - {} ", other.name);
                let heads = prepared.messages.user.lines().filter(|line| {
                    line.starts_with("===== BEGIN material OPINION ") && line.contains(&head)
                });
                prop_assert_eq!(heads.count(), usize::from(is_shown), "{}", other.name);
            }
        }
    }
}

/// The order in which each reviewer sees the other opinions.
fn reviewer_orders(secret: &str) -> BTreeMap<ExpertSlug, Vec<char>> {
    let seats =
        ["ann", "bob", "cid", "dan", "eve"].map(|name| make_seat(name, "m-1", "f")).to_vec();
    let panel = RandomPanel {
        seats,
        secret: secret.to_owned(),
        question: QUESTIONS[0],
        silent_seat: usize::MAX,
        seed: 1,
    };
    let second = run_rounds(&panel, true).second;
    let order = |prepared: &RenderedPrompt| {
        shown_opinions(&prepared.messages.user_message())
            .iter()
            .map(|(letter, _)| *letter)
            .collect::<Vec<char>>()
    };
    second.iter().map(|(ask, prepared)| (ask.seat.clone(), order(prepared))).collect()
}

#[test]
fn each_reviewer_has_an_order_of_their_own() {
    // Ann and Bob share three others; in one of six cases they see them in the same order.
    let (ann, bob): (ExpertSlug, ExpertSlug) = ("ann".parse().unwrap(), "bob".parse().unwrap());
    let secrets: Vec<String> = (0..12).map(|number| format!("{number:032x}")).collect();
    let all: Vec<_> = secrets.iter().map(|secret| reviewer_orders(secret)).collect();
    let differ = all.iter().filter(|orders| {
        let (first, second) = (&orders[&ann], &orders[&bob]);
        let common = |order: &[char], other: &[char]| -> Vec<char> {
            order.iter().copied().filter(|letter| other.contains(letter)).collect()
        };
        common(first, second) != common(second, first)
    });
    let differ = differ.count();
    assert!(differ >= 6, "only {differ} of 12");
    assert_eq!(reviewer_orders(&secrets[3]), all[3]);
    assert_ne!(all[3], all[4]);
}
