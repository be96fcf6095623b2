//! Removes markers from a text and keeps the rest readable.
//!
//! A line that contained only markers disappears; inside a sentence, the spaces around the marker
//! collapse to one.

use std::ops::Range;

use crate::markers::markdown::{bullet_length, is_heading, is_rule};

/// Returns the range of the text without the gaps, which must be in order.
pub(crate) fn remove_gaps(
    text: &str,
    range: Range<usize>,
    gaps: impl Iterator<Item = Range<usize>>,
) -> String {
    let mut writer = GapWriter::default();
    let mut at = range.start;
    for gap in gaps {
        writer.write_text(text.get(at..gap.start).unwrap_or_default());
        writer.begin_gap();
        at = gap.end;
    }
    writer.write_text(text.get(at..range.end).unwrap_or_default());
    writer.end_line();
    writer.output.trim().to_owned()
}

/// State after a removed marker, until the next text is written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum GapState {
    #[default]
    None,
    /// No space seen on either side so far.
    Tight,
    Spaced,
}

#[derive(Debug, Default)]
struct GapWriter {
    output: String,
    /// Start of the current line in the output.
    line: usize,
    gap: GapState,
    /// A marker was removed from this line.
    is_touched: bool,
    /// The previous line is blank, or this is the first line.
    is_after_blank: bool,
    /// Lines were removed after the last written line.
    is_after_lost: bool,
}

impl GapWriter {
    fn begin_gap(&mut self) {
        self.is_touched = true;
        let is_spaced = self.output.ends_with([' ', '\t']) || self.gap == GapState::Spaced;
        self.gap = if is_spaced { GapState::Spaced } else { GapState::Tight };
    }

    fn write_text(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            match self.gap {
                GapState::None => self.output.push_str(part),
                GapState::Tight | GapState::Spaced => self.close_gap(part),
            }
            if part.ends_with('\n') {
                self.end_line();
            }
        }
    }

    /// Writes the text after a gap and collapses the spaces.
    fn close_gap(&mut self, part: &str) {
        let rest = part.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            // Another gap may follow.
            self.gap = if part.is_empty() { self.gap } else { GapState::Spaced };
            return;
        }
        let is_spaced = self.gap == GapState::Spaced || rest.len() < part.len();
        self.gap = GapState::None;
        if self.has_no_words() {
            // In `[RE:SUPPORT P0001]: because` the line begins with the marker.
            let signs = [' ', '\t', ':', '：', '-', '–', '—', ',', ';'];
            return self.output.push_str(rest.trim_start_matches(signs));
        }
        let kept = self.output.trim_end_matches([' ', '\t']).len();
        self.output.truncate(kept);
        if let (Some(before), Some(after)) = (self.output.strip_suffix('('), rest.strip_prefix(')'))
        {
            let kept = before.trim_end_matches([' ', '\t']).len();
            self.output.truncate(kept);
            return self.output.push_str(after);
        }
        let is_joined = rest.starts_with(|sign: char| ".,;:!?)]}…\r\n".contains(sign));
        if is_spaced && !is_joined && !self.output.ends_with('(') {
            self.output.push(' ');
        }
        self.output.push_str(rest);
    }

    fn end_line(&mut self) {
        let line = self.output.get(self.line..).unwrap_or_default();
        let is_blank = line.trim().is_empty();
        let is_lost = self.is_touched && self.has_no_words();
        // Two blank lines with a removed line between them collapse to one.
        let is_second = is_blank && self.is_after_lost && (self.is_after_blank || self.line == 0);
        if is_lost || is_second {
            self.output.truncate(self.line);
        } else {
            self.is_after_blank = is_blank;
        }
        self.is_after_lost = is_lost || (is_second && self.is_after_lost);
        (self.line, self.gap, self.is_touched) = (self.output.len(), GapState::None, false);
    }

    /// Whether the line has no text yet: only a bullet, quote marks or empty emphasis.
    fn has_no_words(&self) -> bool {
        let mut line = self.output.get(self.line..).unwrap_or_default();
        line = line.trim_start_matches([' ', '\t', '>', '#']);
        while let Some(rest) = bullet_length(line).and_then(|length| line.get(length..)) {
            line = rest.trim_start();
        }
        let says_nothing = |sign: char| sign.is_whitespace() || "*_~`:,;.-–—•|".contains(sign);
        line.chars().all(says_nothing)
    }
}

/// A reference, a move or an unreadable marker inside the text of an entity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InnerMarker {
    /// With the bullet before it.
    pub start: usize,
    /// Without the bullet.
    pub mark: usize,
    pub end: usize,
    pub is_read: bool,
}

/// Returns the text of a range without its parsed markers. `inside` lists the markers in order.
pub(crate) fn text_without_markers(
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `{…}` marks a gap.
    fn check(text: &str, expected: &str) {
        let opens = text.match_indices('{').map(|(place, _)| place);
        let closes = text.match_indices('}').map(|(place, _)| place + 1);
        let gaps = opens.zip(closes).map(|(open, close)| open..close);
        assert_eq!(remove_gaps(text, 0..text.len(), gaps), expected, "{text}");
    }

    #[test]
    fn a_line_of_markers_goes_away() {
        check("a\n{x}\nb", "a\nb");
        check("a\n- {x}\n- {x} {x}\nb", "a\nb");
        check("a\n> **{x}**\n1. {x}, {x}\r\nb\r\n", "a\nb");
        check("a\n\n{x}\n\nb", "a\n\nb");
        check("a\n\n\nb\n{x}", "a\n\n\nb");
        check("{x}\n\na", "a");
        check("{x}", "");
    }

    #[test]
    fn a_sentence_stays_readable() {
        check("It closes {x}, as shown.", "It closes, as shown.");
        check("It closes {x} as {x} {x} shown {x}.", "It closes as shown.");
        check("It closes ({x}) now (see {x}).", "It closes now (see).");
        check("It{x}closes.", "Itcloses.");
        check("a\n{x} why\nb", "a\nwhy\nb");
        check("{x}: because\n- {x} — so\n> {x} too", "because\n- so\n> too");
        check("a {x\ny} b\nc {x}\nd", "a b\nc\nd");
    }
}
