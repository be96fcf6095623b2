//! Settles the `budget` section, the only one that flags and environment variables override, and
//! the `review` section. Called by `load_settings`.

use std::path::Path;

use plenary_core::model::plan::BudgetCaps;
use plenary_core::protocols::review::policy::PolicyName;
use plenary_core::protocols::review::redaction::LogRedaction;
use serde_json::json;

use crate::config::council_file::sections::{
    BudgetSection, DeliberatorEntry, ReviewSection, USD_MAX,
};
use crate::config::effective_settings::{SettingLayers, SettingLog, SettingSource};
use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::locate::ProjectPaths;
use crate::config::project_files::find_first_link;
use crate::config::section::{ProblemList, WithLine, parse_duration, show_duration};
use crate::config::settings::{DeliberatorSettings, ReviewSettings};
use crate::files::reserved_names::list_store_files;

const USD_VARIABLE: &str = "PLENARY_BUDGET_USD";
const DEADLINE_VARIABLE: &str = "PLENARY_DEADLINE";

/// Budget values from the command line; they override environment and file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BudgetOverrides {
    /// `--budget-usd`.
    pub budget_usd: Option<f64>,
    /// `--deadline`, in milliseconds.
    pub deadline_ms: Option<u64>,
}

/// Micro-dollars per dollar.
const MICROS_PER_USD: f64 = 1_000_000.0;

pub(crate) fn settle_budget(
    file: BudgetSection,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    ledger: &mut SettingLog,
) -> Result<BudgetCaps, ConfigError> {
    let default = BudgetCaps::default();
    let flag = overrides.budget_usd;
    if flag.is_some_and(|usd| !is_amount(usd)) {
        return Err(ConfigError::Flag { flag: "--budget-usd", expected: "an amount of dollars" });
    }
    let usd = ledger.record_layers(
        "budget.usd_max",
        SettingLayers {
            flag: flag.map(|usd| ("--budget-usd", usd)),
            environment: read_dollars(environment)?.map(|usd| (USD_VARIABLE, usd)),
            file: file.usd_max,
            default: default.usd_micros as f64 / MICROS_PER_USD,
        },
    );
    let tokens = ledger.record_file_or("budget.tokens_max", file.tokens_max, default.tokens);
    let calls = ledger.record_file_or("budget.calls_max", file.calls_max, default.calls);
    let wall_ms = ledger.record_layers(
        "budget.wall_max",
        SettingLayers {
            flag: overrides.deadline_ms.map(|ms| ("--deadline", DurationText(ms))),
            environment: read_deadline(environment)?
                .map(|ms| (DEADLINE_VARIABLE, DurationText(ms))),
            file: file.wall_max.map(|at| at.map(DurationText)),
            default: DurationText(default.wall_ms),
        },
    );
    Ok(BudgetCaps {
        usd_micros: (usd * MICROS_PER_USD).round() as u64,
        tokens,
        calls,
        wall_ms: wall_ms.0,
    })
}

/// Daily limit in micro-dollars over all runs of a server's store; `None` means no limit. Only the
/// file sets it, because it is the operator's decision.
pub(crate) fn settle_server_budget(
    file: Option<WithLine<f64>>,
    ledger: &mut SettingLog,
) -> Option<u64> {
    let usd = ledger.record_file_or("budget.server_usd_max", file.map(|at| at.map(Some)), None);
    usd.map(|usd| (usd * MICROS_PER_USD).round() as u64)
}

/// Milliseconds that serialize in the `15m` notation.
#[derive(Debug)]
pub(crate) struct DurationText(pub u64);

impl serde::Serialize for DurationText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&show_duration(self.0))
    }
}

fn read_dollars(environment: &EnvVariables) -> Result<Option<f64>, ConfigError> {
    let Some(text) = environment.get(USD_VARIABLE) else { return Ok(None) };
    let usd = text.trim().parse().ok().filter(|usd| is_amount(*usd));
    let error = ConfigError::Variable { variable: USD_VARIABLE, expected: "an amount of dollars" };
    usd.map(Some).ok_or(error)
}

fn is_amount(usd: f64) -> bool {
    (0.0..=USD_MAX).contains(&usd)
}

