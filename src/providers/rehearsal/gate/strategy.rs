//! Checks of the rehearsed strategy deliberator: secrets, disclosures, and commitments without a
//! date or an owner.

use super::benches::CheckSet;
use super::fault::{FaultWeight, PageFault};
use super::page::{ArtifactPage, PhraseHit};
use super::rule::{PhraseRule, RuleExcuse};

const STAKES: usize = 1;
const OPPORTUNITY: usize = 2;

/// Keys are longer than ordinary terms and mix letters with digits.
const KEY_CHARS_MIN: usize = 20;
const PASSWORD_CHARS_MIN: usize = 6;

const COMMITMENTS_MAX: usize = 2;

pub(super) const STRATEGY_CHECKS: CheckSet =
    CheckSet { rules: &[DISCLOSURES], checks: &[find_secrets, find_commitments] };

const DISCLOSURES: PhraseRule = PhraseRule {
    phrases: &[
        "strictly confidential",
        "internal only",
        "for internal use only",
        "not for distribution",
        "do not forward",
        "under nda",
        "has not been announced",
        "not yet announced",
        "not yet public",
        "off the record",
        "keep this between us",
    ],
    weight: FaultWeight::Lasting,
    score: STAKES,
    issue: "says itself that it is not for those who get it.",
    fix: "Leave the matter out altogether, and ask its owner before anything of it is sent.",
    excuse: RuleExcuse::Norm,
};

/// Finds keys and passwords. They are not quoted, because judgements are recorded.
pub(super) fn find_secrets(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    let lines = page.lines().filter(|(_, line)| holds_secret(line));
    let faults = lines.map(|(number, _)| {
        let issue = "The line holds what looks like a key or a password.".to_owned();
        let fix = "Take it out, and have it replaced: it has been written down.".to_owned();
        PageFault::new(FaultWeight::Lasting, STAKES, [format!("L{number}"), issue, fix])
    });
    faults.take(1).collect()
}

fn holds_secret(line: &str) -> bool {
    let is_marked = line.contains("-----BEGIN ") && line.contains("PRIVATE KEY");
    is_marked || line.split_whitespace().any(is_key) || has_password(line)
}

/// Whether a term is long and mixes capitals, small letters and digits. URLs and digests do not
/// count.
fn is_key(word: &str) -> bool {
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || "_-+=".contains(letter);
    let word = word.trim_matches(|letter: char| !is_inside(letter));
    let has = |kind: fn(&char) -> bool| word.chars().filter(kind).count();
    word.len() >= KEY_CHARS_MIN
        && word.chars().all(is_inside)
        && has(char::is_ascii_digit) > 2
        && has(char::is_ascii_uppercase) > 2
        && has(char::is_ascii_lowercase) > 2
}

/// Whether a line has `password: …` with a value that is not an ordinary term.
fn has_password(line: &str) -> bool {
    const NAMES: [&str; 5] = ["password", "passwort", "passphrase", "api_key", "secret_key"];
    let lower = line.to_ascii_lowercase();
    let after = NAMES.iter().filter_map(|name| Some(lower.split_once(name)?.1));
    let mut values = after.filter_map(|rest| {
        let rest = rest.trim_start_matches(['"', '\'', '`', ' ']);
        rest.strip_prefix([':', '='])?.split_whitespace().next()
    });
    values.any(|value| {
        let value = value.trim_matches(|letter: char| "\"'`,;.".contains(letter));
        value.len() >= PASSWORD_CHARS_MIN
            && value.contains(|letter: char| letter.is_ascii_digit())
            && value.contains(|letter: char| letter.is_ascii_alphabetic())
    })
}

/// Finds commitments without a date and without an owner.
fn find_commitments(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    const PROMISED: [&str; 5] = ["we will", "we'll", "we shall", "we commit to", "we promise"];
    let promised = page.find_hits(&PROMISED);
    let open = promised.iter().filter(|hit| !is_bound(hit)).take(COMMITMENTS_MAX);
    let faults = open.map(|hit| {
        let issue =
            format!("“{}” commits us, without a date and without an owner.", hit.matched_text());
        let fix = "Name the day or the person, or do not promise it.".to_owned();
        PageFault::new(FaultWeight::Remark, OPPORTUNITY, [hit.to_quote(), issue, fix])
    });
    faults.collect()
}

fn is_bound(hit: &PhraseHit<'_>) -> bool {
    const BONDS: [&str; 27] = [
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "today",
        "tomorrow",
        "within",
        "until",
        "by the",
        "week",
        "month",
        "quarter",
        "year",
        "owner",
        "responsible",
    ];
    let sentence = hit.sentence_text();
    let mut words = sentence.split(|letter: char| !letter.is_alphanumeric());
    let has_year = words.any(|word| word.len() == 4 && word.starts_with("20"));
    has_year || sentence.contains('@') || BONDS.iter().any(|bond| sentence.contains(bond))
}
