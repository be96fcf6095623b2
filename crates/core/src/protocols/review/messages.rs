//! Builds a deliberator's messages: the artifact, its context files, and in the second round the
//! judgements of the first; and the system prompts of the review seats, built in or replaced by the
//! operator.
//!
//! **Invariant:** a `DeliberatorView` contains only the artifact, this seat's context and the
//! judgements of the first round. It never contains verdicts on other artifacts.
//!
//! A system prompt depends on the seat's name, the round, the policy and the operator's
//! instructions. No text of an artifact, its context or a judgement can enter it.

use crate::model::ask::{Ask, AskMessages};
use crate::model::hash::sha256_hex;
use crate::model::ids::ExpertSlug;
use crate::model::run_state::RunState;
use crate::prompting::condense::fits_budget;
use crate::prompting::fence::{MessageParts, RenderedPrompt};
use crate::prompting::instructions::{ADJUDICATION, CROSS_READING, JUDGEMENT, STRICTER};
use crate::prompting::reader_view::{FencedSection, path_line};
use crate::protocols::review::messages_sections::{
    JudgementSection, ProducerVisibility, about_artifact, condense_deliberator_view,
    cut_judgements, truncate_name,
};
use crate::protocols::review::policy::{BlockTally, PolicyName, ReviewDecision};
use crate::protocols::review::seat_results::{
    RoundResult, SeatResult, list_seat_results, tally_blocks,
};
use crate::protocols::review::types::{
    BlockLevel, BuiltInDeliberator, DeliberatorContext, DeliberatorJudgement, ReviewPlan,
    score_names,
};

/// Everything that a deliberator reads.
#[derive(Debug)]
pub(crate) struct DeliberatorView {
    pub artifact: String,
    pub about: FencedSection,
    pub context: Vec<DeliberatorContext>,
    pub judgements: Vec<JudgementSection>,
    /// Our own sentences.
    remarks: Vec<String>,
}

/// The messages of either round; `None` if the seat is not a deliberator of this review.
pub(crate) fn deliberator_messages(
    transcript: &RunState,
    ask: &Ask,
    turn: ReadingRound,
) -> Option<RenderedPrompt> {
    let gate = transcript.review_plan()?;
    let system = deliberator_system(gate, turn, &ask.seat)?;
    let mut desk = DeliberatorView::first_round(gate, ask)?;
    if turn == ReadingRound::Cross {
        desk.add_first_round(transcript, ask);
    }
    let condensed = condense_deliberator_view(&mut desk);
    if desk.artifact.len() < gate.artifact.text.len() {
        let cut = "The artifact is too long to be shown whole: its head and its tail are, and what is left out between them is marked. Judge what you see, and say in the brief that you did not see it all.";
        desk.remarks.push(cut.to_owned());
    }
    let parts = MessageParts {
        secret: &transcript.plan.secret,
        sections: &desk.all_sections(),
        remarks: &desk.remarks,
        task: if turn == ReadingRound::Cross { CROSS_READING.task } else { JUDGEMENT.task },
        rejection_reason: ask.retry_reason.as_deref(),
    };
    Some(RenderedPrompt {
        messages: AskMessages { system, user: parts.render_message(ask) },
        condensed,
    })
}

impl DeliberatorView {
    fn first_round(gate: &ReviewPlan, ask: &Ask) -> Option<Self> {
        let context = gate.find_deliberator(&ask.seat)?.context.clone();
        let missing = (1..).zip(&context).filter(|(_, file)| file.text.is_none());
        let remarks = missing.map(|(number, _)| {
            format!(
                "CONTEXT {number} could not be read: its name and the reason stand in its place. \
                 Say in the brief what you could not judge without it."
            )
        });
        Some(Self {
            artifact: gate.artifact.text.clone(),
            about: about_artifact(&gate.artifact, ProducerVisibility::Unnamed),
            remarks: remarks.collect(),
            context,
            judgements: Vec::new(),
        })
    }

