//! Builds a deliberator's messages: the artifact as the shared block, its context files, and in the
//! second round the judgements of the first; and the roles of the review seats, built in or
//! replaced by the operator.
//!
//! **Invariant:** a `DeliberatorView` contains only this seat's context and the judgements of the
//! first round. It never contains verdicts on other artifacts. The adjudicator gets no shared
//! block.
//!
//! A role depends on the seat's name, the round, the policy and the operator's instructions. No
//! text of an artifact, its context or a judgement can enter it.

use std::sync::Arc;

use crate::model::ask::Ask;
use crate::model::hash::sha256_hex;
use crate::model::ids::ExpertSlug;
use crate::model::run_state::RunState;
use crate::prompting::condense::fits_budget;
use crate::prompting::fence::FencedSection;
use crate::prompting::instructions::{RoleParts, STRICTER, SYSTEM};
use crate::prompting::layout::{MessageParts, RenderedPrompt};
use crate::prompting::shared_block::{SeatBlock, block_day, path_line, render_block, today_line};
use crate::protocols::review::concern_codes::{ConcernCode, concern_codes};
use crate::protocols::review::messages_sections::{
    JudgementSection, ProducerVisibility, about_artifact, condense_deliberator_view,
    cut_judgements, numbered_artifact, truncate_name,
};
use crate::protocols::review::policy::{BlockTally, PolicyName, ReviewDecision};
use crate::protocols::review::seat_results::{
    RoundResult, SeatResult, list_seat_results, tally_blocks,
};
use crate::protocols::review::types::{
    BlockLevel, BuiltInDeliberator, DeliberatorContext, DeliberatorJudgement, ReviewPlan,
    score_names,
};

/// Everything that a deliberator reads after the artifact.
#[derive(Debug)]
pub(crate) struct DeliberatorView {
    pub context: Vec<DeliberatorContext>,
    pub judgements: Vec<JudgementSection>,
    /// Our own sentences.
    remarks: Vec<String>,
}

/// The messages of either round; `None` if the seat is not a deliberator of this review.
pub(crate) fn deliberator_messages(
    state: &RunState,
    ask: &Ask,
    turn: ReadingRound,
) -> Option<RenderedPrompt> {
    let gate = state.review_plan()?;
    let role = deliberator_role(gate, turn, &ask.seat)?;
    let own = artifact_block(state, gate, &ask.seat);
    let mut view = DeliberatorView::first_round(gate, ask)?;
    if turn == ReadingRound::Cross {
        view.add_first_round(state, ask, &gate.artifact.text);
    }
    let mut condensed: Vec<String> = own.notes().collect();
    let bytes_left = own.bytes_left.saturating_sub(role.byte_len());
    condensed.extend(condense_deliberator_view(&mut view, bytes_left));
    if !own.block.condensed.is_empty() {
        let cut = "The artifact is too long to be shown whole: its head and its tail are, and what is left out between them is marked. Judge what you see, and say in the brief that you did not see it all.";
        view.remarks.push(cut.to_owned());
    }
    let parts = MessageParts {
        secret: &state.plan.secret,
        block: Some(&own),
        role: &role,
        sections: &view.all_sections(),
        remarks: &view.remarks,
    };
    Some(RenderedPrompt { messages: parts.render_messages(ask), condensed })
}

