//! Reads ids as experts write them and lists the rounds and numbers their digits can mean.

use crate::markers::cursor::MarkerCursor;
use crate::markers::warnings::MarkerDeviation;
use crate::model::ids::{EntityId, EntityKind, ExpertSlug};
use crate::model::limits::{EXPERT_SLUG_BYTES_MAX, ITEMS_PER_ROUND_MAX};

/// A longer sequence of digits is not an id.
const DIGITS_MAX: usize = 8;

/// Owner of an id, by its name prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IdPrefix {
    Own,
    Other(ExpertSlug),
    Missing,
}

/// An id before it is resolved: `MUFFIN-P0101`, `P101`, `donut-r1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenId {
    pub prefix: IdPrefix,
    pub kind: EntityKind,
    pub digits: String,
}

/// A round and a number within it.
pub(crate) type RoundPlace = (u8, u8);

impl WrittenId {
    /// Returns every place the digits can mean if zeros were left out: `P11` is number 11 of round
    /// 0 or number 1 of round 1.
    pub(crate) fn possible_places(&self) -> Vec<RoundPlace> {
        let digits = self.digits.as_str();
        let splits: &[usize] = match digits.len() {
            1 => &[0],
            2 => &[0, 1],
            3 => &[1, 2],
            4 => &[2],
            _ => &[],
        };
        let mut places: Vec<RoundPlace> = splits
            .iter()
            .filter_map(|split| parse_place(digits.split_at_checked(*split)?))
            .collect();
        places.dedup();
        places
    }

    /// One or two digits may be the number without the round.
    pub(crate) fn sequence_alone(&self) -> Option<u8> {
        let fits = |number: &u8| (1..=ITEMS_PER_ROUND_MAX).contains(number);
        self.digits.parse().ok().filter(|_| self.digits.len() <= 2).filter(fits)
    }

    /// Short and without a prefix: footnotes, figures and many other things have such names.
    pub(crate) fn is_ambiguous(&self) -> bool {
        self.prefix == IdPrefix::Missing && self.digits.len() < 3
    }

    pub(crate) fn is_padded(&self) -> bool {
        self.digits.len() == 4
    }
}

fn parse_place((round, number): (&str, &str)) -> Option<RoundPlace> {
    let round = if round.is_empty() { 0 } else { round.parse().ok()? };
    let number = number.parse().ok().filter(|number| (1..=ITEMS_PER_ROUND_MAX).contains(number))?;
    Some((round, number))
}

/// Reads an id and advances the cursor. Without an id, the cursor does not move.
pub(crate) fn read_id(cursor: &mut MarkerCursor<'_>, own: &ExpertSlug) -> Option<WrittenId> {
    let ways = [read_own_id, read_other_id, read_bare_id];
    let (spelled, after) = ways.into_iter().find_map(|way| way(*cursor, own))?;
    *cursor = after;
    Some(spelled)
}

type IdParse<'a> = Option<(WrittenId, MarkerCursor<'a>)>;

/// Reads an id with the expert's own name, in any letter case and with any separators.
fn read_own_id<'a>(mut cursor: MarkerCursor<'a>, own: &ExpertSlug) -> IdParse<'a> {
    read_name(&mut cursor, own)?;
    read_joint(&mut cursor, '-')?;
    let (kind, digits) = read_kind_digits(&mut cursor)?;
    Some((WrittenId { prefix: IdPrefix::Own, kind, digits }, cursor))
}

/// Reads the slug, accepting display-name spellings.
pub(crate) fn read_name(cursor: &mut MarkerCursor<'_>, slug: &ExpertSlug) -> Option<()> {
    for expected in slug.as_str().chars() {
        if expected.is_ascii_alphanumeric() {
            let letter = cursor.take_if(|sign| sign.eq_ignore_ascii_case(&expected))?;
            if letter.is_ascii_lowercase() {
                cursor.note_deviation(MarkerDeviation::LetterCase);
            }
        } else if read_joint(cursor, expected).is_none() {
            cursor.note_deviation(MarkerDeviation::DisplayName);
        }
    }
    Some(())
}

