//! A run that only has to be opened.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::gate::Redaction;
use crate::engine::{Connections, Question};

#[derive(Debug)]
pub struct Prepared {
    pub question: Question,
    pub connections: Connections,
    /// What must not be written to the verdict log.
    pub redaction: Arc<Redaction>,
}

impl Prepared {
    /// How long it may take.
    pub fn wall(&self) -> Duration {
        Duration::from_millis(self.question.plan.caps.wall_ms)
    }
}
