//! The council (seed 002): every seat answers alone, every seat reviews the others without their
//! names, and a chair writes the report.

mod agreement;
mod choice;
mod deliver;
mod enter;
mod letters;
mod next;
mod protocol;
#[cfg(test)]
mod tests;
mod voices;

pub use choice::{PeerChoice, peer_choice};
pub use deliver::hides_disagreement;
pub use enter::{report_verdict, round_batch};
pub use letters::SeatLetters;
pub use protocol::CouncilProtocol;
pub use voices::{
    ProviderFailure, ROUNDS, SeatAnswer, list_failures, list_opinions, list_peer_reviews,
    rounds_completed, tally_stances,
};
