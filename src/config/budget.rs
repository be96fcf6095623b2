//! Settles the `budget` section, the only one that flags and environment variables override, and
//! the `review` section. Called by `load_settings`.

use super::duration;
use super::environment::Environment;
use super::error::ConfigError;
use super::file::BudgetSection;
use super::ledger::{Layers, Ledger};
use super::section::At;
use crate::domain::plan::Caps;

const USD_VARIABLE: &str = "PLENARY_BUDGET_USD";
const DEADLINE_VARIABLE: &str = "PLENARY_DEADLINE";

/// Budget values from the command line; they override environment and file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Overrides {
    /// `--budget-usd`.
    pub budget_usd: Option<f64>,
    /// `--deadline`, in milliseconds.
    pub deadline_ms: Option<u64>,
}

/// Micro-dollars per dollar.
const MICROS: f64 = 1_000_000.0;

pub(super) fn settle(
    file: BudgetSection,
    overrides: &Overrides,
    environment: &Environment,
    ledger: &mut Ledger,
) -> Result<Caps, ConfigError> {
    let default = Caps::default();
    let flag = overrides.budget_usd;
    if flag.is_some_and(|usd| !is_amount(usd)) {
        return Err(ConfigError::Flag { flag: "--budget-usd", expected: "an amount of dollars" });
    }
    let usd = ledger.settle(
        "budget.usd_max",
        Layers {
            flag: flag.map(|usd| ("--budget-usd", usd)),
            environment: dollars(environment)?.map(|usd| (USD_VARIABLE, usd)),
            file: file.usd_max,
            default: default.usd_micros as f64 / MICROS,
        },
    );
    let tokens = ledger.file_or("budget.tokens_max", file.tokens_max, default.tokens);
    let calls = ledger.file_or("budget.calls_max", file.calls_max, default.calls);
    let wall_ms = ledger.settle(
        "budget.wall_max",
        Layers {
            flag: overrides.deadline_ms.map(|ms| ("--deadline", Shown(ms))),
            environment: deadline(environment)?.map(|ms| (DEADLINE_VARIABLE, Shown(ms))),
            file: file.wall_max.map(|at| at.map(Shown)),
            default: Shown(default.wall_ms),
        },
    );
    Ok(Caps { usd_micros: (usd * MICROS).round() as u64, tokens, calls, wall_ms: wall_ms.0 })
}

/// Daily limit in micro-dollars over all runs of a server's store; `None` means no limit. Only the
/// file sets it, because it is the operator's decision.
pub(super) fn settle_server(file: Option<At<f64>>, ledger: &mut Ledger) -> Option<u64> {
    let usd = ledger.file_or("budget.server_usd_max", file.map(|at| at.map(Some)), None);
    usd.map(|usd| (usd * MICROS).round() as u64)
}

/// Milliseconds that serialize in the `15m` notation.
#[derive(Debug)]
pub(super) struct Shown(pub u64);

impl serde::Serialize for Shown {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&duration::show(self.0))
    }
}

fn dollars(environment: &Environment) -> Result<Option<f64>, ConfigError> {
    let Some(text) = environment.get(USD_VARIABLE) else { return Ok(None) };
    let usd = text.trim().parse().ok().filter(|usd| is_amount(*usd));
    let error = ConfigError::Variable { variable: USD_VARIABLE, expected: "an amount of dollars" };
    usd.map(Some).ok_or(error)
}

fn is_amount(usd: f64) -> bool {
    (0.0..=super::file::USD_MAX).contains(&usd)
}

fn deadline(environment: &Environment) -> Result<Option<u64>, ConfigError> {
    let Some(text) = environment.get(DEADLINE_VARIABLE) else { return Ok(None) };
    let text = text.trim();
    let ms = text.parse().ok().or_else(|| duration::parse(text)).filter(|ms| *ms > 0);
    let expected = "a duration such as `90s` or `15m`";
    ms.map(Some).ok_or(ConfigError::Variable { variable: DEADLINE_VARIABLE, expected })
}
