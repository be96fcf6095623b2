//! Writes JSON piece by piece, for documents that are too large to build in memory as a value.

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

#[cfg(test)]
mod tests {
    use super::*;

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
