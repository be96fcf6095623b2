//! `replay`: plays the record of a run back.

use std::thread::sleep;
use std::time::Duration;

use clap::Args;

use super::super::session::{Done, Session};
use super::watch::Follower;
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;
use crate::error::Error;
use crate::record::no_dialogue;

/// Nobody wants to wait for a model twice.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Play a council or a review back from its record
///
/// The same screens as when it ran, and the same result: nothing but the journal is read.
/// With `--json`, one event per line (docs/events.md).
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The council or review.
    id: String,
    /// How many times as fast as it went; 0 does not wait at all
    /// [default: 4 on a terminal, else 0]
    #[arg(long, value_name = "FACTOR")]
    speed: Option<f64>,
}

impl Replay {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| no_dialogue(&self.id))?;
        let workspace = session.for_existing()?;
        let entries = workspace.store.entries(&id, 0)?;
        if entries.is_empty() {
            return Err(no_dialogue(id.as_str()).into());
        }
        let speed = self.speed.unwrap_or(if session.ui.is_watched() { 4.0 } else { 0.0 });
        let mut follower = Follower::new(session);
        let mut last: Option<Moment> = None;
        for entry in &entries {
            if let Some(last) = last {
                sleep(pause(entry.at.millis_since(last), speed));
            }
            last = Some(entry.at);
            follower.take(&id, entry)?;
        }
        follower.end(session, &workspace)
    }
}

fn pause(millis: u64, speed: f64) -> Duration {
    if speed.is_nan() || speed <= 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(millis as f64 / 1_000.0 / speed).unwrap_or(PAUSE_MAX).min(PAUSE_MAX)
}
