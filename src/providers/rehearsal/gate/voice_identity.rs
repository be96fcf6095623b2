//! Checks of the rehearsed voice deliberator, the numbers that checks compare, and the checks of
//! each seat.

use super::benches::Bench;
use super::fault::{Fault, Weight};
use super::page::{Block, Hit, Page};
use super::rule::{Excuse, Rule};

const VOICE: usize = 0;
const REGISTER: usize = 1;
const READER: usize = 2;

/// This many capitalized terms in a row count as shouting; one may be an abbreviation.
const SHOUTED_WORDS: usize = 3;

pub(super) const BENCH: Bench = Bench {
    rules: &[PLACEHOLDERS, LARGE_PLACEHOLDERS, HYPE],
    checks: &[blanks, shouting, registers],
};

pub(super) const PLACEHOLDERS: Rule = Rule {
    phrases: &["lorem ipsum", "fixme", "insert name here", "your name here"],
    weight: Weight::Grave,
    score: READER,
    issue: "was left for somebody to fill in.",
    fix: "Fill it in, or take the sentence out.",
    excuse: Excuse::None,
};

const LARGE_PLACEHOLDERS: Rule =
    Rule { phrases: &["todo", "tbd", "xxx"], excuse: Excuse::SmallLetters, ..PLACEHOLDERS };

const HYPE: Rule = Rule {
    phrases: &[
        "revolutionary",
        "game-changing",
        "game changer",
        "cutting-edge",
        "world-class",
        "next-level",
        "mind-blowing",
        "unleash",
        "supercharge",
        "synergy",
        "disruptive",
        "10x",
        "thrilled",
    ],
    weight: Weight::Remark,
    score: VOICE,
    issue: "is a word of advertising; a reader learns nothing from it.",
    fix: "Say what it does.",
    excuse: Excuse::None,
};

/// `[NAME]` and `{{name}}`.
fn blanks(page: &Page<'_>) -> Vec<Fault> {
    let blank = page.blocks().iter().find_map(|block| {
        let place = bracketed(block.text()).or_else(|| braced(block.text()))?;
        Some(block.hit(place))
    });
    let issue = |hit: &Hit<'_>| format!("“{}” was left for somebody to fill in.", hit.words());
    let fault = |hit: Hit<'_>| {
        let said = [hit.quote(), issue(&hit), PLACEHOLDERS.fix.to_owned()];
        Fault::new(PLACEHOLDERS.weight, READER, said)
    };
    blank.map(fault).into_iter().collect()
}

/// Finds capitals in brackets that are not a link.
fn bracketed(text: &str) -> Option<std::ops::Range<usize>> {
    let openings = text.match_indices('[').map(|(at, _)| at);
    let mut blanks = openings.filter_map(|at| {
        let (inside, after) = text.get(at + 1..)?.split_once(']')?;
        let is_blank = inside.len() > 2
            && inside.chars().all(|letter| letter.is_ascii_uppercase() || " _-".contains(letter));
        (is_blank && !after.starts_with(['(', '[', ':'])).then(|| at..at + inside.len() + 2)
    });
    blanks.next()
}

fn braced(text: &str) -> Option<std::ops::Range<usize>> {
    let from = text.find("{{")?;
    Some(from..from + text.get(from..)?.find("}}")? + 2)
}

fn shouting(page: &Page<'_>) -> Vec<Fault> {
    let shouted = page.blocks().iter().find_map(|block| {
        let large = large_words(block);
        large.or_else(|| block.hits(&["!!"]).into_iter().next())
    });
    let fault = |hit: Hit<'_>| {
        let issue = "It shouts.".to_owned();
        let fix = "Say it once, in small letters and without the second mark.".to_owned();
        Fault::new(Weight::Remark, REGISTER, [hit.quote(), issue, fix])
    };
    shouted.map(fault).into_iter().collect()
}

fn large_words<'p>(block: &'p Block<'p>) -> Option<Hit<'p>> {
    let mut run = 0;
    let mut place = 0;
    for word in block.text().split_inclusive(char::is_whitespace) {
        let letters: Vec<char> = word.chars().filter(|letter| letter.is_alphabetic()).collect();
        let is_large = letters.len() > 1 && letters.iter().all(|letter| letter.is_uppercase());
        run = if is_large { run + 1 } else { 0 };
        if run == SHOUTED_WORDS {
            return Some(block.hit(place..place + word.trim_end().len()));
        }
        place += word.len();
    }
    None
}

/// Finds casual and formal terms in one text.
fn registers(page: &Page<'_>) -> Vec<Fault> {
    const LOOSE: [&str; 7] = ["gonna", "wanna", "kinda", "lol", "btw", "y'all", "super excited"];
    const STIFF: [&str; 6] =
        ["hereby", "herein", "pursuant", "aforementioned", "heretofore", "thereof"];
    let (loose, stiff) = (page.hits(&LOOSE), page.hits(&STIFF));
    let both = loose.first().zip(stiff.first());
    let fault = |(loose, stiff): (&Hit<'_>, &Hit<'_>)| {
        let issue =
            format!("“{}” and “{}” do not come from the same pen.", loose.words(), stiff.words());
        let fix = "Choose one of the two registers.".to_owned();
        Fault::new(Weight::Remark, REGISTER, [loose.quote(), issue, fix])
    };
    both.map(fault).into_iter().collect()
}
