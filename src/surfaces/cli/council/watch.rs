//! `watch`: follows a run that another process is working on.

use std::thread::sleep;
use std::time::Duration;

use clap::Args;

use super::super::session::{Done, Session};
use super::hall::{done, present};
use super::progress::Progress;
use crate::domain::change::{Change, Entry};
use crate::domain::ids::DialogueId;
use crate::domain::transcript::Transcript;
use crate::engine::{Observer, due_readings, is_at_work};
use crate::error::Error;
use crate::export::council::{Event, events};
use crate::operations::Workspace;
use crate::record::no_dialogue;

/// How often the journal is looked at.
const PAUSE: Duration = Duration::from_millis(150);

/// Follow a council that is running
///
/// Shows what happened so far and what happens next, until it ends. With `--json`, one
/// event per line (docs/events.md). Ctrl-C ends the watching, not the council.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The council.
    id: String,
}

impl Watch {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| no_dialogue(&self.id))?;
        let workspace = session.for_existing()?;
        let mut follower = Follower::new(session);
        loop {
            // Looked at before the journal is read: what an owner wrote last is then in it.
            let is_running = follower.is_running(&workspace);
            let fresh = workspace.store.entries(&id, follower.seq)?;
            let is_quiet = fresh.is_empty();
            if is_quiet && follower.seq == 0 {
                return Err(no_dialogue(id.as_str()).into());
            }
            for entry in fresh {
                follower.take(&id, &entry)?;
            }
            if is_quiet && !is_running {
                return follower.end(session, &workspace);
            }
            sleep(PAUSE);
        }
    }
}

/// What was seen of a run so far.
pub(super) struct Follower<'a> {
    session: &'a Session<'a>,
    progress: Progress,
    transcript: Option<Transcript>,
    /// What happened before a run was planned on a dialogue that somebody leads.
    before: Vec<Entry>,
    pub seq: u64,
}

impl<'a> Follower<'a> {
    pub(super) fn new(session: &'a Session<'a>) -> Self {
        let progress = Progress::new(session.ui);
        Self { session, progress, transcript: None, before: Vec::new(), seq: 0 }
    }

    /// Shows an entry: as lines of JSON, or as the run itself would have shown it.
    pub(super) fn take(&mut self, id: &DialogueId, entry: &Entry) -> Result<(), Error> {
        self.seq = entry.seq;
        let fresh = self.fresh(entry);
        let Some(transcript) = &self.transcript else { return Ok(()) };
        if !self.session.ui.json {
            self.progress.saw(id, entry.at, &fresh);
            return Ok(());
        }
        for event in events(transcript, &fresh) {
            self.session.ui.print(&line(id, entry, &event)?)?;
        }
        Ok(())
    }

    /// What an entry brings. What a reply says is told with the reply, as when the run was
    /// live, and not again with the later entry that it was written into.
    fn fresh(&mut self, entry: &Entry) -> Vec<Change> {
        let Some(transcript) = &mut self.transcript else {
            self.before.push(entry.clone());
            self.transcript = Transcript::of(&self.before);
            if let Some(transcript) = self.transcript.as_ref().filter(|_| self.before.len() > 1) {
                self.progress = Progress::knowing(self.session.ui, transcript);
            }
            return entry.changes.clone();
        };
        let is_known =
            |ask: u32| transcript.asked(ask).is_some_and(|asked| asked.reading.is_some());
        let is_fresh =
            |change: &&Change| !matches!(change, Change::ReplyRead { ask, .. } if is_known(*ask));
        let mut fresh: Vec<Change> = entry.changes.iter().filter(is_fresh).cloned().collect();
        transcript.add(entry.at, &fresh);
        let due = due_readings(transcript);
        transcript.add(entry.at, &due);
        fresh.extend(due);
        fresh
    }

    fn is_running(&self, workspace: &Workspace) -> bool {
        // What is no council has no transcript, however much of it was read.
        let Some(transcript) = &self.transcript else { return self.seq == 0 };
        is_at_work(workspace.folders.store_folder(), transcript)
    }

    /// Shows the result, or says that nobody works on it any more.
    pub(super) fn end(self, session: &Session<'_>, workspace: &Workspace) -> Result<Done, Error> {
        self.progress.clear();
        let Some(transcript) = &self.transcript else {
            session.ui.say("this dialogue is not a council: it has no run to follow");
            return Ok(Done::WithFindings);
        };
        if !session.ui.json {
            present(session, workspace.store.as_ref(), transcript)?;
        }
        if transcript.stopped.is_none() {
            let id = &transcript.opening.dialogue_id;
            session.ui.say(&format!("nobody is working on it: `plenary resume {id}` goes on"));
        }
        Ok(transcript.stopped.as_ref().map_or(Done::Incomplete, done))
    }
}

fn line(id: &DialogueId, entry: &Entry, event: &Event) -> Result<String, Error> {
    #[derive(serde::Serialize)]
    struct Stamped<'a> {
        seq: u64,
        ts: crate::domain::time::Moment,
        dialogue_id: &'a DialogueId,
        #[serde(flatten)]
        event: &'a Event,
    }
    crate::error::document_text(&Stamped { seq: entry.seq, ts: entry.at, dialogue_id: id, event })
}