/// Reads the separator between two parts of an id, which should be exactly `expected`.
fn read_joint(cursor: &mut MarkerCursor<'_>, expected: char) -> Option<()> {
    const JOINT_CHARS_MAX: usize = 4;
    let mut joint = String::new();
    while joint.len() < JOINT_CHARS_MAX
        && let Some(sign) = cursor.take_if(|sign| matches!(sign, '-' | '_' | ' '))
    {
        joint.push(sign);
    }
    let mut buffer = [0; 4];
    if !joint.is_empty() && joint != *expected.encode_utf8(&mut buffer) {
        cursor.note_deviation(MarkerDeviation::DisplayName);
    }
    (!joint.is_empty()).then_some(())
}

/// Reads `DONUT-R0101`: a name, a hyphen, a kind and digits.
fn read_other_id<'a>(cursor: MarkerCursor<'a>, _: &ExpertSlug) -> IdParse<'a> {
    let token = read_token(cursor);
    let hyphens = token.match_indices('-').map(|(place, _)| place);
    let (name, kind, digits) = hyphens.into_iter().find_map(|hyphen| {
        let (name, rest) = token.split_at_checked(hyphen)?;
        let (kind, digits) = parse_kind_digits(rest.strip_prefix('-')?)?;
        // `P0001-P0003` is not an id of an expert named p0001.
        let is_id = name.parse::<EntityId>().is_ok();
        let name: ExpertSlug = name.to_ascii_lowercase().parse().ok().filter(|_| !is_id)?;
        Some((name, kind, digits))
    })?;
    let mut after = cursor;
    for _ in 0..name.as_str().len() + 2 + digits.len() {
        if after.take_char()?.is_ascii_lowercase() {
            after.note_deviation(MarkerDeviation::LetterCase);
        }
    }
    Some((WrittenId { prefix: IdPrefix::Other(name), kind, digits }, after))
}

/// Reads the characters that can be part of an id, in upper case.
fn read_token(mut cursor: MarkerCursor<'_>) -> String {
    const TOKEN_CHARS_MAX: usize = EXPERT_SLUG_BYTES_MAX + 2 + DIGITS_MAX + 1;
    let mut token = String::new();
    while token.len() < TOKEN_CHARS_MAX
        && let Some(sign) = cursor.take_if(is_id_char)
    {
        token.push(sign.to_ascii_uppercase());
    }
    token
}

fn is_id_char(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_')
}

/// Parses a kind and digits at the start of a token, up to its end or a hyphen.
fn parse_kind_digits(text: &str) -> Option<(EntityKind, String)> {
    let (letter, rest) = text.split_at_checked(1)?;
    let end = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at_checked(end)?;
    let ends = after.is_empty() || (after.starts_with('-') && !is_split_number(digits, after));
    let fits = (1..=DIGITS_MAX).contains(&digits.len()) && ends;
    Some((EntityKind::named(letter).filter(|_| fits)?, digits.to_owned()))
}

fn read_bare_id<'a>(mut cursor: MarkerCursor<'a>, _: &ExpertSlug) -> IdParse<'a> {
    let (kind, digits) = read_kind_digits(&mut cursor)?;
    Some((WrittenId { prefix: IdPrefix::Missing, kind, digits }, cursor))
}

