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
pub use arguments::parse_arguments;
pub use checks::{
    AuditFilter, AuditResult, AuditWindow, DueItem, DueResult, HealthResult, HealthWindow,
    OutcomeRecorded, VerifyResult, audit_verdicts, check_health, list_due, record_outcome,
    verify_store,
};
pub(crate) use dialogues::JUDGE_PROTOCOL;
pub use dialogues::{
    AbandonRequest, AbandonResult, CreateResult, ExpertResult, PanelResult, abandon_dialogue,
    create_dialogue, create_expert, evolve_panel,
};
pub use export_record::{
    ExportRequest, ExportResult, Format, PrintedExport, export_record, is_log_export, print_record,
    read_record, record_json,
};
pub use project::{ConfirmTrust, PrintNotice, Project, SettingsLoader};
pub use queries::{
    CiteError, CiteRequest, CiteResult, ListRequest, ListResult, SearchOp, SearchRequest,
    SearchResult, SimilarRequest, SimilarResult, StatsRequest, StatsResult, count_records,
    find_similar, list_dialogues, resolve_citations, search_store,
};
pub use round_context::{
    ContextRequest, ExpertPrompt, PromptFile, PromptsWritten, read_context, render_prompt,
    render_prompts,
};
pub use rounds::{
    ProgressRequest, VerdictRegistered, give_verdict, read_progress, register_round, unwrap_batch,
};
pub(crate) use rounds::{batch_changes, verdict_changes};
pub use verdict_log::{
    ConflictingLine, ImportResult, ImportSource, LOG_BYTES_MAX, LogFilter, MalformedLine,
    OverrideResult, PersonsDecision, TailRow, export_log, import_log, override_verdict, tail_log,
};
