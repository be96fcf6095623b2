//! Every marker of a text, in order, with the place it stands at.

use super::brackets::{Bracket, Close, brackets};
use super::cursor::Separator;
use super::grammar::{self, Sign};
use super::prose::{Layout, Line, Paragraph};
use super::slip::{Slip, Slips};
use super::spelling::Prefix;
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::LINE_CHARS_MAX;

/// A label of a thousand characters and an id fit, in any script. What is longer was never closed
/// where its author meant to.
const INSIDE_BYTES_MAX: usize = LINE_CHARS_MAX * 4 + 256;

/// A marker goes over one line break at most.
const LINE_BREAKS_MAX: usize = 1;

/// A bracket that says something in the marker language.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub sign: Sign<'a>,
    pub slips: Slips,
    pub line: usize,
    /// The whole marker with its decoration: bold, a bullet, the signs of a heading.
    pub start: usize,
    /// The same without what is the line's: the bullet, the signs of a heading.
    pub mark: usize,
    pub end: usize,
    /// Only the brackets.
    pub written: &'a str,
    pub begins_line: bool,
    /// Nothing else stands on its line.
    pub is_alone: bool,
    /// Where the paragraph it stands in ends.
    pub paragraph_end: usize,
}

/// Where a marker stands, and what stands around it.
struct Spot {
    slips: Slips,
    line: usize,
    start: usize,
    mark: usize,
    end: usize,
    begins_line: bool,
    is_alone: bool,
    paragraph_end: usize,
}

impl Spot {
    fn of<'a>(self, sign: Sign<'a>, written: &'a str) -> Found<'a> {
        let Self { slips, line, start, mark, end, begins_line, is_alone, paragraph_end } = self;
        Found { sign, slips, line, start, mark, end, written, begins_line, is_alone, paragraph_end }
    }
}

pub(super) fn scan<'a>(text: &'a str, layout: &Layout, own: &ExpertSlug) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    for paragraph in &layout.paragraphs {
        scan_paragraph(&Page { text, paragraph, own }, &mut found);
    }
    found
}

struct Page<'a, 'b> {
    text: &'a str,
    paragraph: &'b Paragraph,
    own: &'b ExpertSlug,
}

fn scan_paragraph<'a>(page: &Page<'a, '_>, found: &mut Vec<Found<'a>>) {
    let mut read_to = 0;
    let mut markers = Vec::new();
    for bracket in brackets(page.text, page.paragraph) {
        // What stands inside a marker belongs to it.
        if bracket.open < read_to {
            continue;
        }
        let Some(marker) = page.read(&bracket) else { continue };
        read_to = marker.end;
        markers.push(marker);
    }
    let lines = page.paragraph.iter().filter(|line| !is_inside(&markers, line.start));
    let bare: Vec<Found<'a>> = lines.filter_map(|line| page.without_brackets(line)).collect();
    markers.extend(bare);
    markers.sort_by_key(|marker| marker.start);
    found.append(&mut markers);
}

