//! `sweep`: finds changed files and reviews them as `review` does.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::time::{Moment, SinceTime};
use plenary_core::protocols::review::types::{ReviewArtifact, ReviewTier};
use plenary_engine::app::classify_document::DocumentClassifier;
use plenary_engine::app::planning::estimate::estimate_cost;
use plenary_engine::app::planning::panel_setup::RehearsalChoice;
use plenary_engine::app::planning::review_panel::{EarlierReviews, ReviewPanelSetup};
use plenary_engine::app::review_input::{ReviewInput, ReviewOverrides};
use plenary_engine::app::spending::UsualReplies;
use plenary_engine::app::sweep::{
    PassOverReason, SweepRequest, SweepSelection, find_decision, lock_sweep, select_files,
};
use plenary_engine::clock::{RealSystem, System};
use plenary_engine::config::error::ConfigError;
use plenary_engine::config::settings::Settings;
use plenary_engine::config::tier_rules::{ClassifierKind, TierClassifier};
use plenary_engine::error::{Error, to_json_text};

use crate::cli::review::ReviewCommonArgs;
use crate::cli::review_printer::ReviewFormat;
use crate::cli::review_runner::{RepeatChoice, ReviewBatch, review_inputs};
use crate::cli::runs::cli_runtime::transport_factory;
use crate::cli::runs::value_parsers::{from_one_to, parse_since};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::sweep_report::{SweepPlan, SweepSummary};
use crate::cli::terminal_text::DataFormat;

/// Twenty reviews are 180 model calls; more by default could cost too much unnoticed.
const REVIEWS_DEFAULT: usize = 20;

/// As many reviews as finish in one night.
const REVIEWS_MAX: usize = 1_000;

/// Review the files of a folder that changed
///
/// Searches a folder for changed files that `tier_rules` in council.yaml select, and reviews them
/// like `plenary review`, the earliest change first. Content that has a verdict is not reviewed
/// again; an INCOMPLETE review is repeated.
///
/// It skips ignored and hidden files, build output, dependencies and links to folders. Without
/// `tier_rules` the exit code is 5; otherwise it is the greatest of the reviews, or 0 if there is none.
///
/// $ plenary sweep --since 24h --dry-run
///
/// $ plenary sweep posts --since 7d --max 5
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// The folder [default: the folder of council.yaml]
    dir: Option<PathBuf>,
    /// Review files that changed within a time (24h, 7d, 4w) or since a day (2026-01-01)
    #[arg(long, value_name = "TIME|DAY", value_parser = parse_since, default_value = "24h")]
    since: SinceTime,
    /// Review at most N files; the next sweep reviews the others
    #[arg(long, value_name = "N", value_parser = from_one_to(REVIEWS_MAX), default_value_t = REVIEWS_DEFAULT)]
    max: usize,
    /// Print the selected and the skipped files and the highest possible cost; call no model
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    options: ReviewCommonArgs,
}

/// What a sweep reviews with.
struct SweepWork {
    settings: Settings,
    rehearsal: RehearsalChoice,
    classifier: Option<DocumentClassifier>,
    since: Moment,
}

impl SweepArgs {
    pub(crate) fn run(mut self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        if self.dir.is_none() {
            // In `sweep --rehearse posts`, clap parses the folder as the script.
            self.dir = self.options.take_non_script();
        }
        let rehearsal = self.options.parse_rehearsal()?;
        let mut settings = self.options.triage_settings(session)?;
        let rules = Arc::new(TierClassifier::new(settings.tier_rules.as_deref()));
        if !rules.has_rules() {
            return Err(ConfigError::NoTierRules.into());
        }
        let _lock = match self.dry_run {
            true => None,
            false => lock_sweep(&settings)?,
        };
        let classifier = match settings.tier_classifier.kind {
            ClassifierKind::Rules => None,
            // The recorded answers are those of the model that would be asked.
            ClassifierKind::Hybrid | ClassifierKind::Model => {
                settings = self.options.run_settings(session, &rehearsal)?;
                let factory = transport_factory(session);
                Some(DocumentClassifier::new(&settings, &rehearsal, &factory)?)
            }
        };
        let since = self.since.start_moment(RealSystem.now());
        let producer = self.options.producer.clone();
        let request = SweepRequest {
            dir: self.dir.as_deref().unwrap_or(&settings.paths.documents),
            since,
            max: self.max,
            overrides: ReviewOverrides { producer, ..ReviewOverrides::default() },
            rehearsal: rehearsal.is_asked_for(),
            classifier: classifier.as_ref(),
        };
        let selection = select_files(&session.open_if_present()?, &settings, &rules, &request)?;
        if !selection.chosen.is_empty() {
            settings = self.options.run_settings(session, &rehearsal)?;
        }
        match self.dry_run {
            true => self.print_plan(session, &settings, &rehearsal, since, selection),
            false => {
                let work = SweepWork { settings, rehearsal, classifier, since };
                self.review_files(session, &work, selection)
            }
        }
    }

