//! Sample reviews with every possible result, for tests of documents and pages.

use std::sync::Arc;

use crate::model::ask::{AskPurpose, CallOutcome};
use crate::model::dialogue::{DialogueOpening, ProtocolKind};
use crate::model::journal::JournalEvent;
use crate::model::plan::{AuditMode, Plan, Seat, SeatRole};
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState, RunStopReason};
use crate::protocols::conclusion::sample::{SampleRun, moment, slug};
use crate::protocols::review::log_row::{LoggedOutcome, log_row};
use crate::protocols::review::policy::{
    AdjudicatorReply, PolicyName, ReviewDecision, ReviewOutcome, ReviewPolicy, ReviewVerdict,
    VerdictOverride,
};
use crate::protocols::review::sample::SEATS;
use crate::protocols::review::seat_results::{ADJUDICATION, FIRST, SECOND, tally_blocks};
use crate::protocols::review::types::{
    DeliberatorContext, DeliberatorJudgement, DeliberatorPlan, DeliberatorVerdict, PriorVerdict,
    ReviewArtifact, ReviewConcern, ReviewPlan, ReviewTier, score_names,
};

pub(crate) const TEXT: &str = "# Plenary is here\n\
    \n\
    Plenary is the fastest council in the world.\n\
    It is ten times faster than anything else,\n\
    and nothing can go wrong.\n\
    \n\
    Sign up today, the first month is free.\n";

/// Builds the run state of a review.
pub(crate) struct SampleReview(pub(crate) SampleRun);

impl SampleReview {
    pub(crate) fn new() -> Self {
        let opening = DialogueOpening {
            dialogue_id: "posts-launch-md-7c21e0aa".parse().unwrap(),
            title: "posts/launch.md".to_owned(),
            question: None,
            background: None,
            protocol: ProtocolKind::Review,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: String::new(),
            calibrated: false,
            domain_id: None,
        };
        Self(SampleRun::opened(opening, plan()))
    }

    pub(crate) fn judges(&mut self, seat: &str, round: u8, judgement: DeliberatorJudgement) {
        let purpose = if round == FIRST { AskPurpose::Judgement } else { AskPurpose::CrossReading };
        self.0.says(seat, round, purpose, ReplyDocument::Judgement(judgement.into()));
    }

    pub(crate) fn is_absent(&mut self, seat: &str, round: u8) {
        let purpose = match round {
            FIRST => AskPurpose::Judgement,
            SECOND => AskPurpose::CrossReading,
            _ => AskPurpose::Adjudication,
        };
        self.0.fails(seat, round, purpose);
    }

    pub(crate) fn adjudicates(&mut self, word: AdjudicatorReply) {
        let document = ReplyDocument::Adjudication(word.into());
        self.0.says("adjudicator", ADJUDICATION, AskPurpose::Adjudication, document);
    }

    /// Ends the review as the engine does.
    pub(crate) fn ruled(mut self, word: AdjudicatorReply) -> RunState {
        self.adjudicates(word.clone());
        let arithmetic = tally_blocks(&self.0.state).unwrap();
        let verdict = arithmetic.apply_adjudication(&word).unwrap();
        let ruling = ReviewOutcome { verdict, tally: arithmetic, adjudication: word };
        self.0.take(JournalEvent::ReviewDecided(Box::new(ruling)));
        self.stopped(RunStopReason::Done)
    }

    pub(crate) fn stopped(mut self, stop: RunStopReason) -> RunState {
        let ruling = self.0.state.review_outcome.clone();
        let outcome = ruling.as_ref().map_or(LoggedOutcome::Undecided(&stop), LoggedOutcome::Ruled);
        let row = log_row(&self.0.state, outcome, moment(59)).unwrap();
        self.0.take(JournalEvent::VerdictLogged(Box::new(row)));
        self.0.stopped(stop)
    }
}

/// Three block, one irreducibly; the adjudicator downgrades to REVISE with a reason.
pub(crate) fn revised() -> RunState {
    let mut gate = contested();
    gate.judges("skeptic", SECOND, blocking(skeptic(), true));
    gate.is_absent("voice_identity", SECOND);
    let pressed = DeliberatorJudgement {
        escalations: vec!["skeptic-1: the figure has no source either.".to_owned()],
        delta_from_r1: "I now block, for skeptic-1.".to_owned(),
        ..blocking(evidence(), false)
    };
    gate.judges("evidence", SECOND, pressed);
    let turned = DeliberatorJudgement {
        verdict: DeliberatorVerdict::Hold,
        delta_from_r1: "On reflection the offer is too early.".to_owned(),
        ..blocking(strategy(), false)
    };
    gate.judges("strategy", SECOND, turned);
    gate.0.held(SECOND);
    gate.ruled(AdjudicatorReply {
        downgrade: true,
        downgrade_reason: Some("Cutting two sentences lifts all blocks but one.".to_owned()),
        ..sample_adjudication(ReviewDecision::Revise)
    })
}

