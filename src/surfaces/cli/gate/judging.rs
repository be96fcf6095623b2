//! Reviews files one after the other, for `review` and `sweep`.

use std::sync::Arc;

use tokio::sync::watch;

use super::super::session::{Done, Session};
use super::printer::{Format, Printer};
use crate::config::Settings;
use crate::convening::{RehearsalChoice, ReviewPanel};
use crate::domain::transcript::{Stop, Transcript};
use crate::error::Error;
use crate::hosting::{PreparedRun, ReviewInput, RunEngine, RunStart, prepare_review, start_run};
use crate::surfaces::cli::runs::cli_runtime::transport_factory;
use crate::surfaces::cli::runs::cli_runtime::{CliRuntime, Concurrency};
use crate::surfaces::cli::runs::output::run_exit as ended;
use crate::surfaces::cli::runs::output::{repair_log, sync_log};
use crate::surfaces::cli::runs::progress::ProgressDisplay;

/// Reviews the inputs in the given order, so that each adjudicator sees the earlier verdicts.
pub(super) fn judge(
    session: &Session<'_>,
    settings: &Settings,
    rehearsal: &RehearsalChoice,
    inputs: Vec<ReviewInput>,
    format: Format,
) -> Result<Done, Error> {
    let mut printer = Printer::new(session, format, &settings.located);
    let judged = match inputs.iter().any(|input| matches!(input, ReviewInput::Artifact(_))) {
        true => judge_all(session, settings, rehearsal, inputs, &mut printer),
        // No model is called, so neither store nor runtime is opened.
        false => {
            repair_log(session, &session.for_looking_first()?);
            inputs.iter().try_fold(Done::Well, |done, input| Ok(done.max(printer.unjudged(input)?)))
        }
    };
    // Print the collected results even if the last review failed.
    printer.finish()?;
    judged
}

fn judge_all(
    session: &Session<'_>,
    settings: &Settings,
    rehearsal: &RehearsalChoice,
    inputs: Vec<ReviewInput>,
    printer: &mut Printer<'_>,
) -> Result<Done, Error> {
    let panel = ReviewPanel::new(settings, rehearsal, &transport_factory(session))?;
    let runtime = CliRuntime::open(session.open(&settings.located)?, Concurrency::One)?;
    runtime.block_on(async |engine, interrupted| {
        let keep =
            || sync_log(session.ui, engine.project.store.as_ref(), &settings.review.log_path);
        keep();
        let mut done = Done::Well;
        for input in inputs {
            if *interrupted.borrow() {
                return Ok(Done::Interrupted);
            }
            let ReviewInput::Artifact(artifact) = input else {
                done = done.max(printer.unjudged(&input)?);
                continue;
            };
            let path = artifact.path.clone();
            let prepared = match prepare_review(&engine.project, settings, &panel, *artifact) {
                // This file cannot be reviewed; continue with the others.
                Err(error @ Error::Material(_)) => {
                    let input = ReviewInput::Unreadable { path: path.into(), error };
                    done = done.max(printer.unjudged(&input)?);
                    continue;
                }
                prepared => prepared?,
            };
            let (stop, transcript) =
                complete_review(session, &engine, interrupted.clone(), prepared).await?;
            keep();
            printer.judged(&transcript)?;
            done = done.max(ended(&stop, &transcript));
        }
        Ok(done)
    })
}

/// Runs one review from its plan to its verdict.
async fn complete_review(
    session: &Session<'_>,
    engine: &RunEngine,
    interrupted: watch::Receiver<bool>,
    prepared: PreparedRun,
) -> Result<(Stop, Transcript), Error> {
    let progress = Arc::new(ProgressDisplay::new(session));
    let context = engine.run_context(progress.clone(), None);
    let started = start_run(context, RunStart::New(prepared)).await?;
    let ended = engine.finish_run(started, interrupted).await;
    progress.clear();
    ended
}
