//! Warning of an operation that still succeeds.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Serialises as `{type, message, …}`, like the warnings in the export of the specification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestWarning {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(flatten)]
    pub details: Map<String, Value>,
    pub message: String,
}

impl RequestWarning {
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), details: Map::new(), message: message.into() }
    }

    #[must_use]
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// The message, with the details that it does not mention.
    pub fn to_sentence(&self) -> String {
        let plain = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let untold: Vec<String> = self
            .details
            .iter()
            .filter_map(|(name, value)| Some((name, plain(value)?)))
            .filter(|(_, value)| !self.message.contains(value.as_str()))
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        match untold.is_empty() {
            true => self.message.clone(),
            false => format!("{} ({})", self.message, untold.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_tells_every_detail_once() {
        let warning = RequestWarning::new("missing_score", "no score")
            .with_detail("expert", "ann")
            .with_detail("round", 2);
        assert_eq!(warning.to_sentence(), "no score (expert ann, round 2)");
        let told =
            RequestWarning::new("no_effect", "T0001 is open").with_detail("target_id", "T0001");
        assert_eq!(told.to_sentence(), "T0001 is open");
    }
}