/// The same without a downgrade.
pub(crate) fn held() -> RunState {
    let mut gate = contested();
    for (name, judgement) in SEATS.into_iter().zip([skeptic(), voice(), evidence(), strategy()]) {
        gate.judges(name, SECOND, blocking(judgement, true));
    }
    gate.0.held(SECOND);
    gate.ruled(sample_adjudication(ReviewDecision::Hold))
}

/// No deliberator blocks; one withdrew a block.
pub(crate) fn shipped() -> RunState {
    let mut gate = contested();
    let lifted = DeliberatorJudgement {
        verdict: DeliberatorVerdict::Ship,
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
    gate.ruled(sample_adjudication(ReviewDecision::Ship))
}

/// Two of four block, which policy `seed` ships.
pub(crate) fn shipped_with_blocks() -> RunState {
    let mut gate = contested();
    gate.judges("skeptic", SECOND, blocking(skeptic(), true));
    gate.judges("voice_identity", SECOND, voice());
    gate.judges("evidence", SECOND, blocking(evidence(), false));
    gate.judges("strategy", SECOND, strategy());
    gate.0.held(SECOND);
    gate.ruled(sample_adjudication(ReviewDecision::Ship))
}

/// Two of four deliberators answer.
pub(crate) fn incomplete() -> RunState {
    let mut gate = SampleReview::new();
    gate.judges("skeptic", FIRST, blocking(skeptic(), true));
    gate.is_absent("voice_identity", FIRST);
    gate.judges("evidence", FIRST, evidence());
    gate.is_absent("strategy", FIRST);
    gate.stopped(RunStopReason::Quorum { round: FIRST, heard: 2, needed: 3 })
}

/// All seats answer except the adjudicator.
pub(crate) fn unadjudicated() -> RunState {
    let mut gate = contested();
    for (name, judgement) in SEATS.into_iter().zip([skeptic(), voice(), evidence(), strategy()]) {
        gate.judges(name, SECOND, judgement);
    }
    gate.0.held(SECOND);
    gate.is_absent("adjudicator", ADJUDICATION);
    let reason = "no answer within 60 s".to_owned();
    gate.stopped(RunStopReason::Unadjudicated { seat: slug("adjudicator"), reason })
}

/// The first sample, overridden by a person.
pub(crate) fn overridden() -> RunState {
    let mut state = revised();
    let decision = VerdictOverride {
        verdict_id: "posts-launch-md-7c21e0aa/1".to_owned(),
        decision: ReviewDecision::Ship,
        why: "The board has seen the figures.".to_owned(),
        by: None,
        decided_at: None,
    };
    state.apply_events(moment(600), &[JournalEvent::VerdictOverridden(decision)]);
    state
}

pub(crate) fn rehearsed() -> RunState {
    let mut state = shipped();
    state.opening.rehearsal = true;
    state
}

pub(crate) fn all() -> Vec<RunState> {
    vec![revised(), held(), shipped(), incomplete(), unadjudicated(), overridden(), rehearsed()]
}

/// The first round of most samples.
fn contested() -> SampleReview {
    let mut gate = SampleReview::new();
    gate.judges("skeptic", FIRST, blocking(skeptic(), true));
    gate.judges("voice_identity", FIRST, voice());
    gate.judges("evidence", FIRST, evidence());
    gate.judges("strategy", FIRST, strategy());
    gate.0.held(FIRST);
    gate
}

pub(crate) fn blocking(judgement: DeliberatorJudgement, irreducible: bool) -> DeliberatorJudgement {
    let verdict = if irreducible { DeliberatorVerdict::Hold } else { judgement.verdict };
    DeliberatorJudgement { verdict, would_block: true, irreducible, ..judgement }
}

fn skeptic() -> DeliberatorJudgement {
    let concerns = [
        (
            "“fastest council in the world”",
            "A superlative without a benchmark: nobody can check it, and rivals will.",
            "Name the benchmark, or cut the sentence.",
        ),
        ("L5", "“Nothing can go wrong” promises what no software keeps.", ""),
    ];
    judgement("skeptic", DeliberatorVerdict::Revise, &concerns, "Cut both superlatives.")
}

fn voice() -> DeliberatorJudgement {
    let concerns = [("the tone as a whole", "It shouts where we speak.", "One claim, said once.")];
    judgement("voice_identity", DeliberatorVerdict::Revise, &concerns, "Say it once, and plainly.")
}

pub(crate) fn evidence() -> DeliberatorJudgement {
    let concerns = [("ten times faster", "No source for the figure.", "Link the measurement.")];
    judgement("evidence", DeliberatorVerdict::Revise, &concerns, "Give the figure a source.")
}

fn strategy() -> DeliberatorJudgement {
    judgement("strategy", DeliberatorVerdict::Ship, &[], "")
}

fn judgement(
    seat: &str,
    verdict: DeliberatorVerdict,
    concerns: &[(&str, &str, &str)],
    brief: &str,
) -> DeliberatorJudgement {
    let scores = score_names(seat).unwrap().into_iter().zip([2, 3, 4]);
    let concern = |(locus, issue, fix): &(&str, &str, &str)| ReviewConcern {
        locus: (*locus).to_owned(),
        issue: (*issue).to_owned(),
        fix: (*fix).to_owned(),
        code: String::new(),
    };
    DeliberatorJudgement {
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

pub(crate) fn sample_adjudication(final_verdict: ReviewDecision) -> AdjudicatorReply {
    AdjudicatorReply {
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
pub(crate) fn filled_with(mut state: RunState, text: &str) -> RunState {
    state.opening.title = text.to_owned();
    if let Some(gate) = state.plan.review.as_mut().map(Arc::make_mut) {
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
    state.plan.notes = vec![text.to_owned()];
    for seat in &mut state.plan.seats {
        seat.model = text.to_owned();
        seat.family = text.to_owned();
    }
    if let Some(ruling) = &mut state.review_outcome {
        fill_word(&mut ruling.adjudication, text);
    }
    for (_, decision) in &mut state.overrides {
        decision.why = text.to_owned();
    }
    for asked in &mut state.asks {
        for call in &mut asked.calls {
            match &mut call.outcome {
                CallOutcome::Replied(reply, _) => reply.text = text.to_owned(),
                CallOutcome::Failed(failure, _) => failure.message = text.to_owned(),
                CallOutcome::InFlight | CallOutcome::Lost => {}
            }
        }
        match &mut asked.parse_outcome {
            Some(ParseOutcome::Parsed {
                document: ReplyDocument::Judgement(judgement), ..
            }) => {
                fill_judgement(judgement, text);
            }
            Some(ParseOutcome::Parsed { document: ReplyDocument::Adjudication(word), .. }) => {
                fill_word(word, text);
            }
            Some(_) | None => {}
        }
    }
    if let Some(RunStopReason::Unadjudicated { reason, .. }) = &mut state.stopped {
        *reason = text.to_owned();
    }
    state
}

fn fill_word(word: &mut AdjudicatorReply, text: &str) {
    word.reasoning = text.to_owned();
    word.revision_brief = format!("{text}\n{text}");
    word.downgrade_reason = word.downgrade.then(|| text.to_owned());
}

fn fill_judgement(judgement: &mut DeliberatorJudgement, text: &str) {
    judgement.scores = [(text.to_owned(), 1)].into();
    judgement.revision_brief = text.to_owned();
    judgement.delta_from_r1 = text.to_owned();
    judgement.concessions = vec![text.to_owned()];
    judgement.escalations = vec![format!("{text} evidence-1")];
    for concern in &mut judgement.concerns {
        let text = text.to_owned();
        *concern = ReviewConcern {
            locus: text.clone(),
            issue: format!("{text}\n{text}"),
            fix: text.clone(),
            code: text,
        };
    }
}

pub(crate) fn plan() -> Plan {
    let seats = SEATS.map(|name| seat(name, SeatRole::Participant)).into_iter();
    let prior = |verdict, artifact: &str| PriorVerdict {
        ts: moment(0),
        artifact: artifact.to_owned(),
        producer: Some("writer".to_owned()),
        verdict,
        reasoning: "Bare figures.".to_owned(),
        revision_brief: String::new(),
        concerns: vec!["No source".to_owned()],
        overridden: None,
    };
    let gate = ReviewPlan {
        artifact: ReviewArtifact {
            classified: None,
            path: "posts/launch.md".to_owned(),
            artifact_type: "linkedin_post".to_owned(),
            tier: ReviewTier::Always,
            producer: Some("writer".to_owned()),
            sha256: "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8".to_owned(),
            text: TEXT.to_owned(),
        },
        deliberators: SEATS.map(deliberator).to_vec(),
        adjudicator: slug("adjudicator"),
        policy: ReviewPolicy { name: PolicyName::Seed, min_deliberators: 3 },
        priors: vec![
            prior(ReviewVerdict::Hold, "posts/teaser.md"),
            prior(ReviewVerdict::Revise, "posts/hello.md"),
        ],
        code_counts: Vec::new(),
    };
    Plan {
        seats: seats.chain([seat("adjudicator", SeatRole::Chair)]).collect(),
        chairs: vec![slug("adjudicator")],
        conclusion: None,
        review: Some(gate.into()),
        ..crate::protocols::conclusion::sample::plan(AuditMode::Unaudited)
    }
}

fn seat(name: &str, role: SeatRole) -> Seat {
    // Two seats of the council sample provide the models of this one.
    let provider = if matches!(name, "skeptic" | "adjudicator") { "ann" } else { "bob" };
    Seat {
        name: slug(name),
        roles: vec![role],
        ..crate::protocols::conclusion::sample::seat(provider)
    }
}

fn deliberator(name: &str) -> DeliberatorPlan {
    let missing = DeliberatorContext {
        path: "voice/corpus.md".to_owned(),
        text: None,
        missing: Some("there is no such file".to_owned()),
    };
    let context = if name == "voice_identity" { vec![missing] } else { Vec::new() };
    DeliberatorPlan { seat: slug(name), instructions: None, context, codes: Vec::new() }
}
