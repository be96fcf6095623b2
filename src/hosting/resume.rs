//! A run that broke off, and what it takes to go on with it.

use std::sync::Arc;
use std::time::Duration;

use super::desk::Desk;
use crate::config::{Overrides, Settings};
use crate::convening::{Outlets, reconnect};
use crate::domain::change::Change;
use crate::domain::gate::Redaction;
use crate::domain::plan::Caps;
use crate::domain::transcript::Transcript;
use crate::engine::{Connections, Deliberation, Loaded, Observer, Surroundings, take_up};
use crate::error::Error;

#[derive(Debug)]
pub struct Resumption {
    loaded: Loaded,
    different: Vec<Change>,
    connections: Connections,
    redaction: Arc<Redaction>,
    /// The deadline of the command that began it has passed; it does not bind this one.
    pub wall: Duration,
}

/// Who resumes a run.
#[derive(Debug, Clone, Copy)]
enum Resumer {
    /// The person at the command line, who may raise what a run may spend.
    Operator,
    /// A client of a server, who may not.
    Caller,
}

impl Resumption {
    /// By the settings of now, which must lead to the seats it was planned with.
    pub fn prepare(
        loaded: Loaded,
        settings: &Settings,
        overrides: &Overrides,
        outlets: &Outlets,
    ) -> Self {
        Self::build(loaded, Vec::new(), settings, overrides, outlets, Resumer::Operator)
    }

    /// The same for a caller of a server. The settings are those of
    /// [`lower_limits`](super::caller_limits::lower_limits).
    pub fn prepare_for_caller(
        loaded: Loaded,
        settings: &Settings,
        overrides: &Overrides,
        outlets: &Outlets,
    ) -> Self {
        Self::build(loaded, Vec::new(), settings, overrides, outlets, Resumer::Caller)
    }

    /// The same, of a run that is to go on otherwise than it was planned; seats may have come.
    pub fn changed(
        loaded: Loaded,
        changes: Vec<Change>,
        settings: &Settings,
        overrides: &Overrides,
        outlets: &Outlets,
    ) -> Self {
        Self::build(loaded, changes, settings, overrides, outlets, Resumer::Operator)
    }

    fn build(
        loaded: Loaded,
        changes: Vec<Change>,
        settings: &Settings,
        overrides: &Overrides,
        outlets: &Outlets,
        resumer: Resumer,
    ) -> Self {
        let mut to_be = loaded.transcript.clone();
        to_be.add(to_be.last_entry_at, &changes);
        let connections = reconnect(&to_be.plan, to_be.opening.rehearsal, settings, outlets);
        let planned = loaded.transcript.plan.caps;
        let caps = match resumer {
            Resumer::Operator => raised(planned, settings.budget, overrides.budget_usd),
            Resumer::Caller => limited(planned, settings.budget, overrides.budget_usd),
        };
        let caps = (caps != planned).then_some(Change::CapsSet { caps });
        Self {
            different: caps.into_iter().chain(changes).collect(),
            connections,
            redaction: Arc::new(settings.review.redact.clone()),
            wall: Duration::from_millis(settings.budget.wall_ms),
            loaded,
        }
    }

    /// The run as it stands, before it goes on.
    pub fn transcript(&self) -> &Transcript {
        &self.loaded.transcript
    }

    /// Claims it for this process.
    pub async fn take_up(
        self,
        desk: &Desk,
        observer: Arc<dyn Observer>,
    ) -> Result<Deliberation, Error> {
        let Self { loaded, different, connections, redaction, .. } = self;
        let surroundings = Surroundings { redaction, ..desk.surroundings(observer, None) };
        take_up(loaded, different, connections, &desk.owner, surroundings).await
    }
}

/// Money stays what it was planned with, unless somebody names another sum now: whoever asked
/// meant it as a limit. Of tokens and calls, those of now where they allow more.
fn raised(planned: Caps, now: Caps, named_usd: Option<f64>) -> Caps {
    Caps {
        usd_micros: if named_usd.is_some() { now.usd_micros } else { planned.usd_micros },
        tokens: planned.tokens.max(now.tokens),
        calls: planned.calls.max(now.calls),
        wall_ms: planned.wall_ms,
    }
}

/// A run that a caller resumes is bound by the operator's present limits, also where it began
/// with higher ones. The command line may keep those.
fn limited(planned: Caps, now: Caps, named_usd: Option<f64>) -> Caps {
    let usd_micros = match named_usd {
        Some(_) => now.usd_micros,
        None => planned.usd_micros.min(now.usd_micros),
    };
    Caps { usd_micros, tokens: now.tokens, calls: now.calls, wall_ms: planned.wall_ms }
}
