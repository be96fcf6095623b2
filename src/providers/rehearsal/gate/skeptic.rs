//! Checks of the rehearsed deliberators skeptic, evidence and strategy.

use super::benches::Bench;
use super::fault::{Fault, Weight};
use super::figures::{Change, changes, totals};
use super::page::Page;
use super::rule::{Excuse, Rule};

const ARGUMENT: usize = 0;
const COMPLETENESS: usize = 1;
const OBJECTIONS: usize = 2;

pub(super) const BENCH: Bench = Bench {
    rules: &[PROMISES, ABSOLUTES, ADDRESSES],
    checks: &[overstated_changes, contradictory_totals, unanswered_objection],
};

pub(super) const PROMISES: Rule = Rule {
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
    weight: Weight::Grave,
    score: ARGUMENT,
    issue: "is a promise that the first exception breaks.",
    fix: "Say what was seen so far and under which conditions, without the promise.",
    excuse: Excuse::Negation,
};

const ABSOLUTES: Rule = Rule {
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
    weight: Weight::Remark,
    score: ARGUMENT,
    issue: "leaves no room for the case that does not fit.",
    fix: "Name the cases that were looked at.",
    excuse: Excuse::None,
};

const ADDRESSES: Rule = Rule {
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
    weight: Weight::Grave,
    score: COMPLETENESS,
    issue: "speaks to those who review the text and not to those who read it.",
    fix: "Take it out; a reviewer judges what is left.",
    excuse: Excuse::None,
};

/// Finds claimed changes that the text's own numbers contradict.
fn overstated_changes(page: &Page<'_>) -> Vec<Fault> {
    const CLAIMS: [(&[&str], Change); 4] = [
        (&["halved", "halves", "half of what it was"], Change::DownTo(0.5)),
        (&["doubled", "doubles", "twice as fast", "twice as many"], Change::UpTo(2.0)),
        (&["tripled", "triples", "three times as many"], Change::UpTo(3.0)),
        (&["tenfold", "ten times as many"], Change::UpTo(10.0)),
    ];
    let claimed = CLAIMS.iter().flat_map(|(phrases, change)| {
        page.hits(phrases).into_iter().map(move |hit| (hit, *change))
    });
    let overstated = claimed.filter_map(|(hit, change)| {
        let told = changes(hit.block().flat());
        let (from, to) = told.first().copied()?;
        let is_borne_out = told.iter().any(|(from, to)| change.is_met(*from, *to));
        let issue = format!("“{}”, but its own numbers go from {from} to {to}.", hit.words());
        let fix = "State the change that the numbers show.".to_owned();
        (!is_borne_out).then(|| Fault::new(Weight::Grave, ARGUMENT, [hit.quote(), issue, fix]))
    });
    overstated.collect()
}

/// Finds two different totals of the same thing.
fn contradictory_totals(page: &Page<'_>) -> Vec<Fault> {
    let totals: Vec<_> = page.blocks().iter().flat_map(totals).collect();
    let differing = totals.iter().enumerate().filter_map(|(place, total)| {
        let mut earlier = totals.iter().take(place);
        let first = earlier.find(|other| other.thing == total.thing)?;
        let (thing, one, two) = (&total.thing, first.count, total.count);
        let issue = format!("Here it is {two} {thing}, and {one} in another place.");
        let fix = "Use one total, or say how the two are related.".to_owned();
        let fault = Fault::new(Weight::Remark, COMPLETENESS, [total.hit.quote(), issue, fix]);
        (one != two).then_some(fault)
    });
    differing.take(1).collect()
}

/// Finds gains without any limits.
fn unanswered_objection(page: &Page<'_>) -> Vec<Fault> {
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
    let gains = page.hits(&GAINS);
    let gain = gains.first().filter(|_| !page.has(&LIMITS));
    let said = gain.map(|gain| {
        let issue = "It tells of gains alone: what does it cost, and for whom does it not work?";
        let fix = "Answer the first objection that a reader will have.";
        [gain.quote(), issue.to_owned(), fix.to_owned()]
    });
    said.map(|said| Fault::new(Weight::Remark, OBJECTIONS, said)).into_iter().collect()
}
