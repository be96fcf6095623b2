//! `watch` and `replay`: show a run from its journal, while another process works on it or later.

use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEntry;
use plenary_core::model::time::Moment;
use plenary_core::report::events::RunEvent;
use plenary_engine::app::dialogue_ids::resolve_id;
use plenary_engine::app::project::Project;
use plenary_engine::app::run_status::{FOLLOW_INTERVAL, RunFollower};
use plenary_engine::engine::live_text::{LIVE_INTERVAL, LiveReader};
use plenary_engine::engine::run::RunObserver;
use plenary_engine::error::{Error, to_json_text};

use crate::cli::runs::output::{ProgressDisplay, print_result, run_exit};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// Follow a running council, review or dialogue
///
/// Shows what happened so far and each new event until the run ends. It also follows a dialogue that
/// an agent leads: each panel, round and verdict, until the dialogue is closed. With `--json` it prints one
/// event per line (docs/events.md). Ctrl-C ends only `watch`; the run continues.
///
/// $ plenary watch tea-or-coffee-1a2b3c4d
///
/// $ plenary watch tea-or-coffee-1a2b3c4d --json
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The id of the run, as `plenary list` shows it
    id: String,
}

impl WatchArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_existing()?;
        let id = resolve_id(project.store.as_ref(), &self.id)?;
        let mut viewer = RunViewer::new(session);
        loop {
            let is_running = viewer.follower.is_running(project.folders.store_file());
            let fresh = project.store.load_entries(&id, viewer.follower.seq)?;
            let is_quiet = fresh.is_empty();
            if is_quiet && viewer.follower.seq == 0 {
                return Err(dialogue_not_found(id.as_str()).into());
            }
            for entry in fresh {
                viewer.show_entry(&id, &entry)?;
            }
            if is_quiet && !is_running && viewer.is_over(&project, &id)? {
                return viewer.show_result(session, &project);
            }
            viewer.follow_writing(&project)?;
        }
    }
}

/// Shows the entries of a run as they are read.
pub(crate) struct RunViewer<'a> {
    session: &'a CliSession<'a>,
    progress: ProgressDisplay,
    pub follower: RunFollower,
    live: LiveReader,
}

impl<'a> RunViewer<'a> {
    pub(crate) fn new(session: &'a CliSession<'a>) -> Self {
        let progress = ProgressDisplay::new(session);
        let follower = RunFollower::new(&session.loader.protocols);
        Self { session, progress, follower, live: LiveReader::default() }
    }

    /// Whether no event can follow. A dialogue without a run continues until it is closed.
    fn is_over(&self, project: &Project, id: &DialogueId) -> Result<bool, Error> {
        let dialogue = project.store.load_dialogue(id)?;
        let is_closed = dialogue.is_none_or(|dialogue| dialogue.status.is_closed());
        Ok(self.follower.state.is_some() || is_closed)
    }

    /// Shows what seats are writing until the journal is read again.
    fn follow_writing(&mut self, project: &Project) -> Result<(), Error> {
        let mut waited = Duration::ZERO;
        while waited < FOLLOW_INTERVAL {
            if let Some(state) = &self.follower.state {
                for event in self.live.read_events(project.folders.store_file(), state) {
                    match self.session.ui.json {
                        true => {
                            self.session
                                .ui
                                .stream_data(&to_json_text(&event)?, DataFormat::Json)?;
                        }
                        false => self.progress.on_writing(&event),
                    }
                }
            }
            sleep(LIVE_INTERVAL);
            waited += LIVE_INTERVAL;
        }
        Ok(())
    }

