//! `sweep`: finds changed files and reviews them as `review` does.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::super::super::session::{Done, Session};
use super::super::super::terminal_text::DataForm;
use super::super::judging::judge;
use super::super::options::Options;
use super::super::printer::Format;
use super::candidates::{Candidates, candidates};
use super::planned::Planned;
use super::selection::{Selection, select};
use super::summary::{Summary, Verdicts};
use super::swept::Swept;
use crate::ambient::{Ambient, Machine};
use crate::config::{Classifier, ConfigError, Settings};
use crate::convening::{Estimate, RehearsalChoice, ReviewPanel, estimate};
use crate::domain::dialogue::Protocol;
use crate::domain::gate::ContentQuery;
use crate::domain::refusal::{Code, Fault};
use crate::domain::stretch::Lately;
use crate::domain::time::Moment;
use crate::error::{Error, document_text};
use crate::files;
use crate::hosting::{ReviewInput, ReviewOverrides};
use crate::material::FolderFile;
use crate::surfaces::cli::runs::cli_runtime::transport_factory;
use crate::surfaces::cli::runs::value_parsers;

/// Twenty reviews are 180 model calls; more by default could cost too much unnoticed.
const MAX_DEFAULT: usize = 20;

/// As many reviews as finish in one night.
const MAX_MAX: usize = 1_000;

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
pub(crate) struct Sweep {
    /// The folder [default: that of council.yaml]
    dir: Option<PathBuf>,
    /// What was changed in so many hours (24h), days (7d) or weeks (4w), or since a day
    /// (2026-01-01).
    #[arg(long, value_name = "TIME|DAY", value_parser = lately, default_value = "24h")]
    since: Lately,
    /// Judge at most N of them; the others are left for the next time.
    #[arg(long, value_name = "N", value_parser = value_parsers::from_one_to(MAX_MAX), default_value_t = MAX_DEFAULT)]
    max: usize,
    /// Say what would be judged, what not and why, and the worst cost; ask nobody.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    options: Options,
}

fn lately(typed: &str) -> Result<Lately, &'static str> {
    typed.parse().map_err(|_| "write a time such as `24h`, `7d` or `4w`, or a day: `2026-01-01`")
}

impl Sweep {
    pub(crate) fn run(mut self, session: &Session<'_>) -> Result<Done, Error> {
        self.find_dir();
        let rehearsal = self.options.rehearsal()?;
        let settings = self.options.settings_for_sorting(session)?;
        let rules = Arc::new(Classifier::new(settings.tier_rules.as_deref()));
        if !rules.has_rules() {
            return Err(ConfigError::NoTierRules.into());
        }
        let _held = match self.dry_run {
            true => None,
            false => Some(alone(&settings)?),
        };
        let dir = self.dir.clone().unwrap_or_else(|| settings.located.documents.clone());
        let since = self.since.start(Machine.now());
        let found = candidates(&dir, since, &settings, &rules)?;
        let mut setup = SweepSetup { settings, rehearsal, rules };
        let swept = self.select(session, &setup, found, since)?;
        if !swept.selection.chosen.is_empty() {
            setup.settings = self.options.settings(session, &setup.rehearsal)?;
        }
        match self.dry_run {
            true => plan(session, &setup, swept),
            false => self.judge(session, &setup, swept),
        }
    }

