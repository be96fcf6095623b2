//! Grammar of the marker language: parses the content of one bracket without its context.
//!
//! Brackets that only resemble a marker are prose and give `None`. A bracket that was clearly meant
//! as a marker but cannot be parsed gives `Unreadable` with the reason.

use crate::markers::cursor::{MarkerCursor, MarkerSeparator};
use crate::markers::near_miss::{
    WordForm, parse_move_type, parse_ref_type, reject_missing_keyword, reject_near_id,
    reject_wrong_keyword, skip_preposition,
};
use crate::markers::warnings::{DeviationSet, MarkerDeviation};
use crate::markers::written_id::{IdPrefix, WrittenId, WrittenTarget, read_id, read_targets};
use crate::model::entity::{MoveType, ReferenceType};
use crate::model::ids::ExpertSlug;
use crate::model::verdict::VerdictType;

/// Parsed content of a bracket. Ids are kept as written.
#[derive(Debug)]
pub(crate) enum BracketContent<'a> {
    /// Without a label, it mentions an entity defined elsewhere.
    Entity {
        id: WrittenId,
        label: Option<&'a str>,
        separator: MarkerSeparator,
    },
    Reference {
        ref_type: Option<ReferenceType>,
        targets: Vec<WrittenTarget<'a>>,
    },
    /// `words` is the topic of a request, or a remark for other moves.
    Move {
        move_type: MoveType,
        targets: Vec<WrittenTarget<'a>>,
        words: &'a str,
    },
    Verdict {
        verdict_type: VerdictType,
        label: &'a str,
    },
    /// `is_entity` is true if it was meant as an entity.
    Unreadable {
        why: String,
        is_entity: bool,
    },
}

pub(crate) type ParsedBracket<'a> = Option<(BracketContent<'a>, DeviationSet)>;

const KIND_WORDS: [&str; 6] =
    ["PERSPECTIVE", "RECOMMENDATION", "PROPOSAL", "TENSION", "EVIDENCE", "CLAIM"];

/// Parses the content of a bracket in the reply of expert `own`. Returns `None` for prose.
pub(crate) fn parse_bracket<'a>(inside: &'a str, own: &ExpertSlug) -> ParsedBracket<'a> {
    let mut cursor = MarkerCursor::new(inside);
    cursor.skip_expected_spaces(0);
    parse_entity(cursor, own)
        .or_else(|| parse_keyword(cursor, own))
        .or_else(|| reject_near_id(cursor, own))
}

fn parse_entity<'a>(mut cursor: MarkerCursor<'a>, own: &ExpertSlug) -> ParsedBracket<'a> {
    let id = read_id(&mut cursor, own)?;
    let before = cursor;
    let separator = cursor.take_separator();
    let is_mention = cursor.is_at_end() || separator == MarkerSeparator::Nothing || {
        let mut ahead = cursor;
        !read_targets(&mut ahead, own).is_empty() && ahead.is_at_end()
    };
    if is_mention {
        return Some((BracketContent::Entity { id, label: None, separator }, before.slips));
    }
    // `[R2-D2]` and `[C4 model]` are prose, so an id without a prefix needs a clear separator.
    let is_clear = match separator {
        MarkerSeparator::Colon => true,
        MarkerSeparator::Dash => id.digits.len() > 2 || id.prefix == IdPrefix::Own,
        MarkerSeparator::Space => id.prefix == IdPrefix::Own,
        MarkerSeparator::Nothing => false,
    };
    if separator == MarkerSeparator::Space {
        cursor.note_deviation(MarkerDeviation::Colon);
    }
    let sign = BracketContent::Entity { id, label: Some(cursor.take_rest()), separator };
    is_clear.then_some((sign, cursor.slips))
}

fn parse_keyword<'a>(mut cursor: MarkerCursor<'a>, own: &ExpertSlug) -> ParsedBracket<'a> {
    let word = cursor.take_word()?;
    match word.as_str() {
        "RE" => parse_reference(cursor, own),
        "MOVE" => parse_move(cursor, own),
        "DISSENT" => parse_verdict_label(cursor, VerdictType::Dissent),
        "VERDICT" => parse_verdict(cursor),
        "MINORITY" => parse_reversed_verdict(cursor, VerdictType::Minority),
        "FINAL" => parse_reversed_verdict(cursor, VerdictType::Final),
        "INTERIM" => parse_reversed_verdict(cursor, VerdictType::Interim),
        word if KIND_WORDS.contains(&word) => parse_kind_word(cursor, word, own),
        word => reject_missing_keyword(cursor, word, own)
            .or_else(|| reject_wrong_keyword(cursor, word, own)),
    }
}

