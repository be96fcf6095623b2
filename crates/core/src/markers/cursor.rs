//! Character reader for the inside of a bracket. It maps look-alike characters to ASCII and records
//! each deviation from the exact notation.
//!
//! The cursor is `Copy`: parsers read ahead on a copy and drop it, with its deviations, to
//! backtrack.

use crate::markers::warnings::{DeviationSet, MarkerDeviation};
use crate::model::text::is_invisible;

/// Separator between the head of a marker and the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkerSeparator {
    Colon,
    /// A dash, equals sign or bar in place of the colon.
    Dash,
    /// Only spaces.
    Space,
    /// No separator: the text continues or ends here.
    Nothing,
}

impl MarkerSeparator {
    /// Whether no punctuation was found where a colon is expected.
    pub(crate) fn lacks_punctuation(self) -> bool {
        match self {
            Self::Colon | Self::Dash => false,
            Self::Space | Self::Nothing => true,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkerCursor<'a> {
    rest: &'a str,
    pub slips: DeviationSet,
}

impl<'a> MarkerCursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text, slips: DeviationSet::default() }
    }

    pub(crate) fn remaining_text(self) -> &'a str {
        self.rest
    }

    pub(crate) fn note_deviation(&mut self, slip: MarkerDeviation) {
        self.slips.add(slip);
    }

    /// Returns the next character as ASCII, after skipping decoration.
    pub(crate) fn peek(&mut self) -> Option<char> {
        loop {
            let sign = self.rest.chars().next()?;
            let slip = match sign {
                '*' | '~' => MarkerDeviation::Emphasis,
                '`' => MarkerDeviation::InlineCode,
                '\\' => MarkerDeviation::Escape,
                '\n' | '\t' => return Some(' '),
                '\r' => {
                    self.skip_char(sign);
                    continue;
                }
                _ if is_invisible(sign) => MarkerDeviation::HiddenCharacter,
                _ => return Some(to_ascii(sign)),
            };
            self.note_deviation(slip);
            self.skip_char(sign);
        }
    }

    /// Consumes the next character.
    pub(crate) fn take_char(&mut self) -> Option<char> {
        let seen = self.peek()?;
        let sign = self.rest.chars().next()?;
        match sign {
            '\n' => self.note_deviation(MarkerDeviation::LineBreak),
            _ if sign != seen && seen != ' ' => self.note_deviation(MarkerDeviation::LookAlike),
            _ => {}
        }
        self.skip_char(sign);
        Some(seen)
    }

    /// Consumes the next character if it fits.
    pub(crate) fn take_if(&mut self, fits: impl Fn(char) -> bool) -> Option<char> {
        if self.peek().is_some_and(fits) { self.take_char() } else { None }
    }

    /// Skips spaces and returns their number.
    pub(crate) fn skip_spaces(&mut self) -> usize {
        let mut count = 0;
        while self.take_if(|sign| sign == ' ').is_some() {
            count += 1;
        }
        count
    }

    /// Skips spaces; more than `fit` of them are a deviation.
    pub(crate) fn skip_expected_spaces(&mut self, fit: usize) {
        if self.skip_spaces() > fit {
            self.note_deviation(MarkerDeviation::Spaces);
        }
    }

    /// Reads a word of letters, in upper case. Returns `None` if it is longer than any keyword.
    pub(crate) fn take_word(&mut self) -> Option<String> {
        const WORD_CHARS_MAX: usize = 16;
        let mut word = String::new();
        while let Some(letter) = self.take_if(|sign| sign.is_ascii_alphabetic()) {
            if letter.is_ascii_lowercase() {
                self.note_deviation(MarkerDeviation::LetterCase);
            }
            word.push(letter.to_ascii_uppercase());
            if word.len() > WORD_CHARS_MAX {
                return None;
            }
        }
        let ends = !self.peek().is_some_and(|sign| sign.is_alphanumeric() || sign == '_');
        (ends && !word.is_empty()).then_some(word)
    }

    /// Reads the separator between head and rest, spaces included.
    pub(crate) fn take_separator(&mut self) -> MarkerSeparator {
        let before = self.skip_spaces() > 0;
        // A dash of any length counts as `MarkerDeviation::Colon`, not also as a look-alike hyphen.
        let noted = self.slips;
        let sign = self.take_if(|sign| matches!(sign, ':' | '-' | '=' | '|'));
        match sign {
            Some(':') => {
                if before {
                    self.note_deviation(MarkerDeviation::Spaces);
                }
                MarkerSeparator::Colon
            }
            Some(_) => {
                self.slips = noted.with(MarkerDeviation::Colon);
                self.rest = self.rest.trim_start_matches('-');
                MarkerSeparator::Dash
            }
            None if before => MarkerSeparator::Space,
            None => MarkerSeparator::Nothing,
        }
    }

    /// Returns the rest of the text unchanged.
    pub(crate) fn take_rest(&mut self) -> &'a str {
        let words = self.rest.trim_start();
        if self.rest.len() - words.len() > 1 {
            self.note_deviation(MarkerDeviation::Spaces);
        }
        words
    }

    pub(crate) fn is_at_end(&mut self) -> bool {
        let mut ahead = *self;
        ahead.skip_spaces();
        ahead.peek().is_none()
    }

    fn skip_char(&mut self, sign: char) {
        self.rest = self.rest.get(sign.len_utf8()..).unwrap_or_default();
    }
}

/// Maps full-width letters, dashes, colons and spaces to their ASCII form.
fn to_ascii(sign: char) -> char {
    match sign {
        '\u{ff01}'..='\u{ff5e}' => {
            u8::try_from(u32::from(sign) - 0xff01 + 0x21).map_or(sign, char::from)
        }
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => '-',
        '\u{2236}' | '\u{fe55}' | '\u{fe13}' => ':',
        other if other.is_whitespace() => ' ',
        other => other,
    }
}
