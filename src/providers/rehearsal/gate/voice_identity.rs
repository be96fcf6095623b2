//! Checks of the rehearsed voice deliberator, the numbers that checks compare, and the checks of
//! each seat.

use super::benches::CheckSet;
use super::fault::{FaultWeight, PageFault};
use super::page::{ArtifactPage, PageBlock, PhraseHit};
use super::rule::{PhraseRule, RuleExcuse};

const VOICE: usize = 0;
const REGISTER: usize = 1;
const READER: usize = 2;

/// This many capitalized terms in a row count as shouting; one may be an abbreviation.
const SHOUTED_WORDS: usize = 3;

pub(super) const VOICE_CHECKS: CheckSet = CheckSet {
    rules: &[PLACEHOLDERS, LARGE_PLACEHOLDERS, HYPE],
    checks: &[find_blanks, find_shouting, find_mixed_registers],
};

pub(super) const PLACEHOLDERS: PhraseRule = PhraseRule {
    phrases: &["lorem ipsum", "fixme", "insert name here", "your name here"],
    weight: FaultWeight::Grave,
    score: READER,
    issue: "was left for somebody to fill in.",
    fix: "Fill it in, or take the sentence out.",
    excuse: RuleExcuse::None,
};

const LARGE_PLACEHOLDERS: PhraseRule = PhraseRule {
    phrases: &["todo", "tbd", "xxx"],
    excuse: RuleExcuse::SmallLetters,
    ..PLACEHOLDERS
};

const HYPE: PhraseRule = PhraseRule {
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
    weight: FaultWeight::Remark,
    score: VOICE,
    issue: "is a word of advertising; a reader learns nothing from it.",
    fix: "Say what it does.",
    excuse: RuleExcuse::None,
};

/// `[NAME]` and `{{name}}`.
fn find_blanks(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    let blank = page.blocks().iter().find_map(|block| {
        let place = find_bracketed(block.full_text()).or_else(|| find_braced(block.full_text()))?;
        Some(block.hit_at(place))
    });
    let issue =
        |hit: &PhraseHit<'_>| format!("“{}” was left for somebody to fill in.", hit.matched_text());
    let fault = |hit: PhraseHit<'_>| {
        let said = [hit.to_quote(), issue(&hit), PLACEHOLDERS.fix.to_owned()];
        PageFault::new(PLACEHOLDERS.weight, READER, said)
    };
    blank.map(fault).into_iter().collect()
}

/// Finds capitals in brackets that are not a link.
fn find_bracketed(text: &str) -> Option<std::ops::Range<usize>> {
    let openings = text.match_indices('[').map(|(at, _)| at);
    let mut blanks = openings.filter_map(|at| {
        let (inside, after) = text.get(at + 1..)?.split_once(']')?;
        let is_blank = inside.len() > 2
            && inside.chars().all(|letter| letter.is_ascii_uppercase() || " _-".contains(letter));
        (is_blank && !after.starts_with(['(', '[', ':'])).then(|| at..at + inside.len() + 2)
    });
    blanks.next()
}

fn find_braced(text: &str) -> Option<std::ops::Range<usize>> {
    let from = text.find("{{")?;
    Some(from..from + text.get(from..)?.find("}}")? + 2)
}

fn find_shouting(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    let shouted = page.blocks().iter().find_map(|block| {
        let large = list_large_words(block);
        large.or_else(|| block.find_hits(&["!!"]).into_iter().next())
    });
    let fault = |hit: PhraseHit<'_>| {
        let issue = "It shouts.".to_owned();
        let fix = "Say it once, in small letters and without the second mark.".to_owned();
        PageFault::new(FaultWeight::Remark, REGISTER, [hit.to_quote(), issue, fix])
    };
    shouted.map(fault).into_iter().collect()
}

fn list_large_words<'p>(block: &'p PageBlock<'p>) -> Option<PhraseHit<'p>> {
    let mut run = 0;
    let mut place = 0;
    for word in block.full_text().split_inclusive(char::is_whitespace) {
        let letters: Vec<char> = word.chars().filter(|letter| letter.is_alphabetic()).collect();
        let is_large = letters.len() > 1 && letters.iter().all(|letter| letter.is_uppercase());
        run = if is_large { run + 1 } else { 0 };
        if run == SHOUTED_WORDS {
            return Some(block.hit_at(place..place + word.trim_end().len()));
        }
        place += word.len();
    }
    None
}

/// Finds casual and formal terms in one text.
fn find_mixed_registers(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    const LOOSE: [&str; 7] = ["gonna", "wanna", "kinda", "lol", "btw", "y'all", "super excited"];
    const STIFF: [&str; 6] =
        ["hereby", "herein", "pursuant", "aforementioned", "heretofore", "thereof"];
    let (loose, stiff) = (page.find_hits(&LOOSE), page.find_hits(&STIFF));
    let both = loose.first().zip(stiff.first());
    let fault = |(loose, stiff): (&PhraseHit<'_>, &PhraseHit<'_>)| {
        let issue = format!(
            "“{}” and “{}” do not come from the same pen.",
            loose.matched_text(),
            stiff.matched_text()
        );
        let fix = "Choose one of the two registers.".to_owned();
        PageFault::new(FaultWeight::Remark, REGISTER, [loose.to_quote(), issue, fix])
    };
    both.map(fault).into_iter().collect()
}