/// Parses `[RE:SUPPORT P0001]`, and `[RE: P0001]` without a type.
fn parse_reference<'a>(mut cursor: MarkerCursor<'a>, own: &ExpertSlug) -> ParsedBracket<'a> {
    if let Some(untyped) = parse_untyped_reference(cursor, own) {
        return Some(untyped);
    }
    let separator = take_keyword_separator(&mut cursor);
    let before = cursor;
    let Some(WordForm { value: ref_type, is_exact }) =
        cursor.take_word().and_then(|word| parse_ref_type(&word))
    else {
        let types = join_uppercase(ReferenceType::ALL.iter().map(|t| t.name()));
        return reject_unknown_type(before, separator, "RE", &types);
    };
    let goes_on = skip_preposition(&mut cursor);
    if goes_on || !is_exact {
        cursor.note_deviation(MarkerDeviation::WordForm);
    }
    skip_type_separator(&mut cursor);
    let targets = read_targets(&mut cursor, own);
    if targets.is_empty() {
        return Some(unreadable_marker("it names no id"));
    }
    note_trailing(&mut cursor, targets.len());
    Some((BracketContent::Reference { ref_type: Some(ref_type), targets }, cursor.slips))
}

/// Parses a reference without a type, which counts as support. If words follow the ids, it is
/// rejected: the words could mean any type.
fn parse_untyped_reference<'a>(
    mut cursor: MarkerCursor<'a>,
    own: &ExpertSlug,
) -> ParsedBracket<'a> {
    let separator = cursor.take_separator();
    let targets = read_targets(&mut cursor, own);
    if targets.is_empty() {
        return None;
    }
    if !cursor.is_at_end() {
        return Some(unreadable_marker("its type is missing, and it says more than an id"));
    }
    if separator.lacks_punctuation() {
        cursor.note_deviation(MarkerDeviation::Colon);
    }
    note_trailing(&mut cursor, targets.len());
    Some((BracketContent::Reference { ref_type: None, targets }, cursor.slips))
}

fn parse_move<'a>(mut cursor: MarkerCursor<'a>, own: &ExpertSlug) -> ParsedBracket<'a> {
    let separator = take_keyword_separator(&mut cursor);
    let before = cursor;
    let Some(WordForm { value: move_type, is_exact }) =
        cursor.take_word().and_then(|word| parse_move_type(&word))
    else {
        let types = join_uppercase(MoveType::ALL.iter().map(|t| t.name()));
        return reject_unknown_type(before, separator, "MOVE", &types);
    };
    if !is_exact {
        cursor.note_deviation(MarkerDeviation::WordForm);
    }
    skip_type_separator(&mut cursor);
    let targets = match move_type {
        MoveType::Request | MoveType::Converge => Vec::new(),
        MoveType::Defend | MoveType::Challenge | MoveType::Bridge | MoveType::Concede => {
            read_targets(&mut cursor, own)
        }
    };
    let needed = move_type.targets_min();
    if targets.len() < needed {
        let why = format!("it needs {needed} id{}", if needed == 1 { "" } else { "s" });
        return Some(unreadable_marker(&why));
    }
    if move_type != MoveType::Request {
        note_trailing(&mut cursor, 1);
        skip_type_separator(&mut cursor);
    }
    let words = cursor.take_rest();
    Some((BracketContent::Move { move_type, targets, words }, cursor.slips))
}

/// Parses the optional label of `[DISSENT]` or `[MINORITY VERDICT: label]`, after the keyword.
fn parse_verdict_label(
    mut cursor: MarkerCursor<'_>,
    verdict_type: VerdictType,
) -> ParsedBracket<'_> {
    let is_shouted = !cursor.slips.contains(MarkerDeviation::LetterCase);
    if cursor.is_at_end() {
        cursor.skip_expected_spaces(0);
        return Some((BracketContent::Verdict { verdict_type, label: "" }, cursor.slips));
    }
    match cursor.take_separator() {
        MarkerSeparator::Colon | MarkerSeparator::Dash => {}
        MarkerSeparator::Space if is_shouted => cursor.note_deviation(MarkerDeviation::Colon),
        MarkerSeparator::Space | MarkerSeparator::Nothing => return None,
    }
    let label = cursor.take_rest();
    Some((BracketContent::Verdict { verdict_type, label }, cursor.slips))
}

