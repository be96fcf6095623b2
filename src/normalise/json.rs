//! JSON read strictly: a key given twice is a fault, and depth has a limit.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::coerce::quoted;
use super::repair::repair;

/// Levels of lists and objects. What we ask for has four; a reader that calls itself needs an end.
pub(super) const DEPTH_MAX: usize = 64;

/// A JSON value, and what had to be done to read it.
#[derive(Debug, PartialEq)]
pub(super) struct Parsed {
    pub(super) value: Value,
    pub(super) repaired: bool,
    /// The text breaks off before the value ends.
    pub(super) cut_off: bool,
}

/// Reads the text as it is, else mended; the fault is that of the text as it is.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    match strict(text) {
        Ok(value) => Ok(Parsed { value, repaired: false, cut_off: false }),
        Err(fault) if fault.starts_with(DUPLICATE) => Err(fault),
        Err(fault) => match repair(text) {
            Ok(mended) => {
                Ok(Parsed { value: mended.value, repaired: true, cut_off: mended.cut_off })
            }
            Err(own) if own.starts_with(DUPLICATE) || own.starts_with(TOO_DEEP) => Err(own),
            Err(_) => Err(format!("not JSON: {fault}")),
        },
    }
}

pub(super) const DUPLICATE: &str = "duplicate key";
pub(super) const TOO_DEEP: &str = "nested deeper";

pub(super) fn duplicate(key: &str) -> String {
    format!("{DUPLICATE} {}", quoted(key))
}

pub(super) fn too_deep() -> String {
    format!("{TOO_DEEP} than {DEPTH_MAX} levels")
}

fn strict(text: &str) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read =
        Unique { depth: 0 }.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| without_position(&error.to_string()))
}

/// The place within a candidate says nothing about the place within the reply.
fn without_position(fault: &str) -> String {
    fault.split(" at line ").next().unwrap_or(fault).to_owned()
}

/// Builds a value and minds what `serde_json` lets pass.
#[derive(Clone, Copy)]
struct Unique {
    depth: usize,
}

impl Unique {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth + 1;
        if depth > DEPTH_MAX { Err(E::custom(too_deep())) } else { Ok(Self { depth }) }
    }
}

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

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut fields = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(duplicate(&key)));
            }
            fields.insert(key, access.next_value_seed(inner)?);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn good_json_is_read_as_it_is() {
        let text = r#"{"a":[1,-2,3.5,"x\n",true,null],"b":{}}"#;
        let parsed = parse(text).unwrap();
        assert_eq!(parsed.value, json!({"a": [1, -2, 3.5, "x\n", true, null], "b": {}}));
        assert!(!parsed.repaired && !parsed.cut_off);
    }

    #[track_caller]
    fn check_fault(text: &str, expected: &str) {
        assert_eq!(parse(text).unwrap_err(), expected);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        check_fault(r#"{"a":1,"a":2}"#, "duplicate key `a`");
        check_fault(r#"{'a':1,'a':2}"#, "duplicate key `a`");
        check_fault(r#"{"x y{}":1,"x y{}":2}"#, "duplicate key `x y??`");
        check_fault("{nothing here}", "not JSON: key must be a string");
        check_fault(&"[".repeat(65), "nested deeper than 64 levels");
    }
}
