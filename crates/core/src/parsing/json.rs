//! Parses the JSON of a reply: strictly first, then with repairs of the mistakes that models make.
//!
//! The lenient parser accepts trailing and missing commas, comments, single and curly quotes, quotes
//! and line breaks inside strings, unquoted keys, Python literals, numbers outside JSON, and
//! truncated text. It rejects all other errors. It makes one pass over the text, with the depth limit
//! of the strict parser.
//!
//! We do not use `jsonrepair-rs`, because it also turns prose and bare words into strings, which
//! could produce an opinion from prose.

use serde_json::{Map, Value};

use crate::model::strict_json::StrictJson;
use crate::parsing::coerce::quote_safely;

/// Maximum nesting of lists and objects. Our schemas need four levels; the limit bounds recursion.
pub(crate) const DEPTH_MAX: usize = 64;

/// Replaces a malformed escape.
const REPLACEMENT_UNIT: u16 = 0xfffd;

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

#[derive(Debug, PartialEq)]
pub(crate) struct RepairedJson {
    pub(crate) value: Value,
    /// The parser closed brackets that were open at the end of the text.
    pub(crate) cut_off: bool,
    /// Number of bytes the value takes up.
    pub(crate) bytes: usize,
}

/// Parses the value at the start of the text and ignores the rest.
pub(crate) fn repair_json(text: &str) -> Result<RepairedJson, String> {
    let mut mender = JsonRepairer { rest: text, cut_off: false };
    let value = mender.read_value(0)?.unwrap_or(Value::Null);
    let bytes = text.len() - mender.rest.len();
    Ok(RepairedJson { value, cut_off: mender.cut_off, bytes })
}

type RepairResult<T> = Result<Option<T>, String>;

struct JsonRepairer<'a> {
    rest: &'a str,
    cut_off: bool,
}

