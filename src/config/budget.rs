//! Settles the `budget` section, the only one that flags and environment variables override, and
//! the `review` section. Called by `load_settings`.

use super::duration;
use super::environment::EnvVariables;
use super::error::ConfigError;
use super::file::BudgetSection;
use super::ledger::{SettingLayers, SettingLog};
use super::section::WithLine;
use crate::domain::plan::BudgetCaps;

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

pub(super) fn settle_budget(
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
pub(super) fn settle_server_budget(
    file: Option<WithLine<f64>>,
    ledger: &mut SettingLog,
) -> Option<u64> {
    let usd = ledger.record_file_or("budget.server_usd_max", file.map(|at| at.map(Some)), None);
    usd.map(|usd| (usd * MICROS_PER_USD).round() as u64)
}

/// Milliseconds that serialize in the `15m` notation.
#[derive(Debug)]
pub(super) struct DurationText(pub u64);

impl serde::Serialize for DurationText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&duration::show_duration(self.0))
    }
}

fn read_dollars(environment: &EnvVariables) -> Result<Option<f64>, ConfigError> {
    let Some(text) = environment.get(USD_VARIABLE) else { return Ok(None) };
    let usd = text.trim().parse().ok().filter(|usd| is_amount(*usd));
    let error = ConfigError::Variable { variable: USD_VARIABLE, expected: "an amount of dollars" };
    usd.map(Some).ok_or(error)
}

fn is_amount(usd: f64) -> bool {
    (0.0..=super::file::USD_MAX).contains(&usd)
}

fn read_deadline(environment: &EnvVariables) -> Result<Option<u64>, ConfigError> {
    let Some(text) = environment.get(DEADLINE_VARIABLE) else { return Ok(None) };
    let text = text.trim();
    let ms = text.parse().ok().or_else(|| duration::parse_duration(text)).filter(|ms| *ms > 0);
    let expected = "a duration such as `90s` or `15m`";
    ms.map(Some).ok_or(ConfigError::Variable { variable: DEADLINE_VARIABLE, expected })
}
