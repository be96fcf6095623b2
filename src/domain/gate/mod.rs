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

pub use adjudication::Adjudication;
pub use artifact::{Artifact, Tier};
pub use foreign::{ForeignRow, NotARow};
pub use judgement::{Block, Concern, Judgement, Leaning};
pub use locus::{Lines, names_lines, resolve};
pub use log_query::{
    ContentQuery, DecidedContent, LogLine, LogQuery, LogStretch, LoggedVerdict, RecordedOverride,
};
pub use panel::{ADJUDICATOR, BuiltIn, score_names};
pub use plan::{ContextRef, Deliberator, GatePlan, PriorVerdict};
pub use policy::{Arithmetic, Decision, Policy, PolicyName};
pub use redaction::{REDACTED, Redaction};
pub use row::{AdjudicatorRow, LogRow, ROW_VERSION, SeatRow};
pub use ruling::{GateVerdict, Override, Ruling};
pub use sampling::is_sampled;
