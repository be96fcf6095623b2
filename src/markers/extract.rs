//! Extracts entities, references, moves and verdict drafts from an expert's reply.
//!
//! Two passes over the markers: the first finds the entities, because a reference may point at a
//! later one; the second binds each reference to the last entity above it.

use std::collections::HashSet;

use super::entities::{BracketKind, Roster, clean};
use super::extraction::{Contribution, Draft, Extraction, MadeMove};
use super::grammar::Sign;
use super::marker::{Marker, Said};
use super::prose::{Layout, lay_out};
use super::scan::{Found, scan};
use super::slip::Slips;
use super::trim::{Inside, said};
use super::warning::{WarningKind, Warnings};
use crate::domain::ids::{ExpertSlug, LocalId};
use crate::domain::limits::TEXT_CHARS_MAX;
use crate::domain::reference::RefType;
use crate::domain::target::Target;
use crate::domain::verdict::VerdictType;

/// Parses one expert's reply in one round. Never fails; problems become warnings.
pub fn extract(reply: &str, expert: &ExpertSlug, round: u8) -> Extraction {
    let text = reply.strip_prefix('\u{feff}').unwrap_or(reply);
    let layout = lay_out(text);
    let found = scan(text, &layout, expert);
    let mut roster = Roster::new(expert, round);
    let placed: Vec<Placed<'_>> =
        found.into_iter().map(|found| Placed::of(found, &mut roster)).collect();
    let mut reader = Reader {
        text,
        end: layout.end,
        placed: &placed,
        roster: &roster,
        above: Above::Nothing,
        under: None,
        contributions: Vec::new(),
        kept: HashSet::new(),
        moves: Vec::new(),
        verdicts: Vec::new(),
        markers: Vec::new(),
        read: HashSet::new(),
        speakers: Vec::new(),
        warnings: Warnings::default(),
    };
    for (place, marker) in placed.iter().enumerate() {
        reader.read(place, marker);
    }
    reader.let_them_speak();
    reader.look_back(&layout);
    Extraction {
        expert: expert.clone(),
        round,
        contributions: reader.contributions,
        moves: reader.moves,
        verdicts: reader.verdicts,
        markers: reader.markers,
        warnings: reader.warnings.into_list(),
    }
}

/// A marker with the role of its id.
struct Placed<'a> {
    found: Found<'a>,
    slips: Slips,
    kind: BracketKind,
}

impl<'a> Placed<'a> {
    fn of(found: Found<'a>, roster: &mut Roster<'_>) -> Self {
        let mut slips = found.slips;
        let kind = match &found.sign {
            Sign::Entity { id, label, .. } => roster.admit(id, *label, found.line, &mut slips),
            Sign::Reference { .. }
            | Sign::Move { .. }
            | Sign::Verdict { .. }
            | Sign::Unreadable { .. } => BracketKind::Mention,
        };
        Self { found, slips, kind }
    }

    /// Whether the text of the entity above ends here.
    fn is_boundary(&self) -> bool {
        match (&self.found.sign, &self.kind) {
            (Sign::Entity { .. }, BracketKind::New(..)) | (Sign::Verdict { .. }, _) => true,
            (Sign::Entity { .. }, BracketKind::Again(_) | BracketKind::Refused(_)) => {
                self.found.is_alone
            }
            (Sign::Unreadable { is_entity, .. }, _) => *is_entity && self.found.begins_line,
            (Sign::Entity { .. }, BracketKind::Mention)
            | (Sign::Reference { .. } | Sign::Move { .. }, _) => false,
        }
    }

    /// A mention stays part of the text; other markers are removed from it.
    fn is_mention(&self) -> bool {
        matches!(self.found.sign, Sign::Entity { .. }) && self.kind == BracketKind::Mention
    }
}

/// The entity that the next references belong to.
pub(super) enum Above {
    Nothing,
    Entity(usize),
    /// A bracket that was meant as an entity but could not be parsed.
    Unread,
}

pub(super) struct Reader<'a> {
    text: &'a str,
    end: usize,
    placed: &'a [Placed<'a>],
    pub(super) roster: &'a Roster<'a>,
    pub(super) above: Above,
    /// The verdict between the entity above and the current marker.
    pub(super) under: Option<VerdictType>,
    pub(super) contributions: Vec<Contribution>,
    /// References already added, by the index of their source entity.
    pub(super) kept: HashSet<(usize, RefType, Target)>,
    pub(super) moves: Vec<MadeMove>,
    verdicts: Vec<Draft>,
    markers: Vec<Marker>,
    /// Start offsets of the parsed markers.
    read: HashSet<usize>,
    /// Entities and verdicts that own the text after their marker, with the marker's index.
    speakers: Vec<(usize, Speaker)>,
    pub(super) warnings: Warnings,
}

