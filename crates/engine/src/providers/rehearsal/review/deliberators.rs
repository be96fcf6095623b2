//! Checks of the rehearsed deliberators skeptic, evidence and strategy.

use crate::providers::rehearsal::review::artifact_page::{
    ArtifactPage, FaultWeight, PageFault, PhraseHit, PhraseRule, RuleExcuse, has_source, is_norm,
};
use crate::providers::rehearsal::review::checks::{
    CheckSet, ClaimedChange, find_changes, find_shares, find_statistic, find_totals,
};

const ARGUMENT: usize = 0;
const COMPLETENESS: usize = 1;
const OBJECTIONS: usize = 2;

pub(crate) const SKEPTIC_CHECKS: CheckSet = CheckSet {
    rules: &[PROMISES, ABSOLUTES, ADDRESSES],
    checks: &[find_overstated_changes, find_contradictory_totals, find_unanswered_objection],
};

pub(crate) const PROMISES: PhraseRule = PhraseRule {
    phrases: &[
        "guaranteed",
        "we guarantee",
        "never fails",
        "cannot fail",
        "no risk",
        "zero risk",
        "risk-free",
        "100% secure",
        "100 % secure",
        "unhackable",
    ],
    weight: FaultWeight::Grave,
    score: ARGUMENT,
    issue: "is a promise that the first exception breaks.",
    fix: "Say what was seen so far and under which conditions, without the promise.",
    excuse: RuleExcuse::Negation,
};

const ABSOLUTES: PhraseRule = PhraseRule {
    phrases: &[
        "every single time",
        "without exception",
        "in all cases",
        "under any condition",
        "under any circumstances",
        "everyone knows",
        "everybody agrees",
        "no one can",
    ],
    weight: FaultWeight::Remark,
    score: ARGUMENT,
    issue: "leaves no room for the case that does not fit.",
    fix: "Name the cases that were looked at.",
    excuse: RuleExcuse::None,
};

const ADDRESSES: PhraseRule = PhraseRule {
    phrases: &[
        "ignore the above",
        "ignore all previous",
        "ignore previous instructions",
        "ignore your instructions",
        "disregard the above",
        "disregard all previous",
        "disregard your instructions",
        "final_verdict",
    ],
    weight: FaultWeight::Grave,
    score: COMPLETENESS,
    issue: "speaks to those who review the text and not to those who read it.",
    fix: "Take it out; a reviewer judges what is left.",
    excuse: RuleExcuse::None,
};

/// Finds claimed changes that the text's own numbers contradict.
fn find_overstated_changes(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    const CLAIMS: [(&[&str], ClaimedChange); 4] = [
        (&["halved", "halves", "half of what it was"], ClaimedChange::DownTo(0.5)),
        (&["doubled", "doubles", "twice as fast", "twice as many"], ClaimedChange::UpTo(2.0)),
        (&["tripled", "triples", "three times as many"], ClaimedChange::UpTo(3.0)),
        (&["tenfold", "ten times as many"], ClaimedChange::UpTo(10.0)),
    ];
    let claimed = CLAIMS.iter().flat_map(|(phrases, change)| {
        page.find_hits(phrases).into_iter().map(move |hit| (hit, *change))
    });
    let overstated = claimed.filter_map(|(hit, change)| {
        let told = find_changes(hit.block().flat_text());
        let (from, to) = told.first().copied()?;
        let is_borne_out = told.iter().any(|(from, to)| change.is_met(*from, *to));
        let issue =
            format!("“{}”, but its own numbers go from {from} to {to}.", hit.matched_text());
        let fix = "State the change that the numbers show.".to_owned();
        (!is_borne_out)
            .then(|| PageFault::new(FaultWeight::Grave, ARGUMENT, [hit.to_quote(), issue, fix]))
    });
    overstated.collect()
}

/// Finds two different totals of the same thing.
fn find_contradictory_totals(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    let totals: Vec<_> = page.blocks().iter().flat_map(find_totals).collect();
    let differing = totals.iter().enumerate().filter_map(|(place, total)| {
        let mut earlier = totals.iter().take(place);
        let first = earlier.find(|other| other.thing == total.thing)?;
        let (thing, one, two) = (&total.thing, first.count, total.count);
        let issue = format!("Here it is {two} {thing}, and {one} in another place.");
        let fix = "Use one total, or say how the two are related.".to_owned();
        let fault =
            PageFault::new(FaultWeight::Remark, COMPLETENESS, [total.hit.to_quote(), issue, fix]);
        (one != two).then_some(fault)
    });
    differing.take(1).collect()
}

