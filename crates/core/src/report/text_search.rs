//! Finds a passage in a raw reply: where the words of the record stand, in characters of the reply.
//!
//! A reply may be JSON, so its text is escaped there; line breaks and spaces may differ. Offsets
//! count Unicode scalar values.

use std::cmp::Reverse;

/// A text that stands in more places than this says nothing about any of them.
const PLACES_MAX: usize = 200;

/// A part of a text, from `start` up to `end`, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRange {
    pub start: usize,
    pub end: usize,
}

impl TextRange {
    fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A reply, prepared for searches.
#[derive(Debug)]
pub struct SearchedReply {
    letters: Vec<char>,
    /// The text as it is, and with JSON escapes decoded.
    forms: [PlainForm; 2],
}

/// A text with single spaces, and where each of its characters comes from.
#[derive(Debug, Default)]
struct PlainForm {
    text: String,
    /// For each character: its byte in `text`, and its range in the reply.
    places: Vec<(usize, TextRange)>,
}

impl SearchedReply {
    pub fn new(raw: &str) -> Self {
        let letters: Vec<char> = raw.chars().collect();
        let forms =
            [plain_form(&letters, EscapeRule::Keep), plain_form(&letters, EscapeRule::Decode)];
        Self { letters, forms }
    }

    /// Finds the first place of a text; none if it does not stand there.
    pub fn find(&self, wanted: &str) -> Option<TextRange> {
        self.find_all(wanted).first().copied()
    }

    /// Every place of a text, in the order of the reply.
    fn find_all(&self, wanted: &str) -> Vec<TextRange> {
        let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
        if wanted.is_empty() {
            return Vec::new();
        }
        let found = self.forms.iter().map(|form| form.find_all(&wanted));
        found.into_iter().find(|places| !places.is_empty()).unwrap_or_default()
    }

    /// Finds texts that belong together, each at one place. A reply may repeat a text: the right
    /// place is in the JSON object of the rarest text, else the nearest to it.
    pub fn find_together(&self, texts: &[String]) -> Vec<TextRange> {
        let found: Vec<Vec<TextRange>> = texts
            .iter()
            .map(|text| self.find_all(text))
            .filter(|places| !places.is_empty())
            .collect();
        let length = |places: &[TextRange]| places.first().map_or(0, |at| at.end - at.start);
        let rarest = found.iter().min_by_key(|places| (places.len(), Reverse(length(places))));
        let Some(anchor) = rarest.and_then(|places| places.first().copied()) else {
            return Vec::new();
        };
        if found.iter().all(|places| places.len() == 1) {
            return found.into_iter().flatten().collect();
        }
        let object = self.enclosing_object(anchor);
        let distance = |place: &TextRange| {
            let is_outside = object.is_some_and(|object| !object.contains(*place));
            (
                is_outside,
                place.start.saturating_sub(anchor.end) + anchor.start.saturating_sub(place.end),
            )
        };
        found.iter().filter_map(|places| places.iter().copied().min_by_key(distance)).collect()
    }

