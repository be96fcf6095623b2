//! Output of runs: the result as JSON or as a page, the exit status, the verdict log.

use std::path::Path;

use crate::config::BudgetOverrides;
use crate::domain::gate::ReviewDecision;
use crate::domain::transcript::{RunState, RunStopReason};
use crate::error::Error;
use crate::operations::Project;
use crate::record::dialogue_not_found;
use crate::store::Store;
use crate::surfaces::cli::report;
use crate::surfaces::cli::session::{CliSession, ExitStatus};
use crate::surfaces::cli::ui::TerminalUi;

/// Prints the result of a run, as JSON or as a page.
pub(in crate::surfaces::cli) fn print_result(
    session: &CliSession<'_>,
    store: &dyn Store,
    transcript: &RunState,
) -> Result<(), Error> {
    let (ui, id) = (session.ui, &transcript.opening.dialogue_id);
    let protocol = session.loader.protocols.of_run(transcript)?;
    if ui.json {
        let document = protocol.run_document(transcript).map_err(Error::Document)?;
        return ui.print_result(&document, |_| String::new());
    }
    let record = store.load_record(id)?.ok_or_else(|| dialogue_not_found(id.as_str()))?;
    ui.print_page(&protocol.result_page(&record, transcript, ui.page_canvas()))
}

/// Exit status for the way a run stopped.
pub(in crate::surfaces::cli) fn run_exit(
    stop: &RunStopReason,
    transcript: &RunState,
) -> ExitStatus {
    match stop {
        RunStopReason::Done => {
            match transcript.review_outcome.as_ref().map(|ruling| ruling.verdict) {
                None if transcript.review_plan().is_some() => ExitStatus::Incomplete,
                Some(ReviewDecision::Ship) | None => ExitStatus::Ok,
                Some(ReviewDecision::Revise) => ExitStatus::WithFindings,
                Some(ReviewDecision::Hold) => ExitStatus::Hold,
            }
        }
        RunStopReason::Interrupted => ExitStatus::Interrupted,
        RunStopReason::Quorum { .. }
        | RunStopReason::Families { .. }
        | RunStopReason::Partial { .. }
        | RunStopReason::Budget { .. }
        | RunStopReason::Unconcluded { .. }
        | RunStopReason::Unadjudicated { .. }
        | RunStopReason::Deadline => ExitStatus::Incomplete,
    }
}

/// Repairs the log file after a crash, for a command that calls no model. Commands that need the
/// settings report mistakes in them.
pub(in crate::surfaces::cli) fn repair_log(session: &CliSession<'_>, project: &Project) {
    if let Ok(settings) = session.loader.load_offline_settings(&BudgetOverrides::default()) {
        sync_log(session.ui, project.store.as_ref(), &settings.review.log_path);
    }
}

/// Synchronises the log file with the store. The verdicts are stored already: a failure to write is
/// reported and changes no verdict.
pub(in crate::surfaces::cli) fn sync_log(ui: &TerminalUi, store: &dyn Store, path: &Path) {
    match crate::verdict_log::sync_log(store, path) {
        Ok(synced) => synced.to_sentences(path).iter().for_each(|said| ui.print_note(said)),
        Err(error) => report::print_warning(ui, &error.into()),
    }
}
