//! Harness: a review without models; the test drives the protocol and the prompts.

use std::collections::BTreeMap;
use std::sync::Arc;

use plenary::domain::ask::{Ask, Purpose};
use plenary::domain::dialogue::Protocol;
use plenary::domain::gate::{
    Artifact, Concern, ContextRef, Deliberator, GatePlan, GateVerdict, Judgement, Leaning, Policy,
    PolicyName, PriorVerdict, Tier,
};
use plenary::domain::plan::Plan;
use plenary::domain::transcript::Document;
use plenary::prompting::Prepared;

use crate::kit::council_driver::{Chamber, SECRET, plan, seat};

pub(super) const SEATS: [&str; 4] = ["skeptic", "evidence", "legal", "strategy"];

/// The operator's instructions for a custom deliberator.
pub(super) const INSTRUCTIONS: &str = "Your part: the law. Score `lawfulness`.";

/// Foreign texts by their place in the prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts<'a> {
    pub artifact: &'a str,
    pub about: &'a str,
    pub context: &'a str,
    pub prior: &'a str,
}

impl<'a> Texts<'a> {
    pub(super) fn all(text: &'a str) -> Self {
        Self { artifact: text, about: text, context: text, prior: text }
    }
}

pub(super) fn plan_of(texts: Texts<'_>) -> Plan {
    let context = |text: Option<&str>, missing: Option<&str>| ContextRef {
        path: texts.context.to_owned(),
        text: text.map(str::to_owned),
        missing: missing.map(str::to_owned),
    };
    let deliberator = |name: &str| Deliberator {
        seat: name.parse().unwrap(),
        instructions: (name == "legal").then(|| INSTRUCTIONS.to_owned()),
        context: match name {
            "evidence" => {
                vec![context(Some(texts.context), None), context(None, Some(texts.context))]
            }
            _ => Vec::new(),
        },
    };
    let prior = PriorVerdict {
        ts: "2026-01-02T09:00:00Z".parse().unwrap(),
        artifact: texts.prior.to_owned(),
        producer: Some(texts.prior.to_owned()),
        verdict: GateVerdict::Hold,
        reasoning: texts.prior.to_owned(),
        revision_brief: texts.prior.to_owned(),
        concerns: vec![texts.prior.to_owned()],
    };
    let gate = GatePlan {
        artifact: Artifact {
            path: texts.about.to_owned(),
            artifact_type: texts.about.to_owned(),
            tier: Tier::Always,
            producer: Some(texts.about.to_owned()),
            sha256: "00".to_owned(),
            text: texts.artifact.to_owned(),
        },
        deliberators: SEATS.map(deliberator).to_vec(),
        adjudicator: "adjudicator".parse().unwrap(),
        policy: Policy { name: PolicyName::Seed, min_deliberators: 2 },
        priors: vec![prior],
    };
    let seats = SEATS.iter().chain(&["adjudicator"]).map(|name| seat(name, "m", "f")).collect();
    Plan { gate: Some(Arc::new(gate)), ..plan(seats, SECRET) }
}

pub(super) fn chamber(plan: Plan) -> Chamber {
    let mut chamber = Chamber::new("Review", plan);
    chamber.transcript.opening.protocol = Protocol::Review;
    chamber
}

/// A judgement with the same text in every text field.
pub(super) fn judgement(text: &str, would_block: bool) -> Document {
    let text = || text.to_owned();
    Document::Judgement(Box::new(Judgement {
        verdict: if would_block { Leaning::Hold } else { Leaning::Ship },
        scores: BTreeMap::from([(text().chars().take(64).collect(), 3)]),
        would_block,
        irreducible: false,
        concerns: vec![Concern { locus: text(), issue: text(), fix: text() }],
        revision_brief: text(),
        concessions: vec![text()],
        escalations: vec![text()],
        delta_from_r1: text(),
    }))
}

/// A whole review with every case: the skeptic is asked again and changes its position without a
/// reason; `evidence` answers only in the second reading, `strategy` only in the first; the
/// adjudicator is asked again. Models repeat one text in every field.
pub(super) fn review(texts: Texts<'_>, said: &str) -> Vec<(Ask, Prepared)> {
    let mut chamber = chamber(plan_of(texts));
    let mut all = Vec::new();
    // Our error reasons quote a limited part of the reply.
    let reason: String = said.chars().take(4_000).collect();
    while let asked @ [_, ..] = chamber.ask().as_slice() {
        for (ask, _) in asked {
            let is_again = ask.stricter.is_some();
            match (ask.seat.as_str(), ask.purpose, is_again) {
                ("skeptic", Purpose::Judgement, false)
                | ("evidence", Purpose::Judgement, _)
                | ("strategy", Purpose::CrossReading, _)
                | ("adjudicator", ..) => chamber.mumble(ask, &reason),
                ("skeptic", purpose, _) => {
                    chamber.answer(ask, judgement(said, purpose == Purpose::CrossReading));
                }
                _ => chamber.answer(ask, judgement(said, true)),
            }
        }
        all.extend(asked.iter().cloned());
    }
    all
}

/// The messages of a seat for a purpose, from its last ask.
pub(super) fn of<'a>(all: &'a [(Ask, Prepared)], seat: &str, purpose: Purpose) -> &'a Prepared {
    let asked = |(ask, _): &&(Ask, Prepared)| ask.seat.as_str() == seat && ask.purpose == purpose;
    &all.iter().rfind(asked).unwrap().1
}
