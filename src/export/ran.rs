//! The part of a dialogue's export that comes from its run, or from imported verdicts.

use crate::domain::gate::LogRow;
use crate::export::council::CouncilDocument;
use crate::export::gate::ReviewDocument;

/// Serialised under the variant's name.
#[derive(Debug)]
pub enum RunExport {
    Council(Box<CouncilDocument>),
    Review(Box<ReviewDocument>),
    /// Verdicts imported from another log, without a run.
    Imported(Vec<LogRow>),
}
