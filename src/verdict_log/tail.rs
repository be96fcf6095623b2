//! Reads the end of the log file: the last complete line and the torn rest.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes read at a time, from the end.
const CHUNK_BYTES: u64 = 64 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogTail {
    /// Start of the last complete line; equal to `whole` if there is none.
    pub line_start: u64,
    /// End of the last complete line, including its line break.
    pub whole: u64,
    /// Size of the file. Bytes after `whole` are torn.
    pub bytes: u64,
}

impl LogTail {
    pub(super) fn read_tail(file: &mut File, bytes: u64) -> io::Result<Self> {
        let whole = find_last_break(file, bytes)?.map_or(0, |at| at + 1);
        let line_start = match whole.checked_sub(1) {
            Some(end) => find_last_break(file, end)?.map_or(0, |at| at + 1),
            None => 0,
        };
        Ok(Self { line_start, whole, bytes })
    }

    pub(super) fn is_torn(&self) -> bool {
        self.bytes > self.whole
    }

    /// The last complete line, without its line break.
    pub(super) fn read_last_line(&self, file: &mut File) -> io::Result<Vec<u8>> {
        read_range(file, self.line_start, self.whole.saturating_sub(1).max(self.line_start))
    }

    /// The torn rest, at most `bytes_max` bytes.
    pub(super) fn read_torn_piece(&self, file: &mut File, bytes_max: u64) -> io::Result<Vec<u8>> {
        read_range(file, self.whole, self.bytes.min(self.whole.saturating_add(bytes_max)))
    }
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