/// Whether a marker that began before goes on here. They stand in order.
fn is_inside(markers: &[Found<'_>], place: usize) -> bool {
    let next = markers.partition_point(|marker| marker.start < place);
    let before = next.checked_sub(1).and_then(|last| markers.get(last));
    before.is_some_and(|marker| marker.end > place)
}

impl<'a> Page<'a, '_> {
    fn read(&self, bracket: &Bracket) -> Option<Found<'a>> {
        let line = self.paragraph.get(bracket.line)?;
        let near = |close: &Close| {
            close.line - bracket.line <= LINE_BREAKS_MAX
                && close.at - bracket.inside <= INSIDE_BYTES_MAX
        };
        let Some(close) = bracket.close.filter(near) else { return self.unclosed(bracket, line) };
        let inside = self.text.get(bracket.inside..close.at)?;
        // The backslash of `\]`.
        let is_escaped = inside.ends_with('\\');
        let inside = inside.strip_suffix('\\').unwrap_or(inside);
        let (sign, mut slips) = grammar::read(inside, self.own)?;
        if is_escaped {
            slips.add(Slip::Escape);
        }
        if close.line > bracket.line {
            slips.add(Slip::LineBreak);
        }
        let written = self.text.get(bracket.open..close.after)?;
        if written.starts_with(|sign| sign != '[') || !written.ends_with(']') {
            slips.add(Slip::LookAlike);
        }
        let last_line = self.paragraph.get(close.line)?;
        let mut spot = self.spot(bracket, close, (line, last_line))?;
        spot.slips = spot.slips.and(slips);
        match bracket.code {
            None => self.settled(spot.of(sign, written), line, last_line),
            Some(code) if code.is_alone => {
                spot.slips.add(Slip::InlineCode);
                self.settled(spot.of(sign, written), line, last_line)
            }
            Some(_) => is_marker_in_code(&sign).then(|| {
                let why = "it stands in inline code".to_owned();
                spot.of(Sign::Unreadable { why, is_entity: false }, written)
            }),
        }
    }

    fn spot(
        &self,
        bracket: &Bracket,
        close: Close,
        (line, last_line): (&Line, &Line),
    ) -> Option<Spot> {
        let mut slips = Slips::default();
        let before = self.text.get(line.text_start..bracket.start())?;
        let mut plain = before;
        if let Some(rest) = plain.strip_suffix('\\') {
            slips.add(Slip::Escape);
            plain = rest;
        }
        let bare = plain.trim_end_matches(['*', '_', '~']);
        let is_emphasised = bare.len() < plain.len();
        if is_emphasised {
            slips.add(Slip::Emphasis);
        }
        let begins_line = bare.trim_matches([' ', '\t', '•', '–']).is_empty();
        let mark = line.text_start + bare.len();
        let start = if begins_line { line.start } else { mark };
        if begins_line {
            slips = slips.and(line.decoration);
            if !bare.trim().is_empty() {
                slips.add(Slip::ListItem);
            }
        }
        let end = bracket.code.map_or(close.after, |code| code.end);
        let after = self.text.get(end..last_line.end)?;
        let rest = if is_emphasised { after.trim_start_matches(['*', '_', '~']) } else { after };
        Some(Spot {
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

    /// What an id in brackets is depends on where it stands.
    fn settled(&self, mut marker: Found<'a>, line: &Line, last_line: &Line) -> Option<Found<'a>> {
        let Sign::Entity { id, label, separator } = &mut marker.sign else { return Some(marker) };
        let begins_line = marker.begins_line;
        if id.is_faint() && !(begins_line && marker.slips.has(Slip::KindWord)) {
            // `[E1]: a source` is a footnote, `[C4: context] shows` a word; what stands alone with
            // a label could have been meant.
            let is_told = marker.is_alone && label.is_some();
            let why = "such an id needs the expert's name before it".to_owned();
            marker.sign = Sign::Unreadable { why, is_entity: false };
            return is_told.then_some(marker);
        }
        if !begins_line && *separator == Separator::Space {
            *label = None;
        }
        let may_be_outside = begins_line && !matches!(id.prefix, Prefix::Other(_));
        let rest = self.text.get(marker.end..last_line.end)?;
        if label.is_none()
            && may_be_outside
            && let Some(outside) = label_outside(rest, line)
        {
            *label = Some(outside);
            marker.end = last_line.end;
            marker.slips.add(Slip::LabelOutside);
        }
        Some(marker)
    }

    /// A line that begins as if with a marker. It is not read: prose begins so too.
    fn without_brackets(&self, line: &Line) -> Option<Found<'a>> {
        let rest = self.text.get(line.text_start..line.end)?;
        let end = rest.floor_char_boundary(INSIDE_BYTES_MAX.min(rest.len()));
        // Other brackets are none of ours.
        let bare = rest.get(..end)?.trim_start_matches(['{', '<', '(']);
        let (sign, slips) = grammar::read(bare, self.own)?;
        let is_entity = match sign {
            // In parentheses an id is explained, not set.
            Sign::Entity { id, label: Some(_), separator } => {
                let is_named = id.prefix == Prefix::Own && separator != Separator::Space;
                (is_named && !rest.starts_with('(')).then_some(true)
            }
            Sign::Reference { ref_type: Some(_), .. } | Sign::Move { .. } => Some(false),
            Sign::Entity { .. }
            | Sign::Reference { .. }
            | Sign::Verdict { .. }
            | Sign::Unreadable { .. } => None,
        };
        let is_entity = is_entity.filter(|_| !slips.has(Slip::LetterCase))?;
        let spot = Spot {
            slips: Slips::default(),
            line: line.number,
            start: line.start,
            mark: line.text_start,
            end: line.text_start,
            begins_line: true,
            is_alone: false,
            paragraph_end: self.paragraph.last()?.end,
        };
        let why = "it stands without brackets".to_owned();
        Some(spot.of(Sign::Unreadable { why, is_entity }, rest))
    }

    /// What is never closed is worth a word only if it was meant as a marker.
    fn unclosed(&self, bracket: &Bracket, line: &Line) -> Option<Found<'a>> {
        let rest = self.text.get(bracket.inside..line.end)?;
        let end = rest.floor_char_boundary(INSIDE_BYTES_MAX.min(rest.len()));
        // The next bracket is read by itself.
        let rest = rest.get(..end)?.split('[').next()?;
        let (is_meant, is_entity) = match grammar::read(rest, self.own)?.0 {
            Sign::Entity { id, label, separator } => {
                let is_named = id.prefix == Prefix::Own;
                (is_named && label.is_some() && separator != Separator::Space, true)
            }
            Sign::Reference { .. } | Sign::Move { .. } | Sign::Verdict { .. } => (true, false),
            Sign::Unreadable { .. } => (false, false),
        };
        let at = Close { at: bracket.inside, after: bracket.inside, line: bracket.line };
        let written = self.text.get(bracket.open..line.end)?;
        let spot = Spot { end: bracket.inside, ..self.spot(bracket, at, (line, line))? };
        let why = "the bracket is not closed".to_owned();
        is_meant.then(|| spot.of(Sign::Unreadable { why, is_entity }, written))
    }
}

/// Whether inline code among other words is a marker, and nothing else. It may be spoken about
/// rather than set, so that it is told and not read.
fn is_marker_in_code(sign: &Sign<'_>) -> bool {
    match sign {
        Sign::Entity { id, label, .. } => id.prefix == Prefix::Own && label.is_some(),
        Sign::Reference { ref_type, .. } => ref_type.is_some(),
        Sign::Move { .. } | Sign::Verdict { .. } => true,
        Sign::Unreadable { .. } => false,
    }
}

/// `### [MUFFIN-P0101] The label` and `[MUFFIN-P0101]: The label`.
fn label_outside<'a>(rest: &'a str, line: &Line) -> Option<&'a str> {
    let rest = rest.trim();
    let after = rest.trim_start_matches([':', '：', '-', '–', '—']);
    let is_label = line.is_heading() || after.len() < rest.len();
    let label = after.trim();
    (is_label && !label.is_empty() && !label.contains(['[', '［', '【'])).then_some(label)
}
