//! The only loop: what is the next step, do it, write it down, ask again.
//!
//! A run is a [`Deliberation`]: it owns its transcript, and everything that happens
//! in it is in the journal before anything else follows from it. Resuming is the
//! same function on a transcript that was loaded.

mod admission;
mod call_hold;
mod connections;
mod daily_budget;
mod deliberation;
mod ear;
mod intervene;
mod journal;
mod known;
mod lock_folder;
mod observer;
mod open;
mod owner;
mod preparing;
mod purse;
mod pursue;
mod reading;
mod restate;
mod resume;
mod steps;
mod writing;

pub use admission::{Admitted, BatchAdmission, CouncilEnd, ExpectedCost};
pub use call_hold::BatchShare;
pub use connections::Connections;
pub use daily_budget::DailyBudget;
pub use deliberation::{Deliberation, Limits, Surroundings};
pub use ear::Ear;
pub use intervene::{check as check_intervention, intervene, unknown_seat};
pub use journal::Journal;
pub use observer::{Observer, Silent};
pub use open::{Question, open};
pub use owner::{Owner, is_at_work};
pub use purse::{Purse, usual_of, usual_output_tokens, worst_of};
pub use reading::due as due_readings;
pub use restate::restate;
pub use resume::{Loaded, load, look, take_up};