    /// The smallest `{…}` around a place. Braces inside strings do not count.
    fn enclosing_object(&self, place: TextRange) -> Option<TextRange> {
        let (mut opened, mut is_string, mut is_escaped) = (Vec::new(), false, false);
        for (at, letter) in self.letters.iter().enumerate() {
            match letter {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = is_string,
                '"' => is_string = !is_string && !opened.is_empty(),
                '{' if !is_string => opened.push(at),
                '}' if !is_string => {
                    let object = TextRange { start: opened.pop()?, end: at + 1 };
                    if object.contains(place) {
                        return Some(object);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The text of a range.
    pub fn quote(&self, range: TextRange) -> String {
        self.letters.iter().skip(range.start).take(range.end - range.start).collect()
    }
}

impl PlainForm {
    fn find_all(&self, wanted: &str) -> Vec<TextRange> {
        let starts = self.text.match_indices(wanted).map(|(start, _)| start);
        starts
            .take(PLACES_MAX)
            .filter_map(|start| self.range(start, start + wanted.len()))
            .collect()
    }

    /// The range in the reply of some bytes of the text.
    fn range(&self, start: usize, end: usize) -> Option<TextRange> {
        let first = self.places.partition_point(|(byte, _)| *byte < start);
        let last = self.places.partition_point(|(byte, _)| *byte < end).checked_sub(1)?;
        let (first, last) = (self.places.get(first)?.1, self.places.get(last)?.1);
        Some(TextRange { start: first.start, end: last.end })
    }

    fn push(&mut self, letter: char, range: TextRange) {
        let letter = if letter.is_whitespace() { ' ' } else { letter };
        if letter == ' ' && (self.text.is_empty() || self.text.ends_with(' ')) {
            return;
        }
        self.places.push((self.text.len(), range));
        self.text.push(letter);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EscapeRule {
    Keep,
    Decode,
}

fn plain_form(letters: &[char], rule: EscapeRule) -> PlainForm {
    let mut form = PlainForm::default();
    let mut place = 0;
    while let Some(letter) = letters.get(place) {
        let escaped = match rule {
            EscapeRule::Decode if *letter == '\\' => read_escape(letters, place),
            EscapeRule::Decode | EscapeRule::Keep => None,
        };
        let (decoded, length) = escaped.unwrap_or((*letter, 1));
        form.push(decoded, TextRange { start: place, end: place + length });
        place += length;
    }
    form
}

/// The character of a JSON escape, and the length of the escape.
fn read_escape(letters: &[char], place: usize) -> Option<(char, usize)> {
    Some(match letters.get(place + 1)? {
        'n' | 'r' | 't' | 'b' | 'f' => (' ', 2),
        '"' => ('"', 2),
        '\\' => ('\\', 2),
        '/' => ('/', 2),
        'u' => read_unicode(letters, place)?,
        _ => return None,
    })
}

/// `\u00e9`, or two of them that form one character.
fn read_unicode(letters: &[char], place: usize) -> Option<(char, usize)> {
    let unit = |from: usize| {
        let is_escape = letters.get(from..from + 2) == Some(['\\', 'u'].as_slice());
        let digits: String = letters.get(from + 2..from + 6)?.iter().collect();
        u16::from_str_radix(&digits, 16).ok().filter(|_| is_escape)
    };
    let first = unit(place)?;
    if let Ok(letter) = char::try_from(u32::from(first)) {
        return Some((letter, 6));
    }
    let pair = [first, unit(place + 6)?];
    let letter = char::decode_utf16(pair).next()?.ok()?;
    Some((letter, 12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, wanted: &str, expected: Option<&str>) {
        let reply = SearchedReply::new(raw);
        let found = reply.find(wanted).map(|range| reply.quote(range));
        assert_eq!(found.as_deref(), expected, "{wanted} in {raw}");
    }

    #[test]
    fn words_are_found_in_every_form_of_writing() {
        check("Tea is warm.", "is warm", Some("is warm"));
        check("Tea\n  is\twarm.", "Tea is warm", Some("Tea\n  is\twarm"));
        check(r#"{"a":"Say \"no\"\nnow"}"#, "Say \"no\" now", Some(r#"Say \"no\"\nnow"#));
        check(r#"{"a":"caf\u00e9 \ud83d\ude00!"}"#, "café 😀", Some(r"caf\u00e9 \ud83d\ude00"));
        check("é ü tea", "tea", Some("tea"));
        check("Tea", "coffee", None);
        check("Tea", "  ", None);
        check(r"\u12", "x", None);
        check(r"\ud83d", "x", None);
        check("\\", "\\", Some("\\"));
    }

    #[track_caller]
    fn check_together(raw: &str, texts: &[&str], expected: &[usize]) {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let found = SearchedReply::new(raw).find_together(&texts);
        let starts: Vec<usize> = found.iter().map(|range| range.start).collect();
        assert_eq!(starts, expected, "{texts:?} in {raw}");
    }

    #[test]
    fn a_repeated_text_is_found_beside_the_text_that_stands_once() {
        let raw =
            r#"[{"is":"bare","fix":"cite","at":"one"},{"is":"bare","fix":"cite","at":"two"}]"#;
        check_together(raw, &["bare", "two", "cite"], &[46, 71, 59]);
        check_together(raw, &["bare", "one", "cite"], &[8, 33, 21]);
        // Without objects, the nearest place counts.
        check_together("one: bare; so, two: bare.", &["bare", "two"], &[20, 15]);
        check_together("one: bare; so, two: bare.", &["bare", "one"], &[5, 0]);
        check_together("bare bare", &["bare", "none"], &[0]);
        check_together(r#"say "{ bare bare two"#, &["bare", "two"], &[12, 17]);
        check_together("one two", &["three"], &[]);
    }

    #[test]
    fn offsets_count_characters() {
        assert_eq!(SearchedReply::new("é😀 tea").find("tea"), Some(TextRange { start: 3, end: 6 }));
    }
}
