//! Decodes escapes, base64 and hexadecimal in a text, so that the scan sees encoded secrets.
//!
//! Only one layer is decoded. A secret that is encoded twice, compressed or split over several
//! strings is not found.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use plenary_core::model::text::is_invisible;

/// Fifteen bytes; no key is shorter.
const BASE64_CHARS_MIN: usize = 20;

/// The same at two digits per byte.
const HEX_CHARS_MIN: usize = 30;

/// The longest number in an escape such as `\u{10ffff}`.
const DIGITS_MAX: usize = 8;

/// A decoded part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecodedBlock {
    /// Line on which the part starts, from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Lines that change when their escapes are decoded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UnescapedLines {
    pub(crate) text: String,
    /// Original number of each line, from 1.
    pub(crate) numbers: Vec<usize>,
}

/// Decodes `\u002d`, `\x2d`, `%2D` and `&#45;` and removes invisible characters. Returns only the
/// lines that change.
pub(crate) fn unescaped_lines(text: &str) -> UnescapedLines {
    let is_worth_a_look = |byte: u8| matches!(byte, b'\\' | b'%' | b'&') || !byte.is_ascii();
    let mut unescaped = UnescapedLines::default();
    for (at, line) in text.split('\n').enumerate() {
        if !line.bytes().any(is_worth_a_look) {
            continue;
        }
        let shown = decode_escapes(line);
        if shown != line {
            unescaped.text.push_str(&shown);
            unescaped.text.push('\n');
            unescaped.numbers.push(at + 1);
        }
    }
    unescaped
}

fn decode_escapes(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\\' => decode_escape(&mut letters),
            '%' => decode_hex_digits(&mut letters, 2, 2).unwrap_or('%'),
            '&' => decode_entity(&mut letters),
            other => other,
        };
        if letter == '\t' || !is_invisible(letter) {
            shown.push(letter);
        }
    }
    shown
}

/// Decodes the escape after a backslash; keeps the backslash if it is no escape.
fn decode_escape(letters: &mut Peekable<Chars<'_>>) -> char {
    let Some(next) = letters.peek().copied() else { return '\\' };
    let mut ahead = letters.clone();
    ahead.next();
    let decoded = match next {
        'u' if ahead.peek() == Some(&'{') => {
            ahead.next();
            let decoded = decode_hex_digits(&mut ahead, 1, DIGITS_MAX);
            decoded.filter(|_| ahead.next() == Some('}'))
        }
        'u' => decode_hex_digits(&mut ahead, 4, 4),
        'x' => decode_hex_digits(&mut ahead, 2, 2),
        '/' | '"' | '\'' | '\\' => Some(next),
        // Like the line break that they encode, they separate words.
        'n' | 'r' | 't' => Some('\t'),
        _ => None,
    };
    match decoded {
        Some(decoded) => {
            *letters = ahead;
            newline_to_tab(decoded)
        }
        None => '\\',
    }
}

/// Decodes `&#45;` and `&#x2d;`.
fn decode_entity(letters: &mut Peekable<Chars<'_>>) -> char {
    let mut ahead = letters.clone();
    if ahead.next() != Some('#') {
        return '&';
    }
    let decoded = if ahead.next_if(|letter| "xX".contains(*letter)).is_some() {
        decode_hex_digits(&mut ahead, 1, DIGITS_MAX)
    } else {
        let digits = take_digits(&mut ahead, DIGITS_MAX, |letter| letter.is_ascii_digit());
        digits.parse().ok().and_then(char::from_u32)
    };
    match decoded.filter(|_| ahead.next() == Some(';')) {
        Some(decoded) => {
            *letters = ahead;
            newline_to_tab(decoded)
        }
        None => '&',
    }
}

fn newline_to_tab(decoded: char) -> char {
    if decoded == '\n' { '\t' } else { decoded }
}

/// Decodes hexadecimal digits to a character; consumes nothing on failure.
fn decode_hex_digits(letters: &mut Peekable<Chars<'_>>, least: usize, most: usize) -> Option<char> {
    let mut ahead = letters.clone();
    let digits = take_digits(&mut ahead, most, |letter| letter.is_ascii_hexdigit());
    if digits.len() < least {
        return None;
    }
    let decoded = char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?;
    *letters = ahead;
    Some(newline_to_tab(decoded))
}

fn take_digits(letters: &mut Peekable<Chars<'_>>, most: usize, is_of: fn(&char) -> bool) -> String {
    (0..most).map_while(|_| letters.next_if(is_of)).collect()
}

/// Decodes base64 and hexadecimal parts. Consecutive lines form one block.
pub(crate) fn decoded_blocks(text: &str) -> impl Iterator<Item = DecodedBlock> {
    encoded_blocks(text)
        .filter_map(|(line, run)| Some(DecodedBlock { line, text: decode_run(&run)? }))
}

fn decode_run(run: &str) -> Option<String> {
    // A name or path may precede the encoded part, joined by a character that base64 uses too.
    let parts = || run.split(['/', '-', '_']).filter(|part| part.len() >= BASE64_CHARS_MIN);
    let whole = decode_hex(run).or_else(|| decode_base64(run));
    whole.or_else(|| parts().find_map(decode_base64))
}

/// Character runs that may be encoded, with their first line.
fn encoded_blocks(text: &str) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let mut blocks: Vec<(usize, Cow<'_, str>)> = Vec::new();
    // Whether the last block may continue on the next line.
    let mut is_open = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let body = line.trim_end_matches('=');
        let is_encoding = !body.is_empty() && body.bytes().all(is_base64_byte);
        let was_open = is_open;
        is_open = is_encoding && body.len() == line.len();
        match blocks.last_mut() {
            Some((_, block)) if was_open && is_encoding => block.to_mut().push_str(body),
            _ => {
                let runs =
                    line.split(|letter: char| !u8::try_from(letter).is_ok_and(is_base64_byte));
                let long = runs.filter(|run| run.len() >= BASE64_CHARS_MIN);
                let before = blocks.len();
                blocks.extend(long.map(|run| (number + 1, Cow::Borrowed(run))));
                is_open &= blocks.len() > before;
            }
        }
    }
    blocks.into_iter()
}

fn is_base64_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}

fn decode_hex(run: &str) -> Option<String> {
    if run.len() < HEX_CHARS_MIN || !run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let bytes = run.as_bytes().chunks_exact(2).filter_map(|pair| match pair {
        [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    });
    to_readable_text(bytes.collect())
}

/// Decodes the standard and the URL alphabet, without padding.
fn decode_base64(run: &str) -> Option<String> {
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(run.len()), 0_u32, 0_u32);
    for byte in run.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    to_readable_text(bytes)
}

/// Returns the text, or `None` if the bytes are binary.
fn to_readable_text(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let is_written = |letter: char| !letter.is_control() || matches!(letter, '\n' | '\r' | '\t');
    text.chars().all(is_written).then_some(text)
}
