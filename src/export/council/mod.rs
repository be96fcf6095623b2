//! The JSON document of a council (`ask --json`).
//!
//! It is computed from the run state alone, so a run, its resumption and its replay give the same
//! document.

mod document;
mod events;
mod health;
mod metrics;
mod rounds;
mod stop;
mod transparency;

pub use document::{CouncilDocument, council_document};
pub use events::{
    AdjudicationSummary, AskSummary, AuditRound, JudgementSummary, RunEvent, SeatSummary,
    derive_events,
};
pub use health::{PanelAttendance, PanelHealth, council_warnings, is_cut_short, truncation_note};
pub(crate) use health::{family_warning, price_warning, reply_warnings};
pub(crate) use metrics::run_metrics;
pub use metrics::{RunMetrics, cost_usd};
pub use stop::{CompletionStatus, StopNotice, completion_status, stop_notice};
pub use transparency::TransparencyRecord;
pub(crate) use transparency::transparency_record;
