//! Sample reviews with every possible result, for tests of documents and pages.

use std::sync::Arc;

use crate::domain::ask::Purpose;
use crate::domain::change::Change;
use crate::domain::dialogue::{Opening, Protocol};
use crate::domain::gate::{
    Adjudication, Artifact, Concern, ContextRef, Decision, Deliberator, GatePlan, GateVerdict,
    Judgement, Leaning, Override, Policy, PolicyName, PriorVerdict, Ruling, Tier, score_names,
};
use crate::domain::plan::{Auditing, Plan, Role, Seat};
use crate::domain::transcript::{CallOutcome, Document, Reading, Stop, Transcript};
use crate::export::conclusion::sample::{self, Run, moment, slug};
use crate::protocols::gate::sample::SEATS;
use crate::protocols::gate::{ADJUDICATION, FIRST, Outcome, SECOND, arithmetic, row};

pub(crate) const TEXT: &str = "# Plenary is here\n\
    \n\
    Plenary is the fastest council in the world.\n\
    It is ten times faster than anything else,\n\
    and nothing can go wrong.\n\
    \n\
    Sign up today, the first month is free.\n";

/// Builds the run state of a review.
pub(crate) struct Gate(pub(crate) Run);

impl Gate {
    pub(crate) fn new() -> Self {
        let opening = Opening {
            dialogue_id: "posts-launch-md-7c21e0aa".parse().unwrap(),
            title: "posts/launch.md".to_owned(),
            question: None,
            background: None,
            protocol: Protocol::Review,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: String::new(),
        };
        Self(Run::opened(opening, plan()))
    }

    pub(crate) fn judges(&mut self, seat: &str, round: u8, judgement: Judgement) {
        let purpose = if round == FIRST { Purpose::Judgement } else { Purpose::CrossReading };
        self.0.says(seat, round, purpose, Document::Judgement(judgement.into()));
    }

    pub(crate) fn is_absent(&mut self, seat: &str, round: u8) {
        let purpose = match round {
            FIRST => Purpose::Judgement,
            SECOND => Purpose::CrossReading,
            _ => Purpose::Adjudication,
        };
        self.0.fails(seat, round, purpose);
    }

    pub(crate) fn adjudicates(&mut self, word: Adjudication) {
        let document = Document::Adjudication(word.into());
        self.0.says("adjudicator", ADJUDICATION, Purpose::Adjudication, document);
    }

    /// Ends the review as the engine does.
    pub(crate) fn ruled(mut self, word: Adjudication) -> Transcript {
        self.adjudicates(word.clone());
        let arithmetic = arithmetic(&self.0.transcript).unwrap();
        let verdict = arithmetic.with(&word).unwrap();
        let ruling = Ruling { verdict, arithmetic, adjudication: word };
        self.0.take(Change::Ruled(Box::new(ruling)));
        self.stopped(Stop::Done)
    }

    pub(crate) fn stopped(mut self, stop: Stop) -> Transcript {
        let ruling = self.0.transcript.ruling.clone();
        let outcome = ruling.as_ref().map_or(Outcome::Undecided(&stop), Outcome::Ruled);
        let row = row(&self.0.transcript, outcome, moment(59)).unwrap();
        self.0.take(Change::VerdictLogged(Box::new(row)));
        self.0.stopped(stop)
    }
}

/// Three block, one irreducibly; the adjudicator downgrades to REVISE with a reason.
pub(crate) fn revised() -> Transcript {
    let mut gate = contested();
    gate.judges("skeptic", SECOND, blocking(skeptic(), true));
    gate.is_absent("voice_identity", SECOND);
    let pressed = Judgement {
        escalations: vec!["skeptic-1: the figure has no source either.".to_owned()],
        delta_from_r1: "I now block, for skeptic-1.".to_owned(),
        ..blocking(evidence(), false)
    };
    gate.judges("evidence", SECOND, pressed);
    let turned = Judgement {
        verdict: Leaning::Hold,
        delta_from_r1: "On reflection the offer is too early.".to_owned(),
        ..blocking(strategy(), false)
    };
    gate.judges("strategy", SECOND, turned);
    gate.0.held(SECOND);
    gate.ruled(Adjudication {
        downgrade: true,
        downgrade_reason: Some("Cutting two sentences lifts all blocks but one.".to_owned()),
        ..word(Decision::Revise)
    })
}

/// The same without a downgrade.
pub(crate) fn held() -> Transcript {
    let mut gate = contested();
    for (name, judgement) in SEATS.into_iter().zip([skeptic(), voice(), evidence(), strategy()]) {
        gate.judges(name, SECOND, blocking(judgement, true));
    }
    gate.0.held(SECOND);
    gate.ruled(word(Decision::Hold))
}

