//! [`ReviewPrinter`]: prints reviews in each format, and the summary of several.

use clap::ValueEnum;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::run_state::RunState;
use plenary_core::protocols::review::document::{
    ReviewDocument, decided_document, review_document,
};
use plenary_core::protocols::review::earlier_decision::EarlierDecision;
use plenary_core::protocols::review::github_annotations::{
    github_annotations, unreadable_annotation,
};
use plenary_core::protocols::review::junit::junit_document;
use plenary_core::protocols::review::page::{decided_page, draw_review_line, review_page};
use plenary_core::protocols::review::phrases::shipped_blocks;
use plenary_core::protocols::review::policy::ReviewDecision;
use plenary_core::protocols::review::pull_request::pull_request_comment;
use plenary_core::protocols::review::sarif::sarif_document;
use plenary_core::protocols::review::types::ReviewArtifact;
use plenary_core::report::page::{PageDetail, PageScope};
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_core::report::terminal::page::draw_page;
use plenary_engine::app::review_input::ReviewInput;
use plenary_engine::config::locate::ProjectPaths;
use plenary_engine::error::{Error, to_json_text};
use serde_json::Value;

use crate::cli::review::{explain_skip, review_key_error};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;
use crate::cli::ui::print_error;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewFormat {
    Text,
    Json,
    /// Annotations of a GitHub workflow.
    Github,
    /// One SARIF 2.1.0 document for all.
    Sarif,
    /// One JUnit XML document for all.
    Junit,
    /// One comment on a pull request for all.
    #[value(alias = "md")]
    Markdown,
}

/// What Ctrl-C left of several files.
pub(crate) struct InterruptedBatch {
    summary: String,
    runs: Vec<DialogueId>,
}

impl InterruptedBatch {
    /// Prints the last lines of a command: what is done, and how to continue.
    pub(crate) fn print(&self, session: &CliSession<'_>) {
        session.ui.print_interrupted(&self.summary, &self.runs);
    }
}

pub(crate) struct ReviewPrinter<'a> {
    session: &'a CliSession<'a>,
    format: ReviewFormat,
    located: &'a ProjectPaths,
    /// Documents for the collected output or the summary at the end.
    documents: Vec<ReviewDocument>,
    /// Paths and errors of files that could not be reviewed.
    unread: Vec<(String, String)>,
    /// Reviews that Ctrl-C stopped.
    pub(crate) interrupted: Vec<DialogueId>,
    /// What Ctrl-C left of several files; printed at the end.
    pub(crate) interruption: Option<String>,
}

impl<'a> ReviewPrinter<'a> {
    pub(crate) fn new(
        session: &'a CliSession<'a>,
        format: ReviewFormat,
        located: &'a ProjectPaths,
    ) -> Self {
        Self {
            session,
            format,
            located,
            documents: Vec::new(),
            unread: Vec::new(),
            interrupted: Vec::new(),
            interruption: None,
        }
    }

    /// Prints a finished or stopped review.
    pub(crate) fn print_reviewed(&mut self, state: &RunState) -> Result<(), Error> {
        match self.format {
            ReviewFormat::Text => {
                let page = review_page(None, state, PageScope::new(PageDetail::Result));
                self.documents.push(review_document(state));
                let ui = self.session.ui;
                ui.print_page(&draw_page(&page, ui.page_canvas()))
            }
            ReviewFormat::Json
            | ReviewFormat::Github
            | ReviewFormat::Sarif
            | ReviewFormat::Junit
            | ReviewFormat::Markdown => self.print_document(review_document(state)),
        }
    }

    /// Notes a review that Ctrl-C stopped. As text it is a row of the summary, not a page.
    pub(crate) fn print_interrupted(&mut self, state: &RunState) -> Result<(), Error> {
        self.interrupted.push(state.opening.dialogue_id.clone());
        if self.format == ReviewFormat::Text {
            self.documents.push(review_document(state));
            return Ok(());
        }
        self.print_reviewed(state)
    }

    /// Prints the earlier decision on the same content, and returns its exit status.
    pub(crate) fn print_decided(
        &mut self,
        run: Option<&RunState>,
        artifact: &ReviewArtifact,
        earlier: &EarlierDecision,
    ) -> Result<ExitStatus, Error> {
        let document = decided_document(run, artifact, earlier);
        match (self.format, run) {
            (ReviewFormat::Text, Some(run)) => {
                let ui = self.session.ui;
                self.documents.push(document);
                ui.print_page(&draw_page(&decided_page(run, artifact, earlier), ui.page_canvas()))?;
            }
            (_, _) => self.print_document(document)?,
        }
        Ok(match earlier.verdict.to_decision() {
            Some(ReviewDecision::Ship) => ExitStatus::Ok,
            Some(ReviewDecision::Revise) => ExitStatus::WithFindings,
            Some(ReviewDecision::Hold) => ExitStatus::Hold,
            None => ExitStatus::Incomplete,
        })
    }