/// The artifact, with its path and type.
fn artifact_block(state: &RunState, gate: &ReviewPlan, seat: &ExpertSlug) -> SeatBlock {
    let render = |input_bytes| {
        let (artifact, note) = numbered_artifact(&gate.artifact.text, input_bytes);
        let about = about_artifact(&gate.artifact, ProducerVisibility::Unnamed);
        render_block(state, &[artifact, about], note.into_iter().collect())
    };
    let shared = match state.first_block() {
        Some(block) => Arc::clone(block),
        None => render(state.plan.largest_input_bytes()),
    };
    SeatBlock::choose(shared, state.plan.input_bytes_max(seat), render)
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
        Some(Self { remarks: remarks.collect(), context, judgements: Vec::new() })
    }

    /// Adds the reader's own judgement first, then the others' in plan order.
    fn add_first_round(&mut self, state: &RunState, ask: &Ask, artifact: &str) {
        let (own, others): (Vec<_>, Vec<_>) =
            list_seat_results(state).into_iter().partition(|position| *position.seat == ask.seat);
        match own.first().and_then(|position| position.first.judgement()) {
            Some(held) => {
                self.judgements.push(JudgementSection::own_first(&ask.seat, held, artifact))
            }
            None => self.remarks.push(
                "You gave no judgement at the first reading, so this is your only one. \
                 `delta_from_r1` says so."
                    .to_owned(),
            ),
        }
        for position in others {
            let seat = position.seat;
            match position.first.judgement() {
                Some(held) => {
                    self.judgements.push(JudgementSection::peer_first(seat, held, artifact))
                }
                None => {
                    self.remarks.push(format!("`{seat}` gave no judgement at the first reading."))
                }
            }
        }
    }

    /// All fenced sections, in reading order.
    pub(crate) fn all_sections(&self) -> Vec<FencedSection> {
        self.context_sections().chain(self.judgement_sections()).collect()
    }

    pub(crate) fn context_sections(&self) -> impl Iterator<Item = FencedSection> {
        (1..).zip(&self.context).map(|(number, file)| {
            let text = match (&file.text, &file.missing) {
                (Some(text), _) => text.clone(),
                (None, Some(reason)) => format!("[could not be read: {}]", truncate_name(reason)),
                (None, None) => "[could not be read]".to_owned(),
            };
            let text = format!("{}\n{text}", path_line(&file.path));
            FencedSection::material(&format!("CONTEXT {number}"), text)
        })
    }

    pub(crate) fn judgement_sections(&self) -> impl Iterator<Item = FencedSection> {
        self.judgements.iter().map(JudgementSection::to_section)
    }
}

/// The messages of the adjudication; `None` if the run is not a review.
pub(crate) fn adjudicator_messages(state: &RunState, ask: &Ask) -> Option<RenderedPrompt> {
    let gate = state.review_plan()?;
    let positions = list_seat_results(state);
    let artifact = gate.artifact.text.as_str();
    let judgements =
        positions.iter().filter_map(|one| JudgementSection::current_judgement(one, artifact));
    let mut judgements: Vec<JudgementSection> = judgements.collect();
    let mut condensed = Vec::new();
    let input_bytes = state.plan.input_bytes_max(&ask.seat);
    if !fits_budget(&adjudicator_sections(gate, &judgements), input_bytes) {
        condensed.extend(cut_judgements(&mut judgements, input_bytes));
    }
    let mut remarks = vec![today_line(block_day(state))];
    remarks.extend(positions.iter().filter_map(|one| position_remark(one, &positions)));
    remarks.extend(tally_blocks(state).map(|counted| describe_tally(&counted)));
    let parts = MessageParts {
        secret: &state.plan.secret,
        block: None,
        role: &adjudicator_role(gate),
        sections: &adjudicator_sections(gate, &judgements),
        remarks: &remarks,
    };
    Some(RenderedPrompt { messages: parts.render_messages(ask), condensed })
}

fn adjudicator_sections(gate: &ReviewPlan, judgements: &[JudgementSection]) -> Vec<FencedSection> {
    let mut sections = vec![about_artifact(&gate.artifact, ProducerVisibility::Named)];
    sections.extend(judgements.iter().map(JudgementSection::to_section));
    sections.extend(prior_verdicts_section(gate));
    sections.extend(code_counts_section(gate));
    sections
}

/// How often each code was given on artifacts of this type, one JSON line each.
fn code_counts_section(gate: &ReviewPlan) -> Option<FencedSection> {
    let lines = gate.code_counts.iter().filter_map(|count| serde_json::to_string(count).ok());
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| FencedSection::material("COUNTS OF CODES", lines.join("\n")))
}

/// The latest verdicts on artifacts of this type, one JSON line each.
fn prior_verdicts_section(gate: &ReviewPlan) -> Option<FencedSection> {
    let lines = gate.priors.iter().filter_map(|prior| serde_json::to_string(prior).ok());
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| FencedSection::material("PRIOR VERDICTS", lines.join("\n")))
}