/// Finds gains without any limits.
fn find_unanswered_objection(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    const GAINS: [&str; 6] = ["faster", "cheaper", "saves", "superior", "better than", "easier"];
    const LIMITS: [&str; 11] = [
        "however",
        "but",
        "except",
        "unless",
        "limits",
        "limitations",
        "does not",
        "is not",
        "cannot",
        "known issues",
        "not yet",
    ];
    let gains = page.find_hits(&GAINS);
    let gain = gains.first().filter(|_| !page.has_phrase(&LIMITS));
    let said = gain.map(|gain| {
        let issue = "It tells of gains alone: what does it cost, and for whom does it not work?";
        let fix = "Answer the first objection that a reader will have.";
        [gain.to_quote(), issue.to_owned(), fix.to_owned()]
    });
    said.map(|said| PageFault::new(FaultWeight::Remark, OBJECTIONS, said)).into_iter().collect()
}

const SOURCES_SCORE: usize = 0;
const TIERS: usize = 1;
const CALIBRATION: usize = 2;

/// Significance threshold of a p-value.
const P_MAX: f64 = 0.05;

/// Smaller samples do not support general claims.
const SAMPLE_MIN: f64 = 30.0;

/// Maximum complaints about figures in one block.
const FIGURES_MAX: usize = 3;

pub(crate) const EVIDENCE_CHECKS: CheckSet = CheckSet {
    rules: &[HEARSAY, SUPERLATIVES],
    checks: &[find_unsourced_figures, find_insignificant, find_overreaching],
};

pub(crate) const HEARSAY: PhraseRule = PhraseRule {
    phrases: &[
        "studies show",
        "research shows",
        "studies prove",
        "experts agree",
        "it is well known",
        "science says",
        "it has been shown",
    ],
    weight: FaultWeight::Grave,
    score: SOURCES_SCORE,
    issue: "names nobody who could be asked.",
    fix: "Name the study and link it, or leave the sentence out.",
    excuse: RuleExcuse::Source,
};

const SUPERLATIVES: PhraseRule = PhraseRule {
    phrases: &[
        "fastest",
        "cheapest",
        "most accurate",
        "most advanced",
        "world's first",
        "unrivalled",
        "industry-leading",
        "market leader",
        "number one",
        "best in class",
    ],
    weight: FaultWeight::Remark,
    score: TIERS,
    issue: "compares with everybody and shows no comparison.",
    fix: "Say with what it was compared, when and by whom, or say less.",
    excuse: RuleExcuse::Source,
};

fn find_unsourced_figures(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    let found = page.blocks().iter().flat_map(|block| {
        find_shares(block.flat_text()).into_iter().map(|place| block.hit_at(place))
    });
    let unsourced = found.filter(|hit| !has_source(hit) && !is_norm(hit));
    let faults = unsourced.take(FIGURES_MAX).map(|hit| {
        let issue = format!("“{}” comes from nowhere that the text names.", hit.matched_text());
        let fix = "Say who counted, what and when, or leave the figure out.".to_owned();
        PageFault::new(FaultWeight::Remark, SOURCES_SCORE, [hit.to_quote(), issue, fix])
    });
    faults.collect()
}

/// Finds results called significant with a p-value that is not.
fn find_insignificant(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    let called = page.find_hits(&["significant", "significantly"]);
    let faults = called.iter().filter_map(|hit| {
        let p = find_statistic(hit.block().flat_text(), "p").filter(|p| *p > P_MAX)?;
        let issue = format!("“{}”, with p = {p}.", hit.matched_text());
        let fix = "Report the effect with its uncertainty and without that word.".to_owned();
        Some(PageFault::new(FaultWeight::Grave, CALIBRATION, [hit.to_quote(), issue, fix]))
    });
    faults.take(1).collect()
}

/// Finds general proofs from small samples.
fn find_overreaching(page: &ArtifactPage<'_>) -> Vec<PageFault> {
    const PROOFS: [&str; 7] =
        ["prove", "proves", "proved", "proof that", "conclusively", "universally", "for everybody"];
    let sample = page.blocks().iter().find_map(|block| find_statistic(block.flat_text(), "n"));
    let Some(sample) = sample.filter(|sample| *sample < SAMPLE_MIN) else {
        return Vec::new();
    };
    let fault = |hit: &PhraseHit<'_>| {
        let issue = format!("“{}” is more than n = {sample} can carry.", hit.matched_text());
        let fix = "Claim it for what was looked at, and say what was not.".to_owned();
        PageFault::new(FaultWeight::Grave, CALIBRATION, [hit.to_quote(), issue, fix])
    };
    page.find_hits(&PROOFS).iter().take(1).map(fault).collect()
}

const STAKES: usize = 1;
const OPPORTUNITY: usize = 2;

/// Keys are longer than ordinary terms and mix letters with digits.
const KEY_CHARS_MIN: usize = 20;
const PASSWORD_CHARS_MIN: usize = 6;

const COMMITMENTS_MAX: usize = 2;

pub(crate) const STRATEGY_CHECKS: CheckSet =
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
pub(crate) fn find_secrets(page: &ArtifactPage<'_>) -> Vec<PageFault> {
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
