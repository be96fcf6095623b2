//! Reviews files one after the other, for `review` and `sweep`.

use std::sync::Arc;

use tokio::sync::watch;

use super::super::session::{CliSession, ExitStatus};
use super::printer::{ReviewFormat, ReviewPrinter};
use crate::config::Settings;
use crate::convening::{RehearsalChoice, ReviewPanel};
use crate::domain::transcript::{RunState, RunStopReason};
use crate::error::Error;
use crate::hosting::{PreparedRun, ReviewInput, RunEngine, RunStart, prepare_review, start_run};
use crate::surfaces::cli::runs::cli_runtime::transport_factory;
use crate::surfaces::cli::runs::cli_runtime::{CliRuntime, Concurrency};
use crate::surfaces::cli::runs::output::run_exit as ended;
use crate::surfaces::cli::runs::output::{repair_log, sync_log};
use crate::surfaces::cli::runs::progress::ProgressDisplay;

/// Reviews the inputs in the given order, so that each adjudicator sees the earlier verdicts.
pub(super) fn review_inputs(
    session: &CliSession<'_>,
    settings: &Settings,
    rehearsal: &RehearsalChoice,
    inputs: Vec<ReviewInput>,
    format: ReviewFormat,
) -> Result<ExitStatus, Error> {
    let mut printer = ReviewPrinter::new(session, format, &settings.paths);
    let judged = match inputs.iter().any(|input| matches!(input, ReviewInput::Artifact(_))) {
        true => review_all(session, settings, rehearsal, inputs, &mut printer),
        // No model is called, so neither store nor runtime is opened.
        false => {
            repair_log(session, &session.open_if_present()?);
            inputs.iter().try_fold(ExitStatus::Ok, |done, input| {
                Ok(done.max(printer.print_unreviewed(input)?))
            })
        }
    };
    // Print the collected results even if the last review failed.
    printer.finish()?;
    judged
}

fn review_all(
    session: &CliSession<'_>,
    settings: &Settings,
    rehearsal: &RehearsalChoice,
    inputs: Vec<ReviewInput>,
    printer: &mut ReviewPrinter<'_>,
) -> Result<ExitStatus, Error> {
    let panel = ReviewPanel::new(settings, rehearsal, &transport_factory(session))?;
    let runtime = CliRuntime::open(session.open_or_create(&settings.paths)?, Concurrency::One)?;
    runtime.block_on(async |engine, interrupted| {
        let keep =
            || sync_log(session.ui, engine.project.store.as_ref(), &settings.review.log_path);
        keep();
        let mut done = ExitStatus::Ok;
        for input in inputs {
            if *interrupted.borrow() {
                return Ok(ExitStatus::Interrupted);
            }
            let ReviewInput::Artifact(artifact) = input else {
                done = done.max(printer.print_unreviewed(&input)?);
                continue;
            };
            let path = artifact.path.clone();
            let prepared = match prepare_review(&engine.project, settings, &panel, *artifact) {
                // This file cannot be reviewed; continue with the others.
                Err(error @ Error::Material(_)) => {
                    let input = ReviewInput::Unreadable { path: path.into(), error };
                    done = done.max(printer.print_unreviewed(&input)?);
                    continue;
                }
                prepared => prepared?,
            };
            let (stop, transcript) =
                complete_review(session, &engine, interrupted.clone(), prepared).await?;
            keep();
            printer.print_reviewed(&transcript)?;
            done = done.max(ended(&stop, &transcript));
        }
        Ok(done)
    })
}

/// Runs one review from its plan to its verdict.
async fn complete_review(
    session: &CliSession<'_>,
    engine: &RunEngine,
    interrupted: watch::Receiver<bool>,
    prepared: PreparedRun,
) -> Result<(RunStopReason, RunState), Error> {
    let progress = Arc::new(ProgressDisplay::new(session));
    let context = engine.run_context(progress.clone(), None);
    let started = start_run(context, RunStart::New(prepared)).await?;
    let ended = engine.finish_run(started, interrupted).await;
    progress.clear_spinners();
    ended
}
