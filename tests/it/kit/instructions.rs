//! The instructions of a seat, by what it is asked for.

use plenary::domain::ask::AskPurpose;
use plenary::domain::council::words::QuestionMode;
use plenary::domain::gate::ReviewPlan;
use plenary::domain::ids::ExpertSlug;
use plenary::prompting::gate::{ReadingRound, adjudicator_system, deliberator_system};
use plenary::prompting::instructions as roles;

pub fn system(purpose: AskPurpose, mode: QuestionMode) -> String {
    let role = match purpose {
        AskPurpose::Opinion => roles::OPINION,
        AskPurpose::PeerReview => roles::PEER_REVIEW,
        AskPurpose::Synthesis => roles::SYNTHESIS,
        AskPurpose::Conclusion => roles::DRAFT,
        AskPurpose::Audit => roles::AUDIT,
        AskPurpose::Revision => roles::REVISION,
        AskPurpose::Restatement => roles::DIRECTIVE,
        AskPurpose::Judgement => roles::JUDGEMENT,
        AskPurpose::CrossReading => roles::CROSS_READING,
        AskPurpose::Adjudication => roles::ADJUDICATION,
        AskPurpose::Other(name) => panic!("no instructions for {name}"),
    };
    role.system_prompt(mode)
}

pub fn gate_system(gate: &ReviewPlan, purpose: AskPurpose, seat: &ExpertSlug) -> Option<String> {
    match purpose {
        AskPurpose::Judgement => deliberator_system(gate, ReadingRound::First, seat),
        AskPurpose::CrossReading => deliberator_system(gate, ReadingRound::Cross, seat),
        AskPurpose::Adjudication => Some(adjudicator_system(gate)),
        AskPurpose::Opinion
        | AskPurpose::PeerReview
        | AskPurpose::Synthesis
        | AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Revision
        | AskPurpose::Restatement
        | AskPurpose::Other(_) => None,
    }
}
