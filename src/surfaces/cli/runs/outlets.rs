//! What the transports of a run are made of.

use std::time::Duration;

use super::super::session::Session;
use crate::convening::Outlets;

/// How long a rehearsed reply takes on a terminal, so that a person can follow it.
const REHEARSAL_PACE: Duration = Duration::from_millis(900);

/// One HTTP client for the process, and patience for a rehearsal that somebody watches.
pub(in crate::surfaces::cli) fn outlets(session: &Session<'_>) -> Outlets {
    Outlets { pace: session.ui.is_watched().then_some(REHEARSAL_PACE), ..Outlets::default() }
}
