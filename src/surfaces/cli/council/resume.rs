//! `resume`: goes on with a run that was cut short.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::super::session::{Done, Session};

use super::hall::{Crowd, Desk, Hall, outlets, present};
use super::progress::Progress;
use super::typed;
use crate::config::Overrides;
use crate::convening::reconnect;
use crate::domain::change::Change;
use crate::domain::ids::DialogueId;
use crate::domain::plan::Caps;
use crate::domain::transcript::Stop;
use crate::engine::{load, take_up};
use crate::error::Error;
use crate::record::no_dialogue;

/// Go on with a council that was cut short
///
/// By a crash, Ctrl-C, the deadline, the budget, or too few who could be heard. What was
/// answered is never asked again; a call that was in flight is, and the record says so.
/// A council that is finished is printed again.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The council.
    id: String,
    /// What it may spend in all, from its beginning.
    #[arg(long, value_name = "USD", value_parser = typed::dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Stop after this time.
    #[arg(long, value_name = "TIME", value_parser = typed::time)]
    deadline: Option<u64>,
}

impl Resume {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| no_dialogue(&self.id))?;
        let workspace = session.for_existing()?;
        let loaded = load(workspace.store.as_ref(), &id)?;
        if loaded.transcript.stopped == Some(Stop::Done) {
            session.ui.say("this council is finished");
            present(session, workspace.store.as_ref(), &loaded.transcript)?;
            return Ok(Done::Well);
        }
        let overrides = Overrides { budget_usd: self.budget_usd, deadline_ms: self.deadline };
        let is_rehearsal = loaded.transcript.opening.rehearsal;
        let settings = match is_rehearsal {
            true => session.settings_without_reach(&overrides)?,
            false => session.settings(&overrides)?,
        };
        let plan = &loaded.transcript.plan;
        let connections = reconnect(plan, is_rehearsal, &settings, &outlets(session));
        let caps = other_caps(plan.caps, settings.budget, self.budget_usd.is_some());
        let different = caps.map(|caps| Change::CapsSet { caps }).into_iter().collect();
        // The deadline of the command that began it has passed; it does not bind this one.
        let wall = Duration::from_millis(settings.budget.wall_ms);
        let progress = Arc::new(Progress::knowing(session.ui, &loaded.transcript));
        let hall = Hall::open(workspace, Crowd::One)?;
        hall.hold(session, &progress, async |desk: Arc<Desk>| {
            let surroundings = desk.surroundings(progress.clone(), None);
            let run = take_up(loaded, different, connections, &desk.owner, surroundings).await?;
            desk.see_through(run, wall).await
        })
    }
}

/// The caps it was planned with, or those of now where they allow more; what is typed counts
/// as it is. Nothing, where nothing changes.
pub(super) fn other_caps(planned: Caps, now: Caps, is_typed: bool) -> Option<Caps> {
    let more = planned.usd_micros.max(now.usd_micros);
    let caps = Caps {
        usd_micros: if is_typed { now.usd_micros } else { more },
        tokens: planned.tokens.max(now.tokens),
        calls: planned.calls.max(now.calls),
        wall_ms: planned.wall_ms,
    };
    (caps != planned).then_some(caps)
}