impl JsonRepairer<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next_char(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next();
        self.rest = letters.as_str();
        letter
    }

    fn take_char(&mut self, wanted: char) -> bool {
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Skips spaces and comments and returns the next character, or `None` at the end.
    fn peek_token(&mut self) -> Option<char> {
        loop {
            self.rest =
                self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let end = match self.rest.as_bytes() {
                [b'/', b'/', ..] | [b'#', ..] => self.rest.find('\n'),
                [b'/', b'*', ..] => self.rest.find("*/").map(|place| place + 2),
                _ => return self.peek(),
            };
            self.rest = end.and_then(|end| self.rest.get(end..)).unwrap_or_default();
        }
    }

    /// Parses a value; `None` if the text ends before it.
    fn read_value(&mut self, depth: usize) -> RepairResult<Value> {
        let Some(first) = self.peek_token() else {
            self.cut_off = true;
            return Ok(None);
        };
        match first {
            '{' | '[' if depth >= DEPTH_MAX => Err(too_deep()),
            '{' => self.read_object(depth).map(Some),
            '[' => self.read_list(depth).map(Some),
            _ if closing_quotes(first).is_some() => {
                Ok(Some(Value::String(self.read_string(Self::quote_ends_string))))
            }
            _ => self.read_literal(),
        }
    }

    fn read_object(&mut self, depth: usize) -> Result<Value, String> {
        self.next_char();
        let mut fields = Map::new();
        loop {
            match self.peek_token() {
                None => self.cut_off = true,
                Some('}') => {
                    self.next_char();
                }
                Some(_) => {
                    if self.read_member(&mut fields, depth)? {
                        continue;
                    }
                }
            }
            return Ok(Value::Object(fields));
        }
    }

    /// Parses one field and the comma behind it; false if the text ends within.
    fn read_member(
        &mut self,
        fields: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<bool, String> {
        let key = self.read_key()?;
        match self.peek_token() {
            Some(':') => self.next_char(),
            Some(_) => return Err(format!("no colon behind a key at depth {depth}")),
            None => {
                self.cut_off = true;
                return Ok(false);
            }
        };
        let Some(value) = self.read_value(depth + 1)? else { return Ok(false) };
        if fields.contains_key(&key) {
            return Err(duplicate_key(&key));
        }
        fields.insert(key, value);
        self.peek_token();
        self.take_char(',');
        Ok(true)
    }

    fn read_key(&mut self) -> Result<String, String> {
        if self.peek().and_then(closing_quotes).is_some() {
            return Ok(self.read_string(|_| true));
        }
        let is_bare = |letter: char| letter.is_alphanumeric() || "_$-".contains(letter);
        let end = self.rest.find(|letter| !is_bare(letter)).unwrap_or(self.rest.len());
        let (key, rest) = self.rest.split_at(end);
        self.rest = rest;
        if key.is_empty() { Err("a key is missing".to_owned()) } else { Ok(key.to_owned()) }
    }

    fn read_list(&mut self, depth: usize) -> Result<Value, String> {
        self.next_char();
        let mut items = Vec::new();
        loop {
            match self.peek_token() {
                None => self.cut_off = true,
                Some(']') => {
                    self.next_char();
                }
                Some(_) => {
                    if let Some(item) = self.read_value(depth + 1)? {
                        items.push(item);
                        self.peek_token();
                        self.take_char(',');
                        continue;
                    }
                }
            }
            return Ok(Value::Array(items));
        }
    }

    /// Parses a string in any kind of quotes. `ends` decides for each matching quote whether it
    /// closes the string.
    fn read_string(&mut self, ends: impl Fn(&Self) -> bool) -> String {
        let closing = self.next_char().and_then(closing_quotes).unwrap_or_default();
        let mut text = String::new();
        loop {
            match self.next_char() {
                None => {
                    self.cut_off = true;
                    return text;
                }
                Some('\\') => self.read_escape(&mut text),
                Some(quote) if closing.contains(&quote) && ends(self) => return text,
                Some(other) => text.push(other),
            }
        }
    }

    /// Whether the quote just passed closes its string: JSON syntax follows. A quote inside a
    /// sentence is followed by more of the sentence.
    fn quote_ends_string(&self) -> bool {
        let after = self.rest.trim_start();
        let gap = self.rest.get(..self.rest.len() - after.len()).unwrap_or_default();
        match after.chars().next() {
            None | Some(',' | ':' | '}' | ']') => true,
            Some('/') => after.starts_with("//") || after.starts_with("/*"),
            // The comma at the end of the line is missing.
            Some(next) => gap.contains('\n') && closing_quotes(next).is_some(),
        }
    }

    fn read_escape(&mut self, text: &mut String) {
        match self.next_char() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('u') => text.push_str(&self.read_unicode()),
            Some(sign @ ('"' | '\'' | '\\' | '/')) => text.push(sign),
            // An escaped line break.
            Some('\n') => {}
            Some(other) => text.extend(['\\', other]),
            None => self.cut_off = true,
        }
    }

    /// Parses the characters of consecutive `\u` escapes; an unpaired surrogate becomes the
    /// replacement character.
    fn read_unicode(&mut self) -> String {
        let mut units = Vec::new();
        loop {
            let unit = self.read_hex();
            units.push(unit.unwrap_or(REPLACEMENT_UNIT));
            match self.rest.strip_prefix("\\u").filter(|_| unit.is_some()) {
                Some(rest) => self.rest = rest,
                None => return String::from_utf16_lossy(&units),
            }
        }
    }

    fn read_hex(&mut self) -> Option<u16> {
        let digits =
            self.rest.get(..4).filter(|four| four.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let code = u16::from_str_radix(digits, 16).ok()?;
        self.rest = self.rest.get(4..)?;
        Some(code)
    }

    /// Parses a number or a literal of JSON, JavaScript or Python.
    fn read_literal(&mut self) -> RepairResult<Value> {
        let is_bare = |letter: char| letter.is_ascii_alphanumeric() || "+-._".contains(letter);
        let end = self.rest.find(|letter| !is_bare(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let is_cut = rest.is_empty();
        let value = match word {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "NULL" | "undefined" | "NaN" | "nan" | "Infinity" | "+Infinity"
            | "-Infinity" | "inf" | "-inf" => Value::Null,
            _ => match serde_json::from_str(word) {
                Ok(Value::Number(number)) => Value::Number(number),
                // A truncated word at the end is dropped, not guessed.
                _ if is_cut => {
                    self.cut_off = true;
                    self.rest = rest;
                    return Ok(None);
                }
                _ => return Err("a value that is not JSON".to_owned()),
            },
        };
        self.rest = rest;
        Ok(Some(value))
    }
}

/// Returns the quotes that can close this opening quote.
fn closing_quotes(opening: char) -> Option<&'static [char]> {
    match opening {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '“' | '”' | '„' => Some(&['”', '“', '"']),
        '‘' | '’' => Some(&['’', '‘', '\'']),
        _ => None,
    }
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

#[cfg(test)]
mod json_repair_tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, value: &Value) {
        let corrected = repair_json(text).map(|corrected| (corrected.value, corrected.cut_off));
        assert_eq!(corrected, Ok((value.clone(), false)));
    }

    #[track_caller]
    fn check_cut(text: &str, value: &Value) {
        let corrected = repair_json(text).map(|corrected| (corrected.value, corrected.cut_off));
        assert_eq!(corrected, Ok((value.clone(), true)));
    }

    #[test]
    fn commas_are_forgiven() {
        check(r#"{"a":[1,2,],}"#, &json!({"a": [1, 2]}));
        check("{\"a\":\"x\"\n\"b\":2 \"c\":3}", &json!({"a": "x", "b": 2, "c": 3}));
    }

    #[test]
    fn quotes_are_forgiven() {
        check("{'a':'it's, well, \"so\"'}", &json!({"a": "it's, well, \"so\""}));
        check("{“a”: “x”, ‘b’: ‘y’}", &json!({"a": "x", "b": "y"}));
        check(r#"{"a":"he said "no" and left"}"#, &json!({"a": "he said \"no\" and left"}));
        check("{a_1: 1, $b: 2, c-d: 3}", &json!({"a_1": 1, "$b": 2, "c-d": 3}));
    }

    #[test]
    fn comments_are_passed_over() {
        check("{ // one\n\"a\": 1, /* two */ # three\n\"b\": 2}", &json!({"a": 1, "b": 2}));
        check(r#"{"a":"http://x # y"}"#, &json!({"a": "http://x # y"}));
    }

    #[test]
    fn other_languages_literals_are_known() {
        check(
            "[True, False, None, NaN, -Infinity, undefined, 1e3]",
            &json!([true, false, null, null, null, null, 1e3]),
        );
    }

    #[test]
    fn strings_may_hold_what_json_forbids() {
        check("{\"a\":\"one\ntwo\u{0}\"}", &json!({"a": "one\ntwo\u{0}"}));
        check(
            r#"{"a":"\d \' \ud83d\ude00 \ud800 \uzz"}"#,
            &json!({"a": "\\d ' 😀 \u{fffd} \u{fffd}zz"}),
        );
    }

    #[test]
    fn what_breaks_off_is_closed_and_said_to_be() {
        check_cut(r#"{"a":{"b":["x","y"#, &json!({"a": {"b": ["x", "y"]}}));
        check_cut(r#"{"a":1,"b"#, &json!({"a": 1}));
        check_cut(r#"{"a":1,"b":"#, &json!({"a": 1}));
        check_cut(r#"{"a":1,"b":tr"#, &json!({"a": 1}));
        check_cut(r#"{"a":1,"b":[1,"#, &json!({"a": 1, "b": [1]}));
        check_cut(r#"{"a":"x\"#, &json!({"a": "x"}));
    }

    #[test]
    fn what_is_on_no_list_stays_wrong() {
        for text in ["{a}", "{\"a\" 1}", "{\"a\":maybe}", "[1;2]", "{,}", "[,1]", "[1,,2]", "{]"] {
            assert!(repair_json(text).is_err(), "{text}");
        }
        assert_eq!(repair_json(&"[".repeat(66)), Err(too_deep()));
    }
}