/// An entity or a verdict of this reply, by index.
#[derive(Debug, Clone, Copy)]
enum Speaker {
    Entity(usize),
    Verdict(usize),
}

impl<'a> Reader<'a> {
    fn read(&mut self, place: usize, marker: &Placed<'_>) {
        let found = &marker.found;
        match &found.sign {
            Sign::Entity { .. } => self.read_entity(place, marker),
            Sign::Reference { ref_type, targets } => {
                self.read_reference(found, marker.slips, *ref_type, targets);
            }
            Sign::Move { move_type, targets, words } => {
                let context = Some(clean(words)).filter(|words| !words.is_empty());
                let context = context.or_else(|| self.following(place, found));
                self.read_move(found, marker.slips, (*move_type, targets), context);
            }
            Sign::Verdict { verdict_type, label } => {
                self.read_verdict(place, marker, *verdict_type, label);
            }
            Sign::Unreadable { why, .. } => {
                self.warnings.not_read(found.line, found.written, why);
                if marker.is_boundary() {
                    self.above = Above::Unread;
                }
            }
        }
    }

    fn read_entity(&mut self, place: usize, marker: &Placed<'_>) {
        let found = &marker.found;
        match &marker.kind {
            BracketKind::New(id, label) => self.enter(place, marker, id, label),
            BracketKind::Again(id) => {
                let why = format!("{id} stands on line {} already", self.roster.line_of(id));
                self.warnings.not_read(found.line, found.written, &why);
                let place = self.contributions.iter().position(|item| item.local_id == *id);
                if let Some(place) = place.filter(|_| marker.is_boundary()) {
                    (self.above, self.under) = (Above::Entity(place), None);
                }
            }
            BracketKind::Refused(why) => {
                self.warnings.not_read(found.line, found.written, why);
                if marker.is_boundary() {
                    self.above = Above::Unread;
                }
            }
            BracketKind::Mention => {}
        }
    }

    fn enter(&mut self, place: usize, marker: &Placed<'_>, id: &LocalId, label: &str) {
        let said = Said::Entity { id: id.clone(), label: label.to_owned() };
        self.note(&marker.found, marker.slips, said);
        let entity = self.contributions.len();
        (self.above, self.under) = (Above::Entity(entity), None);
        self.speakers.push((place, Speaker::Entity(entity)));
        self.contributions.push(Contribution {
            line: marker.found.line,
            local_id: id.clone(),
            label: label.to_owned(),
            text: String::new(),
            references: Vec::new(),
        });
    }

    fn read_verdict(
        &mut self,
        place: usize,
        marker: &Placed<'_>,
        verdict_type: VerdictType,
        label: &str,
    ) {
        let found = &marker.found;
        let label = Some(clean(label)).filter(|label| !label.is_empty());
        let author = self.roster.own;
        self.speakers.push((place, Speaker::Verdict(self.verdicts.len())));
        self.verdicts.push(Draft {
            verdict_type,
            round: self.roster.round,
            author_expert: author.clone(),
            recommendation: label.clone(),
            description: None,
            supporting_experts: (verdict_type == VerdictType::Minority)
                .then(|| vec![author.clone()]),
        });
        if verdict_type.takes_effect() {
            let message =
                format!("{verdict_type} verdicts are the Judge's; this one is {author}'s");
            self.warnings.add(found.line, WarningKind::JudgesMarker, &message);
        }
        self.under = Some(verdict_type);
        self.note(found, marker.slips, Said::Verdict { verdict_type, label });
    }

    /// Assigns the texts after all markers are parsed, because parsed markers are removed from
    /// them.
    fn let_them_speak(&mut self) {
        for (place, speaker) in std::mem::take(&mut self.speakers) {
            let (line, text) = self.says(place);
            match speaker {
                Speaker::Entity(entity) => self.complete_entity(entity, line, &text),
                Speaker::Verdict(verdict) => self.complete_verdict(verdict, line, &text),
            }
        }
    }

