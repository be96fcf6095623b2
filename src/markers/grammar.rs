//! What one bracket says, seen by itself.
//!
//! Words in brackets that only resemble a marker are prose and none of our business; what can
//! only have been meant as a marker, and cannot be read, says why.

use super::cursor::{Cursor, Separator};
use super::slip::{Slip, Slips};
use super::spelling::{Prefix, Spelled, read_id};
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::EXPERT_SLUG_BYTES_MAX;
use crate::domain::reference::{MoveType, RefType};
use crate::domain::verdict::VerdictType;

/// A bracket, read. Ids in it are as they were written.
#[derive(Debug)]
pub(super) enum Sign<'a> {
    /// Without a label it is a mention of something said elsewhere.
    Entity {
        id: Spelled,
        label: Option<&'a str>,
        separator: Separator,
    },
    Reference {
        ref_type: Option<RefType>,
        targets: Vec<Pointer<'a>>,
    },
    /// `words` are a request's topic, and what any other move says of itself.
    Move {
        move_type: MoveType,
        targets: Vec<Pointer<'a>>,
        words: &'a str,
    },
    Verdict {
        verdict_type: VerdictType,
        label: &'a str,
    },
    /// `is_entity` where it can only have been meant as one.
    Unreadable {
        why: String,
        is_entity: bool,
    },
}

/// One target of a reference or a move.
#[derive(Debug)]
pub(super) struct Pointer<'a> {
    pub aim: Aim,
    pub written: &'a str,
}

#[derive(Debug)]
pub(super) enum Aim {
    Id(Spelled),
    Position(ExpertSlug),
}

pub(super) type Reading<'a> = Option<(Sign<'a>, Slips)>;

const KIND_WORDS: [&str; 6] =
    ["PERSPECTIVE", "RECOMMENDATION", "PROPOSAL", "TENSION", "EVIDENCE", "CLAIM"];

/// Reads the inside of a bracket in the reply of `own`; nothing when it is prose.
pub(super) fn read<'a>(inside: &'a str, own: &ExpertSlug) -> Reading<'a> {
    let mut cursor = Cursor::new(inside);
    cursor.spaces_over(0);
    entity(cursor, own).or_else(|| keyword(cursor, own))
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
    // `[R2-D2]`, `[C4 model]`: what has no name must look the more like an id.
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
        word => without_keyword(cursor, word, own),
    }
}

/// `[RE:SUPPORT P0001]`, and `[RE: P0001]` without a type.
fn reference<'a>(mut cursor: Cursor<'a>, own: &ExpertSlug) -> Reading<'a> {
    let separator = cursor.separator();
    let loose = matches!(separator, Separator::Space | Separator::Nothing);
    let mut untyped = cursor;
    untyped.spaces_over(1);
    let targets = pointers(&mut untyped, own);
    if !targets.is_empty() {
        return Some(untyped_reference(untyped, targets, loose));
    }
    cursor.spaces_over(usize::from(separator != Separator::Colon));
    let before = cursor;
    let Some((ref_type, is_exact)) = cursor.word().and_then(|word| form(&word, ref_type)) else {
        return unknown_type(before, loose, "RE", &capitals(RefType::ALL.iter().map(|t| t.name())));
    };
    let goes_on = follow_on(&mut cursor);
    if goes_on || !is_exact {
        cursor.slip(Slip::WordForm);
    }
    if loose {
        cursor.slip(Slip::Colon);
    }
    after_type(&mut cursor);
    let targets = pointers(&mut cursor, own);
    if targets.is_empty() {
        return Some(unreadable("it names no id"));
    }
    finish(&mut cursor, targets.len());
    Some((Sign::Reference { ref_type: Some(ref_type), targets }, cursor.slips))
}

/// A reference whose type is left out is support. One that goes on in words is not: they may
/// say anything.
fn untyped_reference<'a>(
    mut cursor: Cursor<'a>,
    targets: Vec<Pointer<'a>>,
    loose: bool,
) -> (Sign<'a>, Slips) {
    if !cursor.is_at_end() {
        return unreadable("its type is missing, and it says more than an id");
    }
    if loose {
        cursor.slip(Slip::Colon);
    }
    finish(&mut cursor, targets.len());
    (Sign::Reference { ref_type: None, targets }, cursor.slips)
}

