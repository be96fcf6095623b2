//! Reads raw lines of a log of any length and content.

use std::io::{self, BufRead};
use std::ops::Range;

/// A line without its line break. If it is over the limit, only its beginning is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLine {
    /// Line number, from 1.
    pub number: usize,
    /// Byte range in the source, including the line break.
    pub place: Range<u64>,
    pub bytes: Vec<u8>,
    /// Whether bytes beyond the limit were dropped.
    pub is_too_long: bool,
    /// Whether the line ends with a line break; the last line of a torn file does not.
    pub is_ended: bool,
}

/// Reads lines in bounded memory.
#[derive(Debug)]
pub struct RawLines<R> {
    source: R,
    number: usize,
    read: u64,
    bytes_max: usize,
}

impl<R: BufRead> RawLines<R> {
    pub fn new(source: R, bytes_max: usize) -> Self {
        Self { source, number: 0, read: 0, bytes_max }
    }

    fn read_line(&mut self) -> io::Result<Option<RawLine>> {
        let mut line = RawLine {
            number: self.number + 1,
            place: self.read..self.read,
            bytes: Vec::new(),
            is_too_long: false,
            is_ended: false,
        };
        while !line.is_ended {
            let chunk = self.source.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let room = self.bytes_max.saturating_sub(line.bytes.len()).min(taken.len());
            line.bytes.extend_from_slice(taken.get(..room).unwrap_or_default());
            line.is_too_long |= room < taken.len();
            line.is_ended = end.is_some();
            let used = end.map_or(taken.len(), |end| end + 1);
            line.place.end += used as u64;
            self.source.consume(used);
        }
        self.number += 1;
        self.read = line.place.end;
        Ok((!line.place.is_empty()).then_some(line))
    }
}

impl<R: BufRead> Iterator for RawLines<R> {
    type Item = io::Result<RawLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_line().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, bytes_max: usize) -> Vec<(usize, String, bool, bool)> {
        // A buffer of three bytes, so that lines cross its boundary.
        let source = io::BufReader::with_capacity(3, text.as_bytes());
        let lines = RawLines::new(source, bytes_max).map(Result::unwrap);
        let shown = |line: RawLine| {
            let text = String::from_utf8(line.bytes).unwrap();
            (line.number, text, line.is_too_long, line.is_ended)
        };
        lines.map(shown).collect()
    }

    #[test]
    fn lines_are_told_with_their_number_and_their_end() {
        assert_eq!(read("", 9), []);
        let expected = [
            (1, "one".to_owned(), false, true),
            (2, String::new(), false, true),
            (3, "three".to_owned(), false, false),
        ];
        assert_eq!(read("one\n\nthree", 5), expected);
        assert_eq!(read("\n", 5), [(1, String::new(), false, true)]);
    }

    #[test]
    fn of_what_is_too_long_the_beginning_is_kept_and_the_rest_is_passed_over() {
        let expected = [(1, "abcd".to_owned(), true, true), (2, "wxyz".to_owned(), false, true)];
        assert_eq!(read("abcdefgh\nwxyz\n", 4), expected);
    }
}
