//! Grammar of the marker language: parses the content of one bracket without its context.
//!
//! Brackets that only resemble a marker are prose and give `None`. A bracket that was clearly meant
//! as a marker but cannot be parsed gives `Unreadable` with the reason.

use super::cursor::{Cursor, Separator};
use super::meant::{almost_id, without_keyword, wrong_keyword};
use super::pointers::{Pointer, pointers};
use super::slip::{Slip, Slips};
use super::spelling::{Prefix, Spelled, read_id};
use super::word_forms::{Form, follow_on, move_type, ref_type};
use crate::domain::ids::ExpertSlug;
use crate::domain::reference::{MoveType, RefType};
use crate::domain::verdict::VerdictType;

/// Parsed content of a bracket. Ids are kept as written.
#[derive(Debug)]
pub(super) enum Sign<'a> {
    /// Without a label, it mentions an entity defined elsewhere.
    Entity {
        id: Spelled,
        label: Option<&'a str>,
        separator: Separator,
    },
    Reference {
        ref_type: Option<RefType>,
        targets: Vec<Pointer<'a>>,
    },
    /// `words` is the topic of a request, or a remark for other moves.
    Move {
        move_type: MoveType,
        targets: Vec<Pointer<'a>>,
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

pub(super) type Reading<'a> = Option<(Sign<'a>, Slips)>;

const KIND_WORDS: [&str; 6] =
    ["PERSPECTIVE", "RECOMMENDATION", "PROPOSAL", "TENSION", "EVIDENCE", "CLAIM"];

/// Parses the content of a bracket in the reply of expert `own`. Returns `None` for prose.
pub(super) fn read<'a>(inside: &'a str, own: &ExpertSlug) -> Reading<'a> {
    let mut cursor = Cursor::new(inside);
    cursor.spaces_over(0);
    entity(cursor, own).or_else(|| keyword(cursor, own)).or_else(|| almost_id(cursor, own))
}

fn entity<'a>(mut cursor: Cursor<'a>, own: &ExpertSlug) -> Reading<'a> {
    let id = read_id(&mut cursor, own)?;
    let before = cursor;
    let separator = cursor.separator();
    let is_mention = cursor.is_at_end() || separator == Separator::Nothing || {
        let mut ahead = cursor;
        !pointers(&mut ahead, own).is_empty() && ahead.is_at_end()
    };
    if is_mention {
        return Some((Sign::Entity { id, label: None, separator }, before.slips));
    }
    // `[R2-D2]` and `[C4 model]` are prose, so an id without a prefix needs a clear separator.
    let is_clear = match separator {
        Separator::Colon => true,
        Separator::Dash => id.digits.len() > 2 || id.prefix == Prefix::Own,
        Separator::Space => id.prefix == Prefix::Own,
        Separator::Nothing => false,
    };
    if separator == Separator::Space {
        cursor.slip(Slip::Colon);
    }
    let sign = Sign::Entity { id, label: Some(cursor.words()), separator };
    is_clear.then_some((sign, cursor.slips))
}

fn keyword<'a>(mut cursor: Cursor<'a>, own: &ExpertSlug) -> Reading<'a> {
    let word = cursor.word()?;
    match word.as_str() {
        "RE" => reference(cursor, own),
        "MOVE" => made_move(cursor, own),
        "DISSENT" => objection(cursor, VerdictType::Dissent),
        "VERDICT" => verdict(cursor),
        "MINORITY" => turned_verdict(cursor, VerdictType::Minority),
        "FINAL" => turned_verdict(cursor, VerdictType::Final),
        "INTERIM" => turned_verdict(cursor, VerdictType::Interim),
        word if KIND_WORDS.contains(&word) => kind_word(cursor, word, own),
        word => without_keyword(cursor, word, own).or_else(|| wrong_keyword(cursor, word, own)),
    }
}

/// Parses `[RE:SUPPORT P0001]`, and `[RE: P0001]` without a type.
fn reference<'a>(mut cursor: Cursor<'a>, own: &ExpertSlug) -> Reading<'a> {
    if let Some(untyped) = untyped_reference(cursor, own) {
        return Some(untyped);
    }
    let separator = after_keyword(&mut cursor);
    let before = cursor;
    let Some(Form { word: ref_type, is_exact }) = cursor.word().and_then(|word| ref_type(&word))
    else {
        let types = capitals(RefType::ALL.iter().map(|t| t.name()));
        return unknown_type(before, separator, "RE", &types);
    };
    let goes_on = follow_on(&mut cursor);
    if goes_on || !is_exact {
        cursor.slip(Slip::WordForm);
    }
    after_type(&mut cursor);
    let targets = pointers(&mut cursor, own);
    if targets.is_empty() {
        return Some(unreadable("it names no id"));
    }
    finish(&mut cursor, targets.len());
    Some((Sign::Reference { ref_type: Some(ref_type), targets }, cursor.slips))
}

/// Parses a reference without a type, which counts as support. If words follow the ids, it is
/// rejected: the words could mean any type.
fn untyped_reference<'a>(mut cursor: Cursor<'a>, own: &ExpertSlug) -> Reading<'a> {
    let separator = cursor.separator();
    let targets = pointers(&mut cursor, own);
    if targets.is_empty() {
        return None;
    }
    if !cursor.is_at_end() {
        return Some(unreadable("its type is missing, and it says more than an id"));
    }
    if separator.is_loose() {
        cursor.slip(Slip::Colon);
    }
    finish(&mut cursor, targets.len());
    Some((Sign::Reference { ref_type: None, targets }, cursor.slips))
}