fn made_move<'a>(mut cursor: Cursor<'a>, own: &ExpertSlug) -> Reading<'a> {
    let separator = cursor.separator();
    let loose = matches!(separator, Separator::Space | Separator::Nothing);
    cursor.spaces_over(usize::from(separator != Separator::Colon));
    let before = cursor;
    let Some((move_type, is_exact)) = cursor.word().and_then(|word| form(&word, move_type)) else {
        let types = capitals(MoveType::ALL.iter().map(|t| t.name()));
        return unknown_type(before, loose, "MOVE", &types);
    };
    if !is_exact {
        cursor.slip(Slip::WordForm);
    }
    if loose {
        cursor.slip(Slip::Colon);
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

/// `[DISSENT]` and `[MINORITY VERDICT: label]`, after the words.
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

/// `[VERDICT:FINAL]`.
fn verdict(mut cursor: Cursor<'_>) -> Reading<'_> {
    let separator = cursor.separator();
    let loose = matches!(separator, Separator::Space | Separator::Nothing);
    cursor.spaces_over(usize::from(separator != Separator::Colon));
    let before = cursor;
    let named = cursor.word().and_then(|word| VerdictType::named(&word.to_ascii_lowercase()));
    let Some(verdict_type) = named else {
        return unknown_type(before, loose, "VERDICT", "INTERIM, FINAL");
    };
    if loose {
        cursor.slip(Slip::Colon);
    }
    objection(cursor, verdict_type)
}

/// `[MINORITY VERDICT]`, and `[FINAL VERDICT]` for `[VERDICT:FINAL]`.
fn turned_verdict(mut cursor: Cursor<'_>, verdict_type: VerdictType) -> Reading<'_> {
    cursor.spaces_over(1);
    cursor.word().filter(|word| word == "VERDICT")?;
    if verdict_type != VerdictType::Minority {
        cursor.slip(Slip::WordForm);
    }
    objection(cursor, verdict_type)
}

/// `[TENSION MUFFIN-T0101: label]`.
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

/// `[SUPPORT P0001]`: clear to a person, but also what prose looks like.
fn without_keyword<'a>(mut cursor: Cursor<'a>, word: &str, own: &ExpertSlug) -> Reading<'a> {
    let is_shouted = !cursor.slips.has(Slip::LetterCase);
    let is_reference = form(word, ref_type).is_some();
    let is_move = form(word, move_type).is_some();
    if !is_shouted || !(is_reference || is_move) {
        return None;
    }
    let names_ids = !pointers(&mut cursor, own).is_empty();
    let is_meant = cursor.is_at_end() && (names_ids || is_move);
    let start = if is_reference { "RE:" } else { "MOVE:" };
    is_meant.then(|| unreadable(&format!("`{start}` is missing before {word}")))
}

fn unreadable<'a>(why: &str) -> (Sign<'a>, Slips) {
    (Sign::Unreadable { why: why.to_owned(), is_entity: false }, Slips::default())
}

/// In capitals, with something after it, a keyword was meant as one.
fn unknown_type<'a>(mut at: Cursor<'_>, loose: bool, keyword: &str, types: &str) -> Reading<'a> {
    let is_meant = !at.slips.has(Slip::LetterCase) && (!loose || at.is_at_end());
    let word = at.word().unwrap_or_default();
    is_meant.then(|| match word.is_empty() {
        true => unreadable(&format!("`{keyword}:` is followed by none of {types}")),
        false => unreadable(&format!("{word} is none of {types}")),
    })
}

fn capitals<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(str::to_ascii_uppercase).collect::<Vec<_>>().join(", ")
}

fn ref_type(name: &str) -> Option<RefType> {
    RefType::ALL.iter().copied().find(|word| is_form_of(name, word.name()))
}

