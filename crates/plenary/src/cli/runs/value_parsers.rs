//! Parsers of typed values: the question, ids, times, amounts, days, names; and the options that
//! several commands share.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use plenary_core::model::limits::TEXT_CHARS_MAX;
use plenary_core::model::time::SinceTime;
use plenary_engine::app::planning::panel_setup::RehearsalChoice;
use plenary_engine::app::prepare_run::check_question;
use plenary_engine::config::section::parse_duration;
use plenary_engine::config::settle_sections::{BudgetOverrides, ModelChoice};
use plenary_engine::config::tier_rules::is_artifact_type;
use plenary_engine::error::Error;
use plenary_engine::files::read_write::{FileError, read_request_text};
use plenary_engine::providers::rehearsal::script::RehearsalScript;

/// Limits and models of a run.
#[derive(Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// Spend at most this many US dollars in all: on the run from its start, or on the batch
    #[arg(long, value_name = "USD", value_parser = parse_dollars, allow_negative_numbers = true)]
    pub budget_usd: Option<f64>,
    /// Stop after this time, such as `90s` or `10m`; the run can be resumed
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub deadline: Option<u64>,
    /// Use this model of a provider, such as `claude=latest`; repeatable
    #[arg(long = "model", value_name = "NAME=MODEL", value_parser = parse_model_choice)]
    pub models: Vec<ModelChoice>,
}

impl LimitArgs {
    pub(crate) fn overrides(&self) -> BudgetOverrides {
        BudgetOverrides {
            budget_usd: self.budget_usd,
            deadline_ms: self.deadline,
            models: self.models.clone(),
        }
    }
}

/// A provider and its model.
pub(crate) fn parse_model_choice(typed: &str) -> Result<ModelChoice, &'static str> {
    let parts = typed.split_once('=').map(|(name, model)| (name.trim(), model.trim()));
    let parts = parts.filter(|(name, model)| !name.is_empty() && !model.is_empty());
    let (provider, model) = parts.ok_or("expected a provider and a model: `NAME=MODEL`")?;
    // An agent program may read such a name as an option.
    if model.starts_with('-') {
        return Err("the name of a model must not begin with `-`");
    }
    Ok(ModelChoice { provider: provider.to_owned(), model: model.to_owned() })
}

/// Parses one of these values by its name; the help lists the names.
pub(crate) fn enum_parser<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|value| name(*value))).try_map(move |typed| {
        let found = all.iter().copied().find(|value| name(*value) == typed);
        found.ok_or("the value is not in the list")
    })
}

/// A question from the command line; `-` means standard input.
pub(crate) fn parse_question(typed: &str) -> Result<String, Error> {
    let checked =
        if typed == "-" { check_question(&standard_input()?) } else { check_question(typed) };
    Ok(checked?)
}

fn standard_input() -> Result<String, Error> {
    // At most four bytes per allowed character, and one more to detect a longer text.
    let limit = TEXT_CHARS_MAX as u64 * 4 + 1;
    let mut bytes = Vec::new();
    let path = || Path::new("-").to_owned();
    std::io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|source| FileError::Unreadable { path: path(), source })?;
    String::from_utf8(bytes).map_err(|_| FileError::NotText { path: path() }.into())
}

/// The rehearsal that `--rehearse` asks for.
pub(crate) fn parse_rehearsal(wanted: Option<&Option<PathBuf>>) -> Result<RehearsalChoice, Error> {
    Ok(match wanted {
        None => RehearsalChoice::WhenNoProvider,
        Some(None) => RehearsalChoice::Requested,
        Some(Some(path)) => {
            RehearsalChoice::Scripted(RehearsalScript::parse_yaml(&read_request_text(path)?)?)
        }
    })
}

/// A length of time as people write it, in milliseconds.
pub(crate) fn parse_time(typed: &str) -> Result<u64, String> {
    parse_duration(typed).ok_or_else(|| match typed.parse::<u64>() {
        Ok(number) => missing_unit(&[(number, 's', "seconds"), (number, 'm', "minutes")]),
        Err(_) => "expected a time such as `90s` or `10m`".to_owned(),
    })
}

/// The error for a number that could mean each of these times.
pub(crate) fn missing_unit(offers: &[(u64, char, &str)]) -> String {
    let offers = offers.iter().map(|(number, unit, noun)| format!("`{number}{unit}` ({noun})"));
    format!("a time needs a unit: write {}", offers.collect::<Vec<_>>().join(" or "))
}

/// An amount of dollars.
pub(crate) fn parse_dollars(typed: &str) -> Result<f64, &'static str> {
    let amount = typed.trim_start_matches('$').parse().ok();
    match amount.filter(|usd: &f64| usd.is_finite() && *usd >= 0.0) {
        Some(0.0) => Err("the budget must be above 0; `--rehearse` asks no model"),
        amount => amount.ok_or("expected an amount of US dollars such as `2.50`"),
    }
}

/// Start of a time window.
pub(crate) fn parse_since(typed: &str) -> Result<SinceTime, String> {
    const EXPECTED: &str =
        "expected a time such as `24h`, `7d` or `4w`, or a day until 9999-12-31: `2026-01-01`";
    typed.parse().map_err(|_| days_or(typed, EXPECTED))
}

/// The error for a number without a unit, where days and weeks are meant; otherwise `expected`.
pub(crate) fn days_or(typed: &str, expected: &str) -> String {
    match typed.parse::<u64>() {
        Ok(number) => missing_unit(&[(number, 'd', "days"), (number, 'w', "weeks")]),
        Err(_) => expected.to_owned(),
    }
}

/// A number from 1 to a limit.
pub(crate) fn from_one_to(most: usize) -> impl Fn(&str) -> Result<usize, String> + Clone {
    move |typed| {
        let number = typed.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| format!("expected a number from 1 to {most}"))
    }
}

/// What a type of artifacts may be called, as in `tier_rules`.
pub(crate) fn artifact_type(text: &str) -> Result<String, String> {
    match is_artifact_type(text) {
        true => Ok(text.to_owned()),
        false => Err("expected 1 to 64 letters, digits, `_`, `-` or `.`".to_owned()),
    }
}

/// A name: one line of limited length.
pub(crate) fn parse_name(text: &str) -> Result<String, String> {
    const CHARS_MAX: usize = 200;
    let is_name = !text.trim().is_empty()
        && text.chars().count() <= CHARS_MAX
        && !text.chars().any(char::is_control);
    if is_name {
        Ok(text.trim().to_owned())
    } else {
        Err(format!("expected one line of 1 to {CHARS_MAX} characters"))
    }
}
