//! Strict JSON parser. It rejects duplicate keys, because one of the two values would be lost
//! silently, and it limits the nesting depth.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Rules of the parser, and the texts of its errors.
#[derive(Debug, Clone, Copy)]
pub struct StrictJson {
    /// Maximum nesting depth of lists and objects.
    pub depth_max: usize,
    pub duplicate_key: fn(&str) -> String,
    pub too_deep: fn() -> String,
}

impl StrictJson {
    pub fn parse_json(self, text: &str) -> Result<Value, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let value = StrictVisitor { rules: self, depth: 0 }.deserialize(&mut reader)?;
        reader.end()?;
        Ok(value)
    }
}

/// Builds a value and applies the checks that `serde_json` omits.
#[derive(Clone, Copy)]
struct StrictVisitor {
    rules: StrictJson,
    depth: usize,
}

impl StrictVisitor {
    fn enter_level<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth + 1;
        match depth > self.rules.depth_max {
            true => Err(E::custom((self.rules.too_deep)())),
            false => Ok(Self { depth, ..self }),
        }
    }
}

impl<'de> DeserializeSeed<'de> for StrictVisitor {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictVisitor {
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
        let inner = self.enter_level()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.enter_level()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom((self.rules.duplicate_key)(&key)));
            }
            let value = entries.next_value_seed(inner)?;
            map.insert(key, value);
        }
        Ok(map.into())
    }
}
