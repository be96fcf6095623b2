//! A plan before anything is chosen for it.

use std::sync::Arc;

use crate::config::Settings;
use crate::domain::council::words::Mode;
use crate::domain::plan::{Delivery, Plan, Quorum, Seat, ShortCircuit, Stakes};

/// What the settings say for every run at these seats; what a protocol adds is left out.
pub(super) fn bare(settings: &Settings, seats: Vec<Seat>) -> Plan {
    Plan {
        mode: Mode::General,
        seats,
        chairs: Vec::new(),
        timeouts: settings.council.timeouts,
        quorum: Quorum::default(),
        short_circuit: ShortCircuit::default(),
        conclusion: None,
        gate: None,
        stakes: Stakes::Normal,
        delivery: Delivery::Synthesis,
        anonymous_review: false,
        keep_prompts: settings.retention.keep_prompts,
        caps: settings.budget,
        secret: String::new(),
        context: Arc::default(),
        rehearsal_script: None,
        notes: Vec::new(),
    }
}