    /// Adds the reader's own judgement first, then the others' in plan order.
    fn add_first_round(&mut self, transcript: &RunState, ask: &Ask) {
        let (own, others): (Vec<_>, Vec<_>) = list_seat_results(transcript)
            .into_iter()
            .partition(|position| *position.seat == ask.seat);
        match own.first().and_then(|position| position.first.judgement()) {
            Some(held) => self.judgements.push(JudgementSection::own_first(&ask.seat, held)),
            None => self.remarks.push(
                "You were not heard at the first reading: there is no first judgement of yours, \
                 and this is the only one. `delta_from_r1` says just that."
                    .to_owned(),
            ),
        }
        for position in others {
            let seat = position.seat;
            match position.first.judgement() {
                Some(held) => self.judgements.push(JudgementSection::peer_first(seat, held)),
                None => self.remarks.push(format!("`{seat}` was not heard at the first reading.")),
            }
        }
    }

    /// All fenced sections, in reading order.
    pub(crate) fn all_sections(&self) -> Vec<FencedSection> {
        let artifact =
            FencedSection::new("ARTIFACT", "the artifact to judge", self.artifact.clone());
        let mut sections = vec![artifact, self.about.clone()];
        sections.extend(self.context_sections());
        sections.extend(self.judgement_sections());
        sections
    }

    pub(crate) fn context_sections(&self) -> impl Iterator<Item = FencedSection> {
        (1..).zip(&self.context).map(|(number, file)| {
            let whose = "a file that you judge by, with its path in the first line";
            let text = match (&file.text, &file.missing) {
                (Some(text), _) => text.clone(),
                (None, Some(reason)) => format!("[could not be read: {}]", truncate_name(reason)),
                (None, None) => "[could not be read]".to_owned(),
            };
            let text = format!("{}\n{text}", path_line(&file.path));
            FencedSection::new(&format!("CONTEXT {number}"), whose, text)
        })
    }

    pub(crate) fn judgement_sections(&self) -> impl Iterator<Item = FencedSection> {
        self.judgements.iter().map(JudgementSection::to_section)
    }
}

/// The messages of the adjudication; `None` if the run is not a review.
pub(crate) fn adjudicator_messages(transcript: &RunState, ask: &Ask) -> Option<RenderedPrompt> {
    let gate = transcript.review_plan()?;
    let system = adjudicator_system(gate);
    let positions = list_seat_results(transcript);
    let mut judgements: Vec<JudgementSection> =
        positions.iter().filter_map(JudgementSection::current_judgement).collect();
    let mut condensed = Vec::new();
    if !fits_budget(&adjudicator_sections(gate, &judgements)) {
        condensed.extend(cut_judgements(&mut judgements));
    }
    let mut remarks: Vec<String> =
        positions.iter().filter_map(|one| position_remark(one, &positions)).collect();
    remarks.extend(tally_blocks(transcript).map(|counted| describe_tally(&counted)));
    let parts = MessageParts {
        secret: &transcript.plan.secret,
        sections: &adjudicator_sections(gate, &judgements),
        remarks: &remarks,
        task: ADJUDICATION.task,
        rejection_reason: ask.retry_reason.as_deref(),
    };
    Some(RenderedPrompt {
        messages: AskMessages { system, user: parts.render_message(ask) },
        condensed,
    })
}

fn adjudicator_sections(gate: &ReviewPlan, judgements: &[JudgementSection]) -> Vec<FencedSection> {
    let mut sections = vec![about_artifact(&gate.artifact, ProducerVisibility::Named)];
    sections.extend(judgements.iter().map(JudgementSection::to_section));
    sections.extend(prior_verdicts_section(gate));
    sections
}

/// The latest verdicts on artifacts of this type, one JSON line each.
fn prior_verdicts_section(gate: &ReviewPlan) -> Option<FencedSection> {
    let lines = gate.priors.iter().filter_map(|prior| serde_json::to_string(prior).ok());
    let lines: Vec<String> = lines.collect();
    let whose =
        "earlier verdicts on artifacts of the same type, newest first, a line of JSON for each";
    (!lines.is_empty()).then(|| FencedSection::new("PRIOR VERDICTS", whose, lines.join("\n")))
}

