//! A unique random string that shows how far a text has spread.

use plenary_core::model::hash::SeededRandom;
use serde_json::{Value, json};

/// Letters that occur in no hex digest and rarely side by side in our texts.
const LETTERS: [char; 9] = ['g', 'j', 'k', 'q', 'v', 'w', 'x', 'y', 'z'];

const LENGTH: usize = 24;

/// The shortest part that cannot occur by chance.
const PART_LENGTH: usize = 5;

/// Fields that allow only an enumerated value or a letter; any other text makes the reply
/// unreadable.
const CLOSED_FIELDS: [&str; 14] = [
    "confidence",
    "stance",
    "severity",
    "letter",
    "type",
    "outcome",
    "provider",
    "reviewer",
    "critique_type",
    "weight",
    "mentioned_by",
    "consensus",
    "priority",
    "reported_by",
];

#[derive(Debug, Clone)]
pub(super) struct CanaryString(String);

impl CanaryString {
    pub(super) fn from_secret(secret: &str) -> Self {
        let mut dice = SeededRandom::from_secret(secret, "canary");
        let letter = |_| LETTERS[(dice.next_u64() % LETTERS.len() as u64) as usize];
        Self((0..LENGTH).map(letter).collect())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether any part of it occurs in a text.
    pub(super) fn occurs_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        (0..=LENGTH - PART_LENGTH).any(|start| text.contains(&self.0[start..start + PART_LENGTH]))
    }

    /// A sentence that contains it.
    pub(super) fn make_sentence(&self) -> String {
        format!("Mind the {} before anything else.", self.0)
    }

    /// Adds it to every text of a document, and as an unknown field.
    pub(super) fn insert_into(&self, mut document: Value) -> Value {
        self.insert_into_value(&mut document);
        document[self.as_str()] = json!(self.as_str());
        document
    }

    fn insert_into_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => text.push_str(&format!(" {}", self.0)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.insert_into_value(item)),
            Value::Object(fields) => {
                let open =
                    fields.iter_mut().filter(|(name, _)| !CLOSED_FIELDS.contains(&name.as_str()));
                open.for_each(|(_, value)| self.insert_into_value(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[test]
fn any_part_of_a_canary_is_noticed_and_no_other_text_is() {
    let canary = CanaryString::from_secret("1");
    assert!(
        canary.occurs_in(canary.as_str())
            && canary.occurs_in(&canary.make_sentence().to_uppercase())
    );
    assert!(
        canary.occurs_in(&canary.as_str()[7..13]) && !canary.occurs_in(&canary.as_str()[7..11])
    );
    let document = canary.insert_into(json!({ "stance": "approve", "risks": [{ "a": "b" }] }));
    assert_eq!(document["stance"], "approve");
    assert!(canary.occurs_in(document["risks"][0]["a"].as_str().unwrap()));
    let ours = include_str!("../../../prompts/conclusion/critic.md");
    assert!(!canary.occurs_in(ours) && !canary.occurs_in("0123456789abcdef"));
}
