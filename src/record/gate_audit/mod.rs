//! What the verdict log says: how verdicts are spread, who blocks, who changes their mind, what
//! people overrule, and whether any of it drifts.
//!
//! An [`Auditor`] is shown one row at a time and keeps counts, not rows. All comparisons are made
//! in whole numbers: a share is over a limit or it is not.

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
