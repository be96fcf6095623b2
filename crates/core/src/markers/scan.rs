//! Finds all markers of a text in order, with their positions. `extract.rs` calls `scan_markers`.

use crate::markers::brackets::{BracketClose, BracketSpan, find_brackets};
use crate::markers::cursor::MarkerSeparator;
use crate::markers::grammar::{BracketContent, parse_bracket};
use crate::markers::markdown::{MarkdownLayout, ProseLine, ProseParagraph};
use crate::markers::warnings::{DeviationSet, MarkerDeviation};
use crate::markers::written_id::IdPrefix;
use crate::model::ids::ExpertSlug;
use crate::model::limits::LINE_CHARS_MAX;

/// Fits a label of maximum length and an id in any script. A longer bracket was probably never
/// closed.
const INSIDE_BYTES_MAX: usize = LINE_CHARS_MAX * 4 + 256;

/// A marker spans at most two lines.
const LINE_BREAKS_MAX: usize = 1;

/// A marker found in the text. Positions are byte offsets in the whole text.
#[derive(Debug)]
pub(crate) struct FoundMarker<'a> {
    pub content: BracketContent<'a>,
    pub slips: DeviationSet,
    pub line: usize,
    /// Start including decoration: emphasis, bullet, heading marks.
    pub start: usize,
    /// Start without the bullet and heading marks of the line.
    pub mark: usize,
    pub end: usize,
    /// The brackets and their content only.
    pub written: &'a str,
    pub begins_line: bool,
    /// The line contains nothing else.
    pub is_alone: bool,
    /// End of the paragraph that contains the marker.
    pub paragraph_end: usize,
}

/// Position of a marker and its surroundings.
struct MarkerPosition {
    slips: DeviationSet,
    line: usize,
    start: usize,
    mark: usize,
    end: usize,
    begins_line: bool,
    is_alone: bool,
    paragraph_end: usize,
}

impl MarkerPosition {
    fn into_marker<'a>(self, sign: BracketContent<'a>, written: &'a str) -> FoundMarker<'a> {
        let Self { slips, line, start, mark, end, begins_line, is_alone, paragraph_end } = self;
        FoundMarker {
            content: sign,
            slips,
            line,
            start,
            mark,
            end,
            written,
            begins_line,
            is_alone,
            paragraph_end,
        }
    }
}

pub(crate) fn scan_markers<'a>(
    text: &'a str,
    layout: &MarkdownLayout,
    own: &ExpertSlug,
) -> Vec<FoundMarker<'a>> {
    let mut found = Vec::new();
    for paragraph in &layout.paragraphs {
        scan_paragraph(&ParagraphScanner { text, paragraph, own }, &mut found);
    }
    found
}

struct ParagraphScanner<'a, 'b> {
    text: &'a str,
    paragraph: &'b ProseParagraph,
    own: &'b ExpertSlug,
}

fn scan_paragraph<'a>(page: &ParagraphScanner<'a, '_>, found: &mut Vec<FoundMarker<'a>>) {
    let mut read_to = 0;
    let mut markers = Vec::new();
    for bracket in find_brackets(page.text, page.paragraph) {
        // A bracket inside a marker is part of that marker.
        if bracket.open < read_to {
            continue;
        }
        let Some(marker) = page.read_bracket(&bracket) else { continue };
        read_to = marker.end;
        markers.push(marker);
    }
    let lines = page.paragraph.iter().filter(|line| !is_inside_marker(&markers, line.start));
    let bare: Vec<FoundMarker<'a>> = lines.filter_map(|line| page.find_bare_marker(line)).collect();
    markers.extend(bare);
    markers.sort_by_key(|marker| marker.start);
    found.append(&mut markers);
}