fn move_type(name: &str) -> Option<MoveType> {
    MoveType::ALL.iter().copied().find(|word| is_form_of(name, word.name()))
}

/// The word that this is, or is a form of; and whether it is the word itself.
fn form<T: ToString>(word: &str, find: impl Fn(&str) -> Option<T>) -> Option<(T, bool)> {
    let word = word.to_ascii_lowercase();
    let found = find(&word)?;
    let is_exact = found.to_string() == word;
    Some((found, is_exact))
}

/// `supports`, `supported` and `supporting` are forms of `support`.
fn is_form_of(word: &str, name: &str) -> bool {
    let endings = ["", "s", "es", "d", "ed", "ing"];
    let is_longer = word.strip_prefix(name).is_some_and(|ending| endings.contains(&ending));
    let stem = name.strip_suffix('e');
    is_longer || stem.is_some_and(|stem| word.strip_prefix(stem) == Some("ing"))
}

/// `DEPENDS ON P0001`.
fn follow_on(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    let is_on = ahead.spaces() > 0 && ahead.word().is_some_and(|word| word == "ON" || word == "TO");
    if is_on {
        *cursor = ahead;
    }
    is_on
}

/// A second colon, or a dash, after the type.
fn after_type(cursor: &mut Cursor<'_>) {
    let noted = cursor.slips;
    let mut ahead = *cursor;
    if matches!(ahead.separator(), Separator::Colon | Separator::Dash) {
        ahead.slips = noted.with(Slip::Punctuation);
        *cursor = ahead;
    }
}

/// What stands after the last id, and how many there are.
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

/// Ids, one after the other, up to something that is none.
fn pointers<'a>(cursor: &mut Cursor<'a>, own: &ExpertSlug) -> Vec<Pointer<'a>> {
    /// Nobody who means something names more at once; and a text of nothing but ids is read once.
    const POINTERS_MAX: usize = 32;
    let mut pointers = Vec::new();
    while pointers.len() < POINTERS_MAX {
        let mut ahead = *cursor;
        ahead.spaces_over(1);
        if !pointers.is_empty() {
            pass_between(&mut ahead);
        }
        while ahead.take_if(|sign| "[({<\"'#".contains(sign)).is_some() {
            ahead.slip(Slip::Punctuation);
        }
        let text = ahead.rest();
        let Some(aim) = aim(&mut ahead, own) else { break };
        let written = text.strip_suffix(ahead.rest()).unwrap_or(text);
        while ahead.take_if(|sign| "])}>\"'".contains(sign)).is_some() {
            ahead.slip(Slip::Punctuation);
        }
        pointers.push(Pointer { aim, written });
        *cursor = ahead;
    }
    pointers
}

/// Commas, arrows and the word `and` between ids.
fn pass_between(cursor: &mut Cursor<'_>) {
    loop {
        let mut ahead = *cursor;
        let is_sign = ahead.take_if(|sign| ",;&+/|<>→↔⇄⟷".contains(sign)).is_some();
        if !is_sign && ahead.word().is_none_or(|word| word != "AND") {
            return;
        }
        ahead.slips = cursor.slips.with(Slip::Punctuation);
        ahead.spaces();
        *cursor = ahead;
    }
}

fn aim(cursor: &mut Cursor<'_>, own: &ExpertSlug) -> Option<Aim> {
    let mut ahead = *cursor;
    if ahead.take_if(|sign| sign == '@').is_none() {
        return read_id(cursor, own).map(Aim::Id);
    }
    let mut name = String::new();
    while let Some(sign) = ahead.take_if(|sign| sign.is_ascii_alphanumeric() || "_-".contains(sign))
    {
        if sign.is_ascii_uppercase() {
            ahead.slip(Slip::LetterCase);
        }
        name.push(sign.to_ascii_lowercase());
        if name.len() > EXPERT_SLUG_BYTES_MAX {
            return None;
        }
    }
    let position = name.parse().ok().map(Aim::Position)?;
    *cursor = ahead;
    Some(position)
}
