//! Returns the text of an entity without parsed markers and without headings at its ends.
//!
//! Later rounds show registered text to other experts. A marker in it would look like an
//! instruction and contain ids that only this reply defines.

use std::ops::Range;

use super::gaps::remove_gaps;
use super::prose::{is_heading, is_rule};

/// A reference, a move or an unreadable marker inside the text of an entity.
#[derive(Debug, Clone, Copy)]
pub(super) struct InnerMarker {
    /// With the bullet before it.
    pub start: usize,
    /// Without the bullet.
    pub mark: usize,
    pub end: usize,
    pub is_read: bool,
}

/// Returns the text of a range without its parsed markers. `inside` lists the markers in order.
pub(super) fn text_without_markers(
    text: &str,
    range: Range<usize>,
    inside: &[InnerMarker],
) -> String {
    let start = skip_leading(text, &range, inside);
    let end = skip_trailing(text, start..range.end, inside).max(start);
    let is_taken =
        |marker: &&InnerMarker| marker.is_read && marker.mark >= start && marker.end <= end;
    let gaps = inside.iter().filter(is_taken).map(|marker| marker.mark..marker.end);
    remove_gaps(text, start..end, gaps)
}

/// References and moves directly after the entity's marker are not part of its text.
fn skip_leading(text: &str, range: &Range<usize>, inside: &[InnerMarker]) -> usize {
    let mut start = range.start;
    for marker in inside {
        let between = text.get(start..marker.start).unwrap_or_default();
        if !between.trim().is_empty() {
            break;
        }
        start = marker.end;
    }
    let rest = text.get(start..range.end).unwrap_or_default();
    let says = rest.trim_start().trim_start_matches([':', '：']).trim_start();
    range.end - says.len()
}

fn skip_trailing(text: &str, range: Range<usize>, inside: &[InnerMarker]) -> usize {
    let begins_line = text
        .get(..range.start)
        .is_some_and(|before| before.trim_end_matches([' ', '\t', '>']).ends_with('\n'));
    let mut end = range.end;
    let mut inside = inside.iter().rev().filter(|marker| marker.start >= range.start).peekable();
    loop {
        let rest = text.get(range.start..end).unwrap_or_default().trim_end();
        end = range.start + rest.len();
        if let Some(marker) = inside.next_if(|marker| marker.end >= end) {
            end = marker.start.min(end);
            continue;
        }
        // The heading of the next section.
        let line = rest.rfind('\n').map_or(0, |at| at + 1);
        let last = rest.get(line..).unwrap_or_default().trim();
        let is_own_line = line > 0 || begins_line;
        if !is_own_line || !(is_heading(last) || is_rule(last)) {
            return end;
        }
        end = range.start + line;
    }
}
