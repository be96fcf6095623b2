//! The instructions of a seat, by what it is asked for.

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::ids::ExpertSlug;
use plenary_core::prompting::instructions::{
    ADJUDICATION, AUDIT, CROSS_READING, DIRECTIVE, DRAFT, JUDGEMENT, OPINION, PEER_REVIEW,
    REVISION, SYNTHESIS,
};
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::review::messages::{
    ReadingRound, adjudicator_system, deliberator_system,
};
use plenary_core::protocols::review::types::ReviewPlan;

pub fn system(purpose: AskPurpose, mode: QuestionMode) -> String {
    let role = match purpose {
        AskPurpose::Opinion => OPINION,
        AskPurpose::PeerReview => PEER_REVIEW,
        AskPurpose::Synthesis => SYNTHESIS,
        AskPurpose::Conclusion => DRAFT,
        AskPurpose::Audit => AUDIT,
        AskPurpose::Revision => REVISION,
        AskPurpose::Restatement => DIRECTIVE,
        AskPurpose::Judgement => JUDGEMENT,
        AskPurpose::CrossReading => CROSS_READING,
        AskPurpose::Adjudication => ADJUDICATION,
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