fn read_deadline(environment: &EnvVariables) -> Result<Option<u64>, ConfigError> {
    let Some(text) = environment.get(DEADLINE_VARIABLE) else { return Ok(None) };
    let text = text.trim();
    let ms = text.parse().ok().or_else(|| parse_duration(text)).filter(|ms| *ms > 0);
    let expected = "a duration such as `90s` or `15m`";
    ms.map(Some).ok_or(ConfigError::Variable { variable: DEADLINE_VARIABLE, expected })
}

/// One of the four deliberators of the specification may fail.
const MIN_DELIBERATORS_DEFAULT: usize = 3;
const PRIOR_VERDICTS_DEFAULT: usize = 5;
pub(crate) const LOG_PATH_DEFAULT: &str = "council_log.jsonl";

pub(crate) fn settle_review(
    file: ReviewSection,
    located: &ProjectPaths,
    ledger: &mut SettingLog,
    problems: &mut ProblemList,
) -> ReviewSettings {
    let folder = &located.folder;
    let (seats, source) = match file.deliberators {
        Some(WithLine { value, line }) => (value, SettingSource::File { line }),
        None => (DeliberatorEntry::built_in(), SettingSource::Default),
    };
    let names: Vec<&str> = seats.iter().map(|seat| seat.name.as_str()).collect();
    ledger.record_value("review.deliberators", json!(names), source.clone());
    let asked = file.min_deliberators.as_ref().map(|at| at.line);
    let adjudicator = ledger.record_file_or(
        "review.adjudicator.provider",
        file.adjudicator.map(|at| at.map(Some)),
        None,
    );
    let policy = ledger.record_file_or("review.policy.name", file.policy, PolicyName::Seed);
    let min_deliberators = ledger.record_file_or(
        "review.policy.min_deliberators",
        file.min_deliberators,
        MIN_DELIBERATORS_DEFAULT,
    );
    if let (true, SettingSource::File { line }) = (min_deliberators > seats.len(), source) {
        // A review that needs more deliberators than it has never passes.
        let fault = format!("is {min_deliberators}, but there are {} deliberators", seats.len());
        problems.add_problem("review.policy.min_deliberators", asked.unwrap_or(line), &fault);
    }
    let prior_verdicts = ledger.record_file_or(
        "review.policy.prior_verdicts",
        file.prior_verdicts,
        PRIOR_VERDICTS_DEFAULT,
    );
    let line = file.log_path.as_ref().map(|at| at.line);
    let log_path =
        ledger.record_file_or("review.log_path", file.log_path, LOG_PATH_DEFAULT.to_owned());
    let log_path = folder.join(log_path);
    if is_reserved_path(&log_path, located) {
        let fault = "must be a file of its own: this one is the store's, or `council.yaml` itself";
        problems.add_problem("review.log_path", line.unwrap_or_default(), fault);
    }
    let parent = log_path.parent().unwrap_or(folder);
    if let Some(link) = find_first_link(folder, parent) {
        let fault = format!("must not lead through a link: `{}` is one", link.display());
        problems.add_problem("review.log_path", line.unwrap_or_default(), &fault);
    }
    let redact = settle_redaction(file.redact, ledger);
    ReviewSettings {
        deliberators: seats.into_iter().map(|seat| settle_deliberator(seat, folder)).collect(),
        adjudicator,
        policy,
        min_deliberators,
        prior_verdicts,
        log_path,
        redact,
    }
}

/// Whether the log path is the store's file or `council.yaml`.
fn is_reserved_path(log_path: &Path, located: &ProjectPaths) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let log = real(log_path);
    let file = located.file.as_deref().map(real);
    list_store_files(&real(&located.store)).iter().any(|own| log.starts_with(own))
        || file.as_ref() == Some(&log)
}

/// Records only the number of patterns, because a pattern may contain the secret it hides.
fn settle_redaction(file: Option<WithLine<LogRedaction>>, ledger: &mut SettingLog) -> LogRedaction {
    let source =
        file.as_ref().map_or(SettingSource::Default, |at| SettingSource::File { line: at.line });
    let patterns = file.map(|at| at.value).unwrap_or_default();
    ledger.record_value("review.redact", json!(format!("{} patterns", patterns.len())), source);
    patterns
}

fn settle_deliberator(seat: DeliberatorEntry, folder: &Path) -> DeliberatorSettings {
    DeliberatorSettings {
        name: seat.name,
        provider: seat.provider.map(|at| at.value),
        prompt: seat.prompt.map(|path| folder.join(path)),
        context_refs: seat.context_refs.into_iter().map(|path| folder.join(path)).collect(),
        version: seat.version,
    }
}
