//! `conclude`: the audited conclusion of a record that has none yet.

use std::sync::Arc;

use clap::Args;

use super::super::runs::hall::{Crowd, Floor, Hall};
use super::super::runs::outlets::outlets;
use super::super::runs::presenting::present;
use super::super::runs::progress::Progress;
use super::super::runs::typed;
use super::super::session::{Done, Session};
use crate::ambient::Machine;
use crate::config::{Overrides, Settings};
use crate::convening::{ending, ending_alone};
use crate::domain::change::{Change, Entry};
use crate::domain::dialogue::{Dialogue, Protocol};
use crate::domain::ids::DialogueId;
use crate::domain::intervention::Intervention;
use crate::domain::plan::{Auditing, ConclusionPlan};
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::{Stop, Transcript};
use crate::engine::Loaded;
use crate::error::Error;
use crate::hosting::Resumption;
use crate::record::no_dialogue;

/// Conclude a record that has no conclusion yet
///
/// The Synthesizer writes five fields from the whole record, the Blind Critic tries to break
/// them, at most once they are mended. Works for a council that ended with its report, for
/// one that was cut short after its first round, and for a dialogue that somebody leads.
#[derive(Debug, Args)]
pub(crate) struct Conclude {
    /// The council or dialogue.
    id: String,
    /// Conclude without an auditor; the result says so.
    #[arg(long)]
    no_audit: bool,
    /// What it may spend in all, from its beginning.
    #[arg(long, value_name = "USD", value_parser = typed::dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Stop after this time; what is there can be resumed.
    #[arg(long, value_name = "TIME", value_parser = typed::time)]
    deadline: Option<u64>,
}

impl Conclude {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| no_dialogue(&self.id))?;
        let workspace = session.for_existing()?;
        let dialogue = workspace.store.dialogue(&id)?;
        let dialogue = dialogue.ok_or_else(|| no_dialogue(id.as_str()))?;
        if dialogue.opening.protocol == Protocol::Review {
            return Err(is_review(&id).into());
        }
        let entries = workspace.store.entries(&id, 0)?;
        let run = Transcript::of(&entries);
        if let Some(transcript) = run.as_ref().filter(|run| run.ending.is_some()) {
            session.ui.say("it has a conclusion already");
            present(session, workspace.store.as_ref(), transcript)?;
            return Ok(Done::Well);
        }
        let overrides = Overrides { budget_usd: self.budget_usd, deadline_ms: self.deadline };
        let settings = match &run {
            Some(run) => session.premises.settings_for(&run.opening, &overrides)?,
            None => session.premises.settings(&overrides)?,
        };
        if let Some(transcript) = run.as_ref().filter(|run| lacks_voices(run)) {
            session.ui.say(&format!("too few were heard to conclude on: `plenary resume {id}`"));
            present(session, workspace.store.as_ref(), transcript)?;
            return Ok(Done::Incomplete);
        }
        let is_rehearsal = run.as_ref().is_some_and(|run| run.opening.rehearsal);
        if !is_rehearsal {
            settings.require_providers()?;
        }
        let (loaded, changes) = match run {
            Some(run) => self.of_run(&entries, &run, &settings)?,
            None => self.of_record(&dialogue, &entries, &settings)?,
        };
        let outlets = outlets(session);
        let resumption = Resumption::changed(loaded, changes, &settings, &overrides, &outlets);
        let progress = Arc::new(Progress::knowing(session.ui, resumption.transcript()));
        let hall = Hall::open(workspace, Crowd::One)?;
        hall.hold(session, &progress, async |floor: Arc<Floor>| {
            let wall = resumption.wall;
            let run = resumption.take_up(&floor.desk, progress.clone()).await?;
            floor.see_through(run, wall).await
        })
    }

    /// What must change for a run to conclude on what it has.
    fn of_run(
        &self,
        entries: &[Entry],
        run: &Transcript,
        settings: &Settings,
    ) -> Result<(Loaded, Vec<Change>), Error> {
        let id = &run.opening.dialogue_id;
        let mut changes = Vec::new();
        let auditing = self.auditing();
        match &run.plan.conclusion {
            Some(planned) if planned.auditing == auditing => {}
            // It was to be audited, and is not any more; or the other way round.
            Some(planned) => {
                let conclusion = ConclusionPlan { auditing, ..planned.clone() };
                changes.push(Change::ConclusionPlanned { conclusion, seats: Vec::new() });
            }
            None => {
                let planned = ending(settings, &run.plan.seats, auditing, run.opening.rehearsal);
                let (conclusion, seats) = planned.ok_or_else(|| no_dialogue(id.as_str()))?;
                changes.push(Change::ConclusionPlanned { conclusion, seats });
            }
        }
        if run.opening.protocol == Protocol::Council && !run.asks_no_more_in_rounds() {
            let round = run.round_under_way();
            changes.push(Change::Intervened { round, intervention: Intervention::Stop });
        }
        let loaded = Loaded::of(entries).ok_or_else(|| no_dialogue(id.as_str()))?;
        Ok((loaded, changes))
    }

    /// A run on a dialogue that somebody leads: nothing but its ending.
    fn of_record(
        &self,
        dialogue: &Dialogue,
        entries: &[Entry],
        settings: &Settings,
    ) -> Result<(Loaded, Vec<Change>), Error> {
        let id = dialogue.id();
        let missing = || no_dialogue(id.as_str());
        if dialogue.total_rounds == 0 {
            let fault = Fault::new(Code::NotSupported, format!("nothing was said in '{id}' yet"));
            return Err(fault.suggest("register a round first").into());
        }
        let plan = ending_alone(settings, self.auditing(), &Machine).ok_or_else(missing)?;
        let loaded = Loaded::planned(entries, plan.clone()).ok_or_else(missing)?;
        Ok((loaded, vec![Change::RunPlanned(Box::new(plan))]))
    }

    fn auditing(&self) -> Auditing {
        if self.no_audit { Auditing::Unaudited } else { Auditing::Audited }
    }
}

/// Whether its rounds stopped below quorum: nothing is concluded on that.
fn lacks_voices(run: &Transcript) -> bool {
    match run.stopped {
        Some(Stop::Quorum { .. } | Stop::Families { .. } | Stop::Partial { .. }) => true,
        Some(
            Stop::Done
            | Stop::Budget { .. }
            | Stop::Unconcluded { .. }
            | Stop::Unadjudicated { .. }
            | Stop::Deadline
            | Stop::Interrupted,
        )
        | None => false,
    }
}

fn is_review(id: &DialogueId) -> Fault {
    Fault::new(Code::NotSupported, format!("'{id}' is a review: its verdict is its end"))
        .suggest(format!("`plenary show {id}` shows it"))
}