fn made_move<'a>(mut cursor: Cursor<'a>, own: &ExpertSlug) -> Reading<'a> {
    let separator = after_keyword(&mut cursor);
    let before = cursor;
    let Some(Form { word: move_type, is_exact }) = cursor.word().and_then(|word| move_type(&word))
    else {
        let types = capitals(MoveType::ALL.iter().map(|t| t.name()));
        return unknown_type(before, separator, "MOVE", &types);
    };
    if !is_exact {
        cursor.slip(Slip::WordForm);
    }
    after_type(&mut cursor);
    let targets = match move_type {
        MoveType::Request | MoveType::Converge => Vec::new(),
        MoveType::Defend | MoveType::Challenge | MoveType::Bridge | MoveType::Concede => {
            pointers(&mut cursor, own)
        }
    };
    let needed = move_type.targets_min();
    if targets.len() < needed {
        let why = format!("it needs {needed} id{}", if needed == 1 { "" } else { "s" });
        return Some(unreadable(&why));
    }
    if move_type != MoveType::Request {
        finish(&mut cursor, 1);
        after_type(&mut cursor);
    }
    let words = cursor.words();
    Some((Sign::Move { move_type, targets, words }, cursor.slips))
}

/// Parses the optional label of `[DISSENT]` or `[MINORITY VERDICT: label]`, after the keyword.
fn objection(mut cursor: Cursor<'_>, verdict_type: VerdictType) -> Reading<'_> {
    let is_shouted = !cursor.slips.has(Slip::LetterCase);
    if cursor.is_at_end() {
        cursor.spaces_over(0);
        return Some((Sign::Verdict { verdict_type, label: "" }, cursor.slips));
    }
    match cursor.separator() {
        Separator::Colon | Separator::Dash => {}
        Separator::Space if is_shouted => cursor.slip(Slip::Colon),
        Separator::Space | Separator::Nothing => return None,
    }
    let label = cursor.words();
    Some((Sign::Verdict { verdict_type, label }, cursor.slips))
}

/// Parses `[VERDICT:FINAL]`.
fn verdict(mut cursor: Cursor<'_>) -> Reading<'_> {
    let separator = after_keyword(&mut cursor);
    let before = cursor;
    let named = cursor.word().and_then(|word| VerdictType::named(&word.to_ascii_lowercase()));
    let Some(verdict_type) = named else {
        return unknown_type(before, separator, "VERDICT", "INTERIM, FINAL");
    };
    objection(cursor, verdict_type)
}

/// Parses `[MINORITY VERDICT]`, and `[FINAL VERDICT]` written for `[VERDICT:FINAL]`.
fn turned_verdict(mut cursor: Cursor<'_>, verdict_type: VerdictType) -> Reading<'_> {
    cursor.spaces_over(1);
    cursor.word().filter(|word| word == "VERDICT")?;
    if verdict_type != VerdictType::Minority {
        cursor.slip(Slip::WordForm);
    }
    objection(cursor, verdict_type)
}

/// Parses `[TENSION MUFFIN-T0101: label]`.
fn kind_word<'a>(mut cursor: Cursor<'a>, word: &str, own: &ExpertSlug) -> Reading<'a> {
    let is_shouted = !cursor.slips.has(Slip::LetterCase);
    let separator = cursor.separator();
    cursor.spaces();
    if let Some((sign, slips)) = entity(cursor, own) {
        return Some((sign, slips.with(Slip::KindWord)));
    }
    let is_meant = is_shouted && matches!(separator, Separator::Colon | Separator::Dash);
    let why = format!("this {} has no id", word.to_ascii_lowercase());
    is_meant.then_some((Sign::Unreadable { why, is_entity: true }, Slips::default()))
}

pub(super) fn unreadable<'a>(why: &str) -> (Sign<'a>, Slips) {
    (Sign::Unreadable { why: why.to_owned(), is_entity: false }, Slips::default())
}

/// Rejects an unknown type. Only an upper-case keyword with a separator was meant as a marker.
fn unknown_type<'a>(
    mut at: Cursor<'_>,
    separator: Separator,
    keyword: &str,
    types: &str,
) -> Reading<'a> {
    let is_meant = !at.slips.has(Slip::LetterCase) && (!separator.is_loose() || at.is_at_end());
    let word = at.word().unwrap_or_default();
    is_meant.then(|| match word.is_empty() {
        true => unreadable(&format!("`{keyword}:` is followed by none of {types}")),
        false => unreadable(&format!("{word} is none of {types}")),
    })
}

fn capitals<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(str::to_ascii_uppercase).collect::<Vec<_>>().join(", ")
}

/// Reads the separator between a keyword and its type, which should be exactly a colon.
fn after_keyword(cursor: &mut Cursor<'_>) -> Separator {
    let separator = cursor.separator();
    cursor.spaces_over(usize::from(separator != Separator::Colon));
    if separator.is_loose() {
        cursor.slip(Slip::Colon);
    }
    separator
}

/// Skips a second colon, or a dash, after the type.
fn after_type(cursor: &mut Cursor<'_>) {
    let noted = cursor.slips;
    let mut ahead = *cursor;
    if matches!(ahead.separator(), Separator::Colon | Separator::Dash) {
        ahead.slips = noted.with(Slip::Punctuation);
        *cursor = ahead;
    }
}

/// Records deviations after the last id: extra words, several ids.
fn finish(cursor: &mut Cursor<'_>, targets: usize) {
    if cursor.is_at_end() {
        cursor.spaces_over(0);
    } else {
        cursor.slip(Slip::FurtherWords);
    }
    if targets > 1 {
        cursor.slip(Slip::SeveralIds);
    }
}
