//! The review protocol (seed 001): four deliberators and an adjudicator judge a document.

mod adjudication;
mod artifact;
mod foreign;
mod judgement;
mod locus;
mod log_query;
mod panel;
mod plan;
mod policy;
mod prior;
mod redaction;
mod row;
mod ruling;
mod sampling;

pub use adjudication::AdjudicatorReply;
pub use artifact::{ReviewArtifact, ReviewTier};
pub use foreign::{ImportedRow, RowParseError};
pub use judgement::{BlockLevel, DeliberatorJudgement, DeliberatorVerdict, ReviewConcern};
pub use locus::{LineRange, names_lines, resolve_locus};
pub use log_query::{
    ContentDecision, ContentQuery, LogLine, LogQuery, LogRange, LoggedVerdict, RecordedOverride,
};
pub use panel::{ADJUDICATOR_SEAT, BuiltInDeliberator, score_names};
pub use plan::{DeliberatorContext, DeliberatorPlan, PriorVerdict, ReviewPlan};
pub use policy::{BlockTally, PolicyName, ReviewDecision, ReviewPolicy};
pub use redaction::{LogRedaction, REDACTION_MARK};
pub use row::{AdjudicatorRow, LogRow, ROW_VERSION, SeatRow};
pub use ruling::{FinalVerdict, ReviewOutcome, VerdictOverride};
pub use sampling::is_sampled;
