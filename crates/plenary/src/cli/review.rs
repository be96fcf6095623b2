//! `review`: reviews documents and exits with the verdict.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use plenary_core::model::validation_error::ValidationError;
use plenary_core::protocols::review::policy::{PolicyName, ReviewDecision};
use plenary_core::protocols::review::types::ReviewTier;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::planning::panel_setup::RehearsalChoice;
use plenary_engine::app::prepare_run::provider_settings;
use plenary_engine::app::review_input::{
    ReviewInput, ReviewOverrides, SecretFile, SkipReason, SkippedFile,
};
use plenary_engine::app::verdict_log::{OverrideResult, find_similar_type, override_verdict};
use plenary_engine::config::settings::Settings;
use plenary_engine::config::settle_sections::{BudgetOverrides, ModelChoice};
use plenary_engine::config::tier_rules::{ClassifierKind, TierClassifier};
use plenary_engine::config::user_name::find_user_name;
use plenary_engine::error::Error;

use crate::cli::review_printer::ReviewFormat;
use crate::cli::review_runner::{RepeatChoice, ReviewBatch, review_inputs};
use crate::cli::runs::output::{repair_project_log, sync_log};
use crate::cli::runs::value_parsers::{
    enum_parser, from_one_to, parse_dollars, parse_model_choice, parse_name, parse_time,
};
use crate::cli::session::{CliArguments, CliSession, ExitStatus};
use crate::cli::ui::print_warning_text;

/// Review documents: SHIP, REVISE or HOLD
///
/// Four deliberators (skeptic, voice and identity, evidence, strategy) judge a document alone, then
/// again with the judgements of the others. An adjudicator merges them, and a policy counts the
/// blocks. Each verdict goes into the verdict log; the next review of that type reads the last ones.
///
/// `tier_rules` in council.yaml select the files: tier 1 always, tier 2 never, tier 3 one in five.
/// Without rules every named file is reviewed. With `tier_classifier`, a model classifies files that
/// no rule names.
///
/// Exit code 0 for SHIP or skipped, 1 for REVISE, 2 for HOLD, 3 for no decision; for several files
/// the greatest.
///
/// $ plenary review --rehearse posts/launch.md
///
/// $ plenary review --format github -- docs/guide.md docs/reviews.md
#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// The documents; `-` reads standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Treat the documents as this tier, against the rules too
    #[arg(long, value_name = "1|2|3", value_parser = tier_parser())]
    tier: Option<ReviewTier>,
    /// Treat the documents as this type, against the rules too
    #[arg(long = "type", value_name = "TYPE", value_parser = crate::cli::runs::value_parsers::artifact_type)]
    artifact_type: Option<String>,
    /// Review documents of every tier, also with something like a key or an earlier decision
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    options: ReviewCommonArgs,
}

fn tier_parser() -> impl TypedValueParser<Value = ReviewTier> {
    PossibleValuesParser::new(["1", "2", "3"]).try_map(|number| {
        let number: u8 =
            number.parse().map_err(|_| format!("`{number}` is not a tier: use 1, 2 or 3"))?;
        ReviewTier::try_from(number)
    })
}

impl ReviewArgs {
    pub(crate) fn run(mut self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        self.find_files();
        self.remove_repeated_files();
        if self.files.is_empty() {
            // Nothing was reviewed, so a pipeline must not get exit code 0.
            let message =
                "there is nothing to review: name files, as in `plenary review posts/launch.md`";
            return Err(Error::Usage(message.to_owned()));
        }
        let format = self.options.output_format(session);
        let rehearsal = self.options.parse_rehearsal()?;
        let sorting = self.options.triage_settings(session)?;
        let rules = TierClassifier::new(sorting.tier_rules.as_deref());
        let is_rules_alone = sorting.tier_classifier.kind == ClassifierKind::Rules;
        if rules.has_rules() && is_rules_alone && self.lacks_classification() {
            let message = "standard input has no path that a rule could match: add `--type`, `--tier` or `--force`";
            return Err(Error::Usage(message.to_owned()));
        }
        let overrides = ReviewOverrides {
            tier: self.tier,
            artifact_type: self.artifact_type,
            producer: self.options.producer.clone(),
            force: self.force,
        };
        overrides.check_type(&rules).map_err(|fault| Error::Argument(fault.into()))?;
        if !rules.has_rules() {
            warn_of_type(session, overrides.artifact_type.as_deref())?;
        }
        let repeat = if self.force { RepeatChoice::JudgeAgain } else { RepeatChoice::KeepDecision };
        let inputs: Vec<ReviewInput> = self
            .files
            .iter()
            .map(|path| ReviewInput::from_path(path, &overrides, &sorting, &rules))
            .collect();
        // If all files are skipped, no provider is needed.
        let is_asking = inputs.iter().any(ReviewInput::needs_model);
        let settings =
            if is_asking { self.options.run_settings(session, &rehearsal)? } else { sorting };
        let batch = ReviewBatch { inputs, jobs: self.options.jobs(), repeat };
        let (exit, interrupted) = review_inputs(session, &settings, &rehearsal, batch, format)?;
        interrupted.iter().for_each(|left| left.print(session));
        Ok(exit)
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.options.wants_json()
    }

