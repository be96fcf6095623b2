//! A directive in the words of the chair's model, before it is taken up.

use super::premises::Premises;
use crate::config::Overrides;
use crate::convening::{Outlets, reconnect};
use crate::domain::intervention::Restatement;
use crate::domain::transcript::Transcript;
use crate::engine;
use crate::error::Error;

/// What the chair's model understands; or why it does not say.
pub async fn restate(
    premises: &Premises,
    transcript: &Transcript,
    text: &str,
    outlets: &Outlets,
) -> Result<Result<Restatement, String>, Error> {
    let Transcript { opening, plan, .. } = transcript;
    let settings = premises.settings_for(opening, &Overrides::default())?;
    let connections = reconnect(plan, opening.rehearsal, &settings, outlets);
    let restated = engine::restate(transcript, &connections, text).await;
    Ok(restated.map_err(|error| error.message))
}
