//! Grammar of the marker language: parses the content of one bracket without its context.
//!
//! Brackets that only resemble a marker are prose and give `None`. A bracket that was meant as a
//! marker but cannot be parsed gives `Unreadable` with the reason.

use std::collections::BTreeSet;

use crate::markers::extraction::MarkerDeviation;
use crate::model::entity::{MoveType, ReferenceType};
use crate::model::ids::{EntityKind, ExpertSlug};
use crate::model::limits::ITEMS_PER_ROUND_MAX;
use crate::model::verdict::VerdictType;

/// Parsed content of a bracket. Ids are kept as written.
#[derive(Debug)]
pub(crate) enum BracketContent<'a> {
    /// Without a label, it mentions an entity defined elsewhere.
    Entity {
        id: WrittenId,
        label: Option<&'a str>,
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
        reason: String,
        is_entity: bool,
    },
}

/// An id before it is resolved: `MUFFIN-P0101`, `P101`, `donut-r1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenId {
    pub expert: Option<ExpertSlug>,
    pub kind: EntityKind,
    pub digits: String,
}

impl WrittenId {
    /// Every round and number that the digits can mean if zeros were left out: `P11` is number 11
    /// of round 0 or number 1 of round 1.
    pub(crate) fn possible_places(&self) -> Vec<(u8, u8)> {
        let splits: &[usize] = match self.digits.len() {
            1 => &[0],
            2 => &[0, 1],
            3 => &[1, 2],
            _ => &[2],
        };
        let place = |split: &usize| {
            let (round, seq) = self.digits.split_at_checked(*split)?;
            let round = if round.is_empty() { 0 } else { round.parse().ok()? };
            let seq = seq.parse().ok().filter(|seq| (1..=ITEMS_PER_ROUND_MAX).contains(seq))?;
            Some((round, seq))
        };
        let mut places: Vec<(u8, u8)> = splits.iter().filter_map(place).collect();
        places.dedup();
        places
    }

    pub(crate) fn is_padded(&self) -> bool {
        self.digits.len() == 4
    }
}

/// A target of a reference or a move, with the text that names it.
#[derive(Debug)]
pub(crate) struct WrittenTarget<'a> {
    pub written: &'a str,
    pub form: TargetForm,
}

#[derive(Debug)]
pub(crate) enum TargetForm {
    Position(ExpertSlug),
    Id(WrittenId),
}

/// The parser of one bracket in the reply of expert `own`.
#[derive(Debug)]
pub(crate) struct BracketParser<'a> {
    pub own: &'a ExpertSlug,
    pub deviations: BTreeSet<MarkerDeviation>,
}

