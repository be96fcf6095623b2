//! Something worth saying that does not stop a request.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `{type, message, …}`, as the seed's export shows its warnings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(flatten)]
    pub details: Map<String, Value>,
    pub message: String,
}

impl Warning {
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), details: Map::new(), message: message.into() }
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}
