//! What a caller of a server may ask for: less than the operator allows, never more.
//!
//! The operator's limits are council.yaml and the environment of the server. The command line
//! does not come through here: its flags are typed by the operator.

use serde_json::json;

use crate::config::{Overrides, Settings, show_duration};
use crate::domain::refusal::{Code, Fault, Refusal};
use crate::error::Error;

/// A dollar in the unit that money is counted in.
const MICROS: f64 = 1_000_000.0;

/// Lowers the operator's settings to what a caller asks for. More than the operator allows is
/// refused with the limit, because a caller that silently got less would not know it.
pub fn lower_limits(mut settings: Settings, asked: &Overrides) -> Result<Settings, Error> {
    let mut faults = Vec::new();
    let limits = &mut settings.budget;
    if let Some(usd) = asked.budget_usd {
        let micros = (usd * MICROS).round() as u64;
        if micros > limits.usd_micros {
            let limit = limits.usd_micros as f64 / MICROS;
            faults.push(over_limit("budget_usd", &usd.to_string(), &limit.to_string(), json!(usd)));
        }
        limits.usd_micros = micros.min(limits.usd_micros);
    }
    if let Some(ms) = asked.deadline_ms {
        if ms > limits.wall_ms {
            let (given, limit) = (show_duration(ms), show_duration(limits.wall_ms));
            faults.push(over_limit("deadline", &given, &limit, json!(given)));
        }
        limits.wall_ms = ms.min(limits.wall_ms);
    }
    if faults.is_empty() { Ok(settings) } else { Err(Refusal::new(faults).into()) }
}

fn over_limit(field: &str, given: &str, limit: &str, value: serde_json::Value) -> Fault {
    let message = format!("{field} {given} is over the operator's limit of {limit}");
    Fault::new(Code::NotAuthorized, message)
        .field(field)
        .value(value)
        .suggest(format!("leave {field} out, or ask for at most {limit}"))
}
