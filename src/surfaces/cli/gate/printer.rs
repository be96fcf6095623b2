//! Prints each review as it finishes, or all in one document at the end (SARIF): [`ReviewPrinter`].

use clap::ValueEnum;
use serde_json::Value;

use super::advice::{explain_skip, review_key_error};
use crate::config::ProjectPaths;
use crate::domain::transcript::RunState;
use crate::error::{Error, to_json_text};
use crate::export::gate::{self, ReviewDocument};
use crate::hosting::{ReviewInput, SkippedFile};
use crate::surfaces::cli::report;
use crate::surfaces::cli::session::{CliSession, ExitStatus};
use crate::surfaces::cli::show::gate::{draw_review_line, draw_review_page};
use crate::surfaces::cli::terminal_text::DataFormat;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::surfaces::cli) enum ReviewFormat {
    Text,
    Json,
    /// Annotations of a GitHub workflow.
    Github,
    /// One SARIF 2.1.0 document for all.
    Sarif,
}

pub(super) struct ReviewPrinter<'a> {
    session: &'a CliSession<'a>,
    format: ReviewFormat,
    located: &'a ProjectPaths,
    /// Documents for the SARIF document at the end.
    documents: Vec<ReviewDocument>,
    /// Paths and errors of files that could not be reviewed, for the same document.
    unread: Vec<(String, String)>,
}

impl<'a> ReviewPrinter<'a> {
    pub(super) fn new(
        session: &'a CliSession<'a>,
        format: ReviewFormat,
        located: &'a ProjectPaths,
    ) -> Self {
        Self { session, format, located, documents: Vec::new(), unread: Vec::new() }
    }

    /// Prints a finished or stopped review.
    pub(super) fn print_reviewed(&mut self, transcript: &RunState) -> Result<(), Error> {
        match self.format {
            ReviewFormat::Text => self
                .session
                .ui
                .print_page(&draw_review_page(transcript, self.session.ui.page_canvas())),
            ReviewFormat::Json | ReviewFormat::Github | ReviewFormat::Sarif => {
                self.print_document(gate::review_document(transcript))
            }
        }
    }

    /// Prints a file that was not reviewed, and returns the exit status for it.
    pub(super) fn print_unreviewed(&mut self, input: &ReviewInput) -> Result<ExitStatus, Error> {
        match input {
            ReviewInput::Skipped(skipped) => {
                let because = explain_skip(skipped);
                let SkippedFile { path, artifact_type, tier, .. } = skipped;
                self.print_document(gate::skipped_document(path, artifact_type, *tier, &because))?;
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
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.format {
            ReviewFormat::Sarif => self.session.ui.print_data(
                &to_json_text(&gate::sarif_document(&self.documents, &self.unread))?,
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
            ReviewFormat::Github => {
                ui.print_data(&gate::github_annotations(&document), DataFormat::Text)
            }
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
                    &gate::unreadable_annotation(path, &error.full_message()),
                    DataFormat::Text,
                )?;
            }
            ReviewFormat::Text => report::print_error(error),
            ReviewFormat::Sarif => {
                self.unread.push((path.to_owned(), error.full_message()));
                report::print_error(error);
            }
        }
        Ok(ExitStatus::from_error_kind(error.kind()))
    }
}