    fn complete_entity(&mut self, entity: usize, line: usize, text: &str) {
        let Some(item) = self.contributions.get(entity) else { return };
        let (id, label) = (item.local_id.to_string(), item.label.clone());
        let text = if text.is_empty() {
            let message = format!("{id} says nothing after its label; the label is its content");
            self.warnings.add(line, WarningKind::NoContent, &message);
            label
        } else {
            self.within_limit(line, &id, text).to_owned()
        };
        if let Some(item) = self.contributions.get_mut(entity) {
            item.text = text;
        }
    }

    fn complete_verdict(&mut self, verdict: usize, line: usize, text: &str) {
        let Some(draft) = self.verdicts.get(verdict) else { return };
        let whose = format!("the {}", draft.verdict_type);
        let text = self.within_limit(line, &whose, text).to_owned();
        if let Some(draft) = self.verdicts.get_mut(verdict) {
            draft.description = Some(text).filter(|text| !text.is_empty());
        }
    }

    /// Returns the line of an entity or verdict and its text, which ends at the next of them.
    fn says(&self, place: usize) -> (usize, String) {
        let after = self.after(place);
        let inside = after.iter().take_while(|marker| !marker.is_boundary());
        let inside: Vec<Inside> = inside
            .filter(|marker| !marker.is_mention())
            .map(|Placed { found, .. }| {
                let is_read = self.read.contains(&found.start);
                Inside { start: found.start, mark: found.mark, end: found.end, is_read }
            })
            .collect();
        let next = after.iter().find(|marker| marker.is_boundary());
        let end = next.map_or(self.end, |marker| marker.found.start);
        let Some(Placed { found, .. }) = self.placed.get(place) else { return (0, String::new()) };
        (found.line, said(self.text, found.end..end, &inside))
    }

    /// The markers after the one at `place`.
    fn after(&self, place: usize) -> &'a [Placed<'a>] {
        self.placed.get(place + 1..).unwrap_or_default()
    }

    /// Returns the text after a move in its paragraph, up to the next marker.
    fn following(&self, place: usize, found: &Found<'_>) -> Option<String> {
        let next = self.after(place).iter().find(|marker| !marker.is_mention());
        let end = next.map_or(found.paragraph_end, |marker| marker.found.start);
        let text = self.text.get(found.end..end.min(found.paragraph_end))?;
        let text =
            text.trim_start_matches(|sign: char| ":-–—".contains(sign) || sign.is_whitespace());
        let text = limited(text.trim_end());
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn within_limit<'b>(&mut self, line: usize, whose: &str, text: &'b str) -> &'b str {
        let kept = limited(text);
        if kept.len() < text.len() {
            let message = format!("the text of {whose} is cut at {TEXT_CHARS_MAX} characters");
            self.warnings.add(line, WarningKind::Cut, &message);
        }
        kept
    }

    /// Records a parsed marker, with a near-miss warning if it deviates from the exact notation.
    pub(super) fn note(&mut self, found: &Found<'_>, slips: Slips, said: Said) {
        self.warnings.near_miss(found.line, found.written, &said, slips);
        self.read.insert(found.start);
        self.markers.push(Marker { line: found.line, said });
    }

    /// Adds the warnings that depend on the whole reply.
    fn look_back(&mut self, layout: &Layout) {
        for (id, line) in self.roster.missing() {
            let message =
                format!("`[{id}]` has no label, and nothing in this reply stands under that id");
            self.warnings.add(*line, WarningKind::NotRead, &message);
        }
        if let Some(line) = layout.wrapped_on {
            self.warnings.wrapped(line);
        }
        if let Some(line) = layout.open_fence {
            let message =
                "the code block that begins here is never closed; nothing after it is read";
            self.warnings.add(line, WarningKind::OpenCodeBlock, message);
        }
        if self.markers.is_empty() {
            let code = if layout.has_brackets_in_code { "; code is not read" } else { "" };
            let message =
                format!("{} marked nothing, and contributes nothing{code}", self.roster.own);
            self.warnings.add(None, WarningKind::NoMarkers, &message);
        }
    }
}

/// Cuts a text to the length that `register` accepts.
fn limited(text: &str) -> &str {
    // The byte length is at least the character count, so most texts need no counting.
    if text.len() <= TEXT_CHARS_MAX {
        return text;
    }
    let end = text.char_indices().nth(TEXT_CHARS_MAX).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text).trim_end()
}
