//! A review without models: the protocol and the prompts, driven by hand.

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

use crate::kit::chamber::{Chamber, SECRET, plan, seat};

pub(super) const SEATS: [&str; 4] = ["skeptic", "evidence", "legal", "strategy"];

/// What the operator wrote for the deliberator that is none of ours.
pub(super) const INSTRUCTIONS: &str = "Your part: the law. Score `lawfulness`.";

/// What others wrote, by where it stands.
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

/// A judgement with the same text in every place that holds one.
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

/// A whole review in which everything happens: the skeptic is asked again, and changes its mind
/// without a reason; `evidence` is heard only at the second reading, `strategy` only at the
/// first; the adjudicator is asked again. Models say one text in every place.
pub(super) fn review(texts: Texts<'_>, said: &str) -> Vec<(Ask, Prepared)> {
    let mut chamber = chamber(plan_of(texts));
    let mut all = Vec::new();
    // A reason of ours repeats a few words at most.
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

/// The messages of a seat for a purpose, the last time that it was asked.
pub(super) fn of<'a>(all: &'a [(Ask, Prepared)], seat: &str, purpose: Purpose) -> &'a Prepared {
    let asked = |(ask, _): &&(Ask, Prepared)| ask.seat.as_str() == seat && ask.purpose == purpose;
    &all.iter().rfind(asked).unwrap().1
}
