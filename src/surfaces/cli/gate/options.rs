//! Options that `review` and `sweep` share.

use std::path::{Path, PathBuf};

use clap::Args;

use super::super::session::Session;
use super::printer::Format;
use crate::config::{Overrides, Settings};
use crate::convening::RehearsalChoice;
use crate::error::Error;
use crate::hosting::review_settings;
use crate::surfaces::cli::runs::value_parsers;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Who made them; the log keeps it, and the audit counts by it.
    #[arg(long, value_name = "NAME", value_parser = value_parsers::name)]
    pub producer: Option<String>,
    /// Let the built-in panel play, by a script (.yaml) if one is given.
    #[arg(long, value_name = "SCRIPT", num_args = 0..=1)]
    rehearse: Option<Option<PathBuf>>,
    /// How results are printed [default: text].
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Spend at most this much on each document.
    #[arg(long, value_name = "USD", value_parser = value_parsers::dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Stop after this time on each document, for example `90s`; it can be resumed.
    #[arg(long, value_name = "TIME", value_parser = value_parsers::time)]
    deadline: Option<u64>,
}

impl Options {
    /// Whether `--format` selects JSON, like `--json`.
    pub(super) fn is_in_json(&self) -> bool {
        self.format == Some(Format::Json)
    }

    /// The format of `--format`; otherwise that of `--json`.
    pub(super) fn format(&self, session: &Session<'_>) -> Format {
        self.format.unwrap_or(if session.ui.json { Format::Json } else { Format::Text })
    }

    /// The rehearsal panel, if `--rehearse` is given.
    pub(super) fn rehearsal(&self) -> Result<RehearsalChoice, Error> {
        value_parsers::rehearsal(self.rehearse.as_ref())
    }

    /// Settings for triage: which files to review. Does not require a usable provider.
    pub(super) fn settings_for_sorting(&self, session: &Session<'_>) -> Result<Settings, Error> {
        session.loader.load_offline_settings(&self.overrides())
    }

    pub(super) fn settings(
        &self,
        session: &Session<'_>,
        rehearsal: &RehearsalChoice,
    ) -> Result<Settings, Error> {
        review_settings(&session.loader, rehearsal, &self.overrides())
    }

    fn overrides(&self) -> Overrides {
        Overrides { budget_usd: self.budget_usd, deadline_ms: self.deadline }
    }

    /// Takes a value of `--rehearse` that is not a YAML file: in `--rehearse posts`, clap parses
    /// the folder as the script.
    pub(super) fn take_what_is_no_script(&mut self) -> Option<PathBuf> {
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
