//! Checks of the rehearsed voice deliberator, the numbers that checks compare, and the checks of
//! each seat.

use std::ops::Range;

use plenary_core::protocols::review::types::BuiltInDeliberator;

use crate::providers::rehearsal::review::artifact_page::{
    ArtifactPage, FaultWeight, PageBlock, PageFault, PhraseHit, PhraseRule, RuleExcuse,
};
use crate::providers::rehearsal::review::deliberators::{
    EVIDENCE_CHECKS, HEARSAY, PROMISES, SKEPTIC_CHECKS, STRATEGY_CHECKS, find_secrets,
};

const VOICE: usize = 0;
const REGISTER: usize = 1;
const READER: usize = 2;

/// This many capitalized terms in a row count as shouting; one may be an abbreviation.
const SHOUTED_WORDS: usize = 3;

pub(crate) const VOICE_CHECKS: CheckSet = CheckSet {
    rules: &[PLACEHOLDERS, LARGE_PLACEHOLDERS, HYPE],
    checks: &[find_blanks, find_shouting, find_mixed_registers],
};

pub(crate) const PLACEHOLDERS: PhraseRule = PhraseRule {
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

/// Check that needs more than a phrase.
pub(crate) type PageCheck = fn(&ArtifactPage<'_>) -> Vec<PageFault>;

#[derive(Debug)]
pub(crate) struct CheckSet {
    pub(crate) rules: &'static [PhraseRule],
    pub(crate) checks: &'static [PageCheck],
}

/// A custom deliberator gets one rule of each kind, because the rehearsal cannot interpret its
/// instructions.
const CUSTOM_CHECKS: CheckSet =
    CheckSet { rules: &[PROMISES, HEARSAY, PLACEHOLDERS], checks: &[find_secrets] };

impl CheckSet {
    pub(crate) fn for_seat(seat: &str) -> &'static Self {
        match BuiltInDeliberator::named(seat) {
            Some(BuiltInDeliberator::Skeptic) => &SKEPTIC_CHECKS,
            Some(BuiltInDeliberator::VoiceIdentity) => &VOICE_CHECKS,
            Some(BuiltInDeliberator::Evidence) => &EVIDENCE_CHECKS,
            Some(BuiltInDeliberator::Strategy) => &STRATEGY_CHECKS,
            None => &CUSTOM_CHECKS,
        }
    }

    /// Returns all faults, the worst first.
    pub(crate) fn find_faults(&self, page: &ArtifactPage<'_>) -> Vec<PageFault> {
        let by_rule = self.rules.iter().flat_map(|rule| rule.find_faults(page));
        let by_check = self.checks.iter().flat_map(|check| check(page));
        let mut faults: Vec<PageFault> = by_rule.chain(by_check).collect();
        faults.sort_by_key(|fault| std::cmp::Reverse(fault.weight));
        faults
    }
}

/// A change claimed by a verb such as "halved".
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClaimedChange {
    /// To this fraction of the old value, or less.
    DownTo(f64),
    /// To this multiple of the old value, or more.
    UpTo(f64),
}

impl ClaimedChange {
    pub(crate) fn is_met(self, from: f64, to: f64) -> bool {
        match self {
            Self::DownTo(share) => to <= from * share,
            Self::UpTo(times) => to >= from * times,
        }
    }
}

/// Finds all `from A to B` of a block.
pub(crate) fn find_changes(flat: &str) -> Vec<(f64, f64)> {
    let after = flat.split("from ").skip(1);
    let change = after.filter_map(|rest| {
        let (from, rest) = parse_number(rest)?;
        // A unit may be between the two numbers.
        let (between, rest) = rest.split_once("to ")?;
        let is_unit = between.split_whitespace().count() <= 1;
        let (to, _) = parse_number(rest).filter(|_| is_unit)?;
        Some((from, to))
    });
    change.collect()
}

/// A count of things, claimed to be complete.
#[derive(Debug)]
pub(crate) struct TotalClaim<'p> {
    pub(crate) count: f64,
    pub(crate) thing: String,
    pub(crate) hit: PhraseHit<'p>,
}

