//! What the engine is told to do next.

use crate::domain::ask::Ask;
use crate::domain::conclusion::Ending;
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::gate::Ruling;
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
    /// The report enters the record; with it the rounds are over.
    Deliver(Box<CouncilFinalReport>),
    /// The rounds are over, and the ending begins.
    Conclude,
    /// The gate has decided; nothing more will be asked.
    Rule(Box<Ruling>),
    /// It came to its terminal state; nothing more will be asked.
    End(Box<Ending>),
    /// Give up honestly, keeping what was heard.
    Stop(Stop),
}