/// A remark on a position that its judgement does not show. It contains only our text, and of a
/// provider's failure only its type.
fn position_remark(position: &SeatResult<'_>, all: &[SeatResult<'_>]) -> Option<String> {
    let seat = position.seat;
    match (&position.first, &position.second) {
        (RoundResult::Judged(_), RoundResult::Absent(failure)) => Some(format!(
            "`{seat}`: its second reply could not be had ({}), so its first judgement stands in \
             for it.",
            failure.error_type.name()
        )),
        (RoundResult::Judged(_), RoundResult::Open) => {
            Some(format!("`{seat}` judged once: there was nobody else to read."))
        }
        (RoundResult::Judged(before), RoundResult::Judged(after)) if position.is_changed() => {
            let cited = match position.is_uncited(all) {
                true => "and cites no concern of anybody: uncited",
                false => "and cites a peer's concern",
            };
            let (before, after) = (describe_stance(before), describe_stance(after));
            Some(format!("`{seat}` changed from {before} to {after}, {cited}."))
        }
        (RoundResult::Judged(_), RoundResult::Judged(_)) => None,
        (RoundResult::Open | RoundResult::Absent(_), RoundResult::Judged(_)) => {
            Some(format!("`{seat}` was not heard at the first reading, only at the second."))
        }
        (RoundResult::Absent(failure), RoundResult::Open) | (_, RoundResult::Absent(failure)) => {
            Some(format!("`{seat}` is absent ({}).", failure.error_type.name()))
        }
        (RoundResult::Open, RoundResult::Open) => Some(format!("`{seat}` is absent.")),
    }
}

fn describe_stance(judgement: &DeliberatorJudgement) -> String {
    let blocks = match judgement.block_level() {
        BlockLevel::None => "without a block",
        BlockLevel::Reducible => "with a reducible block",
        BlockLevel::Irreducible => "with an irreducible block",
    };
    format!("`{}` {blocks}", judgement.verdict)
}

/// The block tally as a sentence.
fn describe_tally(counted: &BlockTally) -> String {
    let BlockTally { name, present, blocks, irreducible_blocks, computed } = counted;
    let blocks = match blocks {
        1 => "1 block".to_owned(),
        more => format!("{more} blocks"),
    };
    let counts = format!(
        "Counted by policy `{name}`: {present} present, {blocks}, {irreducible_blocks} of them \
         irreducible"
    );
    match computed {
        None => format!("{counts}: too few are present to decide."),
        Some(ReviewDecision::Hold) if counted.may_be_downgraded() => {
            format!("{counts}: HOLD. A downgrade to REVISE is open to you.")
        }
        Some(ReviewDecision::Hold) => format!("{counts}: HOLD. No downgrade is open to you."),
        Some(decision) => format!("{counts}: {decision}."),
    }
}

const DELIBERATOR: &str = include_str!("../../../../../prompts/gate/deliberator.md");
const MATERIAL: &str = include_str!("../../../../../prompts/gate/judgement-material.md");
const SCORES: &str = include_str!("../../../../../prompts/gate/scores.md");
const OWN_SCORES: &str = include_str!("../../../../../prompts/gate/own-scores.md");

const FIRST_READING: &str = include_str!("../../../../../prompts/gate/first-reading.md");
const CROSS_READING_TEXT: &str = include_str!("../../../../../prompts/gate/cross-reading.md");
const FIRST_SHAPE: &str = include_str!("../../../../../prompts/gate/shape-first-reading.md");
const CROSS_SHAPE: &str = include_str!("../../../../../prompts/gate/shape-cross-reading.md");

const ADJUDICATOR: &str = include_str!("../../../../../prompts/gate/adjudicator.md");
const POLICY_SEED: &str = include_str!("../../../../../prompts/gate/policy-seed.md");
const POLICY_STRICT: &str = include_str!("../../../../../prompts/gate/policy-strict.md");

const SKEPTIC: &str = include_str!("../../../../../prompts/gate/skeptic.md");
const VOICE_IDENTITY: &str = include_str!("../../../../../prompts/gate/voice_identity.md");
const EVIDENCE: &str = include_str!("../../../../../prompts/gate/evidence.md");
const STRATEGY: &str = include_str!("../../../../../prompts/gate/strategy.md");

/// The reply shape of scores for a deliberator without predefined score names.
const OWN_SCORES_SHAPE: &str = r#"[{"name": "…", "score": 1-5}]"#;