impl BracketParser<'_> {
    /// Parses the content of a bracket. Returns `None` for prose.
    pub(crate) fn parse<'t>(&mut self, inside: &'t str) -> Option<BracketContent<'t>> {
        let inside = inside.trim();
        let is_bold = inside.starts_with('*');
        let content = if is_bold { inside.trim_matches('*').trim() } else { inside };
        if content.is_empty() {
            return None;
        }
        if is_bold {
            self.deviations.insert(MarkerDeviation::Emphasis);
        }
        let parsed = self.parse_entity(content).or_else(|| self.parse_keyword(content));
        parsed.or_else(|| self.reject_own_name(content)).or_else(|| reject_near_miss(content))
    }

    fn parse_entity<'t>(&mut self, content: &'t str) -> Option<BracketContent<'t>> {
        let (id, rest) = take_id(content)?;
        self.note_case(content.strip_suffix(rest)?);
        if rest.is_empty() {
            return Some(BracketContent::Entity { id, label: None });
        }
        let (colon, label) = split_separator(rest).filter(|(_, label)| !label.is_empty())?;
        // `[C4: context diagram]` and `[P0001 – P0005]` are prose.
        let is_range = take_targets(label).1.is_empty();
        if is_range || (id.expert.is_none() && !id.is_padded()) {
            return None;
        }
        self.note_colon(colon);
        Some(BracketContent::Entity { id, label: Some(label) })
    }

    fn parse_keyword<'t>(&mut self, content: &'t str) -> Option<BracketContent<'t>> {
        let (word, rest) = take_word(content);
        match word.to_ascii_uppercase().as_str() {
            "RE" | "MOVE" | "VERDICT" => self.parse_typed(word, rest),
            "DISSENT" => self.parse_verdict(word, rest, VerdictType::Dissent),
            "MINORITY" => {
                let (second, rest) = take_word(rest.trim_start());
                let is_verdict = second.eq_ignore_ascii_case("VERDICT");
                let written = content.strip_suffix(rest)?;
                is_verdict.then(|| self.parse_verdict(written, rest, VerdictType::Minority))?
            }
            _ => None,
        }
    }

    /// Parses `[RE:SUPPORT P0001]`, `[MOVE:CONVERGE]` or `[VERDICT:FINAL]` after the keyword.
    fn parse_typed<'t>(&mut self, keyword: &str, rest: &'t str) -> Option<BracketContent<'t>> {
        // In `[Re: your question]` the word is a greeting, not a keyword.
        let is_upper = keyword.chars().all(|sign| sign.is_ascii_uppercase());
        let separated = split_separator(rest);
        let (colon, rest) = separated.unwrap_or((":", rest.trim()));
        let parsed = if separated.is_none() && !rest.is_empty() {
            Err(format!("{keyword} needs a colon after it"))
        } else {
            match keyword.to_ascii_uppercase().as_str() {
                "RE" => self.parse_reference(rest),
                "MOVE" => self.parse_move(rest),
                _ => self.parse_verdict_type(rest),
            }
        };
        match parsed {
            Ok(content) => {
                self.note_colon(colon);
                self.note_case(keyword);
                Some(content)
            }
            Err(reason) => {
                is_upper.then_some(BracketContent::Unreadable { reason, is_entity: false })
            }
        }
    }

    /// A reference without a type counts as support.
    fn parse_reference<'t>(&mut self, rest: &'t str) -> Result<BracketContent<'t>, String> {
        let (untyped, words) = take_targets(rest);
        if !untyped.is_empty() && !words.is_empty() {
            return Err("its type is missing, and words follow the id".to_owned());
        }
        let (ref_type, targets, words) = if untyped.is_empty() {
            let (word, rest) = take_word(rest);
            let ref_type = read_type(word, ReferenceType::ALL, ReferenceType::name)?;
            self.note_case(word);
            let (targets, words) = take_targets(rest);
            (Some(ref_type), targets, words)
        } else {
            (None, untyped, "")
        };
        if targets.is_empty() {
            return Err("it names no id".to_owned());
        }
        if !words.is_empty() {
            return Err(format!("`{words}` is not an id"));
        }
        if targets.len() > 1 {
            self.deviations.insert(MarkerDeviation::SeveralIds);
        }
        self.note_targets(&targets);
        Ok(BracketContent::Reference { ref_type, targets })
    }

    fn parse_move<'t>(&mut self, rest: &'t str) -> Result<BracketContent<'t>, String> {
        let (word, rest) = take_word(rest);
        let move_type = read_type(word, MoveType::ALL, MoveType::name)?;
        self.note_case(word);
        let needed = move_type.targets_min();
        let (targets, words) = if needed == 0 { (Vec::new(), rest) } else { take_targets(rest) };
        if targets.len() < needed {
            return Err(format!("it needs {needed} id{}", if needed == 1 { "" } else { "s" }));
        }
        self.note_targets(&targets);
        let words = split_separator(words).map_or(words.trim(), |(_, words)| words);
        Ok(BracketContent::Move { move_type, targets, words })
    }

    fn parse_verdict_type<'t>(&mut self, rest: &'t str) -> Result<BracketContent<'t>, String> {
        let (word, rest) = take_word(rest);
        let judges = [VerdictType::Interim, VerdictType::Final];
        let verdict_type = read_type(word, &judges, VerdictType::name)?;
        self.parse_verdict(word, rest, verdict_type)
            .ok_or_else(|| format!("{word} needs a colon before its label"))
    }

    /// Parses the optional label of a verdict.
    fn parse_verdict<'t>(
        &mut self,
        written: &str,
        rest: &'t str,
        verdict_type: VerdictType,
    ) -> Option<BracketContent<'t>> {
        let (colon, label) = if rest.is_empty() { (":", "") } else { split_separator(rest)? };
        self.note_colon(colon);
        self.note_case(written);
        Some(BracketContent::Verdict { verdict_type, label })
    }

    /// Rejects `[MUFFIN-X0101: label]`: the expert's name, but no id after it.
    fn reject_own_name<'t>(&mut self, content: &'t str) -> Option<BracketContent<'t>> {
        let own = self.own.as_str();
        let is_own = content.get(..own.len())?.eq_ignore_ascii_case(own);
        let rest = content.get(own.len()..).filter(|_| is_own)?;
        let after = rest.trim_start_matches(['-', '_', ':', '/', '.', '#', ' ']);
        let word = after.split([' ', ':']).next().filter(|_| after.len() < rest.len())?;
        let is_mention = take_targets(content).1.is_empty();
        // `[Muffin: three reasons]` and `[muffin-style baking]` are prose.
        let is_meant = word.contains(|sign: char| sign.is_ascii_digit()) && !is_mention;
        is_meant.then(|| BracketContent::Unreadable {
            reason: format!(
                "an entity is written [{}-P0101: label]: P, R, T, E or C, two digits of the round, \
                 two of the number",
                own.to_ascii_uppercase()
            ),
            is_entity: true,
        })
    }

    fn note_targets(&mut self, targets: &[WrittenTarget<'_>]) {
        let is_exact = |target: &WrittenTarget<'_>| match target.form {
            TargetForm::Position(_) => !target.written.contains(|c: char| c.is_ascii_uppercase()),
            TargetForm::Id(_) => !target.written.contains(|c: char| c.is_ascii_lowercase()),
        };
        if !targets.iter().all(is_exact) {
            self.deviations.insert(MarkerDeviation::LetterCase);
        }
    }

    fn note_case(&mut self, written: &str) {
        if written.contains(|sign: char| sign.is_ascii_lowercase()) {
            self.deviations.insert(MarkerDeviation::LetterCase);
        }
    }

    fn note_colon(&mut self, colon: &str) {
        if colon != ":" {
            self.deviations.insert(MarkerDeviation::Colon);
        }
    }
}

