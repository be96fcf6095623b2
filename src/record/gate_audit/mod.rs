//! Statistics of the verdict log: verdict counts, blocks, changes of mind, human overrides and
//! drift.
//!
//! `StatisticsBuilder` takes one row at a time and keeps counts, not rows. All comparisons use
//! whole numbers, so rounding cannot hide a crossed limit.

mod auditor;
mod drift;
mod group;
mod overrules;
mod remarks;
mod scores;
mod seats;
mod significance;
mod spread;
#[cfg(test)]
mod tests;

pub use auditor::{Auditor, Drift, GateAudit, OfProducer, OfScore, OfType, OfWeek};
pub use drift::{DriftVerdict, Measure, Movement, Subject, SubjectKind, VERDICTS_PER_WEEK_MIN};
pub use overrules::Overrules;
pub use remarks::{Remark, RemarkCode};
pub use seats::{DeliberatorCount, MindChange};
pub use significance::WEEKS;
pub use spread::Spread;
