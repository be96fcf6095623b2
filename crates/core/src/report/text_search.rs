//! Finds a passage in a raw reply: where the words of the record stand, in characters of the reply.
//!
//! A reply may be JSON, so its text is escaped there; line breaks and spaces may differ. Offsets
//! count Unicode scalar values.

/// A part of a text, from `start` up to `end`, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRange {
    pub start: usize,
    pub end: usize,
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
        let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
        if wanted.is_empty() {
            return None;
        }
        self.forms.iter().find_map(|form| form.find(&wanted))
    }

    /// The text of a range.
    pub fn quote(&self, range: TextRange) -> String {
        self.letters.iter().skip(range.start).take(range.end - range.start).collect()
    }
}

impl PlainForm {
    fn find(&self, wanted: &str) -> Option<TextRange> {
        let start = self.text.find(wanted)?;
        let end = start + wanted.len();
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

    #[test]
    fn offsets_count_characters() {
        assert_eq!(SearchedReply::new("é😀 tea").find("tea"), Some(TextRange { start: 3, end: 6 }));
    }
}
