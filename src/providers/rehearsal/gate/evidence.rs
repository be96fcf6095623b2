//! Checks of the rehearsed evidence deliberator: claims without a source, and claims beyond their
//! data.

use super::benches::CheckSet;
use super::fault::{FaultWeight, PageFault};
use super::figures::{find_shares, find_statistic};
use super::page::{ArtifactPage, PhraseHit};
use super::rule::{PhraseRule, RuleExcuse, has_source, is_norm};

const SOURCES_SCORE: usize = 0;
const TIERS: usize = 1;
const CALIBRATION: usize = 2;

/// Significance threshold of a p-value.
const P_MAX: f64 = 0.05;

/// Smaller samples do not support general claims.
const SAMPLE_MIN: f64 = 30.0;

/// Maximum complaints about figures in one block.
const FIGURES_MAX: usize = 3;

pub(super) const EVIDENCE_CHECKS: CheckSet = CheckSet {
    rules: &[HEARSAY, SUPERLATIVES],
    checks: &[find_unsourced_figures, find_insignificant, find_overreaching],
};

pub(super) const HEARSAY: PhraseRule = PhraseRule {
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
