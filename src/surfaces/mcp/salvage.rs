//! Recovers the id of an unreadable message, so that the error reaches the client's request.

use rmcp::model::RequestId;

/// Finds the top-level `id` of invalid or truncated JSON in one pass, without allocation or
/// recursion.
pub(super) fn recover_id(line: &[u8]) -> Option<RequestId> {
    let mut depth = 0_usize;
    let mut place = 0;
    while let Some(byte) = line.get(place) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = find_text_end(line, place)?;
                if depth == 1
                    && line.get(place..=end) == Some(br#""id""#)
                    && let Some(id) = read_value_after(line, end + 1)
                {
                    return Some(id);
                }
                place = end;
            }
            _ => {}
        }
        place += 1;
    }
    None
}

/// Index of the closing quote of the string that starts here.
fn find_text_end(line: &[u8], start: usize) -> Option<usize> {
    let mut place = start + 1;
    loop {
        match line.get(place)? {
            b'\\' => place += 2,
            b'"' => return Some(place),
            _ => place += 1,
        }
    }
}

/// The string or number after a colon.
fn read_value_after(line: &[u8], place: usize) -> Option<RequestId> {
    /// A longer value is not an id.
    const ID_BYTES_MAX: usize = 1_000;
    let rest = line.get(place..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let rest = rest.get(..rest.len().min(ID_BYTES_MAX))?;
    let end = match rest.first()? {
        b'"' => find_text_end(rest, 0)? + 1,
        // Read a number to its end: a part of it would be another id.
        _ => rest
            .iter()
            .position(|byte| matches!(byte, b',' | b'}') || byte.is_ascii_whitespace())?,
    };
    serde_json::from_slice(rest.get(..end)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_wherever_it_stands() {
        let deep = format!(r#"{{"a":{}1{},"id":7}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for (line, id) in [
            (r#"{"id":1,"method":"#, Some(RequestId::Number(1))),
            (r#"{"x":"}]\"","id" : "a\"b" , oops"#, Some(RequestId::String("a\"b".into()))),
            (r#"{"params":{"id":3},"id":-4}"#, Some(RequestId::Number(-4))),
            (&deep, Some(RequestId::Number(7))),
            (r#"{"params":{"id":3}}"#, None),
            (r#"{"id":1.5}"#, None),
            (r#"{"id":null,"x":1}"#, None),
            (r#"{"id":{"id":2}}"#, None),
            (r#"id: 4"#, None),
            (r#"{"id"#, None),
            (r#"}}}{"id":1}"#, None),
            ("", None),
        ] {
            assert_eq!(recover_id(line.as_bytes()), id, "{}", &line[..line.len().min(80)]);
        }
    }
}
