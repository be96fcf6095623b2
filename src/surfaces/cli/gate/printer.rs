//! Prints each review as it finishes, or all in one document at the end (SARIF): [`ReviewPrinter`].

use clap::ValueEnum;
use serde_json::Value;

use super::advice::{reviewed_with_key, skipped_because};
use crate::config::Located;
use crate::domain::transcript::Transcript;
use crate::error::{Error, document_text};
use crate::export::gate::{self, ReviewDocument};
use crate::hosting::{ReviewInput, SkippedFile};
use crate::surfaces::cli::report;
use crate::surfaces::cli::session::{Done, Session};
use crate::surfaces::cli::show::gate::{draw, draw_line};
use crate::surfaces::cli::terminal_text::DataForm;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::surfaces::cli) enum Format {
    Text,
    Json,
    /// Annotations of a GitHub workflow.
    Github,
    /// One SARIF 2.1.0 document for all.
    Sarif,
}

pub(super) struct Printer<'a> {
    session: &'a Session<'a>,
    format: Format,
    located: &'a Located,
    /// Documents for the SARIF document at the end.
    kept: Vec<ReviewDocument>,
    /// Paths and errors of files that could not be reviewed, for the same document.
    unread: Vec<(String, String)>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(session: &'a Session<'a>, format: Format, located: &'a Located) -> Self {
        Self { session, format, located, kept: Vec::new(), unread: Vec::new() }
    }

    /// Prints a finished or stopped review.
    pub(super) fn judged(&mut self, transcript: &Transcript) -> Result<(), Error> {
        match self.format {
            Format::Text => self.session.ui.print(&draw(transcript, self.session.ui.canvas())),
            Format::Json | Format::Github | Format::Sarif => self.tell(gate::document(transcript)),
        }
    }

    /// Prints a file that was not reviewed, and returns the exit status for it.
    pub(super) fn unjudged(&mut self, input: &ReviewInput) -> Result<Done, Error> {
        match input {
            ReviewInput::Skipped(skipped) => {
                let because = skipped_because(skipped);
                let SkippedFile { path, artifact_type, tier, .. } = skipped;
                self.tell(gate::skipped(path, artifact_type, *tier, &because))?;
                Ok(Done::Well)
            }
            ReviewInput::HoldsSecret(held) => {
                self.unreadable(&held.path.to_string_lossy(), &reviewed_with_key(held).into())
            }
            ReviewInput::Unreadable { path, error } => {
                self.unreadable(&path.to_string_lossy(), error)
            }
            ReviewInput::Artifact(_) => Ok(Done::Well),
        }
    }

    /// Prints the SARIF document after the last file.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.format {
            Format::Sarif => self.session.ui.print_data(
                &document_text(&gate::sarif(&self.kept, &self.unread))?,
                DataForm::Json,
            ),
            Format::Text | Format::Json | Format::Github => Ok(()),
        }
    }

    fn tell(&mut self, document: ReviewDocument) -> Result<(), Error> {
        let ui = self.session.ui;
        let path = self.seen_from_here(&document.artifact);
        let document = document.found_at(path);
        match self.format {
            Format::Text => ui.print(&draw_line(&document, ui.canvas())),
            Format::Json => ui.print_data(&document_text(&document)?, DataForm::Json),
            Format::Github => ui.print_data(&gate::annotations(&document), DataForm::Text),
            Format::Sarif => {
                self.kept.push(document);
                Ok(())
            }
        }
    }

    /// The path relative to the working folder, because annotations are resolved from there.
    fn seen_from_here(&self, path: &str) -> String {
        let Located { working, documents, .. } = self.located;
        let whole = documents.join(path);
        whole.strip_prefix(working).map_or(path.to_owned(), |seen| seen.display().to_string())
    }

    fn unreadable(&mut self, path: &str, error: &Error) -> Result<Done, Error> {
        match self.format {
            Format::Json => {
                let mut document = error.document();
                if let Value::Object(fields) = &mut document {
                    fields.insert("artifact".to_owned(), path.into());
                }
                self.session.ui.print_data(&document.to_string(), DataForm::Json)?;
            }
            Format::Github => {
                self.session
                    .ui
                    .print_data(&gate::unreadable(path, &error.sentence()), DataForm::Text)?;
            }
            Format::Text => report::tell(error),
            Format::Sarif => {
                self.unread.push((path.to_owned(), error.sentence()));
                report::tell(error);
            }
        }
        Ok(Done::of(error.kind()))
    }
}