/// No deliberator blocks; one withdrew a block.
pub(crate) fn shipped() -> Transcript {
    let mut gate = contested();
    let lifted = Judgement {
        verdict: Leaning::Ship,
        concessions: vec!["voice_identity-1 convinced me that readers know it for a joke.".into()],
        delta_from_r1: "The claim is a joke.".to_owned(),
        concerns: Vec::new(),
        ..skeptic()
    };
    gate.judges("skeptic", SECOND, lifted);
    gate.judges("voice_identity", SECOND, voice());
    gate.judges("evidence", SECOND, evidence());
    gate.judges("strategy", SECOND, strategy());
    gate.0.held(SECOND);
    gate.ruled(word(Decision::Ship))
}

/// Two of four deliberators answer.
pub(crate) fn incomplete() -> Transcript {
    let mut gate = Gate::new();
    gate.judges("skeptic", FIRST, blocking(skeptic(), true));
    gate.is_absent("voice_identity", FIRST);
    gate.judges("evidence", FIRST, evidence());
    gate.is_absent("strategy", FIRST);
    gate.stopped(Stop::Quorum { round: FIRST, heard: 2, needed: 3 })
}

/// All seats answer except the adjudicator.
pub(crate) fn unadjudicated() -> Transcript {
    let mut gate = contested();
    for (name, judgement) in SEATS.into_iter().zip([skeptic(), voice(), evidence(), strategy()]) {
        gate.judges(name, SECOND, judgement);
    }
    gate.0.held(SECOND);
    gate.is_absent("adjudicator", ADJUDICATION);
    let reason = "no answer within 60 s".to_owned();
    gate.stopped(Stop::Unadjudicated { seat: slug("adjudicator"), reason })
}

/// The first sample, overridden by a person.
pub(crate) fn overridden() -> Transcript {
    let mut transcript = revised();
    let decision = Override {
        verdict_id: "posts-launch-md-7c21e0aa/1".to_owned(),
        decision: Decision::Ship,
        why: "The board has seen the figures.".to_owned(),
    };
    transcript.add(moment(600), &[Change::Overridden(decision)]);
    transcript
}

pub(crate) fn rehearsed() -> Transcript {
    let mut transcript = shipped();
    transcript.opening.rehearsal = true;
    transcript
}

pub(crate) fn all() -> Vec<Transcript> {
    vec![revised(), held(), shipped(), incomplete(), unadjudicated(), overridden(), rehearsed()]
}

/// The first round of most samples.
fn contested() -> Gate {
    let mut gate = Gate::new();
    gate.judges("skeptic", FIRST, blocking(skeptic(), true));
    gate.judges("voice_identity", FIRST, voice());
    gate.judges("evidence", FIRST, evidence());
    gate.judges("strategy", FIRST, strategy());
    gate.0.held(FIRST);
    gate
}

pub(crate) fn blocking(judgement: Judgement, irreducible: bool) -> Judgement {
    let verdict = if irreducible { Leaning::Hold } else { judgement.verdict };
    Judgement { verdict, would_block: true, irreducible, ..judgement }
}

fn skeptic() -> Judgement {
    let concerns = [
        (
            "“fastest council in the world”",
            "A superlative without a benchmark: nobody can check it, and rivals will.",
            "Name the benchmark, or cut the sentence.",
        ),
        ("L5", "“Nothing can go wrong” promises what no software keeps.", ""),
    ];
    judgement("skeptic", Leaning::Revise, &concerns, "Cut both superlatives.")
}

fn voice() -> Judgement {
    let concerns = [("the tone as a whole", "It shouts where we speak.", "One claim, said once.")];
    judgement("voice_identity", Leaning::Revise, &concerns, "Say it once, and plainly.")
}

pub(crate) fn evidence() -> Judgement {
    let concerns = [("ten times faster", "No source for the figure.", "Link the measurement.")];
    judgement("evidence", Leaning::Revise, &concerns, "Give the figure a source.")
}

fn strategy() -> Judgement {
    judgement("strategy", Leaning::Ship, &[], "")
}

fn judgement(
    seat: &str,
    verdict: Leaning,
    concerns: &[(&str, &str, &str)],
    brief: &str,
) -> Judgement {
    let scores = score_names(seat).unwrap().into_iter().zip([2, 3, 4]);
    let concern = |(locus, issue, fix): &(&str, &str, &str)| Concern {
        locus: (*locus).to_owned(),
        issue: (*issue).to_owned(),
        fix: (*fix).to_owned(),
    };
    Judgement {
        verdict,
        scores: scores.map(|(name, score)| (name.to_owned(), score)).collect(),
        would_block: false,
        irreducible: false,
        concerns: concerns.iter().map(concern).collect(),
        revision_brief: brief.to_owned(),
        concessions: Vec::new(),
        escalations: Vec::new(),
        delta_from_r1: String::new(),
    }
}

pub(crate) fn word(final_verdict: Decision) -> Adjudication {
    Adjudication {
        final_verdict,
        reasoning: "Skeptic and Evidence agree that the figures are bare; the last two launch \
                    posts were held for the same."
            .to_owned(),
        revision_brief: "1. Cut “fastest in the world”.\n2. Give “ten times” its measurement."
            .to_owned(),
        downgrade: false,
        downgrade_reason: None,
    }
}