/// Reads an id at the start of the text and returns the rest.
fn take_id(text: &str) -> Option<(WrittenId, &str)> {
    let (token, rest) = take_token(text);
    let (expert, id) = match token.rsplit_once('-') {
        Some((name, id)) => (Some(name.to_ascii_lowercase().parse().ok()?), id),
        None => (None, token),
    };
    let kind = EntityKind::named(&id.get(..1)?.to_ascii_uppercase())?;
    let digits = id.get(1..)?;
    let is_number = digits.bytes().all(|sign| sign.is_ascii_digit());
    let id = WrittenId { expert, kind, digits: digits.to_owned() };
    (is_number && (1..=4).contains(&digits.len())).then_some((id, rest))
}

/// Reads the ids at the start of the text and returns the rest.
fn take_targets(mut text: &str) -> (Vec<WrittenTarget<'_>>, &str) {
    let mut targets = Vec::new();
    loop {
        let separators = |sign: char| sign.is_whitespace() || ",;+&/".contains(sign);
        let next = text.trim_start_matches(separators);
        let next = next.strip_prefix("and ").filter(|_| !targets.is_empty()).unwrap_or(next);
        let position = next.strip_prefix('@').map(take_token).and_then(|(name, rest)| {
            Some((TargetForm::Position(name.to_ascii_lowercase().parse().ok()?), rest))
        });
        let found = position.or_else(|| take_id(next).map(|(id, rest)| (TargetForm::Id(id), rest)));
        let Some((form, rest)) = found else { return (targets, text.trim()) };
        let written = next.strip_suffix(rest).unwrap_or(next);
        targets.push(WrittenTarget { written, form });
        text = rest;
    }
}

/// Rejects capital words that look like a marker with another keyword or without one, such as
/// `[SUPPORT P0001]`, `[REF:SUPPORT P0001]` and `[TENSION: label]`.
fn reject_near_miss<'t>(content: &'t str) -> Option<BracketContent<'t>> {
    let mut words = content.split(|sign: char| !sign.is_alphanumeric());
    let first = words.next()?;
    let is_upper_of = |word: &str, name: &str| {
        word.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && !word.contains(|sign: char| sign.is_lowercase())
    };
    let is_kind = EntityKind::ALL.iter().any(|kind| is_upper_of(first, kind.type_name()));
    if is_kind && content.contains(':') {
        let reason = format!("{first} is not an id: write [NAME-{}0101: label]", first.get(..1)?);
        return Some(BracketContent::Unreadable { reason, is_entity: true });
    }
    let is_type = |word: &str| {
        ReferenceType::ALL.iter().any(|it| is_upper_of(word, it.name()))
            || MoveType::ALL.iter().any(|it| is_upper_of(word, it.name()))
    };
    let has_type = is_type(first) || words.next().is_some_and(is_type);
    (has_type && !content.contains(|sign: char| sign.is_lowercase())).then(|| {
        BracketContent::Unreadable {
            reason: "a marker begins with `RE:` or `MOVE:` and one of their types".to_owned(),
            is_entity: false,
        }
    })
}

/// Reads one of the types by its name, in any letter case.
fn read_type<T: Copy>(word: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|it| word.eq_ignore_ascii_case(name(*it)));
    found.ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|it| name(*it).to_ascii_uppercase()).collect();
        let names = names.join(", ");
        if word.is_empty() {
            format!("its type is missing: one of {names}")
        } else {
            format!("{word} is none of {names}")
        }
    })
}

/// Splits a colon, or the dash written for it, from the text after it.
fn split_separator(text: &str) -> Option<(&str, &str)> {
    let start = text.trim_start();
    let after = start.trim_start_matches(['-', '–', '—']);
    let after = if after.len() == start.len() { start.strip_prefix(':')? } else { after };
    Some((start.strip_suffix(after)?, after.trim()))
}

/// Splits the letters at the start of a text from the rest.
fn take_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|sign: char| !sign.is_alphanumeric()).unwrap_or(text.len()))
}

/// Splits the characters of an id at the start of a text from the rest.
fn take_token(text: &str) -> (&str, &str) {
    let is_other = |sign: char| !(sign.is_alphanumeric() || sign == '_' || sign == '-');
    text.split_at(text.find(is_other).unwrap_or(text.len()))
}
