//! `watch`: follows a run that another process is working on.

use std::thread::sleep;

use clap::Args;

use super::super::session::{Done, Session};
use super::super::terminal_text::DataForm;
use super::presenting::{done, present};
use super::progress::Progress;
use crate::domain::change::Entry;
use crate::domain::ids::DialogueId;
use crate::engine::Observer;
use crate::error::Error;
use crate::export::council::{Event, events};
use crate::hosting::{FOLLOWING_PAUSE, Following};
use crate::operations::Workspace;
use crate::record::no_dialogue;

/// Follow a council or a review that is running
///
/// Shows what happened so far and what happens next, until it ends. With `--json`, one
/// event per line (docs/events.md). Ctrl-C ends the watching, not the run.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The council or review.
    id: String,
}

impl Watch {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| no_dialogue(&self.id))?;
        let workspace = session.for_existing()?;
        let mut follower = Follower::new(session);
        loop {
            let is_running = follower.following.is_at_work(workspace.folders.store_file());
            let fresh = workspace.store.entries(&id, follower.following.seq)?;
            let is_quiet = fresh.is_empty();
            if is_quiet && follower.following.seq == 0 {
                return Err(no_dialogue(id.as_str()).into());
            }
            for entry in fresh {
                follower.take(&id, &entry)?;
            }
            if is_quiet && !is_running {
                return follower.end(session, &workspace);
            }
            sleep(FOLLOWING_PAUSE);
        }
    }
}

/// What was seen of a run so far.
pub(super) struct Follower<'a> {
    session: &'a Session<'a>,
    progress: Progress,
    pub following: Following,
}

impl<'a> Follower<'a> {
    pub(super) fn new(session: &'a Session<'a>) -> Self {
        let progress = Progress::new(session.ui);
        Self { session, progress, following: Following::default() }
    }

    /// Shows an entry: as lines of JSON, or as the run itself would have shown it.
    pub(super) fn take(&mut self, id: &DialogueId, entry: &Entry) -> Result<(), Error> {
        let is_known = self.following.transcript.is_some();
        let fresh = self.following.take(entry);
        let Some(transcript) = &self.following.transcript else { return Ok(()) };
        if !self.session.ui.json {
            if !is_known && entry.seq > 1 {
                self.progress = Progress::knowing(self.session.ui, transcript);
            }
            self.progress.saw(id, entry.at, &fresh);
            return Ok(());
        }
        for event in events(transcript, &fresh) {
            self.session.ui.stream_data(&line(id, entry, &event)?, DataForm::Json)?;
        }
        Ok(())
    }

    /// Shows the result, or says that nobody works on it any more.
    pub(super) fn end(self, session: &Session<'_>, workspace: &Workspace) -> Result<Done, Error> {
        self.progress.clear();
        let Some(transcript) = &self.following.transcript else {
            session.ui.say("nothing was run on this dialogue: there is nothing to follow");
            return Ok(Done::WithFindings);
        };
        if !session.ui.json {
            present(session, workspace.store.as_ref(), transcript)?;
        }
        if transcript.stopped.is_none() {
            let id = &transcript.opening.dialogue_id;
            session.ui.say(&format!("nobody is working on it: `plenary resume {id}` goes on"));
        }
        Ok(transcript.stopped.as_ref().map_or(Done::Incomplete, |stop| done(stop, transcript)))
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
