//! Operations on a record, one function each, shared by every interface. The arguments are those
//! of the MCP tool of the same name.

mod arguments;
mod checks;
mod dialogues;
mod export_record;
mod project;
mod queries;
mod round_context;
mod rounds;
mod verdict_log;

pub(crate) use arguments::hexed_id;
pub use arguments::parse;
pub use checks::{
    AllDue, AuditWindow, AuditWish, Audited, DueItem, Examined, OutcomeRecorded, Verified, Window,
    audit, due, health, record_outcome, verify,
};
pub(crate) use dialogues::JUDGE_PROTOCOL;
pub use dialogues::{
    AbandonRequest, Abandoned, Created, ExpertCreated, PanelEvolved, abandon, create,
    create_expert, evolve_panel,
};
pub use export_record::{
    ExportRequest, Exported, Format, Printed, export, is_log_export, json, printed, record,
};
pub use project::{ConfirmTrust, PrintNotice, Project, SettingsLoader};
pub use queries::{
    CiteRequest, Cited, Found, ListRequest, Listed, Matched, SearchOp, SearchRequest,
    SimilarRequest, Statistics, StatsRequest, Uncited, cite, list, search, similar, stats,
};
pub use round_context::{
    ContextRequest, Prompt, PromptFile, PromptsWritten, context, prompt, prompts,
};
pub use rounds::{ProgressRequest, VerdictRegistered, give_verdict, progress, register, unwrapped};
pub(crate) use rounds::{judging, registering};
pub use verdict_log::{
    Imported, Importing, LOG_BYTES_MAX, LogFilter, Malformed, Otherwise, Overridden,
    PersonsDecision, TailRow, export_log, import_log, override_verdict, tail_log,
};
