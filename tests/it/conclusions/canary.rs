//! A unique random string that shows how far a text has spread.

use plenary::domain::dice::SplitMix;
use serde_json::{Value, json};

/// Letters that occur in no hex digest and rarely side by side in our texts.
const LETTERS: [char; 9] = ['g', 'j', 'k', 'q', 'v', 'w', 'x', 'y', 'z'];

const LENGTH: usize = 24;

/// The shortest part that cannot occur by chance.
const PART: usize = 5;

/// Fields that allow only an enumerated value or a letter; any other text makes the reply
/// unreadable.
const CLOSED: [&str; 14] = [
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
pub(super) struct Canary(String);

impl Canary {
    pub(super) fn of(secret: &str) -> Self {
        let mut dice = SplitMix::from_secret(secret, "canary");
        let letter = |_| LETTERS[(dice.roll() % LETTERS.len() as u64) as usize];
        Self((0..LENGTH).map(letter).collect())
    }

    pub(super) fn word(&self) -> &str {
        &self.0
    }

    /// Whether any part of it occurs in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        (0..=LENGTH - PART).any(|start| text.contains(&self.0[start..start + PART]))
    }

    /// A sentence that contains it.
    pub(super) fn sentence(&self) -> String {
        format!("Mind the {} before anything else.", self.0)
    }

    /// Adds it to every text of a document, and as an unknown field.
    pub(super) fn put_into(&self, mut document: Value) -> Value {
        self.enter(&mut document);
        document[self.word()] = json!(self.word());
        document
    }

    fn enter(&self, value: &mut Value) {
        match value {
            Value::String(text) => text.push_str(&format!(" {}", self.0)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.enter(item)),
            Value::Object(fields) => {
                let open = fields.iter_mut().filter(|(name, _)| !CLOSED.contains(&name.as_str()));
                open.for_each(|(_, value)| self.enter(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[test]
fn any_part_of_a_canary_is_noticed_and_no_other_text_is() {
    let canary = Canary::of("1");
    assert!(canary.is_in(canary.word()) && canary.is_in(&canary.sentence().to_uppercase()));
    assert!(canary.is_in(&canary.word()[7..13]) && !canary.is_in(&canary.word()[7..11]));
    let document = canary.put_into(json!({ "stance": "approve", "risks": [{ "a": "b" }] }));
    assert_eq!(document["stance"], "approve");
    assert!(canary.is_in(document["risks"][0]["a"].as_str().unwrap()));
    let ours = include_str!("../../../prompts/conclusion/critic.md");
    assert!(!canary.is_in(ours) && !canary.is_in("0123456789abcdef"));
}
