//! JSON as it stands in a reply: read strictly, else mended.

use serde_json::Value;

use super::coerce::quoted;
use super::repair::{Mended, repair};
use crate::domain::strict_json::Strict;

/// Levels of lists and objects. What we ask for has four; a reader that calls itself needs an end.
pub(super) const DEPTH_MAX: usize = 64;

/// A JSON value, and what had to be done to read it.
#[derive(Debug, PartialEq)]
pub(super) struct Parsed {
    pub(super) value: Value,
    pub(super) repaired: bool,
    /// The text breaks off before the value ends.
    pub(super) cut_off: bool,
    /// How much of the text the value takes up; what stands behind it was not looked at.
    pub(super) bytes: usize,
}

/// Reads the text as it is, else mended; the fault is that of the text as it is.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    match strict(text) {
        Ok(value) => Ok(Parsed { value, repaired: false, cut_off: false, bytes: text.len() }),
        Err(fault) if fault.starts_with(DUPLICATE) => Err(fault),
        Err(fault) => match repair(text) {
            Ok(Mended { value, cut_off, bytes }) => {
                Ok(Parsed { value, repaired: true, cut_off, bytes })
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
    const STRICT: Strict = Strict { depth_max: DEPTH_MAX, key_twice: duplicate, too_deep };
    STRICT.read(text).map_err(|error| without_position(&error.to_string()))
}

/// The place within a candidate says nothing about the place within the reply.
fn without_position(fault: &str) -> String {
    fault.split(" at line ").next().unwrap_or(fault).to_owned()
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