    /// Shows an entry: as lines of JSON, or as the run itself would have shown it.
    pub(crate) fn show_entry(
        &mut self,
        id: &DialogueId,
        entry: &JournalEntry,
    ) -> Result<(), Error> {
        let is_known = self.follower.state.is_some();
        let fresh = self.follower.apply_entry(entry);
        if self.session.ui.json {
            for event in self.follower.events_of(&fresh) {
                self.session.ui.stream_data(&event_line(id, entry, &event)?, DataFormat::Json)?;
            }
            return Ok(());
        }
        let Some(state) = &self.follower.state else {
            self.progress.show_dialogue_events(&self.follower.events_of(&fresh));
            return Ok(());
        };
        if !is_known && entry.seq > 1 {
            self.progress = ProgressDisplay::with_history(self.session, state);
        }
        self.progress.on_entry(id, entry.at, &fresh);
        Ok(())
    }

    /// Shows the result, or that no process works on the run.
    pub(crate) fn show_result(
        self,
        session: &CliSession<'_>,
        project: &Project,
    ) -> Result<ExitStatus, Error> {
        self.progress.clear_spinners();
        if self.follower.is_led() {
            return Ok(ExitStatus::Ok);
        }
        let Some(state) = &self.follower.state else {
            session.ui.print_note("this dialogue has no run to follow");
            return Ok(ExitStatus::WithFindings);
        };
        if !session.ui.json {
            print_result(session, project.store.as_ref(), state)?;
        }
        let Some(stop) = &state.stopped else {
            let id = &state.opening.dialogue_id;
            session.ui.print_note(&format!(
                "no process works on this run; `plenary resume {id}` continues it"
            ));
            return Ok(ExitStatus::Incomplete);
        };
        Ok(run_exit(session.loader.protocols.of_run(state)?, stop, state))
    }
}

fn event_line(id: &DialogueId, entry: &JournalEntry, event: &RunEvent) -> Result<String, Error> {
    #[derive(serde::Serialize)]
    struct StampedEvent<'a> {
        seq: u64,
        ts: Moment,
        dialogue_id: &'a DialogueId,
        #[serde(flatten)]
        event: &'a RunEvent,
    }
    to_json_text(&StampedEvent { seq: entry.seq, ts: entry.at, dialogue_id: id, event })
}

/// Longest pause of a replay.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Play back a council, review or dialogue from its journal
///
/// Shows the same screens and the same result as the run itself. It reads only the journal and
/// calls no model. With `--json` it prints one event per line (docs/events.md).
///
/// $ plenary replay tea-or-coffee-1a2b3c4d
///
/// $ plenary replay tea-or-coffee-1a2b3c4d --speed 10
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The id of the run, as `plenary list` shows it
    id: String,
    /// Speed as a multiple of the original; 0 does not wait [default: 4 on a terminal, else 0]
    #[arg(long, value_name = "FACTOR", value_parser = parse_speed, allow_negative_numbers = true)]
    speed: Option<f64>,
}

fn parse_speed(typed: &str) -> Result<f64, &'static str> {
    let speed = typed.parse().ok().filter(|speed: &f64| speed.is_finite() && *speed >= 0.0);
    speed.ok_or("expected a number from 0, such as `4`")
}

impl ReplayArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_existing()?;
        let id = resolve_id(project.store.as_ref(), &self.id)?;
        let entries = project.store.load_entries(&id, 0)?;
        if entries.is_empty() {
            return Err(dialogue_not_found(id.as_str()).into());
        }
        let speed = self.speed.unwrap_or(if session.ui.is_watched() { 4.0 } else { 0.0 });
        let mut viewer = RunViewer::new(session);
        let mut last: Option<Moment> = None;
        for entry in &entries {
            if let Some(last) = last {
                sleep(replay_pause(entry.at.millis_since(last), speed));
            }
            last = Some(entry.at);
            viewer.show_entry(&id, entry)?;
        }
        viewer.show_result(session, &project)
    }
}

fn replay_pause(millis: u64, speed: f64) -> Duration {
    if speed.is_nan() || speed <= 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(millis as f64 / 1_000.0 / speed).unwrap_or(PAUSE_MAX).min(PAUSE_MAX)
}