/// A remark on a position that its judgement does not show. It contains only our text, and of a
/// provider's failure only its type.
fn position_remark(position: &SeatResult<'_>, all: &[SeatResult<'_>]) -> Option<String> {
    let seat = position.seat;
    match (&position.first, &position.second) {
        (RoundResult::Judged(_), RoundResult::Absent(failure)) => Some(format!(
            "`{seat}` gave no second judgement ({}), so its first judgement counts.",
            failure.error_type.name()
        )),
        (RoundResult::Judged(_), RoundResult::Open) => {
            Some(format!("`{seat}` judged once: there was no other judgement to read."))
        }
        (RoundResult::Judged(before), RoundResult::Judged(after)) if position.is_changed() => {
            let cited = match position.is_uncited(all) {
                true => "and cites no concern of a peer: uncited",
                false => "and cites a peer's concern",
            };
            let (before, after) = (describe_stance(before), describe_stance(after));
            Some(format!("`{seat}` changed from {before} to {after}, {cited}."))
        }
        (RoundResult::Judged(_), RoundResult::Judged(_)) => None,
        (RoundResult::Open | RoundResult::Absent(_), RoundResult::Judged(_)) => {
            Some(format!("`{seat}` judged only at the second reading."))
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
const CODES: &str = include_str!("../../../../../prompts/gate/codes.md");
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
pub fn adjudicator_role(gate: &ReviewPlan) -> RoleParts {
    RoleParts::from_text(&adjudicator_prompt(gate.policy.name))
}

/// The instructions of a deliberator; none if the seat is not one of this review.
pub fn deliberator_role(
    gate: &ReviewPlan,
    turn: ReadingRound,
    seat: &ExpertSlug,
) -> Option<RoleParts> {
    let deliberator = gate.find_deliberator(seat)?;
    let (own, codes) = (deliberator.instructions.as_deref(), &deliberator.codes);
    Some(RoleParts::from_text(&deliberator_prompt(seat.as_str(), own, codes, turn)))
}

/// Digest of everything a deliberator is told; part of its seat's version.
pub fn deliberator_digest(name: &str, instructions: Option<&str>, codes: &[ConcernCode]) -> String {
    let result = [ReadingRound::First, ReadingRound::Cross]
        .map(|turn| deliberator_prompt(name, instructions, codes, turn));
    let ours = [SYSTEM, STRICTER];
    sha256_hex(result.iter().map(String::as_str).chain(ours).map(str::as_bytes))
}

/// The same for the adjudicator, over all policies.
pub fn adjudicator_digest() -> String {
    let result: Vec<String> = PolicyName::ALL.iter().map(|one| adjudicator_prompt(*one)).collect();
    let ours = [SYSTEM, STRICTER];
    sha256_hex(result.iter().map(String::as_str).chain(ours).map(str::as_bytes))
}

/// All built-in instructions.
pub(crate) fn all_instructions() -> Vec<String> {
    let names = BuiltInDeliberator::ALL.iter().map(|one| one.name()).chain(["own"]);
    let turns = names.flat_map(|name| [(name, ReadingRound::First), (name, ReadingRound::Cross)]);
    let deliberators = turns.map(|(name, turn)| deliberator_prompt(name, None, &[], turn));
    deliberators.chain(PolicyName::ALL.iter().map(|policy| adjudicator_prompt(*policy))).collect()
}

fn deliberator_prompt(
    name: &str,
    instructions: Option<&str>,
    codes: &[ConcernCode],
    turn: ReadingRound,
) -> String {
    let (when, round, shape) = match turn {
        ReadingRound::First => ("your first reading", FIRST_READING, FIRST_SHAPE),
        ReadingRound::Cross => ("the cross-reading", CROSS_READING_TEXT, CROSS_SHAPE),
    };
    let first = format!("You are the deliberator `{name}` of an artifact gate, at {when}.");
    let built_in = || BuiltInDeliberator::named(name).map(built_in_part);
    let part = instructions.or_else(built_in).unwrap_or_default();
    let (scores, shape) = (scores_paragraph(name), shape.replace("{scores}", &scores_shape(name)));
    let codes = codes_paragraph(name, codes);
    let paragraphs = [&first, DELIBERATOR, part, round, &scores, &codes, &shape];
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

/// The codes with their meanings, one line each.
fn codes_paragraph(name: &str, added: &[ConcernCode]) -> String {
    let lines = concern_codes(name, added).into_iter();
    let lines = lines.map(|ConcernCode { code, meaning }| format!("- `{code}`: {meaning}"));
    CODES.replace("{codes}", &lines.collect::<Vec<_>>().join("\n"))
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