/// Whether the place is inside an earlier marker. The markers are sorted.
fn is_inside_marker(markers: &[FoundMarker<'_>], place: usize) -> bool {
    let next = markers.partition_point(|marker| marker.start < place);
    let before = next.checked_sub(1).and_then(|last| markers.get(last));
    before.is_some_and(|marker| marker.end > place)
}

impl<'a> ParagraphScanner<'a, '_> {
    fn read_bracket(&self, bracket: &BracketSpan) -> Option<FoundMarker<'a>> {
        let line = self.paragraph.get(bracket.line)?;
        let near = |close: &BracketClose| {
            close.line - bracket.line <= LINE_BREAKS_MAX
                && close.at - bracket.inside <= INSIDE_BYTES_MAX
        };
        let Some(close) = bracket.close.filter(near) else {
            return self.find_unclosed_marker(bracket, line);
        };
        let inside = self.text.get(bracket.inside..close.at)?;
        // The backslash of `\]`.
        let is_escaped = inside.ends_with('\\');
        let inside = inside.strip_suffix('\\').unwrap_or(inside);
        let (sign, mut slips) = parse_bracket(inside, self.own)?;
        if is_escaped {
            slips.add(MarkerDeviation::Escape);
        }
        if close.line > bracket.line {
            slips.add(MarkerDeviation::LineBreak);
        }
        let written = self.text.get(bracket.open..close.after)?;
        if written.starts_with(|sign| sign != '[') || !written.ends_with(']') {
            slips.add(MarkerDeviation::LookAlike);
        }
        let last_line = self.paragraph.get(close.line)?;
        let mut spot = self.locate_bracket(bracket, close, (line, last_line))?;
        spot.slips = spot.slips.union(slips);
        match bracket.code {
            None => self.settle_label(spot.into_marker(sign, written), line, last_line),
            Some(code) if code.is_alone => {
                spot.slips.add(MarkerDeviation::InlineCode);
                self.settle_label(spot.into_marker(sign, written), line, last_line)
            }
            Some(_) => is_marker_in_code(&sign).then(|| {
                let why = "it stands in inline code".to_owned();
                spot.into_marker(BracketContent::Unreadable { why, is_entity: false }, written)
            }),
        }
    }

    fn locate_bracket(
        &self,
        bracket: &BracketSpan,
        close: BracketClose,
        (line, last_line): (&ProseLine, &ProseLine),
    ) -> Option<MarkerPosition> {
        let mut slips = DeviationSet::default();
        let before = self.text.get(line.text_start..bracket.outer_start())?;
        let mut plain = before;
        if let Some(rest) = plain.strip_suffix('\\') {
            slips.add(MarkerDeviation::Escape);
            plain = rest;
        }
        let bare = plain.trim_end_matches(['*', '_', '~']);
        let is_emphasised = bare.len() < plain.len();
        if is_emphasised {
            slips.add(MarkerDeviation::Emphasis);
        }
        let begins_line = bare.trim_matches([' ', '\t', '•', '–']).is_empty();
        let mark = line.text_start + bare.len();
        let start = if begins_line { line.start } else { mark };
        if begins_line {
            slips = slips.union(line.decoration);
            if !bare.trim().is_empty() {
                slips.add(MarkerDeviation::ListItem);
            }
        }
        let end = bracket.code.map_or(close.after, |code| code.end);
        let after = self.text.get(end..last_line.end)?;
        let rest = if is_emphasised { after.trim_start_matches(['*', '_', '~']) } else { after };
        Some(MarkerPosition {
            slips,
            line: line.number,
            start,
            mark,
            end: last_line.end - rest.len(),
            begins_line,
            is_alone: begins_line && rest.trim().is_empty(),
            paragraph_end: self.paragraph.last()?.end,
        })
    }

    /// Decides by position whether a bracket with an id has a label, and finds a label outside the
    /// brackets.
    fn settle_label(
        &self,
        mut marker: FoundMarker<'a>,
        line: &ProseLine,
        last_line: &ProseLine,
    ) -> Option<FoundMarker<'a>> {
        let BracketContent::Entity { id, label, separator } = &mut marker.content else {
            return Some(marker);
        };
        let begins_line = marker.begins_line;
        if id.is_ambiguous() && !(begins_line && marker.slips.contains(MarkerDeviation::KindWord)) {
            // `[E1]: a source` is a footnote and `[C4: context] shows` is prose. A bracket alone on
            // its line with a label was probably meant as a marker, so it is reported.
            let is_told = marker.is_alone && label.is_some();
            let why = "such an id needs the expert's name before it".to_owned();
            marker.content = BracketContent::Unreadable { why, is_entity: false };
            return is_told.then_some(marker);
        }
        if !begins_line && *separator == MarkerSeparator::Space {
            *label = None;
        }
        let may_be_outside = begins_line && !matches!(id.prefix, IdPrefix::Other(_));
        let rest = self.text.get(marker.end..last_line.end)?;
        if label.is_none()
            && may_be_outside
            && let Some(outside) = label_outside(rest, line)
        {
            *label = Some(outside);
            marker.end = last_line.end;
            marker.slips.add(MarkerDeviation::LabelOutside);
        }
        Some(marker)
    }

    /// Reports a line that begins like a marker without brackets. It is not parsed, because prose
    /// can begin the same way.
    fn find_bare_marker(&self, line: &ProseLine) -> Option<FoundMarker<'a>> {
        let rest = self.text.get(line.text_start..line.end)?;
        let end = rest.floor_char_boundary(INSIDE_BYTES_MAX.min(rest.len()));
        // Other kinds of brackets are not part of the notation.
        let bare = rest.get(..end)?.trim_start_matches(['{', '<', '(']);
        let (sign, slips) = parse_bracket(bare, self.own)?;
        let is_entity = match sign {
            // An id in parentheses is an explanation, not a definition.
            BracketContent::Entity { id, label: Some(_), separator } => {
                let is_named = id.prefix == IdPrefix::Own && separator != MarkerSeparator::Space;
                (is_named && !rest.starts_with('(')).then_some(true)
            }
            BracketContent::Reference { ref_type: Some(_), .. } | BracketContent::Move { .. } => {
                Some(false)
            }
            BracketContent::Entity { .. }
            | BracketContent::Reference { .. }
            | BracketContent::Verdict { .. }
            | BracketContent::Unreadable { .. } => None,
        };
        let is_entity = is_entity.filter(|_| !slips.contains(MarkerDeviation::LetterCase))?;
        let spot = MarkerPosition {
            slips: DeviationSet::default(),
            line: line.number,
            start: line.start,
            mark: line.text_start,
            end: line.text_start,
            begins_line: true,
            is_alone: false,
            paragraph_end: self.paragraph.last()?.end,
        };
        let why = "it stands without brackets".to_owned();
        Some(spot.into_marker(BracketContent::Unreadable { why, is_entity }, rest))
    }

    /// Reports an unclosed bracket if it was meant as a marker.
    fn find_unclosed_marker(
        &self,
        bracket: &BracketSpan,
        line: &ProseLine,
    ) -> Option<FoundMarker<'a>> {
        let rest = self.text.get(bracket.inside..line.end)?;
        let end = rest.floor_char_boundary(INSIDE_BYTES_MAX.min(rest.len()));
        // The next bracket is parsed on its own.
        let rest = rest.get(..end)?.split('[').next()?;
        let (is_meant, is_entity) = match parse_bracket(rest, self.own)?.0 {
            BracketContent::Entity { id, label, separator } => {
                let is_named = id.prefix == IdPrefix::Own;
                (is_named && label.is_some() && separator != MarkerSeparator::Space, true)
            }
            BracketContent::Reference { .. }
            | BracketContent::Move { .. }
            | BracketContent::Verdict { .. } => (true, false),
            BracketContent::Unreadable { .. } => (false, false),
        };
        let at = BracketClose { at: bracket.inside, after: bracket.inside, line: bracket.line };
        let written = self.text.get(bracket.open..line.end)?;
        let spot = MarkerPosition {
            end: bracket.inside,
            ..self.locate_bracket(bracket, at, (line, line))?
        };
        let why = "the bracket is not closed".to_owned();
        is_meant.then(|| spot.into_marker(BracketContent::Unreadable { why, is_entity }, written))
    }
}

/// Whether inline code between other words is exactly one marker. The text may be about the marker,
/// so it is reported but not parsed.
fn is_marker_in_code(sign: &BracketContent<'_>) -> bool {
    match sign {
        BracketContent::Entity { id, label, .. } => id.prefix == IdPrefix::Own && label.is_some(),
        BracketContent::Reference { ref_type, .. } => ref_type.is_some(),
        BracketContent::Move { .. } | BracketContent::Verdict { .. } => true,
        BracketContent::Unreadable { .. } => false,
    }
}

/// Returns the label in `### [MUFFIN-P0101] The label` and `[MUFFIN-P0101]: The label`.
fn label_outside<'a>(rest: &'a str, line: &ProseLine) -> Option<&'a str> {
    let rest = rest.trim();
    let after = rest.trim_start_matches([':', '：', '-', '–', '—']);
    let is_label = line.is_heading() || after.len() < rest.len();
    let label = after.trim();
    (is_label && !label.is_empty() && !label.contains(['[', '［', '【'])).then_some(label)
}
