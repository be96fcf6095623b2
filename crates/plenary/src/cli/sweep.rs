//! `sweep`: finds changed files and reviews them as `review` does.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::time::{Moment, SinceTime};
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::review::log_row::ContentQuery;
use plenary_engine::app::planning::estimate::{CostEstimate, estimate_cost};
use plenary_engine::app::planning::panel_setup::RehearsalChoice;
use plenary_engine::app::planning::review_panel::ReviewPanelSetup;
use plenary_engine::app::review_input::{ReviewInput, ReviewOverrides};
use plenary_engine::clock::{RealSystem, System};
use plenary_engine::config::error::ConfigError;
use plenary_engine::config::settings::Settings;
use plenary_engine::config::tier_rules::TierClassifier;
use plenary_engine::context_files::walk::FolderFile;
use plenary_engine::error::{Error, to_json_text};
use plenary_engine::files::read_write::lock_file;

use crate::cli::review::ReviewCommonArgs;
use crate::cli::review_runner::{ReviewFormat, review_inputs};
use crate::cli::runs::cli_runtime::transport_factory;
use crate::cli::runs::value_parsers::from_one_to;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::sweep_report::{SweepPlan, SweepResult, SweepSummary, VerdictCounts};
use crate::cli::sweep_selection::{
    SweepCandidates, SweepSelection, find_candidates, select_candidates,
};
use crate::cli::terminal_text::DataFormat;

/// Twenty reviews are 180 model calls; more by default could cost too much unnoticed.
const REVIEWS_DEFAULT: usize = 20;

/// As many reviews as finish in one night.
const REVIEWS_MAX: usize = 1_000;

/// Put what changed in a folder before the gate
///
/// Looks through a folder for files that `tier_rules` in council.yaml send before the gate
/// and that changed lately, and judges them as `plenary review` does, the one that was changed
/// first before the others. A content that was decided on is not judged again, wherever it
/// lies; one that was left INCOMPLETE is.
///
/// Left out are ignored and hidden files, build output and dependencies, and links. Without
/// `tier_rules` nothing says what to judge, and the exit code is 5; else it is the greatest of
/// the reviews', and 0 when there was nothing to do.
///
///   plenary sweep --since 24h --dry-run
///   plenary sweep posts --since 7d --max 5
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SweepArgs {
    /// The folder [default: that of council.yaml]
    dir: Option<PathBuf>,
    /// What was changed in so many hours (24h), days (7d) or weeks (4w), or since a day
    /// (2026-01-01).
    #[arg(long, value_name = "TIME|DAY", value_parser = parse_since, default_value = "24h")]
    since: SinceTime,
    /// Judge at most N of them; the others are left for the next time.
    #[arg(long, value_name = "N", value_parser = from_one_to(REVIEWS_MAX), default_value_t = REVIEWS_DEFAULT)]
    max: usize,
    /// Say what would be judged, what not and why, and the worst cost; call no model.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    options: ReviewCommonArgs,
}

fn parse_since(typed: &str) -> Result<SinceTime, &'static str> {
    typed.parse().map_err(|_| "write a time such as `24h`, `7d` or `4w`, or a day: `2026-01-01`")
}

impl SweepArgs {
    pub(crate) fn run(mut self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        self.find_dir();
        let rehearsal = self.options.parse_rehearsal()?;
        let settings = self.options.triage_settings(session)?;
        let rules = Arc::new(TierClassifier::new(settings.tier_rules.as_deref()));
        if !rules.has_rules() {
            return Err(ConfigError::NoTierRules.into());
        }
        let _held = match self.dry_run {
            true => None,
            false => Some(lock_sweep(&settings)?),
        };
        let dir = self.dir.clone().unwrap_or_else(|| settings.paths.documents.clone());
        let since = self.since.start_moment(RealSystem.now());
        let found = find_candidates(&dir, since, &settings, &rules)?;
        let mut setup = SweepSetup { settings, rehearsal, rules };
        let swept = self.select_files(session, &setup, found, since)?;
        if !swept.selection.chosen.is_empty() {
            setup.settings = self.options.run_settings(session, &setup.rehearsal)?;
        }
        match self.dry_run {
            true => print_plan(session, &setup, swept),
            false => self.review_files(session, &setup, swept),
        }
    }

    fn select_files(
        &self,
        session: &CliSession<'_>,
        setup: &SweepSetup,
        found: SweepCandidates,
        since: Moment,
    ) -> Result<SweepResult, Error> {
        let overrides = ReviewOverrides {
            producer: self.options.producer.clone(),
            ..ReviewOverrides::default()
        };
        let working = setup.settings.paths.working.canonicalize().unwrap_or_default();
        let input_of = |file: &FolderFile| {
            // The path as the user would type it in the working folder.
            let named = file.path.strip_prefix(&working).unwrap_or(&file.path);
            ReviewInput::from_path(named, &overrides, &setup.settings, &setup.rules)
        };
        let project = session.open_if_present()?;
        let decided =
            |sha256: &str| Ok(project.store.find_decided(&setup.content_query(sha256))?);
        let mut selection = select_candidates(found.files, self.max, input_of, decided)?;
        selection.passed_over.extend(found.passed_over);
        selection.unreadable.extend(found.closed);
        selection.passed_over.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(SweepResult { since, max: self.max, counts: found.counts, selection })
    }