/// Replaces all foreign text of a review by one text.
pub(crate) fn filled_with(mut transcript: Transcript, text: &str) -> Transcript {
    transcript.opening.title = text.to_owned();
    if let Some(gate) = transcript.plan.gate.as_mut().map(Arc::make_mut) {
        gate.artifact.path = text.to_owned();
        gate.artifact.artifact_type = text.to_owned();
        gate.artifact.producer = Some(text.to_owned());
        for file in gate.deliberators.iter_mut().flat_map(|one| &mut one.context) {
            file.path = text.to_owned();
            file.missing = Some(text.to_owned());
        }
        for prior in &mut gate.priors {
            prior.artifact = text.to_owned();
            prior.reasoning = text.to_owned();
            prior.concerns = vec![text.to_owned()];
        }
    }
    transcript.plan.notes = vec![text.to_owned()];
    for seat in &mut transcript.plan.seats {
        seat.model = text.to_owned();
        seat.family = text.to_owned();
    }
    if let Some(ruling) = &mut transcript.ruling {
        fill_word(&mut ruling.adjudication, text);
    }
    for (_, decision) in &mut transcript.overrides {
        decision.why = text.to_owned();
    }
    for asked in &mut transcript.asks {
        for call in &mut asked.calls {
            match &mut call.outcome {
                CallOutcome::Replied(reply, _) => reply.text = text.to_owned(),
                CallOutcome::Failed(failure, _) => failure.message = text.to_owned(),
                CallOutcome::InFlight | CallOutcome::Lost => {}
            }
        }
        match &mut asked.reading {
            Some(Reading::Read { document: Document::Judgement(judgement), .. }) => {
                fill_judgement(judgement, text);
            }
            Some(Reading::Read { document: Document::Adjudication(word), .. }) => {
                fill_word(word, text);
            }
            Some(_) | None => {}
        }
    }
    if let Some(Stop::Unadjudicated { reason, .. }) = &mut transcript.stopped {
        *reason = text.to_owned();
    }
    transcript
}

fn fill_word(word: &mut Adjudication, text: &str) {
    word.reasoning = text.to_owned();
    word.revision_brief = format!("{text}\n{text}");
    word.downgrade_reason = word.downgrade.then(|| text.to_owned());
}

fn fill_judgement(judgement: &mut Judgement, text: &str) {
    judgement.scores = [(text.to_owned(), 1)].into();
    judgement.revision_brief = text.to_owned();
    judgement.delta_from_r1 = text.to_owned();
    judgement.concessions = vec![text.to_owned()];
    judgement.escalations = vec![format!("{text} evidence-1")];
    for concern in &mut judgement.concerns {
        let text = text.to_owned();
        *concern = Concern { locus: text.clone(), issue: format!("{text}\n{text}"), fix: text };
    }
}

pub(crate) fn plan() -> Plan {
    let seats = SEATS.map(|name| seat(name, Role::Participant)).into_iter();
    let prior = |verdict, artifact: &str| PriorVerdict {
        ts: moment(0),
        artifact: artifact.to_owned(),
        producer: Some("writer".to_owned()),
        verdict,
        reasoning: "Bare figures.".to_owned(),
        revision_brief: String::new(),
        concerns: vec!["No source".to_owned()],
    };
    let gate = GatePlan {
        artifact: Artifact {
            path: "posts/launch.md".to_owned(),
            artifact_type: "linkedin_post".to_owned(),
            tier: Tier::Always,
            producer: Some("writer".to_owned()),
            sha256: "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8".to_owned(),
            text: TEXT.to_owned(),
        },
        deliberators: SEATS.map(deliberator).to_vec(),
        adjudicator: slug("adjudicator"),
        policy: Policy { name: PolicyName::Seed, min_deliberators: 3 },
        priors: vec![
            prior(GateVerdict::Hold, "posts/teaser.md"),
            prior(GateVerdict::Revise, "posts/hello.md"),
        ],
    };
    Plan {
        seats: seats.chain([seat("adjudicator", Role::Chair)]).collect(),
        chairs: vec![slug("adjudicator")],
        conclusion: None,
        gate: Some(gate.into()),
        ..sample::plan(Auditing::Unaudited)
    }
}

fn seat(name: &str, role: Role) -> Seat {
    // Two seats of the council sample provide the models of this one.
    let provider = if matches!(name, "skeptic" | "adjudicator") { "ann" } else { "bob" };
    Seat { name: slug(name), roles: vec![role], ..sample::seat(provider) }
}

fn deliberator(name: &str) -> Deliberator {
    let missing = ContextRef {
        path: "voice/corpus.md".to_owned(),
        text: None,
        missing: Some("there is no such file".to_owned()),
    };
    let context = if name == "voice_identity" { vec![missing] } else { Vec::new() };
    Deliberator { seat: slug(name), instructions: None, context }
}
