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

pub use auditor::{
    DriftReport, ProducerVerdicts, ReviewStatistics, ScoreSeries, StatisticsBuilder, TypeVerdicts,
    WeekVerdicts,
};
pub use drift::{
    DriftMeasure, DriftMovement, DriftSubject, DriftSubjectKind, DriftVerdict,
    VERDICTS_PER_WEEK_MIN,
};
pub use overrules::OverrideCounts;
pub use remarks::{RemarkCode, StatisticsRemark};
pub use seats::{DeliberatorStatistics, MindChange};
pub use significance::DRIFT_WEEKS;
pub use spread::VerdictTally;
