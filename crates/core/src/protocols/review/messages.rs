//! Builds a deliberator's messages: the artifact, its context files, and in the second round the
//! judgements of the first.
//!
//! **Invariant:** a `DeliberatorView` contains only the artifact, this seat's context and the
//! judgements of the first round. It never contains verdicts on other artifacts.

use crate::model::ask::{Ask, AskMessages};
use crate::model::run_state::RunState;
use crate::prompting::condense::fits_budget;
use crate::prompting::instructions::{ADJUDICATION, CROSS_READING, JUDGEMENT};
use crate::prompting::messages::{MessageParts, RenderedPrompt};
use crate::prompting::reader_view::{FencedSection, path_line};
use crate::protocols::review::messages_instructions::{
    ReadingRound, adjudicator_system, deliberator_system,
};
use crate::protocols::review::messages_sections::{
    JudgementSection, ProducerVisibility, about_artifact, condense_deliberator_view,
    cut_judgements, truncate_name,
};
use crate::protocols::review::policy::{BlockTally, ReviewDecision};
use crate::protocols::review::seat_results::{
    RoundResult, SeatResult, list_seat_results, tally_blocks,
};
use crate::protocols::review::types::{
    BlockLevel, DeliberatorContext, DeliberatorJudgement, ReviewPlan,
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