/// Parses `[VERDICT:FINAL]`.
fn parse_verdict(mut cursor: MarkerCursor<'_>) -> ParsedBracket<'_> {
    let separator = take_keyword_separator(&mut cursor);
    let before = cursor;
    let named = cursor.take_word().and_then(|word| VerdictType::named(&word.to_ascii_lowercase()));
    let Some(verdict_type) = named else {
        return reject_unknown_type(before, separator, "VERDICT", "INTERIM, FINAL");
    };
    parse_verdict_label(cursor, verdict_type)
}

/// Parses `[MINORITY VERDICT]`, and `[FINAL VERDICT]` written for `[VERDICT:FINAL]`.
fn parse_reversed_verdict(
    mut cursor: MarkerCursor<'_>,
    verdict_type: VerdictType,
) -> ParsedBracket<'_> {
    cursor.skip_expected_spaces(1);
    cursor.take_word().filter(|word| word == "VERDICT")?;
    if verdict_type != VerdictType::Minority {
        cursor.note_deviation(MarkerDeviation::WordForm);
    }
    parse_verdict_label(cursor, verdict_type)
}

/// Parses `[TENSION MUFFIN-T0101: label]`.
fn parse_kind_word<'a>(
    mut cursor: MarkerCursor<'a>,
    word: &str,
    own: &ExpertSlug,
) -> ParsedBracket<'a> {
    let is_shouted = !cursor.slips.contains(MarkerDeviation::LetterCase);
    let separator = cursor.take_separator();
    cursor.skip_spaces();
    if let Some((sign, slips)) = parse_entity(cursor, own) {
        return Some((sign, slips.with(MarkerDeviation::KindWord)));
    }
    let is_meant =
        is_shouted && matches!(separator, MarkerSeparator::Colon | MarkerSeparator::Dash);
    let why = format!("this {} has no id", word.to_ascii_lowercase());
    is_meant
        .then_some((BracketContent::Unreadable { why, is_entity: true }, DeviationSet::default()))
}

pub(crate) fn unreadable_marker<'a>(why: &str) -> (BracketContent<'a>, DeviationSet) {
    (BracketContent::Unreadable { why: why.to_owned(), is_entity: false }, DeviationSet::default())
}

/// Rejects an unknown type. Only an upper-case keyword with a separator was meant as a marker.
fn reject_unknown_type<'a>(
    mut at: MarkerCursor<'_>,
    separator: MarkerSeparator,
    keyword: &str,
    types: &str,
) -> ParsedBracket<'a> {
    let is_meant = !at.slips.contains(MarkerDeviation::LetterCase)
        && (!separator.lacks_punctuation() || at.is_at_end());
    let word = at.take_word().unwrap_or_default();
    is_meant.then(|| match word.is_empty() {
        true => unreadable_marker(&format!("`{keyword}:` is followed by none of {types}")),
        false => unreadable_marker(&format!("{word} is none of {types}")),
    })
}

fn join_uppercase<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(str::to_ascii_uppercase).collect::<Vec<_>>().join(", ")
}

/// Reads the separator between a keyword and its type, which should be exactly a colon.
fn take_keyword_separator(cursor: &mut MarkerCursor<'_>) -> MarkerSeparator {
    let separator = cursor.take_separator();
    cursor.skip_expected_spaces(usize::from(separator != MarkerSeparator::Colon));
    if separator.lacks_punctuation() {
        cursor.note_deviation(MarkerDeviation::Colon);
    }
    separator
}

/// Skips a second colon, or a dash, after the type.
fn skip_type_separator(cursor: &mut MarkerCursor<'_>) {
    let noted = cursor.slips;
    let mut ahead = *cursor;
    if matches!(ahead.take_separator(), MarkerSeparator::Colon | MarkerSeparator::Dash) {
        ahead.slips = noted.with(MarkerDeviation::Punctuation);
        *cursor = ahead;
    }
}

/// Records deviations after the last id: extra words, several ids.
fn note_trailing(cursor: &mut MarkerCursor<'_>, targets: usize) {
    if cursor.is_at_end() {
        cursor.skip_expected_spaces(0);
    } else {
        cursor.note_deviation(MarkerDeviation::FurtherWords);
    }
    if targets > 1 {
        cursor.note_deviation(MarkerDeviation::SeveralIds);
    }
}
