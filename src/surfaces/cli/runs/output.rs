//! Output of runs: the result as JSON or as a page, the exit status, the verdict log.

use std::path::Path;

use crate::config::Overrides;
use crate::domain::gate::Decision;
use crate::domain::transcript::{Stop, Transcript};
use crate::error::Error;
use crate::operations::Project;
use crate::record::no_dialogue;
use crate::store::Store;
use crate::surfaces::cli::report;
use crate::surfaces::cli::session::{Done, Session};
use crate::surfaces::cli::ui::Ui;
use crate::verdict_log::sync;

/// Prints the result of a run, as JSON or as a page.
pub(in crate::surfaces::cli) fn print_result(
    session: &Session<'_>,
    store: &dyn Store,
    transcript: &Transcript,
) -> Result<(), Error> {
    let (ui, id) = (session.ui, &transcript.opening.dialogue_id);
    let protocol = session.loader.protocols.of_run(transcript)?;
    if ui.json {
        let document = protocol.document(transcript).map_err(Error::Document)?;
        return ui.answer(&document, |_| String::new());
    }
    let record = store.record(id)?.ok_or_else(|| no_dialogue(id.as_str()))?;
    ui.print(&protocol.result_page(&record, transcript, ui.canvas()))
}

/// Exit status for the way a run stopped.
pub(in crate::surfaces::cli) fn run_exit(stop: &Stop, transcript: &Transcript) -> Done {
    match stop {
        Stop::Done => match transcript.ruling.as_ref().map(|ruling| ruling.verdict) {
            None if transcript.gate().is_some() => Done::Incomplete,
            Some(Decision::Ship) | None => Done::Well,
            Some(Decision::Revise) => Done::WithFindings,
            Some(Decision::Hold) => Done::Held,
        },
        Stop::Interrupted => Done::Interrupted,
        Stop::Quorum { .. }
        | Stop::Families { .. }
        | Stop::Partial { .. }
        | Stop::Budget { .. }
        | Stop::Unconcluded { .. }
        | Stop::Unadjudicated { .. }
        | Stop::Deadline => Done::Incomplete,
    }
}

/// Repairs the log file after a crash, for a command that calls no model. Commands that need the
/// settings report mistakes in them.
pub(in crate::surfaces::cli) fn repair_log(session: &Session<'_>, project: &Project) {
    if let Ok(settings) = session.loader.load_offline_settings(&Overrides::default()) {
        sync_log(session.ui, project.store.as_ref(), &settings.review.log_path);
    }
}

/// Synchronises the log file with the store. The verdicts are stored already: a failure to write is
/// reported and changes no verdict.
pub(in crate::surfaces::cli) fn sync_log(ui: &Ui, store: &dyn Store, path: &Path) {
    match sync(store, path) {
        Ok(synced) => synced.sentences(path).iter().for_each(|said| ui.say(said)),
        Err(error) => report::warn(ui, &error.into()),
    }
}