    fn select(
        &self,
        session: &Session<'_>,
        setup: &SweepSetup,
        found: Candidates,
        since: Moment,
    ) -> Result<Swept, Error> {
        let overrides = ReviewOverrides {
            producer: self.options.producer.clone(),
            ..ReviewOverrides::default()
        };
        let working = setup.settings.located.working.canonicalize().unwrap_or_default();
        let input_of = |file: &FolderFile| {
            // The path as the user would type it in the working folder.
            let named = file.path.strip_prefix(&working).unwrap_or(&file.path);
            ReviewInput::of(named, &overrides, &setup.settings, &setup.rules)
        };
        let project = session.for_looking_first()?;
        let decided = |sha256: &str| Ok(project.store.decided(&setup.content(sha256))?);
        let mut selection = select(found.files, self.max, input_of, decided)?;
        selection.passed_over.extend(found.passed_over);
        selection.unreadable.extend(found.closed);
        selection.passed_over.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Swept { since, max: self.max, counts: found.counts, selection })
    }

    fn judge(
        &self,
        session: &Session<'_>,
        setup: &SweepSetup,
        swept: Swept,
    ) -> Result<Done, Error> {
        let format = self.options.format(session);
        let summary = Summary::of(&swept);
        let Selection { chosen, unreadable, .. } = swept.selection;
        let hashes: Vec<String> = chosen.iter().map(|one| one.artifact.sha256.clone()).collect();
        let judged = chosen.into_iter().map(|one| ReviewInput::Artifact(one.artifact));
        let unread = unreadable
            .into_iter()
            .map(|(path, error)| ReviewInput::Unreadable { path: path.into(), error });
        let inputs = judged.chain(unread).collect();
        let done = judge(session, &setup.settings, &setup.rehearsal, inputs, format)?;
        let summary = match hashes.is_empty() {
            true => summary,
            false => summary.with(verdicts(session, setup, &hashes)?),
        };
        match format {
            Format::Text => session.ui.print(&summary.text(session.ui.width()))?,
            Format::Json => session.ui.print_data(&document_text(&summary)?, DataForm::Json)?,
            // These outputs have their own schema, so print the summary to stderr.
            Format::Github | Format::Sarif => {
                session.ui.say(summary.text(session.ui.width()).trim());
            }
        }
        Ok(done)
    }

    pub(crate) fn is_in_json(&self) -> bool {
        self.options.is_in_json()
    }

    /// Recovers the folder in `sweep --rehearse posts`, where clap parses it as the script.
    fn find_dir(&mut self) {
        if self.dir.is_none() {
            self.dir = self.options.take_what_is_no_script();
        }
    }
}

/// Locks the configuration file, so that two concurrent sweeps do not review, and pay for, the same
/// files. Tier rules come from this file, so it exists.
fn alone(settings: &Settings) -> Result<Option<File>, Error> {
    let Some(file) = &settings.located.file else { return Ok(None) };
    let held = files::hold(file)?;
    if held.is_none() {
        let message = "another sweep is at work here";
        let fault = Fault::new(Code::NotSupported, message);
        return Err(fault.suggest("wait until it has ended").into());
    }
    Ok(held)
}

fn plan(session: &Session<'_>, setup: &SweepSetup, swept: Swept) -> Result<Done, Error> {
    let table = ReviewPanel::new(&setup.settings, &setup.rehearsal, &transport_factory(session))?;
    let protocol = session.loader.protocols.find(Protocol::Review)?;
    let plans = swept.selection.chosen.iter().map(|chosen| {
        let plan = table.plan((*chosen.artifact).clone(), Vec::new(), &Machine);
        estimate(protocol, &plan, &chosen.artifact.path)
    });
    let estimates: Vec<Estimate> = plans.collect();
    let usd_max_each = setup.settings.budget.usd_micros as f64 / 1e6;
    let planned = Planned::new(swept, &estimates, usd_max_each);
    session.ui.answer(&planned, |planned| planned.text(session.ui.width()))?;
    Ok(Done::Well)
}

/// Counts the verdicts on the given contents after all reviews.
fn verdicts(
    session: &Session<'_>,
    setup: &SweepSetup,
    hashes: &[String],
) -> Result<Verdicts, Error> {
    let project = session.for_looking_first()?;
    let mut verdicts = Verdicts::default();
    for sha256 in hashes {
        let decided = project.store.decided(&setup.content(sha256))?;
        verdicts.note(decided.map(|decided| decided.verdict));
    }
    Ok(verdicts)
}

/// Settings, rehearsal panel and tier rules of one sweep.
struct SweepSetup {
    settings: Settings,
    rehearsal: RehearsalChoice,
    rules: Arc<Classifier>,
}

impl SweepSetup {
    /// Verdicts of rehearsals count only for rehearsals.
    fn content(&self, sha256: &str) -> ContentQuery {
        ContentQuery { sha256: sha256.to_owned(), rehearsal: self.rehearsal.is_asked_for() }
    }
}
