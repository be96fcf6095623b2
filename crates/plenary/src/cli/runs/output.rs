//! Output of runs: the result as JSON or as a page, the exit status, the verdict log.

use std::path::Path;

use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::protocols::review::policy::ReviewDecision;
use plenary_engine::app::project::Project;
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::error::Error;
use plenary_engine::store::traits::Store;

use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::{TerminalUi, print_warning};

/// Prints the result of a run, as JSON or as a page.
pub(crate) fn print_result(
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
pub(crate) fn run_exit(stop: &RunStopReason, transcript: &RunState) -> ExitStatus {
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
pub(crate) fn repair_log(session: &CliSession<'_>, project: &Project) {
    if let Ok(settings) = session.loader.load_offline_settings(&BudgetOverrides::default()) {
        sync_log(session.ui, project.store.as_ref(), &settings.review.log_path);
    }
}

/// Synchronises the log file with the store. The verdicts are stored already: a failure to write is
/// reported and changes no verdict.
pub(crate) fn sync_log(ui: &TerminalUi, store: &dyn Store, path: &Path) {
    match plenary_engine::verdict_log::sync::sync_log(store, path) {
        Ok(synced) => synced.to_sentences(path).iter().for_each(|said| ui.print_note(said)),
        Err(error) => print_warning(ui, &error.into()),
    }
}
