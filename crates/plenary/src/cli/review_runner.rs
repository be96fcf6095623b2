//! Reviews files, several at once, for `review` and `sweep`.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::protocols::review::earlier_decision::EarlierDecision;
use plenary_core::protocols::review::types::ReviewArtifact;
use plenary_core::report::run_metrics::cost_usd;
use plenary_engine::app::classify_document::DocumentClassifier;
use plenary_engine::app::planning::panel_setup::RehearsalChoice;
use plenary_engine::app::planning::review_panel::ReviewPanelSetup;
use plenary_engine::app::prepare_run::{find_earlier_decision, prepare_review};
use plenary_engine::app::review_input::ReviewInput;
use plenary_engine::app::run_engine::RunEngine;
use plenary_engine::app::start_run::{PreparedRun, RunStart, start_run};
use plenary_engine::config::settings::Settings;
use plenary_engine::engine::run::NoopObserver;
use plenary_engine::engine::run_start::load_run_state;
use plenary_engine::error::Error;
use plenary_engine::providers::rehearsal::script::list_script_notes;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cli::review_printer::{InterruptedBatch, ReviewFormat, ReviewPrinter};
use crate::cli::runs::cli_runtime::{
    CliRuntime, Concurrency, print_interrupted_run, transport_factory,
};
use crate::cli::runs::count_bar::CountBar;
use crate::cli::runs::output::{ProgressDisplay, repair_project_log, run_exit as ended, sync_log};
use crate::cli::session::{CliSession, ExitStatus};

/// The files of a command, and how to review them.
#[derive(Debug)]
pub(crate) struct ReviewBatch {
    pub inputs: Vec<ReviewInput>,
    /// Reviews that run at once.
    pub jobs: usize,
    pub repeat: RepeatChoice,
}

/// What to do with a content that was decided before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepeatChoice {
    KeepDecision,
    JudgeAgain,
}

/// Reviews the inputs and prints the results in their order. What Ctrl-C left is for the caller to
/// print last.
pub(crate) fn review_inputs(
    session: &CliSession<'_>,
    settings: &Settings,
    rehearsal: &RehearsalChoice,
    batch: ReviewBatch,
    format: ReviewFormat,
) -> Result<(ExitStatus, Option<InterruptedBatch>), Error> {
    let mut printer = ReviewPrinter::new(session, format, &settings.paths);
    let inputs = &batch.inputs;
    let judged = match inputs.iter().any(ReviewInput::needs_model) {
        true => review_all(session, settings, rehearsal, batch, &mut printer),
        // No model is called, so neither store nor runtime is opened.
        false => {
            repair_project_log(session, &session.open_if_present()?);
            inputs.iter().try_fold(ExitStatus::Ok, |done, input| {
                Ok(done.max(printer.print_unreviewed(input)?))
            })
        }
    };
    // Print the collected results even if the last review failed.
    let interrupted = printer.finish()?;
    Ok((judged?, interrupted))
}

fn review_all(
    session: &CliSession<'_>,
    settings: &Settings,
    rehearsal: &RehearsalChoice,
    batch: ReviewBatch,
    printer: &mut ReviewPrinter<'_>,
) -> Result<ExitStatus, Error> {
    let panel = ReviewPanelSetup::new(settings, rehearsal, &transport_factory(session))?;
    let is_single = batch.inputs.len() == 1;
    let concurrency = if is_single { Concurrency::One } else { Concurrency::Many };
    let runtime = CliRuntime::open(session.open_or_create(&settings.paths)?, concurrency)?;
    runtime.block_on(async |engine, interrupted| {
        let keep =
            || sync_log(session.ui, engine.project.store.as_ref(), &settings.review.log_path);
        keep();
        let batch = match batch.inputs.iter().any(is_unclassified) {
            true => {
                let factory = transport_factory(session);
                let classifier = DocumentClassifier::new(settings, rehearsal, &factory)?;
                classify_inputs(&classifier, &engine, batch, &interrupted).await?
            }
            false => batch,
        };
        let work = ReviewWork { session, settings, panel: &panel, engine: &engine, interrupted };
        let done = match is_single {
            true => work.review_single(batch, printer).await,
            false => work.review_several(batch, printer).await,
        };
        keep();
        done
    })
}