    fn review_files(
        &self,
        session: &CliSession<'_>,
        work: &SweepWork,
        selection: SweepSelection,
    ) -> Result<ExitStatus, Error> {
        let SweepWork { settings, rehearsal, classifier, since } = work;
        let format = self.options.output_format(session);
        let mut summary = SweepSummary::before_reviews(&selection, *since, self.max);
        let SweepSelection { chosen, unreadable, .. } = selection;
        let documents: Vec<ReviewArtifact> =
            chosen.iter().map(|one| one.document.artifact().clone()).collect();
        let readable = chosen.into_iter().map(|one| one.document.into_input());
        let unreadable = unreadable
            .into_iter()
            .map(|(path, error)| ReviewInput::Unreadable { path: path.into(), error });
        // The selection left out what was decided before.
        let batch = ReviewBatch {
            inputs: readable.chain(unreadable).collect(),
            jobs: self.options.jobs(),
            repeat: RepeatChoice::JudgeAgain,
        };
        let (exit, interrupted) = review_inputs(session, settings, rehearsal, batch, format)?;
        let project = session.open_if_present()?;
        for document in &documents {
            let decided = find_decision(&project, &document.sha256, rehearsal.is_asked_for())?;
            let open = classifier.as_ref().filter(|_| decided.is_none());
            let finding = open.map(|asked| asked.find_recorded(&project, document)).transpose()?;
            match finding.flatten().map(|finding| finding.effective_tier()) {
                Some(ReviewTier::Never) => summary.count_classified(PassOverReason::Classified),
                Some(ReviewTier::Sampled) => summary.count_classified(PassOverReason::NotDrawn),
                Some(ReviewTier::Always) | None => {
                    summary.verdicts.count_verdict(decided.map(|decided| decided.verdict));
                }
            }
        }
        let text = summary.summary_text(session.ui.terminal_width());
        match format {
            ReviewFormat::Text => session.ui.print_page(&text)?,
            ReviewFormat::Json => {
                session.ui.print_data(&to_json_text(&summary)?, DataFormat::Json)?;
            }
            // These outputs have their own schema, so print the summary to stderr.
            ReviewFormat::Github
            | ReviewFormat::Sarif
            | ReviewFormat::Junit
            | ReviewFormat::Markdown => session.ui.print_note(text.trim()),
        }
        interrupted.iter().for_each(|left| left.print(session));
        Ok(exit)
    }

    fn print_plan(
        &self,
        session: &CliSession<'_>,
        settings: &Settings,
        rehearsal: &RehearsalChoice,
        since: Moment,
        selection: SweepSelection,
    ) -> Result<ExitStatus, Error> {
        let panel = ReviewPanelSetup::new(settings, rehearsal, &transport_factory(session))?;
        let protocol = session.loader.protocols.find_protocol(ProtocolKind::Review)?;
        let estimates = selection.chosen.iter().map(|chosen| {
            let artifact = chosen.document.artifact();
            let plan = panel.build_plan(artifact.clone(), EarlierReviews::default(), &RealSystem);
            estimate_cost(protocol, &plan, &artifact.path, &UsualReplies::default())
        });
        let estimates = estimates.collect();
        let usd_max_each = settings.budget.usd_micros as f64 / 1e6;
        let plan = SweepPlan { since, max: self.max, selection, estimates, usd_max_each };
        let width = session.ui.terminal_width();
        session.ui.print_result(&plan.to_document(), |_| plan.plan_text(width))?;
        Ok(ExitStatus::Ok)
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.options.wants_json()
    }
}