/// The two rounds in which a deliberator reads an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingRound {
    First,
    Cross,
}

/// The instructions of the adjudicator.
pub fn adjudicator_system(gate: &ReviewPlan) -> String {
    adjudicator_prompt(gate.policy.name)
}

/// The instructions of a deliberator; none if the seat is not one of this review.
pub fn deliberator_system(
    gate: &ReviewPlan,
    turn: ReadingRound,
    seat: &ExpertSlug,
) -> Option<String> {
    let deliberator = gate.find_deliberator(seat)?;
    Some(deliberator_prompt(seat.as_str(), deliberator.instructions.as_deref(), turn))
}

/// Digest of everything a deliberator is told; part of its seat's version.
pub fn deliberator_digest(name: &str, instructions: Option<&str>) -> String {
    let told = [
        deliberator_prompt(name, instructions, ReadingRound::First),
        deliberator_prompt(name, instructions, ReadingRound::Cross),
        JUDGEMENT.task.to_owned(),
        CROSS_READING.task.to_owned(),
        STRICTER.to_owned(),
    ];
    sha256_hex(told.iter().map(String::as_bytes))
}

/// The same for the adjudicator, over all policies.
pub fn adjudicator_digest() -> String {
    let told = PolicyName::ALL.iter().map(|policy| adjudicator_prompt(*policy));
    let ours = [ADJUDICATION.task.to_owned(), STRICTER.to_owned()];
    let told: Vec<String> = told.chain(ours).collect();
    sha256_hex(told.iter().map(String::as_bytes))
}

/// All built-in instructions.
pub(crate) fn all_instructions() -> Vec<String> {
    let names = BuiltInDeliberator::ALL.iter().map(|one| one.name()).chain(["own"]);
    let turns = names.flat_map(|name| [(name, ReadingRound::First), (name, ReadingRound::Cross)]);
    let deliberators = turns.map(|(name, turn)| deliberator_prompt(name, None, turn));
    deliberators.chain(PolicyName::ALL.iter().map(|policy| adjudicator_prompt(*policy))).collect()
}

fn deliberator_prompt(name: &str, instructions: Option<&str>, turn: ReadingRound) -> String {
    let (when, round, shape) = match turn {
        ReadingRound::First => ("your first reading", FIRST_READING, FIRST_SHAPE),
        ReadingRound::Cross => ("the cross-reading", CROSS_READING_TEXT, CROSS_SHAPE),
    };
    let first = format!("You are the deliberator `{name}` of an artifact gate, at {when}.");
    let built_in = || BuiltInDeliberator::named(name).map(built_in_part);
    let part = instructions.or_else(built_in).unwrap_or_default();
    let (scores, shape) = (scores_paragraph(name), shape.replace("{scores}", &scores_shape(name)));
    let paragraphs = [&first, DELIBERATOR, part, round, &scores, MATERIAL, &shape];
    let paragraphs = paragraphs.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn built_in_part(of: BuiltInDeliberator) -> &'static str {
    match of {
        BuiltInDeliberator::Skeptic => SKEPTIC,
        BuiltInDeliberator::VoiceIdentity => VOICE_IDENTITY,
        BuiltInDeliberator::Evidence => EVIDENCE,
        BuiltInDeliberator::Strategy => STRATEGY,
    }
}

/// The scores to give. A built-in name keeps its scores under an operator's instructions, so that
/// statistics over months stay comparable.
fn scores_paragraph(name: &str) -> String {
    let Some(names) = score_names(name) else { return OWN_SCORES.to_owned() };
    SCORES.replace("{names}", &names.map(|name| format!("`{name}`")).join(", "))
}

fn scores_shape(name: &str) -> String {
    let Some(names) = score_names(name) else { return OWN_SCORES_SHAPE.to_owned() };
    format!("{{{}}}", names.map(|name| format!("\"{name}\": 1-5")).join(", "))
}

fn adjudicator_prompt(policy: PolicyName) -> String {
    let policy = match policy {
        PolicyName::Seed => POLICY_SEED,
        PolicyName::Strict => POLICY_STRICT,
    };
    ADJUDICATOR.replace("{policy}", policy.trim_end()).trim_end().to_owned()
}
