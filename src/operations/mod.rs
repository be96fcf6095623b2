//! What can be done with a record: one function per operation, shared by every
//! door. The arguments are those of the MCP tool of the same name.

mod abandon;
mod arguments;
mod context;
mod create;
mod expert;
mod export;
mod panel;
mod progress;
mod register;
mod search;
mod verdict;
mod workspace;

pub use abandon::{Abandoned, abandon};
pub use arguments::parse;
pub use context::context;
pub use create::{Created, create};
pub use expert::{ExpertCreated, create_expert};
pub use export::{Exported, Format, export, exported_text, record};
pub use panel::{PanelEvolved, evolve_panel};
pub use progress::progress;
pub use register::register;
pub use search::{Cited, Listed, Matched, Statistics, cite, list, similar, stats};
pub use verdict::{VerdictRegistered, give_verdict};
pub use workspace::Workspace;
