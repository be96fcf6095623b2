//! Reviewers cannot tell who wrote an opinion, even if the opinions contain names.

use std::collections::BTreeMap;

use plenary::domain::ask::{Ask, Purpose};
use plenary::domain::council::words::Mode;
use plenary::domain::dice::SplitMix;
use plenary::domain::ids::ExpertSlug;
use plenary::domain::plan::Seat;
use plenary::domain::transcript::Document;
use plenary::prompting::Prepared;
use plenary::protocols::council::Letters;
use proptest::prelude::*;

use crate::kit::council_driver::{Chamber, opinion, plan, review, seat};
use crate::kit::instructions::system;
use crate::kit::times;

/// Realistic names: seat, model, family.
const REAL: [(&str, &str, &str); 12] = [
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
const KNOWN: [&str; 16] = [
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
struct Panel {
    seats: Vec<Seat>,
    secret: String,
    question: &'static str,
    /// Index of the seat that gives no answer in the first round, if it exists.
    silent: usize,
    dice: u64,
}

/// The letters of made-up names occur in no hex digits and in few other texts.
fn panels() -> impl Strategy<Value = Panel> {
    let one = (0..REAL.len() + 4, "[gkqvxz]{4,7}", "[gkqvxz]{3,6}-[0-9]{1,2}");
    let seats = prop::collection::vec(one, 2..=6);
    (seats, "[0-9a-f]{32}", 0..QUESTIONS.len(), 0..12_usize, any::<u64>()).prop_map(
        |(drawn, secret, question, silent, dice)| {
            let mut seats: Vec<Seat> = Vec::new();
            for (place, (real, name, model)) in drawn.iter().enumerate() {
                let (name, model, family) =
                    REAL.get(*real).copied().unwrap_or((name, model, "homemade"));
                let mut made = seat(name, model, family);
                if seats.iter().any(|known| known.name == made.name) {
                    made.name = format!("{name}-{}", place + 1).parse().unwrap();
                }
                seats.push(made);
            }
            Panel { seats, secret, question: QUESTIONS[question], silent, dice }
        },
    )
}

/// Spelling variants of a name.
fn spelled(name: &str, dice: &mut SplitMix) -> String {
    let title = || name[..1].to_uppercase() + &name[1..];
    match dice.roll() % 12 {
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
fn spelled_model(model: &str, dice: &mut SplitMix) -> String {
    let model = match dice.roll() % 4 {
        0 => model.replace('-', " "),
        1 => model.replace('-', "_"),
        2 => model.replace("gpt-4o", "GPT4o"),
        _ => model.to_owned(),
    };
    spelled(&model, dice)
}

/// A text in which an author names itself and guesses the names of the others.
fn telling(panel: &Panel, own: &Seat, canary: &str, dice: &mut SplitMix) -> String {
    let mut text = format!("{canary} As {} ", spelled_model(&own.model, dice));
    for seat in &panel.seats {
        text.push_str(&format!(
            "I, unlike {} or {} of {}, hold {} dear. ",
            spelled(seat.name.as_str(), dice),
            spelled_model(&seat.model, dice),
            spelled(seat.provider.as_str(), dice),
            spelled_model(seat.model.rsplit('/').next().unwrap(), dice),
        ));
    }
    text
}

/// A text that mentions one of the names.
fn hint(panel: &Panel, dice: &mut SplitMix) -> String {
    let seat = &panel.seats[dice.roll() as usize % panel.seats.len()];
    let (name, model) = (spelled(seat.name.as_str(), dice), spelled_model(&seat.model, dice));
    format!("as {name} or {model} would")
}

fn canary(seat: &ExpertSlug) -> String {
    // A sentence derived from the name that does not reveal it.
    let sum =
        seat.as_str().bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(131) + u64::from(byte));
    format!("A heron counted {} pebbles twice.", SplitMix::new(sum).roll())
}

/// Letters and digits only, so that spacing cannot hide a name.
fn packed(text: &str) -> String {
    text.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// Names in a message that do not occur in the question.
fn names_in(panel: &Panel, message: &str) -> Vec<String> {
    let asked = packed(panel.question);
    let shown = packed(&message.replace(panel.question, ""));
    let own = panel.seats.iter().flat_map(|seat| {
        let short = seat.model.rsplit('/').next().unwrap();
        [seat.name.as_str(), seat.provider.as_str(), &seat.model, short].map(packed)
    });
    let known = KNOWN.iter().map(|name| (*name).to_owned()).filter(|name| {
        let is_of = |text: &str| packed(text).contains(name.as_str());
        panel.seats.iter().any(|seat| is_of(&seat.model) || is_of(seat.name.as_str()))
    });
    let mut found: Vec<String> = own.chain(known).collect();
    found.retain(|name| shown.contains(name.as_str()) && !asked.contains(name.as_str()));
    found
}

/// The letters of the opinions in a message, in order, each with its text.
fn shown(message: &str) -> Vec<(char, &str)> {
    let pieces = message.split("===== BEGIN OPINION ").skip(1);
    pieces
        .map(|piece| {
            let end = piece.find("\n===== END OPINION ").unwrap();
            (piece.chars().next().unwrap(), &piece[..end])
        })
        .collect()
}

struct Held {
    first: Vec<(Ask, Prepared)>,
    second: Vec<(Ask, Prepared)>,
    third: Vec<(Ask, Prepared)>,
    chamber: Chamber,
}

/// Runs all three rounds with texts that reveal as much as they can.
fn hold(panel: &Panel, anonymous: bool) -> Held {
    let mut dice = SplitMix::new(panel.dice);
    let mut plan = plan(panel.seats.clone(), &panel.secret);
    plan.anonymous_review = anonymous;
    plan.quorum.r1_min = 1;
    let mut chamber = Chamber::new(panel.question, plan);
    let first = chamber.ask();
    for (place, (ask, _)) in first.iter().enumerate() {
        let own = chamber.transcript.plan.seat(&ask.seat).unwrap().clone();
        if place == panel.silent {
            chamber.decline(ask);
        } else {
            let mut said = opinion(&hint(panel, &mut dice));
            said.summary = telling(panel, &own, &canary(&own.name), &mut dice);
            chamber.answer(ask, Document::Opinion(Box::new(said)));
        }
    }
    let second = chamber.ask();
    for (ask, prepared) in &second {
        let own = chamber.transcript.plan.seat(&ask.seat).unwrap().clone();
        let letters: Vec<char> =
            shown(&prepared.messages.user).iter().map(|(letter, _)| *letter).collect();
        let mut said = review(&letters, &hint(panel, &mut dice));
        said.would_change_my_opinion = vec![telling(panel, &own, "", &mut dice)];
        chamber.answer(ask, Document::Review(Box::new(said)));
    }
    let third = chamber.ask();
    Held { first, second, third, chamber }
}

fn check_first_round(panel: &Panel, held: &Held) {
    assert_eq!(held.first.len(), panel.seats.len());
    for (_, prepared) in &held.first {
        // Byte for byte, so that a provider's prompt cache can answer.
        assert_eq!(prepared.messages, held.first[0].1.messages);
    }
}

fn check_second_round(panel: &Panel, held: &Held) {
    let letters = Letters::of(&held.chamber.transcript.plan);
    let spoke: Vec<&ExpertSlug> = held.first.iter().map(|(ask, _)| &ask.seat).collect();
    for (ask, prepared) in &held.second {
        let user = &prepared.messages.user;
        assert_eq!(prepared.messages.system, system(Purpose::Review, Mode::General));
        assert_eq!(names_in(panel, user), Vec::<String>::new(), "{}: {user}", ask.seat);
        assert!(!user.contains(&canary(&ask.seat)), "{} sees its own opinion", ask.seat);
        let opinions = shown(user);
        for (place, other) in spoke.iter().enumerate() {
            let expected = usize::from(place != panel.silent && **other != ask.seat);
            assert_eq!(user.matches(&canary(other)).count(), expected, "{other} for {}", ask.seat);
            if expected == 1 {
                let letter = letters.letter(other).unwrap();
                let text = opinions.iter().find(|(known, _)| *known == letter).unwrap().1;
                assert!(text.contains(&canary(other)), "{other} is not under {letter}");
            }
        }
    }
}

fn check_third_round(panel: &Panel, held: &Held) {
    let letters = Letters::of(&held.chamber.transcript.plan);
    for (ask, prepared) in &held.third {
        let user = &prepared.messages.user;
        assert_eq!(prepared.messages.system, system(Purpose::Synthesis, Mode::General));
        assert_eq!(names_in(panel, user), Vec::<String>::new(), "{}: {user}", ask.seat);
        for (letter, text) in shown(user) {
            let whose = letters.seat(&letter.to_string()).unwrap();
            assert!(text.contains(&canary(whose)), "{whose} is not under {letter}");
        }
        assert_eq!(user.matches("===== BEGIN REVIEW BY ").count(), held.second.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: times(24, 2_000), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_message_says_who_anybody_is(panel in panels()) {
        let held = hold(&panel, true);
        check_first_round(&panel, &held);
        check_second_round(&panel, &held);
        check_third_round(&panel, &held);
        let again = hold(&panel, true);
        prop_assert_eq!(&again.second, &held.second);
        prop_assert_eq!(&again.third, &held.third);
    }

    #[test]
    fn open_reviews_say_it(panel in panels()) {
        let held = hold(&panel, false);
        for (ask, prepared) in &held.second {
            for (place, other) in panel.seats.iter().enumerate() {
                let is_shown = place != panel.silent && other.name != ask.seat;
                let head = format!(" - {} ", other.name);
                let heads = prepared.messages.user.lines().filter(|line| {
                    line.starts_with("===== BEGIN OPINION ") && line.contains(&head)
                });
                prop_assert_eq!(heads.count(), usize::from(is_shown), "{}", other.name);
            }
        }
    }
}

/// The order in which each reviewer sees the other opinions.
fn orders(secret: &str) -> BTreeMap<ExpertSlug, Vec<char>> {
    let seats = ["ann", "bob", "cid", "dan", "eve"].map(|name| seat(name, "m-1", "f")).to_vec();
    let panel = Panel {
        seats,
        secret: secret.to_owned(),
        question: QUESTIONS[0],
        silent: usize::MAX,
        dice: 1,
    };
    let second = hold(&panel, true).second;
    let order = |prepared: &Prepared| {
        shown(&prepared.messages.user).iter().map(|(letter, _)| *letter).collect::<Vec<char>>()
    };
    second.iter().map(|(ask, prepared)| (ask.seat.clone(), order(prepared))).collect()
}

#[test]
fn each_reviewer_has_an_order_of_their_own() {
    // Ann and Bob share three others; in one of six cases they see them in the same order.
    let (ann, bob): (ExpertSlug, ExpertSlug) = ("ann".parse().unwrap(), "bob".parse().unwrap());
    let secrets: Vec<String> = (0..12).map(|number| format!("{number:032x}")).collect();
    let all: Vec<_> = secrets.iter().map(|secret| orders(secret)).collect();
    let differ = all.iter().filter(|orders| {
        let (first, second) = (&orders[&ann], &orders[&bob]);
        let common = |order: &[char], other: &[char]| -> Vec<char> {
            order.iter().copied().filter(|letter| other.contains(letter)).collect()
        };
        common(first, second) != common(second, first)
    });
    let differ = differ.count();
    assert!(differ >= 6, "only {differ} of 12");
    assert_eq!(orders(&secrets[3]), all[3]);
    assert_ne!(all[3], all[4]);
}
