//! What the engine is told to do next.

use crate::domain::ask::Ask;
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::transcript::{Shortcut, Stop};

/// The next thing the engine must do.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Send these concurrently, then ask the protocol again. Those that the transcript
    /// knows already were prepared by a run that died.
    Ask(Vec<Ask>),
    /// What a round found enters the record.
    Hold(u8),
    /// Whether a round can be skipped was decided; note it.
    Weigh(Shortcut),
    /// Hand over the report; nothing more will be asked.
    Deliver(Box<CouncilFinalReport>),
    /// Give up honestly, keeping what was heard.
    Stop(Stop),
}