fn is_unclassified(input: &ReviewInput) -> bool {
    matches!(input, ReviewInput::Unclassified(_))
}

/// Asks the classifier about the files that it decides on, several at once. A file whose call was
/// interrupted stays unclassified, and no review starts after it.
async fn classify_inputs(
    classifier: &DocumentClassifier,
    engine: &RunEngine,
    batch: ReviewBatch,
    interrupted: &watch::Receiver<bool>,
) -> Result<ReviewBatch, Error> {
    let classify = async |input: ReviewInput| {
        let ReviewInput::Unclassified(file) = input else { return Ok(input) };
        let found = classifier.classify(engine, (*file).clone(), interrupted.clone()).await?;
        Ok::<_, Error>(found.unwrap_or(ReviewInput::Unclassified(file)))
    };
    let classified = stream::iter(batch.inputs).map(classify).buffered(batch.jobs);
    Ok(ReviewBatch { inputs: classified.try_collect().await?, ..batch })
}

/// What all reviews of a command share.
struct ReviewWork<'a> {
    session: &'a CliSession<'a>,
    settings: &'a Settings,
    panel: &'a ReviewPanelSetup,
    engine: &'a Arc<RunEngine>,
    interrupted: watch::Receiver<bool>,
}

/// A file before its review.
enum PreparedReview {
    Run(Box<PreparedRun>),
    /// Nothing is asked: the file is skipped, cannot be read, or was decided before.
    Settled(Box<SettledReview>),
}

/// A file whose result is known without a model.
enum SettledReview {
    Unreviewed(ReviewInput),
    Decided { artifact: Box<ReviewArtifact>, earlier: EarlierDecision },
}

