//! `resume`: goes on with a run that broke off.

use std::sync::Arc;

use clap::Args;

use super::super::session::{Done, Session};
use super::hall::{Crowd, Floor, Hall};
use super::keeping::{keep_log, mend_log};
use super::outlets::outlets;
use super::presenting::{done, present};
use super::progress::Progress;
use super::since::since_then;
use super::typed;
use crate::config::Overrides;
use crate::domain::ids::DialogueId;
use crate::domain::transcript::Stop;
use crate::engine::load;
use crate::error::Error;
use crate::export::safe_text;
use crate::hosting::Resumption;
use crate::record::no_dialogue;

/// Go on with a run that broke off
///
/// By a crash, Ctrl-C, the deadline, the budget, too few who could be heard, or a conclusion
/// that could not be written, audited or mended. What was answered is never asked again; a
/// call that was in flight is, and the record says so. What is finished is printed again.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The council or dialogue.
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
        if let Some(gate) = loaded.transcript.gate() {
            mend_log(session, &workspace);
            let said = since_then(&gate.artifact, &session.premises.located()?.documents);
            said.iter().for_each(|said| session.ui.say(&safe_text::line(said)));
        }
        if loaded.transcript.stopped == Some(Stop::Done) {
            session.ui.say("it is finished");
            present(session, workspace.store.as_ref(), &loaded.transcript)?;
            return Ok(done(&Stop::Done, &loaded.transcript));
        }
        let overrides = Overrides { budget_usd: self.budget_usd, deadline_ms: self.deadline };
        let settings = session.premises.settings_for(&loaded.transcript.opening, &overrides)?;
        let is_review = loaded.transcript.plan.gate.is_some();
        let progress = Arc::new(Progress::knowing(session.ui, &loaded.transcript));
        let resumption = Resumption::prepare(loaded, &settings, &overrides, &outlets(session));
        let hall = Hall::open(workspace, Crowd::One)?;
        hall.hold(session, &progress, async |floor: Arc<Floor>| {
            let wall = resumption.wall;
            let run = resumption.take_up(&floor.desk, progress.clone()).await?;
            let ended = floor.see_through(run, wall).await;
            if is_review {
                let store = floor.desk.workspace.store.as_ref();
                keep_log(session.ui, store, &settings.review.log_path);
            }
            ended
        })
    }
}
