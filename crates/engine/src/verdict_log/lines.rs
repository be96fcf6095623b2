//! Reads raw lines of a log of any length and content.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::io::{BufRead, Read, Seek, SeekFrom};
use std::ops::Range;

use plenary_core::model::time::Moment;
use plenary_core::protocols::review::imported_row::ImportedRow;
use plenary_core::protocols::review::log_row::{LogLine, OverrideRow};
use plenary_core::protocols::review::redaction::LogRedaction;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::store::error::StoreError;
use crate::store::traits::Store;
use crate::verdict_log::log_file::LogFileError;
use crate::verdict_log::sync::LINE_BYTES_MAX;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineMatch {
    /// Equal to the line of a stored row, byte for byte.
    Stored {
        seq: u64,
    },
    /// A stored row with another text: the id or the content is known.
    Altered {
        seq: u64,
    },
    /// Not in the store.
    Unknown,
    Blank,
}

/// The field that identifies a row.
#[derive(Deserialize)]
struct VerdictIdField {
    #[serde(default)]
    verdict_id: Option<String>,
}

/// Matches lines with the store. It reads the overrides once, because the file may have many.
#[derive(Debug)]
pub(crate) struct LineMatcher<'a> {
    store: &'a dyn Store,
    /// Removes the values that were also removed before rows were logged.
    redaction: &'a LogRedaction,
    /// By verdict, oldest first; read with the first override of the file.
    overrides: Option<BTreeMap<String, Vec<StoredOverride>>>,
}

#[derive(Debug)]
struct StoredOverride {
    ts: Moment,
    line: LogLine,
}

impl<'a> LineMatcher<'a> {
    pub(crate) fn new(store: &'a dyn Store, redaction: &'a LogRedaction) -> Self {
        Self { store, redaction, overrides: None }
    }

    pub(crate) fn match_line(&mut self, line: &[u8]) -> Result<LineMatch, StoreError> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(LineMatch::Blank);
        }
        if let Some(row) = OverrideRow::parse_line(line) {
            return match row {
                Ok(row) => self.match_override(&row, line),
                Err(_) => Ok(LineMatch::Unknown),
            };
        }
        let named = serde_json::from_slice::<VerdictIdField>(line).ok();
        if let Some(id) = named.and_then(|named| named.verdict_id)
            && let Some(LogLine { seq, line: stored }) = self.store.find_log_line(&id)?
        {
            let is_same = stored.as_bytes() == line;
            return Ok(if is_same {
                LineMatch::Stored { seq }
            } else {
                LineMatch::Altered { seq }
            });
        }
        Ok(find_equal_row(self.store, self.redaction, line)?
            .map_or(LineMatch::Unknown, |seq| LineMatch::Altered { seq }))
    }

    /// Matches the line of an override: by its verdict and its time.
    fn match_override(&mut self, row: &OverrideRow, line: &[u8]) -> Result<LineMatch, StoreError> {
        let known = match self.overrides.take() {
            Some(known) => known,
            None => read_overrides(self.store)?,
        };
        let known = self.overrides.insert(known);
        for stored in known.get(&row.overrides).into_iter().flatten() {
            let seq = stored.line.seq;
            if stored.line.line.as_bytes() == line {
                return Ok(LineMatch::Stored { seq });
            }
            if stored.ts == row.ts {
                return Ok(LineMatch::Altered { seq });
            }
        }
        Ok(LineMatch::Unknown)
    }
}

/// Overrides read at a time.
const OVERRIDES_PAGE: usize = 1_000;

fn read_overrides(store: &dyn Store) -> Result<BTreeMap<String, Vec<StoredOverride>>, StoreError> {
    let mut known: BTreeMap<String, Vec<StoredOverride>> = BTreeMap::new();
    let mut after = 0;
    loop {
        let page = store.load_override_lines(after, OVERRIDES_PAGE)?;
        let Some(last) = page.last() else { return Ok(known) };
        after = last.seq;
        for line in page {
            let Ok(row) = serde_json::from_str::<OverrideRow>(&line.line) else { continue };
            known.entry(row.overrides).or_default().push(StoredOverride { ts: row.ts, line });
        }
    }
}

/// Whether every line equals a stored line, byte for byte.
pub fn is_all_stored(store: &dyn Store, source: impl BufRead) -> Result<bool, LogFileError> {
    let redaction = LogRedaction::default();
    let mut matcher = LineMatcher::new(store, &redaction);
    for line in RawLines::new(source, LINE_BYTES_MAX) {
        let Ok(line) = line else { return Ok(false) };
        let found = matcher.match_line(&line.bytes)?;
        if !matches!(found, LineMatch::Stored { .. }) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds the stored row with the same content.
fn find_equal_row(
    store: &dyn Store,
    redaction: &LogRedaction,
    line: &[u8],
) -> Result<Option<u64>, StoreError> {
    let read = std::str::from_utf8(line).ok().and_then(|line| ImportedRow::parse_line(line).ok());
    let Some(read) = read.filter(|read| read.is_complete) else { return Ok(None) };
    for row in [redaction.redact_row(&read.row), read.row] {
        let fingerprint = row.content_hash().map_err(StoreError::Unwritable)?;
        if let Some(seq) = store.find_same_row(&fingerprint)? {
            return Ok(Some(seq));
        }
    }
    Ok(None)
}

/// Whether the bytes are exactly one JSON object.
pub(crate) fn is_json_object(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(bytes).is_ok()
}

/// Bytes read at a time, from the end.
const CHUNK_BYTES: u64 = 64 * 1024;

/// Reads the last line of a file without its line break. `None` for an empty file and for a file
/// that does not end with a line break.
pub(crate) fn read_last_line(file: &mut File, bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(end) = bytes.checked_sub(1) else { return Ok(None) };
    if read_range(file, end, bytes)? != b"\n" {
        return Ok(None);
    }
    let start = find_last_break(file, end)?.map_or(0, |at| at + 1);
    read_range(file, start, end).map(Some)
}

/// Position of the last line break before `end`.
fn find_last_break(file: &mut File, end: u64) -> io::Result<Option<u64>> {
    let mut end = end;
    while end > 0 {
        let start = end.saturating_sub(CHUNK_BYTES);
        let chunk = read_range(file, start, end)?;
        if let Some(place) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(Some(start + place as u64));
        }
        end = start;
    }
    Ok(None)
}

fn read_range(file: &mut File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(end.saturating_sub(start)).read_to_end(&mut bytes)?;
    Ok(bytes)
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