    fn review_files(
        &self,
        session: &CliSession<'_>,
        setup: &SweepSetup,
        swept: SweepResult,
    ) -> Result<ExitStatus, Error> {
        let format = self.options.output_format(session);
        let summary = SweepSummary::before_reviews(&swept);
        let SweepSelection { chosen, unreadable, .. } = swept.selection;
        let hashes: Vec<String> = chosen.iter().map(|one| one.artifact.sha256.clone()).collect();
        let judged = chosen.into_iter().map(|one| ReviewInput::Artifact(one.artifact));
        let unread = unreadable
            .into_iter()
            .map(|(path, error)| ReviewInput::Unreadable { path: path.into(), error });
        let inputs = judged.chain(unread).collect();
        let done = review_inputs(session, &setup.settings, &setup.rehearsal, inputs, format)?;
        let summary = match hashes.is_empty() {
            true => summary,
            false => summary.with_verdicts(count_verdicts(session, setup, &hashes)?),
        };
        match format {
            ReviewFormat::Text => {
                session.ui.print_page(&summary.summary_text(session.ui.terminal_width()))?
            }
            ReviewFormat::Json => {
                session.ui.print_data(&to_json_text(&summary)?, DataFormat::Json)?
            }
            // These outputs have their own schema, so print the summary to stderr.
            ReviewFormat::Github | ReviewFormat::Sarif => {
                session.ui.print_note(summary.summary_text(session.ui.terminal_width()).trim());
            }
        }
        Ok(done)
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.options.wants_json()
    }

    /// Recovers the folder in `sweep --rehearse posts`, where clap parses it as the script.
    fn find_dir(&mut self) {
        if self.dir.is_none() {
            self.dir = self.options.take_non_script();
        }
    }
}

/// Locks the configuration file, so that two concurrent sweeps do not review, and pay for, the same
/// files. Tier rules come from this file, so it exists.
fn lock_sweep(settings: &Settings) -> Result<Option<File>, Error> {
    let Some(file) = &settings.paths.file else { return Ok(None) };
    let held = lock_file(file)?;
    if held.is_none() {
        let message = "another sweep is at work here";
        let fault = ValidationError::new(ErrorCode::NotSupported, message);
        return Err(fault.with_suggestion("wait until it has ended").into());
    }
    Ok(held)
}

fn print_plan(
    session: &CliSession<'_>,
    setup: &SweepSetup,
    swept: SweepResult,
) -> Result<ExitStatus, Error> {
    let table =
        ReviewPanelSetup::new(&setup.settings, &setup.rehearsal, &transport_factory(session))?;
    let protocol = session.loader.protocols.find_protocol(ProtocolKind::Review)?;
    let plans = swept.selection.chosen.iter().map(|chosen| {
        let plan = table.build_plan((*chosen.artifact).clone(), Vec::new(), &RealSystem);
        estimate_cost(protocol, &plan, &chosen.artifact.path)
    });
    let estimates: Vec<CostEstimate> = plans.collect();
    let usd_max_each = setup.settings.budget.usd_micros as f64 / 1e6;
    let planned = SweepPlan::new(swept, &estimates, usd_max_each);
    session.ui.print_result(&planned, |planned| planned.plan_text(session.ui.terminal_width()))?;
    Ok(ExitStatus::Ok)
}

/// Counts the verdicts on the given contents after all reviews.
fn count_verdicts(
    session: &CliSession<'_>,
    setup: &SweepSetup,
    hashes: &[String],
) -> Result<VerdictCounts, Error> {
    let project = session.open_if_present()?;
    let mut verdicts = VerdictCounts::default();
    for sha256 in hashes {
        let decided = project.store.find_decided(&setup.content_query(sha256))?;
        verdicts.count_verdict(decided.map(|decided| decided.verdict));
    }
    Ok(verdicts)
}

/// Settings, rehearsal panel and tier rules of one sweep.
struct SweepSetup {
    settings: Settings,
    rehearsal: RehearsalChoice,
    rules: Arc<TierClassifier>,
}

impl SweepSetup {
    /// Verdicts of rehearsals count only for rehearsals.
    fn content_query(&self, sha256: &str) -> ContentQuery {
        ContentQuery { sha256: sha256.to_owned(), rehearsal: self.rehearsal.is_asked_for() }
    }
}
