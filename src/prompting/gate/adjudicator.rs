//! Builds the adjudicator's messages: the deliberators' positions, the block tally, and earlier
//! verdicts on artifacts of the same type.
//!
//! **Invariant:** the artifact's text is not included, so the adjudicator cannot add critique.

use super::condense::cut_judgements;
use super::instructions::adjudicator_system;
use super::shown::{Maker, Shown, about};
use crate::domain::ask::{Ask, Messages};
use crate::domain::gate::{Arithmetic, Block, Decision, GatePlan, Judgement};
use crate::domain::transcript::Transcript;
use crate::prompting::condense::fits;
use crate::prompting::instructions::ADJUDICATION;
use crate::prompting::message::{Parts, Prepared};
use crate::prompting::view::Section;
use crate::protocols::gate::{Part, Position, arithmetic, positions};

/// The messages of the adjudication; `None` if the run is not a review.
pub(crate) fn adjudicator(transcript: &Transcript, ask: &Ask) -> Option<Prepared> {
    let gate = transcript.gate()?;
    let system = adjudicator_system(gate);
    let positions = positions(transcript);
    let mut judgements: Vec<Shown> = positions.iter().filter_map(Shown::standing).collect();
    let mut condensed = Vec::new();
    if !fits(&sections(gate, &judgements)) {
        condensed.extend(cut_judgements(&mut judgements));
    }
    let mut remarks: Vec<String> =
        positions.iter().filter_map(|one| mark(one, &positions)).collect();
    remarks.extend(arithmetic(transcript).map(|counted| told(&counted)));
    let parts = Parts {
        secret: &transcript.plan.secret,
        sections: &sections(gate, &judgements),
        remarks: &remarks,
        task: ADJUDICATION.task,
        faults: ask.stricter.as_deref(),
    };
    Some(Prepared { messages: Messages { system, user: parts.message(ask) }, condensed })
}

fn sections(gate: &GatePlan, judgements: &[Shown]) -> Vec<Section> {
    let mut sections = vec![about(&gate.artifact, Maker::Named)];
    sections.extend(judgements.iter().map(Shown::section));
    sections.extend(priors(gate));
    sections
}

/// The latest verdicts on artifacts of this type, one JSON line each.
fn priors(gate: &GatePlan) -> Option<Section> {
    let lines = gate.priors.iter().filter_map(|prior| serde_json::to_string(prior).ok());
    let lines: Vec<String> = lines.collect();
    let whose =
        "earlier verdicts on artifacts of the same type, newest first, a line of JSON for each";
    (!lines.is_empty()).then(|| Section::new("PRIOR VERDICTS", whose, lines.join("\n")))
}

/// A remark on a position that its judgement does not show. It contains only our text, and of a
/// provider's failure only its type.
fn mark(position: &Position<'_>, all: &[Position<'_>]) -> Option<String> {
    let seat = position.seat;
    match (&position.first, &position.second) {
        (Part::Held(_), Part::Absent(failure)) => Some(format!(
            "`{seat}`: its second reply could not be had ({}), so its first judgement stands in \
             for it.",
            failure.error_type.name()
        )),
        (Part::Held(_), Part::Open) => {
            Some(format!("`{seat}` judged once: there was nobody else to read."))
        }
        (Part::Held(before), Part::Held(after)) if position.is_changed() => {
            let cited = match position.is_uncited(all) {
                true => "and cites no concern of anybody: uncited",
                false => "and cites a peer's concern",
            };
            let (before, after) = (stand(before), stand(after));
            Some(format!("`{seat}` changed from {before} to {after}, {cited}."))
        }
        (Part::Held(_), Part::Held(_)) => None,
        (Part::Open | Part::Absent(_), Part::Held(_)) => {
            Some(format!("`{seat}` was not heard at the first reading, only at the second."))
        }
        (Part::Absent(failure), Part::Open) | (_, Part::Absent(failure)) => {
            Some(format!("`{seat}` is absent ({}).", failure.error_type.name()))
        }
        (Part::Open, Part::Open) => Some(format!("`{seat}` is absent.")),
    }
}

fn stand(judgement: &Judgement) -> String {
    let blocks = match judgement.block() {
        Block::None => "without a block",
        Block::Reducible => "with a reducible block",
        Block::Irreducible => "with an irreducible block",
    };
    format!("`{}` {blocks}", judgement.verdict)
}

/// The block tally as a sentence.
fn told(counted: &Arithmetic) -> String {
    let Arithmetic { name, present, blocks, irreducible_blocks, computed } = counted;
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
        Some(Decision::Hold) if counted.may_be_downgraded() => {
            format!("{counts}: HOLD. A downgrade to REVISE is open to you.")
        }
        Some(Decision::Hold) => format!("{counts}: HOLD. No downgrade is open to you."),
        Some(decision) => format!("{counts}: {decision}."),
    }
}