/// Reads the letter of a kind and its digits; no letter or digit may follow.
pub(crate) fn read_kind_digits(cursor: &mut MarkerCursor<'_>) -> Option<(EntityKind, String)> {
    let letter = cursor.take_if(|sign| sign.is_ascii_alphabetic())?;
    if letter.is_ascii_lowercase() {
        cursor.note_deviation(MarkerDeviation::LetterCase);
    }
    let mut buffer = [0; 4];
    let kind = EntityKind::named(letter.to_ascii_uppercase().encode_utf8(&mut buffer))?;
    let mut digits = String::new();
    while let Some(digit) = cursor.take_if(|sign| sign.is_ascii_digit()) {
        digits.push(digit);
        if digits.len() > DIGITS_MAX {
            return None;
        }
    }
    let goes_on = cursor.peek().is_some_and(|sign| sign.is_alphanumeric() || sign == '_')
        || is_split_number(&digits, cursor.remaining_text());
    (!digits.is_empty() && !goes_on).then_some((kind, digits))
}

/// Whether the digits of an id continue after a hyphen, as in `P01-02`.
fn is_split_number(digits: &str, rest: &str) -> bool {
    let is_digit = |sign: char| sign.is_ascii_digit();
    digits.len() < 4 && rest.strip_prefix('-').is_some_and(|after| after.starts_with(is_digit))
}

/// Maximum number of targets in one marker. It keeps the run time linear for a text of ids only.
const TARGETS_MAX: usize = 32;

/// One target of a reference or move, as written.
#[derive(Debug)]
pub(crate) struct WrittenTarget<'a> {
    pub form: TargetForm,
    pub written: &'a str,
}

#[derive(Debug)]
pub(crate) enum TargetForm {
    Id(WrittenId),
    Position(ExpertSlug),
}

/// Reads ids and positions until something else follows.
pub(crate) fn read_targets<'a>(
    cursor: &mut MarkerCursor<'a>,
    own: &ExpertSlug,
) -> Vec<WrittenTarget<'a>> {
    let mut pointers = Vec::new();
    while pointers.len() < TARGETS_MAX {
        let mut ahead = *cursor;
        ahead.skip_expected_spaces(1);
        if !pointers.is_empty() {
            skip_target_separators(&mut ahead);
        }
        while ahead.take_if(|sign| "[({<\"'#".contains(sign)).is_some() {
            ahead.note_deviation(MarkerDeviation::Punctuation);
        }
        let text = ahead.remaining_text();
        let Some(aim) = read_target_form(&mut ahead, own) else { break };
        let written = text.strip_suffix(ahead.remaining_text()).unwrap_or(text);
        while ahead.take_if(|sign| "])}>\"'".contains(sign)).is_some() {
            ahead.note_deviation(MarkerDeviation::Punctuation);
        }
        pointers.push(WrittenTarget { form: aim, written });
        *cursor = ahead;
    }
    pointers
}

/// Skips commas, arrows and the word `and` between ids.
fn skip_target_separators(cursor: &mut MarkerCursor<'_>) {
    loop {
        let mut ahead = *cursor;
        let is_sign = ahead.take_if(|sign| ",;&+/|<>→↔⇄⟷".contains(sign)).is_some();
        if !is_sign && ahead.take_word().is_none_or(|word| word != "AND") {
            return;
        }
        ahead.slips = cursor.slips.with(MarkerDeviation::Punctuation);
        ahead.skip_spaces();
        *cursor = ahead;
    }
}

fn read_target_form(cursor: &mut MarkerCursor<'_>, own: &ExpertSlug) -> Option<TargetForm> {
    let mut ahead = *cursor;
    if ahead.take_if(|sign| sign == '@').is_none() {
        return read_id(cursor, own).map(TargetForm::Id);
    }
    let mut name = String::new();
    while let Some(sign) = ahead.take_if(|sign| sign.is_ascii_alphanumeric() || "_-".contains(sign))
    {
        if sign.is_ascii_uppercase() {
            ahead.note_deviation(MarkerDeviation::LetterCase);
        }
        name.push(sign.to_ascii_lowercase());
        if name.len() > EXPERT_SLUG_BYTES_MAX {
            return None;
        }
    }
    let position = name.parse().ok().map(TargetForm::Position)?;
    *cursor = ahead;
    Some(position)
}
