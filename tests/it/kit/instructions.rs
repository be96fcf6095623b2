//! The instructions of a seat, by what it is asked for.

use plenary::domain::ask::Purpose;
use plenary::domain::council::words::Mode;
use plenary::domain::gate::GatePlan;
use plenary::domain::ids::ExpertSlug;
use plenary::prompting::gate::{Turn, adjudicator_system, deliberator_system};
use plenary::prompting::instructions as roles;

pub fn system(purpose: Purpose, mode: Mode) -> String {
    let role = match purpose {
        Purpose::Opinion => roles::OPINION,
        Purpose::Review => roles::PEER_REVIEW,
        Purpose::Synthesis => roles::SYNTHESIS,
        Purpose::Conclusion => roles::DRAFT,
        Purpose::Audit => roles::AUDIT,
        Purpose::Revision => roles::REVISION,
        Purpose::Restatement => roles::DIRECTIVE,
        Purpose::Judgement => roles::JUDGEMENT,
        Purpose::CrossReading => roles::CROSS_READING,
        Purpose::Adjudication => roles::ADJUDICATION,
        Purpose::Other(name) => panic!("no instructions for {name}"),
    };
    role.system(mode)
}

pub fn gate_system(gate: &GatePlan, purpose: Purpose, seat: &ExpertSlug) -> Option<String> {
    match purpose {
        Purpose::Judgement => deliberator_system(gate, Turn::First, seat),
        Purpose::CrossReading => deliberator_system(gate, Turn::Cross, seat),
        Purpose::Adjudication => Some(adjudicator_system(gate)),
        Purpose::Opinion
        | Purpose::Review
        | Purpose::Synthesis
        | Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement
        | Purpose::Other(_) => None,
    }
}
