//! Three rounds (seed 002): each answers alone, each reviews the others without
//! knowing who they are, a chair writes the report.

mod agreement;
mod choice;
mod deliver;
mod enter;
mod letters;
mod next;
#[cfg(test)]
mod tests;
mod voices;

pub use choice::{PeerChoice, peer_choice};
pub use deliver::false_consensus;
pub use enter::{round_batch, verdict_arguments};
pub use letters::Letters;
pub use next::next;
pub use voices::{
    ProviderFailure, ROUNDS, Voice, failures, opinions, reviews, rounds_completed, tally,
};
