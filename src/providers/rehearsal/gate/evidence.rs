//! Checks of the rehearsed evidence deliberator: claims without a source, and claims beyond their
//! data.

use super::benches::Bench;
use super::fault::{Fault, Weight};
use super::figures::{letter, shares};
use super::page::{Hit, Page};
use super::rule::{Excuse, Rule, has_source, is_norm};

const SOURCES: usize = 0;
const TIERS: usize = 1;
const CALIBRATION: usize = 2;

/// Significance threshold of a p-value.
const P_MAX: f64 = 0.05;

/// Smaller samples do not support general claims.
const SAMPLE_MIN: f64 = 30.0;

/// Maximum complaints about figures in one block.
const FIGURES_MAX: usize = 3;

pub(super) const BENCH: Bench = Bench {
    rules: &[HEARSAY, SUPERLATIVES],
    checks: &[unsourced_figures, insignificant, overreaching],
};

pub(super) const HEARSAY: Rule = Rule {
    phrases: &[
        "studies show",
        "research shows",
        "studies prove",
        "experts agree",
        "it is well known",
        "science says",
        "it has been shown",
    ],
    weight: Weight::Grave,
    score: SOURCES,
    issue: "names nobody who could be asked.",
    fix: "Name the study and link it, or leave the sentence out.",
    excuse: Excuse::Source,
};

const SUPERLATIVES: Rule = Rule {
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
    weight: Weight::Remark,
    score: TIERS,
    issue: "compares with everybody and shows no comparison.",
    fix: "Say with what it was compared, when and by whom, or say less.",
    excuse: Excuse::Source,
};

fn unsourced_figures(page: &Page<'_>) -> Vec<Fault> {
    let found = page
        .blocks()
        .iter()
        .flat_map(|block| shares(block.flat()).into_iter().map(|place| block.hit(place)));
    let unsourced = found.filter(|hit| !has_source(hit) && !is_norm(hit));
    let faults = unsourced.take(FIGURES_MAX).map(|hit| {
        let issue = format!("“{}” comes from nowhere that the text names.", hit.words());
        let fix = "Say who counted, what and when, or leave the figure out.".to_owned();
        Fault::new(Weight::Remark, SOURCES, [hit.quote(), issue, fix])
    });
    faults.collect()
}

/// Finds results called significant with a p-value that is not.
fn insignificant(page: &Page<'_>) -> Vec<Fault> {
    let called = page.hits(&["significant", "significantly"]);
    let faults = called.iter().filter_map(|hit| {
        let p = letter(hit.block().flat(), "p").filter(|p| *p > P_MAX)?;
        let issue = format!("“{}”, with p = {p}.", hit.words());
        let fix = "Report the effect with its uncertainty and without that word.".to_owned();
        Some(Fault::new(Weight::Grave, CALIBRATION, [hit.quote(), issue, fix]))
    });
    faults.take(1).collect()
}

/// Finds general proofs from small samples.
fn overreaching(page: &Page<'_>) -> Vec<Fault> {
    const PROOFS: [&str; 7] =
        ["prove", "proves", "proved", "proof that", "conclusively", "universally", "for everybody"];
    let sample = page.blocks().iter().find_map(|block| letter(block.flat(), "n"));
    let Some(sample) = sample.filter(|sample| *sample < SAMPLE_MIN) else {
        return Vec::new();
    };
    let fault = |hit: &Hit<'_>| {
        let issue = format!("“{}” is more than n = {sample} can carry.", hit.words());
        let fix = "Claim it for what was looked at, and say what was not.".to_owned();
        Fault::new(Weight::Grave, CALIBRATION, [hit.quote(), issue, fix])
    };
    page.hits(&PROOFS).iter().take(1).map(fault).collect()
}