pub(crate) fn find_totals<'p>(block: &'p PageBlock<'p>) -> Vec<TotalClaim<'p>> {
    let hits = block.find_hits(&["all", "all the", "total of", "out of", "of the", "of all"]);
    let totals = hits.into_iter().filter_map(|hit| {
        let rest = hit.text_after();
        let (count, rest) = parse_number(rest)?;
        let thing = rest.split_whitespace().next()?;
        let thing: String = thing.chars().take_while(|letter| letter.is_alphabetic()).collect();
        (thing.len() > 3).then_some(TotalClaim { count, thing, hit })
    });
    totals.collect()
}

/// Returns positions of percentages and of multiples such as `10x`.
pub(crate) fn find_shares(flat: &str) -> Vec<Range<usize>> {
    const UNITS: [&str; 6] =
        ["%", "percent", "per cent", "times faster", "times more", "times cheaper"];
    let starts = flat.char_indices().filter(|(at, letter)| {
        let before = flat.get(..*at).and_then(|text| text.chars().next_back());
        let goes_on = before.is_some_and(|before| before.is_alphanumeric() || before == '.');
        letter.is_ascii_digit() && !goes_on
    });
    let shares = starts.filter_map(|(at, _)| {
        let (_, rest) = parse_number(flat.get(at..)?)?;
        let is_multiple =
            rest.strip_prefix('x').is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        let spaced = rest.trim_start();
        let unit = UNITS.iter().find(|unit| spaced.starts_with(**unit));
        let end = unit.map(|unit| flat.len() - spaced.len() + unit.len());
        Some(at..end.or(is_multiple.then(|| flat.len() - rest.len() + 1))?)
    });
    shares.collect()
}

/// Returns the value of a statistic, such as `p = 0.09`.
pub(crate) fn find_statistic(flat: &str, name: &str) -> Option<f64> {
    let parts: Vec<&str> = flat.split('=').collect();
    let pairs = parts.iter().zip(parts.iter().skip(1));
    let named = pairs.filter(|(before, _)| {
        let word = before.trim_end().rsplit(|letter: char| !letter.is_alphanumeric()).next();
        word == Some(name)
    });
    named.filter_map(|(_, after)| Some(parse_number(after)?.0)).next()
}

/// Parses the number at the start of a text; returns the rest too.
fn parse_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let written = text.get(..end)?.trim_end_matches(['.', ',']);
    let value = written.replace(',', "").parse().ok()?;
    Some((value, text.get(written.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_two_numbers_and_perhaps_a_unit() {
        assert_eq!(find_changes("fell from 9.5 to 7.1 minutes"), [(9.5, 7.1)]);
        assert_eq!(find_changes("from 1,200 % to 300."), [(1200.0, 300.0)]);
        assert_eq!(find_changes("from 9 until noon and then to 5"), []);
        assert_eq!(find_changes("from here to 5, from"), []);
        assert!(
            ClaimedChange::DownTo(0.5).is_met(10.0, 4.0)
                && !ClaimedChange::DownTo(0.5).is_met(9.5, 7.1)
        );
        assert!(
            ClaimedChange::UpTo(2.0).is_met(10.0, 20.0)
                && !ClaimedChange::UpTo(2.0).is_met(10.0, 19.0)
        );
    }

    #[test]
    fn shares_are_told_from_other_numbers() {
        let found = |text: &str| -> Vec<String> {
            find_shares(text).into_iter().map(|place| text[place].to_owned()).collect()
        };
        assert_eq!(found("97 % of 12 days, 0.5% and 10x faster"), ["97 %", "0.5%", "10x"]);
        assert_eq!(
            found("3 times faster than version 2.4.1, 40 per cent"),
            ["3 times faster", "40 per cent"]
        );
        assert_eq!(found("at 14:02 on 2026-03-01, 4 xylophones, 3 x 4, 0x1a, rl-3"), [""; 0]);
    }

    #[test]
    fn a_letter_is_read_where_it_stands_alone() {
        assert_eq!(find_statistic("test, p = 0.09)", "p"), Some(0.09));
        assert_eq!(find_statistic("(n=18 gauges)", "n"), Some(18.0));
        assert_eq!(find_statistic("stop = 3, p < 0.05", "p"), None);
        assert_eq!(find_statistic("p = unknown", "p"), None);
    }
}