    /// Whether standard input is reviewed without type, tier or `--force`. No rule can match it, so
    /// it would be skipped silently.
    fn lacks_classification(&self) -> bool {
        let is_claimed = self.force || self.tier.is_some() || self.artifact_type.is_some();
        !is_claimed && self.files.iter().any(|file| file == Path::new("-"))
    }

    /// Keeps each file once: the same content is not judged twice at the same time.
    fn remove_repeated_files(&mut self) {
        let mut seen = HashSet::new();
        self.files.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    }

    /// Recovers the document in `review --rehearse post.md`, where clap parses it as the script.
    fn find_files(&mut self) {
        let path = match self.files.is_empty() {
            true => self.options.take_script(),
            false => self.options.take_non_script(),
        };
        self.files.splice(0..0, path);
    }
}

/// Without rules every type is valid, so one that is nearly the type of an earlier verdict may be a
/// mistake.
fn warn_of_type(session: &CliSession<'_>, named: Option<&str>) -> Result<(), Error> {
    let Some(named) = named else { return Ok(()) };
    let project = session.open_if_present()?;
    if let Some(near) = find_similar_type(project.store.as_ref(), named)? {
        print_warning_text(&format!(
            "no recent verdict has the type `{named}`; did you mean `{near}`?"
        ));
    }
    Ok(())
}

/// The reason for the skip, and the option that forces a review.
pub(crate) fn explain_skip(skipped: &SkippedFile) -> String {
    let advice = match skipped.because {
        SkipReason::Claimed => "`--tier 1` reviews it",
        SkipReason::Rule | SkipReason::NoRuleFits | SkipReason::Outside | SkipReason::NotDrawn => {
            "`--force` reviews it anyway"
        }
    };
    format!("{}; {advice}", skipped.sentence())
}

/// `review` accepts `--force` for a false positive.
pub(crate) fn review_key_error(held: &SecretFile) -> ValidationError {
    held.fault().with_suggestion("remove the key; `--force` sends the file anyway")
}

#[derive(Debug, Args)]
pub(crate) struct ReviewCommonArgs {
    /// The author of the documents; the log keeps it, and `audit` counts by it
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub producer: Option<String>,
    /// Run the offline panel, with the replies of a script (.yaml) if you name one
    #[arg(long, value_name = "SCRIPT", num_args = 0..=1)]
    rehearse: Option<Option<PathBuf>>,
    /// The output format [default: text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReviewFormat>,
    /// Spend at most this many US dollars on each document
    #[arg(long, value_name = "USD", value_parser = parse_dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Decide by this policy [default: `review.policy.name` of council.yaml, else seed]
    #[arg(long, value_name = "POLICY", value_parser = enum_parser(PolicyName::ALL, PolicyName::name))]
    policy: Option<PolicyName>,
    /// Run this many reviews at once [default: 4]
    #[arg(long, value_name = "N", value_parser = from_one_to(JOBS_MAX))]
    jobs: Option<usize>,
    /// Stop each review after this time, such as `90s`; it can be resumed
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    deadline: Option<u64>,
    /// Use this model of a provider, such as `claude=latest`; repeatable
    #[arg(long = "model", value_name = "NAME=MODEL", value_parser = parse_model_choice)]
    models: Vec<ModelChoice>,
}

/// Enough for a folder of posts without a burst of calls that providers reject.
const JOBS_DEFAULT: usize = 4;

/// Each review makes up to four calls at once.
const JOBS_MAX: usize = 64;

