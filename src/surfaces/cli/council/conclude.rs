//! `conclude`: writes the audited conclusion of a record that has none.

use std::sync::Arc;

use clap::Args;

use crate::ambient::Machine;
use crate::config::{Overrides, Settings};
use crate::convening::{ending, ending_alone};
use crate::domain::change::{Change, Entry};
use crate::domain::dialogue::Dialogue;
use crate::domain::ids::DialogueId;
use crate::domain::intervention::Intervention;
use crate::domain::plan::{Auditing, ConclusionPlan};
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::{Stop, Transcript};
use crate::engine::LoadedRun;
use crate::error::Error;
use crate::hosting::{ResumePlan, RunStart};
use crate::record::no_dialogue;
use crate::surfaces::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::surfaces::cli::runs::output::print_result;
use crate::surfaces::cli::runs::progress::ProgressDisplay;
use crate::surfaces::cli::runs::value_parsers;
use crate::surfaces::cli::session::{Done, Session};

/// Conclude a record that has no conclusion yet
///
/// The Synthesizer writes five fields from the whole record, the Blind Critic tries to break
/// them, at most once they are mended. Works for a council that ended with its report, for
/// one that was cut short after its first round, and for a dialogue that somebody leads.
#[derive(Debug, Args)]
pub(crate) struct ConcludeArgs {
    /// The council or dialogue.
    id: String,
    /// Conclude without an auditor; the result says so.
    #[arg(long)]
    no_audit: bool,
    /// What it may spend in all, from its beginning.
    #[arg(long, value_name = "USD", value_parser = value_parsers::dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Stop after this time; what is there can be resumed.
    #[arg(long, value_name = "TIME", value_parser = value_parsers::time)]
    deadline: Option<u64>,
}

impl ConcludeArgs {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| no_dialogue(&self.id))?;
        let project = session.for_existing()?;
        let dialogue = project.store.dialogue(&id)?;
        let dialogue = dialogue.ok_or_else(|| no_dialogue(id.as_str()))?;
        if !dialogue.opening.protocol.takes_contributions() {
            return Err(is_review(&id).into());
        }
        let entries = project.store.entries(&id, 0)?;
        let run = Transcript::of(&entries);
        if let Some(transcript) = run.as_ref().filter(|run| run.ending.is_some()) {
            session.ui.say("it has a conclusion already");
            print_result(session, project.store.as_ref(), transcript)?;
            return Ok(Done::Well);
        }
        let overrides = Overrides { budget_usd: self.budget_usd, deadline_ms: self.deadline };
        let settings = match &run {
            Some(run) => session.loader.load_run_settings(&run.opening, &overrides)?,
            None => session.loader.load_settings(&overrides)?,
        };
        if let Some(transcript) = run.as_ref().filter(|run| lacks_voices(run)) {
            session.ui.say(&format!("too few were heard to conclude on: `plenary resume {id}`"));
            print_result(session, project.store.as_ref(), transcript)?;
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
        let factory = transport_factory(session);
        let plan = ResumePlan::with_changes(loaded, changes, &settings, &overrides, &factory);
        let progress = Arc::new(ProgressDisplay::with_history(session, plan.transcript()));
        let runtime = CliRuntime::open(project, Concurrency::One)?;
        runtime.complete_run(session, &progress, RunStart::Concluded(plan), None)
    }

    /// Changes with which a run concludes on what it has.
    fn of_run(
        &self,
        entries: &[Entry],
        run: &Transcript,
        settings: &Settings,
    ) -> Result<(LoadedRun, Vec<Change>), Error> {
        let id = &run.opening.dialogue_id;
        let mut changes = Vec::new();
        let auditing = self.auditing();
        match &run.plan.conclusion {
            Some(planned) if planned.auditing == auditing => {}
            // The audit is switched on or off.
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
        if !run.opening.protocol.is_judged() && !run.asks_no_more_in_rounds() {
            let round = run.round_under_way();
            changes.push(Change::Intervened { round, intervention: Intervention::Stop });
        }
        let loaded = LoadedRun::of(entries).ok_or_else(|| no_dialogue(id.as_str()))?;
        Ok((loaded, changes))
    }

    /// A run on a led dialogue that only concludes it.
    fn of_record(
        &self,
        dialogue: &Dialogue,
        entries: &[Entry],
        settings: &Settings,
    ) -> Result<(LoadedRun, Vec<Change>), Error> {
        let id = dialogue.id();
        let missing = || no_dialogue(id.as_str());
        if dialogue.total_rounds == 0 {
            let fault = Fault::new(Code::NotSupported, format!("nothing was said in '{id}' yet"));
            return Err(fault.suggest("register a round first").into());
        }
        let plan = ending_alone(settings, self.auditing(), &Machine).ok_or_else(missing)?;
        let loaded = LoadedRun::planned(entries, plan.clone()).ok_or_else(missing)?;
        Ok((loaded, vec![Change::RunPlanned(Box::new(plan))]))
    }

    fn auditing(&self) -> Auditing {
        if self.no_audit { Auditing::Unaudited } else { Auditing::Audited }
    }
}

/// Whether the rounds stopped below quorum: then no conclusion is written.
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
