//! Parses the JSON of a reply: strictly first, then with repairs.

use serde_json::Value;

use crate::model::strict_json::StrictJson;
use crate::parsing::coerce::quote_safely;
use crate::parsing::json_repair::{RepairedJson, repair_json};

/// Maximum nesting of lists and objects. Our schemas need four levels; the limit bounds recursion.
pub(crate) const DEPTH_MAX: usize = 64;

/// A JSON value and how it was obtained.
#[derive(Debug, PartialEq)]
pub(crate) struct ParsedJson {
    pub(crate) value: Value,
    pub(crate) repaired: bool,
    /// The text ends before the value does.
    pub(crate) cut_off: bool,
    /// Number of bytes the value takes up; the text behind it is ignored.
    pub(crate) bytes: usize,
}

/// Parses strictly, then with repairs. The error is that of the strict attempt.
pub(crate) fn parse_json(text: &str) -> Result<ParsedJson, String> {
    match parse_unrepaired(text) {
        Ok(value) => Ok(ParsedJson { value, repaired: false, cut_off: false, bytes: text.len() }),
        Err(fault) if fault.starts_with(DUPLICATE_KEY) => Err(fault),
        Err(fault) => match repair_json(text) {
            Ok(RepairedJson { value, cut_off, bytes }) => {
                Ok(ParsedJson { value, repaired: true, cut_off, bytes })
            }
            Err(own) if own.starts_with(DUPLICATE_KEY) || own.starts_with(TOO_DEEP) => Err(own),
            Err(_) => Err(format!("not JSON: {fault}")),
        },
    }
}

pub(crate) const DUPLICATE_KEY: &str = "duplicate key";
pub(crate) const TOO_DEEP: &str = "nested deeper";

pub(crate) fn duplicate_key(key: &str) -> String {
    format!("{DUPLICATE_KEY} {}", quote_safely(key))
}

pub(crate) fn too_deep() -> String {
    format!("{TOO_DEEP} than {DEPTH_MAX} levels")
}

fn parse_unrepaired(text: &str) -> Result<Value, String> {
    const STRICT: StrictJson = StrictJson { depth_max: DEPTH_MAX, duplicate_key, too_deep };
    STRICT.parse_json(text).map_err(|error| strip_position(&error.to_string()))
}

/// Removes the position, which counts from the start of the candidate, not of the reply.
fn strip_position(fault: &str) -> String {
    fault.split(" at line ").next().unwrap_or(fault).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn good_json_is_read_as_it_is() {
        let text = r#"{"a":[1,-2,3.5,"x\n",true,null],"b":{}}"#;
        let parsed = parse_json(text).unwrap();
        assert_eq!(parsed.value, json!({"a": [1, -2, 3.5, "x\n", true, null], "b": {}}));
        assert!(!parsed.repaired && !parsed.cut_off);
    }

    #[track_caller]
    fn check_fault(text: &str, expected: &str) {
        assert_eq!(parse_json(text).unwrap_err(), expected);
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
