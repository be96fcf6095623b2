//! Arguments of operations: JSON text into fields, digests, and ids of new dialogues.

use plenary_core::model::hash::SeededRandom;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::strict_json::StrictJson;
use plenary_core::model::text::slugify_title;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use serde_json::Value;

use crate::error::Error;
use crate::store::error::StoreError;
use crate::store::traits::StoreTransaction;

/// The JSON reader has its own depth limit and message.
const STRICT: StrictJson = StrictJson {
    depth_max: usize::MAX,
    duplicate_key: |key| format!("the key `{key}` is there twice"),
    too_deep: String::new,
};

/// Parses the arguments of an operation.
pub fn parse_arguments(text: &str) -> Result<Value, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = STRICT.parse_json(text);
    parsed.map_err(|error| {
        ValidationError::new(
            ErrorCode::InvalidJson,
            format!("the arguments are not valid JSON: {error}"),
        )
        .into()
    })
}

/// Id from the slug of the title and eight random hex digits, for dialogues created in large
/// numbers.
pub(crate) fn hexed_id(
    unit: &mut dyn StoreTransaction,
    title: &str,
    dice: &mut SeededRandom,
) -> Result<DialogueId, Error> {
    loop {
        let text = format!("{}-{:08x}", slugify_title(title), dice.next_u64() >> 32);
        let malformed = |_| StoreError::Malformed { what: "dialogue id", text: text.clone() };
        let id = text.parse().map_err(malformed)?;
        if !unit.is_id_taken(&id)? {
            return Ok(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use plenary_core::model::hash::canonical_sha256 as digest;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let one =
            parse_arguments(r#"{"a": {"x": 1, "y": [2, {"p": 1, "q": 2}]}, "b": 1}"#).unwrap();
        let two = parse_arguments(r#"{"b":1,"a":{"y":[2,{"q":2,"p":1}],"x":1}}"#).unwrap();
        let three = parse_arguments(r#"{"b":1,"a":{"y":[{"q":2,"p":1},2],"x":1}}"#).unwrap();
        assert_eq!(digest(&one), digest(&two));
        assert_ne!(digest(&one), digest(&three));
    }

    #[test]
    fn what_is_parsed_is_what_was_written() {
        for text in [r#"{"b":[1,-2,0.1,1e-25,true,null,"é"],"a":{}}"#, "[]", "7", "\"x\""] {
            assert_eq!(parse_arguments(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused_wherever_it_is() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"x":{"a":1,"b":2,"a":3}}]"#, r#"{"a":1,"\u0061":2}"#]
        {
            assert!(parse_arguments(text).is_err(), "{text}");
        }
    }
}
