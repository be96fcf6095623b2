//! Reviews files one after the other, for `review` and `sweep`.

use std::sync::Arc;

use clap::ValueEnum;
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::protocols::review::document::{
    ReviewDocument, review_document, skipped_document,
};
use plenary_core::protocols::review::github_annotations::{
    github_annotations, unreadable_annotation,
};
use plenary_core::protocols::review::page::{draw_review_line, review_page};
use plenary_core::protocols::review::sarif::sarif_document;
use plenary_core::report::page::{PageDetail, PageScope};
use plenary_core::report::terminal::page::draw_page;
use plenary_engine::app::planning::panel_setup::RehearsalChoice;
use plenary_engine::app::planning::review_panel::ReviewPanelSetup;
use plenary_engine::app::prepare_run::prepare_review;
use plenary_engine::app::review_input::{ReviewInput, SkippedFile};
use plenary_engine::app::run_engine::RunEngine;
use plenary_engine::app::start_run::{PreparedRun, RunStart, start_run};
use plenary_engine::config::locate::ProjectPaths;
use plenary_engine::config::settings::Settings;
use plenary_engine::error::{Error, to_json_text};
use serde_json::Value;
use tokio::sync::watch;

use crate::cli::review::{explain_skip, review_key_error};
use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::cli::runs::output::{ProgressDisplay, repair_project_log, run_exit as ended, sync_log};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;
use crate::cli::ui::print_error;

/// Reviews the inputs in the given order, so that each adjudicator sees the earlier verdicts.
pub(crate) fn review_inputs(
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
            repair_project_log(session, &session.open_if_present()?);
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
    let panel = ReviewPanelSetup::new(settings, rehearsal, &transport_factory(session))?;
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
            done =
                done.max(ended(session.loader.protocols.of_run(&transcript)?, &stop, &transcript));
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
    let started = start_run(context, RunStart::New(Box::new(prepared))).await?;
    let ended = engine.finish_run(started, interrupted).await;
    progress.clear_spinners();
    ended
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewFormat {
    Text,
    Json,
    /// Annotations of a GitHub workflow.
    Github,
    /// One SARIF 2.1.0 document for all.
    Sarif,
}

pub(crate) struct ReviewPrinter<'a> {
    session: &'a CliSession<'a>,
    format: ReviewFormat,
    located: &'a ProjectPaths,
    /// Documents for the SARIF document at the end.
    documents: Vec<ReviewDocument>,
    /// Paths and errors of files that could not be reviewed, for the same document.
    unread: Vec<(String, String)>,
}

impl<'a> ReviewPrinter<'a> {
    pub(crate) fn new(
        session: &'a CliSession<'a>,
        format: ReviewFormat,
        located: &'a ProjectPaths,
    ) -> Self {
        Self { session, format, located, documents: Vec::new(), unread: Vec::new() }
    }

    /// Prints a finished or stopped review.
    pub(crate) fn print_reviewed(&mut self, transcript: &RunState) -> Result<(), Error> {
        match self.format {
            ReviewFormat::Text => {
                let page = review_page(None, transcript, PageScope::new(PageDetail::Result));
                let ui = self.session.ui;
                ui.print_page(&draw_page(&page, ui.page_canvas()))
            }
            ReviewFormat::Json | ReviewFormat::Github | ReviewFormat::Sarif => {
                self.print_document(review_document(transcript))
            }
        }
    }

    /// Prints a file that was not reviewed, and returns the exit status for it.
    pub(crate) fn print_unreviewed(&mut self, input: &ReviewInput) -> Result<ExitStatus, Error> {
        match input {
            ReviewInput::Skipped(skipped) => {
                let because = explain_skip(skipped);
                let SkippedFile { path, artifact_type, tier, .. } = skipped;
                self.print_document(skipped_document(path, artifact_type, *tier, &because))?;
                Ok(ExitStatus::Ok)
            }
            ReviewInput::HoldsSecret(held) => {
                self.print_unreadable(&held.path.to_string_lossy(), &review_key_error(held).into())
            }
            ReviewInput::Unreadable { path, error } => {
                self.print_unreadable(&path.to_string_lossy(), error)
            }
            ReviewInput::Artifact(_) => Ok(ExitStatus::Ok),
        }
    }

    /// Prints the SARIF document after the last file.
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self.format {
            ReviewFormat::Sarif => self.session.ui.print_data(
                &to_json_text(&sarif_document(&self.documents, &self.unread))?,
                DataFormat::Json,
            ),
            ReviewFormat::Text | ReviewFormat::Json | ReviewFormat::Github => Ok(()),
        }
    }

    fn print_document(&mut self, document: ReviewDocument) -> Result<(), Error> {
        let ui = self.session.ui;
        let path = self.working_path(&document.artifact);
        let document = document.with_found_at(path);
        match self.format {
            ReviewFormat::Text => ui.print_page(&draw_review_line(&document, ui.page_canvas())),
            ReviewFormat::Json => ui.print_data(&to_json_text(&document)?, DataFormat::Json),
            ReviewFormat::Github => ui.print_data(&github_annotations(&document), DataFormat::Text),
            ReviewFormat::Sarif => {
                self.documents.push(document);
                Ok(())
            }
        }
    }

    /// The path relative to the working folder, because annotations are resolved from there.
    fn working_path(&self, path: &str) -> String {
        let ProjectPaths { working, documents, .. } = self.located;
        let whole = documents.join(path);
        whole.strip_prefix(working).map_or(path.to_owned(), |seen| seen.display().to_string())
    }

    fn print_unreadable(&mut self, path: &str, error: &Error) -> Result<ExitStatus, Error> {
        match self.format {
            ReviewFormat::Json => {
                let mut document = error.to_document();
                if let Value::Object(fields) = &mut document {
                    fields.insert("artifact".to_owned(), path.into());
                }
                self.session.ui.print_data(&document.to_string(), DataFormat::Json)?;
            }
            ReviewFormat::Github => {
                self.session.ui.print_data(
                    &unreadable_annotation(path, &error.full_message()),
                    DataFormat::Text,
                )?;
            }
            ReviewFormat::Text => print_error(error),
            ReviewFormat::Sarif => {
                self.unread.push((path.to_owned(), error.full_message()));
                print_error(error);
            }
        }
        Ok(ExitStatus::from_error_kind(error.kind()))
    }
}
