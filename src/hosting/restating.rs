//! A directive in the words of the chair's model, before it is taken up.

use super::premises::Premises;
use crate::config::Overrides;
use crate::convening::{Outlets, reconnect};
use crate::domain::intervention::Restatement;
use crate::domain::transcript::Transcript;
use crate::engine::{self, DailyBudget};
use crate::error::Error;

/// What came of asking the chair's model. That it cannot say is no error: the directive may be
/// taken up all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restated {
    As(Restatement),
    NotSaid { reason: String },
}

/// Asks the chair's model what it understands.
pub async fn restate(
    premises: &Premises,
    transcript: &Transcript,
    text: &str,
    outlets: &Outlets,
    daily_budget: Option<&DailyBudget>,
) -> Result<Restated, Error> {
    let Transcript { opening, plan, .. } = transcript;
    let settings = premises.settings_for(opening, &Overrides::default())?;
    if let Some(daily) = daily_budget {
        daily.set_limit(settings.server_usd_micros);
    }
    let connections = reconnect(plan, opening.rehearsal, &settings, outlets);
    Ok(match engine::restate(transcript, &connections, text, daily_budget).await {
        Ok(restatement) => Restated::As(restatement),
        Err(error) => Restated::NotSaid { reason: error.message },
    })
}
