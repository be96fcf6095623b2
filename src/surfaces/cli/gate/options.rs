//! Options that `review` and `sweep` share.

use std::path::{Path, PathBuf};

use clap::Args;

use super::super::session::CliSession;
use super::printer::ReviewFormat;
use crate::config::{BudgetOverrides, Settings};
use crate::convening::RehearsalChoice;
use crate::error::Error;
use crate::hosting::review_settings;
use crate::surfaces::cli::runs::value_parsers;

#[derive(Debug, Args)]
pub(super) struct ReviewCommonArgs {
    /// Who made them; the log keeps it, and the audit counts by it.
    #[arg(long, value_name = "NAME", value_parser = value_parsers::parse_name)]
    pub producer: Option<String>,
    /// Let the built-in panel play, by a script (.yaml) if one is given.
    #[arg(long, value_name = "SCRIPT", num_args = 0..=1)]
    rehearse: Option<Option<PathBuf>>,
    /// How results are printed [default: text].
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReviewFormat>,
    /// Spend at most this much on each document.
    #[arg(long, value_name = "USD", value_parser = value_parsers::parse_dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Stop after this time on each document, for example `90s`; it can be resumed.
    #[arg(long, value_name = "TIME", value_parser = value_parsers::parse_time)]
    deadline: Option<u64>,
}

impl ReviewCommonArgs {
    /// Whether `--format` selects JSON, like `--json`.
    pub(super) fn wants_json(&self) -> bool {
        self.format == Some(ReviewFormat::Json)
    }

    /// The format of `--format`; otherwise that of `--json`.
    pub(super) fn output_format(&self, session: &CliSession<'_>) -> ReviewFormat {
        self.format.unwrap_or(if session.ui.json { ReviewFormat::Json } else { ReviewFormat::Text })
    }

    /// The rehearsal panel, if `--rehearse` is given.
    pub(super) fn parse_rehearsal(&self) -> Result<RehearsalChoice, Error> {
        value_parsers::parse_rehearsal(self.rehearse.as_ref())
    }

    /// Settings for triage: which files to review. Does not require a usable provider.
    pub(super) fn triage_settings(&self, session: &CliSession<'_>) -> Result<Settings, Error> {
        session.loader.load_offline_settings(&self.setting_overrides())
    }

    pub(super) fn run_settings(
        &self,
        session: &CliSession<'_>,
        rehearsal: &RehearsalChoice,
    ) -> Result<Settings, Error> {
        review_settings(&session.loader, rehearsal, &self.setting_overrides())
    }

    fn setting_overrides(&self) -> BudgetOverrides {
        BudgetOverrides { budget_usd: self.budget_usd, deadline_ms: self.deadline }
    }

    /// Takes a value of `--rehearse` that is not a YAML file: in `--rehearse posts`, clap parses
    /// the folder as the script.
    pub(super) fn take_non_script(&mut self) -> Option<PathBuf> {
        let is_script = |path: &Path| {
            path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
        };
        self.rehearse.as_mut()?.take_if(|path| !is_script(path))
    }

    /// Takes the value of `--rehearse`, of any kind.
    pub(super) fn take_script(&mut self) -> Option<PathBuf> {
        self.rehearse.as_mut()?.take()
    }
}
