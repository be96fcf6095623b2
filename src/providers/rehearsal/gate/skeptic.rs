//! Checks of the rehearsed deliberators skeptic, evidence and strategy.

use super::benches::CheckSet;
use super::fault::{FaultWeight, PageFault};
use super::figures::{ClaimedChange, find_changes, find_totals};
use super::page::ArtifactPage;
use super::rule::{PhraseRule, RuleExcuse};

const ARGUMENT: usize = 0;
const COMPLETENESS: usize = 1;
const OBJECTIONS: usize = 2;

pub(super) const SKEPTIC_CHECKS: CheckSet = CheckSet {
    rules: &[PROMISES, ABSOLUTES, ADDRESSES],
    checks: &[find_overstated_changes, find_contradictory_totals, find_unanswered_objection],
};

pub(super) const PROMISES: PhraseRule = PhraseRule {
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
