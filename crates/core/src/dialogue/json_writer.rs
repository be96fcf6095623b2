//! Incremental JSON writer for documents that are too large to build in memory first. `context.rs`
//! uses `JsonWriter`.

use serde::Serialize;

pub(crate) type JsonResult = Result<(), serde_json::Error>;

/// JSON text written so far. The writer inserts commas itself.
#[derive(Debug, Default)]
pub(crate) struct JsonWriter {
    text: Vec<u8>,
}

impl JsonWriter {
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Reserves memory for this many further texts of the current size.
    pub(crate) fn reserve_copies(&mut self, times: usize) {
        self.text.reserve(self.text.len() * times);
    }

    /// Opens an object or a list by its bracket.
    pub(crate) fn open_bracket(&mut self, bracket: u8) {
        self.write_separator();
        self.text.push(bracket);
    }

    pub(crate) fn close_bracket(&mut self, bracket: u8) {
        self.text.push(bracket);
    }

    /// Writes the name of the next field. Names are constants that need no escaping.
    pub(crate) fn write_name(&mut self, name: &str) {
        self.write_separator();
        self.text.push(b'"');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    pub(crate) fn write_value(&mut self, value: &(impl Serialize + ?Sized)) -> JsonResult {
        self.write_separator();
        serde_json::to_writer(&mut self.text, value)
    }

    /// Writes a text field. Runs of bytes without escapes are copied in blocks, because a large
    /// document is mostly text.
    pub(crate) fn write_text(&mut self, name: &str, prose: &str) {
        self.write_name(name);
        self.text.push(b'"');
        let mut rest = prose.as_bytes();
        loop {
            let (plain, other) = rest.split_at(unescaped_length(rest));
            self.text.extend_from_slice(plain);
            let Some((byte, after)) = other.split_first() else { break };
            self.write_escape(*byte);
            rest = after;
        }
        self.text.push(b'"');
    }

    fn write_escape(&mut self, byte: u8) {
        let letter = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            _ => return self.text.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        };
        self.text.extend_from_slice(&[b'\\', letter]);
    }

    pub(crate) fn write_field(
        &mut self,
        name: &str,
        value: &(impl Serialize + ?Sized),
    ) -> JsonResult {
        self.write_name(name);
        self.write_value(value)
    }

    /// Writes a field whose value is already JSON.
    pub(crate) fn write_raw_json(&mut self, name: &str, json: &str) {
        self.write_name(name);
        self.text.extend_from_slice(json.as_bytes());
    }

    /// Writes a field with a list of the values in `values` and empties `values`.
    pub(crate) fn write_list(&mut self, name: &str, values: &mut Self) {
        self.write_name(name);
        self.open_bracket(b'[');
        self.text.append(&mut values.text);
        self.close_bracket(b']');
    }

    pub(crate) fn into_string(self) -> Result<String, serde_json::Error> {
        String::from_utf8(self.text).map_err(serde::ser::Error::custom)
    }

    /// Writes a comma if a value precedes.
    fn write_separator(&mut self) {
        if !matches!(self.text.last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(b',');
        }
    }
}

/// Number of bytes before the first one that JSON escapes.
fn unescaped_length(bytes: &[u8]) -> usize {
    // A branch-free check of a whole block compiles to a few vector instructions.
    const BLOCK: usize = 16;
    let is_plain = |block: &&[u8; BLOCK]| {
        block.iter().fold(0, |found, byte| found | u8::from(needs_escape(*byte))) == 0
    };
    let (blocks, _) = bytes.as_chunks();
    let start = blocks.iter().take_while(is_plain).count() * BLOCK;
    let found = bytes.iter().skip(start).position(|byte| needs_escape(*byte));
    found.map_or(bytes.len(), |place| start + place)
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_escaped_as_serde_json_does() {
        let all: String = (0..0x180).filter_map(char::from_u32).collect();
        for lead in 0..70 {
            for prose in ["", "\"", "\n\n", "plain", "🦀 \u{7f}\u{2028}", all.as_str()] {
                let prose = "a".repeat(lead) + prose;
                let mut text = JsonWriter::default();
                text.open_bracket(b'{');
                text.write_text("p", &prose);
                text.close_bracket(b'}');
                let expected = serde_json::json!({ "p": prose }).to_string();
                assert_eq!(text.into_string().unwrap(), expected);
            }
        }
    }

    #[test]
    fn commas_find_their_places() {
        let (mut text, mut values) = (JsonWriter::default(), JsonWriter::default());
        text.open_bracket(b'{');
        text.write_field("a", "[").unwrap();
        text.write_list("none", &mut values);
        values.write_value(&1).unwrap();
        values.write_value("x,").unwrap();
        text.write_list("some", &mut values);
        text.write_name("inner");
        text.open_bracket(b'[');
        for number in 0..2 {
            text.open_bracket(b'{');
            text.write_field("n", &number).unwrap();
            text.close_bracket(b'}');
        }
        text.close_bracket(b']');
        text.close_bracket(b'}');
        let expected = r#"{"a":"[","none":[],"some":[1,"x,"],"inner":[{"n":0},{"n":1}]}"#;
        assert_eq!(text.into_string().unwrap(), expected);
        assert!(values.is_empty());
    }
}