impl ReviewCommonArgs {
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.unwrap_or(JOBS_DEFAULT)
    }

    /// Whether `--format` selects JSON, like `--json`.
    pub(crate) fn wants_json(&self) -> bool {
        self.format == Some(ReviewFormat::Json)
    }

    /// The format of `--format`; otherwise that of `--json`.
    pub(crate) fn output_format(&self, session: &CliSession<'_>) -> ReviewFormat {
        self.format.unwrap_or(if session.ui.json { ReviewFormat::Json } else { ReviewFormat::Text })
    }

    /// The rehearsal panel, if `--rehearse` is given.
    pub(crate) fn parse_rehearsal(&self) -> Result<RehearsalChoice, Error> {
        crate::cli::runs::value_parsers::parse_rehearsal(self.rehearse.as_ref())
    }

    /// Settings for triage: which files to review. Does not require a usable provider.
    pub(crate) fn triage_settings(&self, session: &CliSession<'_>) -> Result<Settings, Error> {
        let settings = session.loader.load_offline_settings(&self.setting_overrides())?;
        Ok(self.with_policy(settings))
    }

    /// The settings with the policy of the command line.
    fn with_policy(&self, mut settings: Settings) -> Settings {
        settings.review.policy = self.policy.unwrap_or(settings.review.policy);
        settings
    }

    pub(crate) fn run_settings(
        &self,
        session: &CliSession<'_>,
        rehearsal: &RehearsalChoice,
    ) -> Result<Settings, Error> {
        let settings = provider_settings(&session.loader, rehearsal, &self.setting_overrides())?;
        Ok(self.with_policy(settings))
    }

    fn setting_overrides(&self) -> BudgetOverrides {
        let models = self.models.clone();
        BudgetOverrides { budget_usd: self.budget_usd, deadline_ms: self.deadline, models }
    }

    /// Takes a value of `--rehearse` that is not a YAML file: in `--rehearse posts`, clap parses
    /// the folder as the script.
    pub(crate) fn take_non_script(&mut self) -> Option<PathBuf> {
        let is_script = |path: &Path| {
            path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
        };
        self.rehearse.as_mut()?.take_if(|path| !is_script(path))
    }

    /// Takes the value of `--rehearse`, of any kind.
    pub(crate) fn take_script(&mut self) -> Option<PathBuf> {
        self.rehearse.as_mut()?.take()
    }
}

/// Record a person's decision against a verdict
///
/// The verdict stays in the log; the decision is recorded beside it with its reason and applies
/// from now on: `plenary review` of the same content gives it at once, without a call. A later
/// decision replaces it, and the log keeps both. `plenary audit` counts them.
///
/// $ plenary override posts-launch-md-1a2b3c4d/1 --as SHIP --why "Source added."
#[derive(Debug, Args)]
pub(crate) struct OverrideArgs {
    /// The id of the verdict, as `plenary log tail` shows it, or of a review with one verdict
    #[arg(value_parser = parse_name)]
    verdict_id: String,
    /// The decision
    #[arg(long = "as", value_name = "DECISION", value_parser = decision_parser(), ignore_case = true)]
    decision: ReviewDecision,
    /// The reason, for later readers of the log
    #[arg(long, value_name = "TEXT", value_parser = parse_reason)]
    why: String,
    /// The person who decides [default: the name of Git's author, else of the system's user]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    by: Option<String>,
}

/// A later reader needs the reason.
fn parse_reason(text: &str) -> Result<String, &'static str> {
    match text.trim().is_empty() {
        true => Err("expected the reason, for example `Source added.`"),
        false => Ok(text.to_owned()),
    }
}

fn decision_parser() -> impl TypedValueParser<Value = ReviewDecision> {
    let names = ReviewDecision::ALL.iter().map(|word| word.name());
    PossibleValuesParser::new(names)
        .try_map(|name| name.to_uppercase().parse().map_err(|_| "no decision"))
}

impl OverrideArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let Some(by) = self.by.or_else(find_user_name) else {
            let message = "neither Git nor the system has a name of yours: name the person who decides with `--by NAME`";
            return Err(Error::Usage(message.to_owned()));
        };
        let arguments = CliArguments::new(None)?
            .set_field("verdict_id", Some(self.verdict_id))
            .set_field("decision", Some(self.decision.name()))
            .set_field("why", Some(self.why))
            .set_field("by", Some(by));
        let settings = session.loader.load_offline_settings(&BudgetOverrides::default())?;
        let project = session.open_existing()?;
        repair_project_log(session, &project);
        let overridden = override_verdict(&project, arguments.value(), &settings.review.redact)?;
        // The override is a row of the log's file.
        sync_log(session.ui, project.store.as_ref(), &settings.review.log_path);
        session.ui.print_result(&overridden, override_text)?;
        Ok(ExitStatus::Ok)
    }
}

fn override_text(overridden: &OverrideResult) -> String {
    let OverrideResult { verdict_id, artifact, gate, stood, stands, by, rehearsal, .. } =
        overridden;
    let earlier = match stood == gate {
        true => String::new(),
        false => format!("; {stood} applied until now"),
    };
    let by = by.as_ref().map(|by| format!(", decided by {}", safe_line(by))).unwrap_or_default();
    let command = if *rehearsal { "plenary review --rehearse" } else { "plenary review" };
    format!(
        "{}\n{}\n  The review said {gate}{earlier}; {stands} now applies{by}.\n  `{command}` gives \
         this decision for the same content.\n  `--force` judges it again.",
        safe_line(artifact),
        safe_line(verdict_id)
    )
}
