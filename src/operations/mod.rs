//! What can be done with a record: one function per operation, shared by every
//! door. The arguments are those of the MCP tool of the same name.

mod abandon;
mod arguments;
mod cite;
mod context;
mod create;
mod due;
mod expert;
mod export;
mod health;
mod list;
mod panel;
mod progress;
mod register;
mod similar;
mod stats;
mod verdict;
mod verify;
mod workspace;

pub use abandon::{Abandoned, abandon};
pub use arguments::parse;
pub use cite::{Cited, Uncited, cite};
pub use context::context;
pub use create::{Created, create};
pub use due::{AllDue, DueItem, OutcomeRecorded, due, record_outcome};
pub use expert::{ExpertCreated, create_expert};
pub use export::{Exported, Format, Printed, export, printed, record};
pub use health::{Examined, Window, health};
pub use list::{Listed, list};
pub use panel::{PanelEvolved, evolve_panel};
pub use progress::progress;
pub use register::register;
pub(crate) use register::{batch, registering};
pub use similar::{Matched, similar};
pub use stats::{Statistics, stats};
pub(crate) use verdict::judging;
pub use verdict::{VerdictRegistered, give_verdict};
pub use verify::{Verified, verify};
pub use workspace::Workspace;