    /// Prints a file that was not reviewed, and returns the exit status for it.
    pub(crate) fn print_unreviewed(&mut self, input: &ReviewInput) -> Result<ExitStatus, Error> {
        match input {
            ReviewInput::Skipped(skipped) => {
                self.print_document(skipped.to_document(&explain_skip(skipped)))?;
                Ok(ExitStatus::Ok)
            }
            ReviewInput::HoldsSecret(held) => {
                self.print_unreadable(&held.path.to_string_lossy(), &review_key_error(held).into())
            }
            ReviewInput::Unreadable { path, error } => {
                self.print_unreadable(&path.to_string_lossy(), error)
            }
            ReviewInput::Artifact(_) | ReviewInput::Unclassified(_) => Ok(ExitStatus::Ok),
        }
    }

    /// Prints the collected document, or the summary of several files, and returns what Ctrl-C left.
    pub(crate) fn finish(self) -> Result<Option<InterruptedBatch>, Error> {
        self.print_collected()?;
        let runs = self.interrupted;
        Ok(self.interruption.map(|summary| InterruptedBatch { summary, runs }))
    }

    fn print_collected(&self) -> Result<(), Error> {
        let (ui, documents, unread) = (self.session.ui, &self.documents, &self.unread);
        match self.format {
            ReviewFormat::Sarif => {
                ui.print_data(&to_json_text(&sarif_document(documents, unread))?, DataFormat::Json)
            }
            ReviewFormat::Junit => {
                ui.print_data(&junit_document(documents, unread), DataFormat::Text)
            }
            ReviewFormat::Markdown => {
                ui.print_data(&pull_request_comment(documents, unread), DataFormat::Text)
            }
            ReviewFormat::Text if documents.len() + unread.len() > 1 => {
                ui.print_page(&summary_text(documents, unread, ui.table_width()))
            }
            ReviewFormat::Text | ReviewFormat::Json | ReviewFormat::Github => Ok(()),
        }
    }

    fn print_document(&mut self, document: ReviewDocument) -> Result<(), Error> {
        let ui = self.session.ui;
        let path = self.working_path(&document.artifact);
        let document = document.with_found_at(path);
        match self.format {
            ReviewFormat::Text => {
                let line = draw_review_line(&document, ui.page_canvas());
                self.documents.push(document);
                ui.print_page(&line)
            }
            ReviewFormat::Json => ui.print_data(&to_json_text(&document)?, DataFormat::Json),
            ReviewFormat::Github => ui.print_data(&github_annotations(&document), DataFormat::Text),
            ReviewFormat::Sarif | ReviewFormat::Junit | ReviewFormat::Markdown => {
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
            ReviewFormat::Text
            | ReviewFormat::Sarif
            | ReviewFormat::Junit
            | ReviewFormat::Markdown => {
                self.unread.push((path.to_owned(), error.full_message()));
                print_error(error);
            }
        }
        Ok(ExitStatus::from_error_kind(error.kind()))
    }
}

/// Error code of a run that Ctrl-C stopped, and its word in a summary, as in `list`.
const INTERRUPTED: &str = "interrupted";

/// One row per file, then the files that no rule names.
fn summary_text(documents: &[ReviewDocument], unread: &[(String, String)], width: usize) -> String {
    let mut table = TextTable::new(&["VERDICT", "TYPE", "COST", "FILE"]);
    for result in documents {
        let is_interrupted =
            result.error.as_ref().is_some_and(|stop| stop.error_code == INTERRUPTED);
        let mut words = match is_interrupted {
            true => vec![INTERRUPTED.to_owned()],
            false => vec![result.verdict.to_string()],
        };
        words.extend(
            result
                .policy
                .as_ref()
                .filter(|_| result.overridden.is_none())
                .and_then(|sum| shipped_blocks(result.verdict, &sum.arithmetic)),
        );
        words.extend(match (&result.overridden, &result.decided_before) {
            (Some(mark), _) => Some(format!("overridden by {}", mark.by)),
            (None, Some(_)) => Some("decided before".to_owned()),
            (None, None) => None,
        });
        words.extend(result.rehearsal.then(|| "REHEARSAL".to_owned()));
        let verdict = words.join(", ");
        let cost = result.metrics.as_ref().filter(|_| result.decided_before.is_none());
        let cost = cost.and_then(|run| run.session.total_cost_estimate);
        let cost = cost.map(|usd| format!("${usd:.2}")).unwrap_or_default();
        table.add_row([&verdict, &result.artifact_type, &cost, &result.found_at]);
    }
    for (path, _) in unread {
        table.add_row(["not reviewed", "", "", path.as_str()]);
    }
    let uncovered: Vec<String> = documents
        .iter()
        .filter(|result| result.not_covered)
        .map(|result| format!("  {}\n", safe_line(&result.found_at)))
        .collect();
    let uncovered = match uncovered.is_empty() {
        true => String::new(),
        false => format!("\nNot covered by any rule of `tier_rules`:\n{}", uncovered.concat()),
    };
    format!("\n{}{uncovered}", table.draw_table(width))
}
