//! Parses the adjudicator's reply. A missing `downgrade` counts as false.

use super::schema::adjudication_schema;
use super::spoken::{change, one_text};
use crate::domain::gate::Adjudication;
use crate::normalise::coerce::fitted;
use crate::normalise::reading::Normalised;
use crate::normalise::rigid::read_of_artifact;

/// The adjudicator does not see the artifact, but the deliberators' quotations from it.
pub fn adjudication(reply: &str, artifact: &str) -> Normalised<Adjudication> {
    let schema = adjudication_schema();
    read_of_artifact(reply, artifact, schema, "adjudications", |mut value| {
        for field in ["reasoning", "revision_brief", "downgrade_reason"] {
            change(&mut value, field, |given| Ok(one_text(given)))?;
        }
        let mut word: Adjudication = serde_path_to_error::deserialize(fitted(value, schema)?)
            .map_err(|error| error.to_string())?;
        if word.reasoning.trim().is_empty() {
            return Err("reasoning: empty".to_owned());
        }
        word.downgrade_reason = word.downgrade_reason.filter(|reason| !reason.trim().is_empty());
        Ok(word)
    })
}
