//! From settings and wishes to a table: who sits there, how each is reached, by which
//! rules they argue.

mod connect;
mod ending;
mod error;
mod estimate;
mod table;

pub use connect::Outlets;
pub use ending::{ending, ending_alone};
pub use error::ConveneError;
pub use estimate::{Estimate, RoundEstimate, estimate};
pub use table::{Rehearsal, Table, Wishes, reconnect};
