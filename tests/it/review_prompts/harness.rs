//! Harness: a review without models; the test drives the protocol and the prompts.

use std::collections::BTreeMap;
use std::sync::Arc;

use plenary_core::model::ask::{Ask, AskPurpose};
use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::plan::Plan;
use plenary_core::model::run_state::ReplyDocument;
use plenary_core::prompting::layout::RenderedPrompt;
use plenary_core::protocols::review::concern_codes::{CodeCount, ConcernCode};
use plenary_core::protocols::review::policy::{
    PolicyName, ReviewDecision, ReviewPolicy, ReviewVerdict,
};
use plenary_core::protocols::review::types::{
    DeliberatorContext, DeliberatorJudgement, DeliberatorPlan, DeliberatorVerdict, PriorOverride,
    PriorVerdict, ReviewArtifact, ReviewConcern, ReviewPlan, ReviewTier,
};

use crate::kit::council_driver::{CouncilDriver, PLAN_SECRET, make_plan, make_seat};

pub(super) const SEATS: [&str; 4] = ["skeptic", "evidence", "legal", "strategy"];

/// The operator's instructions for a custom deliberator.
pub(super) const INSTRUCTIONS: &str = "Your part: the law. Score `lawfulness`.";

/// Foreign texts by their place in the prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForeignTexts<'a> {
    pub artifact: &'a str,
    pub about: &'a str,
    pub context: &'a str,
    pub prior: &'a str,
}

impl<'a> ForeignTexts<'a> {
    pub(super) fn same_everywhere(text: &'a str) -> Self {
        Self { artifact: text, about: text, context: text, prior: text }
    }
}

pub(super) fn make_review_plan(texts: ForeignTexts<'_>) -> Plan {
    let context = |text: Option<&str>, missing: Option<&str>| DeliberatorContext {
        path: texts.context.to_owned(),
        text: text.map(str::to_owned),
        missing: missing.map(str::to_owned),
    };
    let deliberator = |name: &str| DeliberatorPlan {
        seat: name.parse().unwrap(),
        instructions: (name == "legal").then(|| INSTRUCTIONS.to_owned()),
        context: match name {
            "evidence" => {
                vec![context(Some(texts.context), None), context(None, Some(texts.context))]
            }
            _ => Vec::new(),
        },
        codes: match name {
            "legal" => vec![ConcernCode {
                code: "no_imprint".to_owned(),
                meaning: "the imprint is missing".to_owned(),
            }],
            _ => Vec::new(),
        },
    };
    let prior = PriorVerdict {
        ts: "2026-01-02T09:00:00Z".parse().unwrap(),
        artifact: texts.prior.to_owned(),
        producer: Some(texts.prior.to_owned()),
        verdict: ReviewVerdict::Hold,
        reasoning: texts.prior.to_owned(),
        revision_brief: texts.prior.to_owned(),
        concerns: vec![texts.prior.to_owned()],
        overridden: Some(PriorOverride {
            decision: ReviewDecision::Ship,
            why: texts.prior.to_owned(),
        }),
    };
    let gate = ReviewPlan {
        artifact: ReviewArtifact {
            classified: None,
            path: texts.about.to_owned(),
            artifact_type: texts.about.to_owned(),
            tier: ReviewTier::Always,
            producer: Some(texts.about.to_owned()),
            sha256: "00".to_owned(),
            text: texts.artifact.to_owned(),
        },
        deliberators: SEATS.map(deliberator).to_vec(),
        adjudicator: "adjudicator".parse().unwrap(),
        policy: ReviewPolicy { name: PolicyName::Seed, min_deliberators: 2 },
        priors: vec![prior],
        code_counts: vec![CodeCount {
            deliberator: "evidence".to_owned(),
            code: "no_source".to_owned(),
            reviews: 7,
            of_reviews: 12,
            first: "2025-11-03".parse().unwrap(),
            last: "2026-01-02".parse().unwrap(),
        }],
    };
    let seats =
        SEATS.iter().chain(&["adjudicator"]).map(|name| make_seat(name, "m", "f")).collect();
    Plan { review: Some(Arc::new(gate)), ..make_plan(seats, PLAN_SECRET) }
}

pub(super) fn review_driver(plan: Plan) -> CouncilDriver {
    let mut driver = CouncilDriver::new("Review", plan);
    driver.run_state.opening.protocol = ProtocolKind::Review;
    driver
}

/// A judgement with the same text in every text field.
pub(super) fn make_judgement(text: &str, would_block: bool) -> ReplyDocument {
    let text = || text.to_owned();
    ReplyDocument::Judgement(Box::new(DeliberatorJudgement {
        verdict: if would_block { DeliberatorVerdict::Hold } else { DeliberatorVerdict::Ship },
        scores: BTreeMap::from([(text().chars().take(64).collect(), 3)]),
        would_block,
        irreducible: false,
        concerns: vec![ReviewConcern { locus: text(), issue: text(), fix: text(), code: text() }],
        revision_brief: text(),
        concessions: vec![text()],
        escalations: vec![text()],
        delta_from_r1: text(),
    }))
}

/// A whole review with every case: the skeptic is asked again and changes its position without a
/// reason; `evidence` answers only in the second reading, `strategy` only in the first; the
/// adjudicator is asked again. Models repeat one text in every field.
pub(super) fn run_review(texts: ForeignTexts<'_>, message: &str) -> Vec<(Ask, RenderedPrompt)> {
    let mut driver = review_driver(make_review_plan(texts));
    let mut all = Vec::new();
    // Our error reasons quote a limited part of the reply.
    let reason: String = message.chars().take(4_000).collect();
    while let asked @ [_, ..] = driver.next_asks().as_slice() {
        for (ask, _) in asked {
            let is_again = ask.retry_reason.is_some();
            match (ask.seat.as_str(), ask.purpose, is_again) {
                ("skeptic", AskPurpose::Judgement, false)
                | ("evidence", AskPurpose::Judgement, _)
                | ("strategy", AskPurpose::CrossReading, _)
                | ("adjudicator", ..) => driver.record_unreadable(ask, &reason),
                ("skeptic", purpose, _) => {
                    driver.record_answer(
                        ask,
                        make_judgement(message, purpose == AskPurpose::CrossReading),
                    );
                }
                _ => driver.record_answer(ask, make_judgement(message, true)),
            }
        }
        all.extend(asked.iter().cloned());
    }
    all
}

/// The messages of a seat for a purpose, from its last ask.
pub(super) fn find_prompt<'a>(
    all: &'a [(Ask, RenderedPrompt)],
    seat: &str,
    purpose: AskPurpose,
) -> &'a RenderedPrompt {
    let asked =
        |(ask, _): &&(Ask, RenderedPrompt)| ask.seat.as_str() == seat && ask.purpose == purpose;
    &all.iter().rfind(asked).unwrap().1
}
