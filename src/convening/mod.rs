//! From settings and wishes to a table: who sits there, how each is reached, by which
//! rules they argue.

mod connect;
mod ending;
mod error;
mod estimate;
mod gate;
mod guard;
mod plan;
mod table;

pub use connect::Outlets;
pub use ending::{ending, ending_alone};
pub use error::ConveneError;
pub use estimate::{Estimate, RoundEstimate, estimate, expected_cost, least_tokens};
pub use gate::{GateTable, is_judged_whole};
pub use guard::secret_guard;
pub use table::{Rehearsal, Table, Wishes, reconnect};