impl ReviewWork<'_> {
    fn prepare(&self, input: ReviewInput, choice: RepeatChoice) -> Result<PreparedReview, Error> {
        let settled = |settled| Ok(PreparedReview::Settled(Box::new(settled)));
        let ReviewInput::Artifact(artifact) = input else {
            return settled(SettledReview::Unreviewed(input));
        };
        let project = &self.engine.project;
        if choice == RepeatChoice::KeepDecision
            && let Some(earlier) =
                find_earlier_decision(project, self.settings, self.panel, &artifact)?
        {
            return settled(SettledReview::Decided { artifact, earlier });
        }
        let path = artifact.path.clone();
        match prepare_review(project, self.settings, self.panel, *artifact) {
            // This file cannot be reviewed; continue with the others.
            Err(error @ Error::Material(_)) => {
                settled(SettledReview::Unreviewed(ReviewInput::Unreadable {
                    path: path.into(),
                    error,
                }))
            }
            prepared => Ok(PreparedReview::Run(Box::new(prepared?))),
        }
    }

    fn print_settled(
        &self,
        settled: &SettledReview,
        printer: &mut ReviewPrinter<'_>,
    ) -> Result<ExitStatus, Error> {
        match settled {
            SettledReview::Unreviewed(input) => printer.print_unreviewed(input),
            SettledReview::Decided { artifact, earlier } => {
                let (store, id) = (self.engine.project.store.as_ref(), &earlier.dialogue_id);
                let run = load_run_state(&self.session.loader.protocols, store, id).ok();
                printer.print_decided(run.as_ref(), artifact, earlier)
            }
        }
    }

    /// Runs one review with a line per seat.
    async fn review_single(
        &self,
        batch: ReviewBatch,
        printer: &mut ReviewPrinter<'_>,
    ) -> Result<ExitStatus, Error> {
        if *self.interrupted.borrow() {
            return Ok(ExitStatus::Interrupted);
        }
        let Some(input) = batch.inputs.into_iter().next() else { return Ok(ExitStatus::Ok) };
        let prepared = match self.prepare(input, batch.repeat)? {
            PreparedReview::Settled(settled) => return self.print_settled(&settled, printer),
            PreparedReview::Run(prepared) => prepared,
        };
        let progress = Arc::new(ProgressDisplay::new(self.session));
        let context = self.engine.run_context(progress.clone(), None);
        let started = start_run(context, RunStart::New(prepared)).await?;
        let ended = self.engine.finish_run(started, self.interrupted.clone()).await;
        progress.clear_spinners();
        let (stop, state) = ended?;
        if stop == RunStopReason::Interrupted && !self.session.ui.json {
            print_interrupted_run(self.session, &state);
            return Ok(ExitStatus::Interrupted);
        }
        printer.print_reviewed(&state)?;
        list_script_notes(&state).iter().for_each(|note| self.session.ui.print_note(note));
        ended_status(self.session, &stop, &state)
    }

    /// Runs several reviews at once and prints them in the given order. Files that run at the same
    /// time do not see each other's verdicts.
    async fn review_several(
        &self,
        batch: ReviewBatch,
        printer: &mut ReviewPrinter<'_>,
    ) -> Result<ExitStatus, Error> {
        let total = batch.inputs.len();
        let mut bar = CountBar::new(self.session.ui, total, "files");
        let mut waiting = batch.inputs.into_iter().enumerate();
        let (mut reviews, mut finished) = (JoinSet::new(), BTreeMap::new());
        let (mut done, mut next, mut decided) = (ExitStatus::Ok, 0, 0);
        loop {
            while reviews.len() < batch.jobs && !*self.interrupted.borrow() {
                let Some((place, input)) = waiting.next() else { break };
                match self.prepare(input, batch.repeat)? {
                    PreparedReview::Settled(settled) => {
                        finished.insert(place, FinishedReview::Settled(settled));
                    }
                    PreparedReview::Run(prepared) => {
                        let engine = Arc::clone(self.engine);
                        let interrupted = self.interrupted.clone();
                        reviews.spawn(async move {
                            let context = engine.run_context(Arc::new(NoopObserver), None);
                            let started = start_run(context, RunStart::New(prepared)).await;
                            let ended = match started {
                                Ok(started) => engine.finish_run(started, interrupted).await,
                                Err(error) => Err(error),
                            };
                            (place, ended)
                        });
                    }
                }
            }
            while let Some(review) = finished.remove(&next) {
                bar.add_finished(review.cost_usd());
                decided += usize::from(review.is_decided());
                let exit = bar.print_above(|| self.print_finished(&review, printer))?;
                (done, next) = (done.max(exit), next + 1);
            }
            let Some(ended) = reviews.join_next().await else { break };
            let (place, ended) = ended.map_err(|error| Error::Runtime(error.into()))?;
            finished.insert(place, FinishedReview::Ran(Box::new(ended?)));
        }
        bar.clear();
        if *self.interrupted.borrow() && !self.session.ui.json {
            printer.interruption =
                Some(format!("Interrupted: {decided} of {total} files are done"));
        }
        Ok(if next < total { done.max(ExitStatus::Interrupted) } else { done })
    }

    fn print_finished(
        &self,
        review: &FinishedReview,
        printer: &mut ReviewPrinter<'_>,
    ) -> Result<ExitStatus, Error> {
        match review {
            FinishedReview::Settled(settled) => self.print_settled(settled, printer),
            FinishedReview::Ran(ran) => {
                let (stop, state) = ran.as_ref();
                match *stop == RunStopReason::Interrupted {
                    true => printer.print_interrupted(state)?,
                    false => printer.print_reviewed(state)?,
                }
                ended_status(self.session, stop, state)
            }
        }
    }
}

/// A review that can be printed when its turn comes.
enum FinishedReview {
    Settled(Box<SettledReview>),
    Ran(Box<(RunStopReason, RunState)>),
}

impl FinishedReview {
    /// False for a file that was not reviewed, or not to its end.
    fn is_decided(&self) -> bool {
        match self {
            Self::Settled(settled) => match settled.as_ref() {
                SettledReview::Decided { .. } => true,
                SettledReview::Unreviewed(_) => false,
            },
            Self::Ran(ran) => ran.0 == RunStopReason::Done,
        }
    }

    fn cost_usd(&self) -> Option<f64> {
        match self {
            Self::Settled(_) => None,
            Self::Ran(ran) => cost_usd(&ran.1),
        }
    }
}

fn ended_status(
    session: &CliSession<'_>,
    stop: &RunStopReason,
    state: &RunState,
) -> Result<ExitStatus, Error> {
    Ok(ended(session.loader.protocols.of_run(state)?, stop, state))
}
