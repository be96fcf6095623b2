//! Parses the adjudicator's reply. A missing `downgrade` counts as false.

use super::schema::adjudication_schema;
use super::spoken::{join_lines, map_field};
use crate::domain::gate::AdjudicatorReply;
use crate::normalise::coerce::coerce_value;
use crate::normalise::reading::ParseResult;
use crate::normalise::rigid::parse_strict_about;

/// The adjudicator does not see the artifact, but the deliberators' quotations from it.
pub fn parse_adjudication(reply: &str, artifact: &str) -> ParseResult<AdjudicatorReply> {
    let schema = adjudication_schema();
    parse_strict_about(reply, artifact, schema, "adjudications", |mut value| {
        for field in ["reasoning", "revision_brief", "downgrade_reason"] {
            map_field(&mut value, field, |given| Ok(join_lines(given)))?;
        }
        let mut word: AdjudicatorReply =
            serde_path_to_error::deserialize(coerce_value(value, schema)?)
                .map_err(|error| error.to_string())?;
        if word.reasoning.trim().is_empty() {
            return Err("reasoning: empty".to_owned());
        }
        word.downgrade_reason = word.downgrade_reason.filter(|reason| !reason.trim().is_empty());
        Ok(word)
    })
}
