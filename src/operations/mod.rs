//! What can be done with a record: one function per operation, shared by every
//! door. The arguments are those of the MCP tool of the same name.

mod abandon;
mod arguments;
mod audit;
mod cite;
mod context;
mod create;
mod due;
mod expert;
mod export;
mod health;
mod list;
mod naming;
mod panel;
mod progress;
mod prompts;
mod recognise;
mod register;
mod search;
mod similar;
mod stats;
mod verdict;
mod verdict_log;
mod verify;
mod workspace;

pub use abandon::{Abandoned, abandon};
pub use arguments::parse;
pub(crate) use arguments::read_strictly;
pub use audit::{AuditWindow, AuditWish, Audited, audit};
pub use cite::{Cited, Uncited, cite};
pub use context::context;
pub(crate) use create::JUDGE_PROTOCOL;
pub use create::{Created, create};
pub use due::{AllDue, DueItem, OutcomeRecorded, due, record_outcome};
pub use expert::{ExpertCreated, create_expert};
pub use export::{Exported, Format, Printed, export, json, printed, record};
pub use health::{Examined, Window, health};
pub use list::{Listed, list};
pub(crate) use naming::hexed_id;
pub use panel::{PanelEvolved, evolve_panel};
pub use progress::progress;
pub use prompts::{Prompt, PromptFile, PromptsWritten, prompt, prompts};
pub use recognise::is_log_export;
pub(crate) use register::{batch, registering};
pub use register::{register, unwrapped};
pub use search::{Found, SearchOp, search};
pub use similar::{Matched, similar};
pub use stats::{Statistics, stats};
pub(crate) use verdict::judging;
pub use verdict::{VerdictRegistered, give_verdict};
pub use verdict_log::{
    Imported, Importing, LOG_BYTES_MAX, LogFilter, Malformed, Otherwise, Overridden,
    PersonsDecision, TailRow, export_log, import_log, override_verdict, tail_log,
};
pub use verify::{Verified, verify};
pub use workspace::Workspace;
