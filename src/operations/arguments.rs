//! From text to arguments.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::domain::digest::sha256_hex;
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::record::{Fields, Notes};

/// Parses the arguments of an operation.
///
/// A key that is there twice is refused: one of the two would be lost silently.
pub fn parse(text: &str) -> Result<Value, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = serde_json::Deserializer::from_str(text);
    let parsed = Unique.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    parsed.map_err(|error| {
        Fault::new(Code::InvalidJson, format!("the arguments are not valid JSON: {error}")).into()
    })
}

/// Reads a small request: fields nobody knows are looked at for slips.
pub(super) fn read<T>(
    arguments: &Value,
    known: &[&str],
    read: impl FnOnce(&Fields<'_>, &mut Notes) -> Option<T>,
) -> Result<T, Error> {
    let fields = Fields::of_arguments(arguments)?;
    let mut notes = Notes::default();
    fields.expect_only(known, &mut notes);
    let request = read(&fields, &mut notes);
    Ok(notes.settle(request)?.0)
}

/// The digest of a document, whatever the order of its keys.
pub(super) fn digest(arguments: &Value) -> String {
    sha256_hex([canonical(arguments).to_string().as_bytes()])
}

fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut sorted: Vec<_> = map.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            sorted.into_iter().map(|(key, value)| (key.clone(), canonical(value))).collect()
        }
        Value::Array(list) => list.iter().map(canonical).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Reads any JSON value whose objects have no key twice.
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Unique)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key `{key}` is there twice")));
            }
            let value = entries.next_value_seed(Unique)?;
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let one = parse(r#"{"a": {"x": 1, "y": [2, {"p": 1, "q": 2}]}, "b": 1}"#).unwrap();
        let two = parse(r#"{"b":1,"a":{"y":[2,{"q":2,"p":1}],"x":1}}"#).unwrap();
        let three = parse(r#"{"b":1,"a":{"y":[{"q":2,"p":1},2],"x":1}}"#).unwrap();
        assert_eq!(digest(&one), digest(&two));
        assert_ne!(digest(&one), digest(&three));
    }

    #[test]
    fn what_is_parsed_is_what_was_written() {
        for text in [r#"{"b":[1,-2,0.1,1e-25,true,null,"é"],"a":{}}"#, "[]", "7", "\"x\""] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused_wherever_it_is() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"x":{"a":1,"b":2,"a":3}}]"#, r#"{"a":1,"\u0061":2}"#]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
