//! Extracts entities, references, moves and verdict drafts from an expert's reply.
//!
//! Two passes over the markers: the first finds the entities, because a reference may point at a
//! later one; the second binds each reference to the last entity above it.

use std::collections::HashSet;

use crate::markers::extraction::{
    EntityContribution, MarkerContent, MoveContribution, ReplyExtraction, ReplyMarker, VerdictDraft,
};
use crate::markers::grammar::BracketContent;
use crate::markers::markdown::{MarkdownLayout, parse_layout};
use crate::markers::resolve::{BracketKind, ReplyEntities, clean_label};
use crate::markers::scan::{FoundMarker, scan_markers};
use crate::markers::strip::{InnerMarker, text_without_markers};
use crate::markers::warnings::{DeviationSet, WarningKind, WarningList};
use crate::model::entity::ReferenceType;
use crate::model::ids::{EntityTarget, ExpertSlug, LocalId};
use crate::model::limits::TEXT_CHARS_MAX;
use crate::model::verdict::VerdictType;

/// Parses one expert's reply in one round. Never fails; problems become warnings.
pub fn extract_reply(reply: &str, expert: &ExpertSlug, round: u8) -> ReplyExtraction {
    let text = reply.strip_prefix('\u{feff}').unwrap_or(reply);
    let layout = parse_layout(text);
    let found = scan_markers(text, &layout, expert);
    let mut roster = ReplyEntities::new(expert, round);
    let placed: Vec<PlacedMarker<'_>> =
        found.into_iter().map(|found| PlacedMarker::from_found(found, &mut roster)).collect();
    let mut reader = ExtractionBuilder {
        text,
        end: layout.end,
        placed: &placed,
        roster: &roster,
        above: ReferenceOwner::Nothing,
        under: None,
        contributions: Vec::new(),
        kept: HashSet::new(),
        moves: Vec::new(),
        verdicts: Vec::new(),
        markers: Vec::new(),
        read: HashSet::new(),
        text_owners: Vec::new(),
        warnings: WarningList::default(),
    };
    for (place, marker) in placed.iter().enumerate() {
        reader.read_marker(place, marker);
    }
    reader.assign_texts();
    reader.warn_about_reply(&layout);
    ReplyExtraction {
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
struct PlacedMarker<'a> {
    found: FoundMarker<'a>,
    slips: DeviationSet,
    kind: BracketKind,
}

impl<'a> PlacedMarker<'a> {
    fn from_found(found: FoundMarker<'a>, roster: &mut ReplyEntities<'_>) -> Self {
        let mut slips = found.slips;
        let kind = match &found.content {
            BracketContent::Entity { id, label, .. } => {
                roster.classify_bracket(id, *label, found.line, &mut slips)
            }
            BracketContent::Reference { .. }
            | BracketContent::Move { .. }
            | BracketContent::Verdict { .. }
            | BracketContent::Unreadable { .. } => BracketKind::Mention,
        };
        Self { found, slips, kind }
    }

    /// Whether the text of the entity above ends here.
    fn is_boundary(&self) -> bool {
        match (&self.found.content, &self.kind) {
            (BracketContent::Entity { .. }, BracketKind::New(..))
            | (BracketContent::Verdict { .. }, _) => true,
            (
                BracketContent::Entity { .. },
                BracketKind::Duplicate(_) | BracketKind::Rejected(_),
            ) => self.found.is_alone,
            (BracketContent::Unreadable { is_entity, .. }, _) => {
                *is_entity && self.found.begins_line
            }
            (BracketContent::Entity { .. }, BracketKind::Mention)
            | (BracketContent::Reference { .. } | BracketContent::Move { .. }, _) => false,
        }
    }

    /// A mention stays part of the text; other markers are removed from it.
    fn is_mention(&self) -> bool {
        matches!(self.found.content, BracketContent::Entity { .. })
            && self.kind == BracketKind::Mention
    }
}

/// The entity that the next references belong to.
pub(crate) enum ReferenceOwner {
    Nothing,
    Entity(usize),
    /// A bracket that was meant as an entity but could not be parsed.
    Unread,
}

pub(crate) struct ExtractionBuilder<'a> {
    text: &'a str,
    end: usize,
    placed: &'a [PlacedMarker<'a>],
    pub(crate) roster: &'a ReplyEntities<'a>,
    pub(crate) above: ReferenceOwner,
    /// The verdict between the entity above and the current marker.
    pub(crate) under: Option<VerdictType>,
    pub(crate) contributions: Vec<EntityContribution>,
    /// References already added, by the index of their source entity.
    pub(crate) kept: HashSet<(usize, ReferenceType, EntityTarget)>,
    pub(crate) moves: Vec<MoveContribution>,
    verdicts: Vec<VerdictDraft>,
    markers: Vec<ReplyMarker>,
    /// Start offsets of the parsed markers.
    read: HashSet<usize>,
    /// Entities and verdicts that own the text after their marker, with the marker's index.
    text_owners: Vec<(usize, TextOwner)>,
    pub(crate) warnings: WarningList,
}

/// An entity or a verdict of this reply, by index.
#[derive(Debug, Clone, Copy)]
enum TextOwner {
    Entity(usize),
    Verdict(usize),
}

impl<'a> ExtractionBuilder<'a> {
    fn read_marker(&mut self, place: usize, marker: &PlacedMarker<'_>) {
        let found = &marker.found;
        match &found.content {
            BracketContent::Entity { .. } => self.read_entity(place, marker),
            BracketContent::Reference { ref_type, targets } => {
                self.read_reference(found, marker.slips, *ref_type, targets);
            }
            BracketContent::Move { move_type, targets, words } => {
                let context = Some(clean_label(words)).filter(|words| !words.is_empty());
                let context = context.or_else(|| self.text_following(place, found));
                self.read_move(found, marker.slips, (*move_type, targets), context);
            }
            BracketContent::Verdict { verdict_type, label } => {
                self.read_verdict(place, marker, *verdict_type, label);
            }
            BracketContent::Unreadable { why, .. } => {
                self.warnings.add_not_read(found.line, found.written, why);
                if marker.is_boundary() {
                    self.above = ReferenceOwner::Unread;
                }
            }
        }
    }

    fn read_entity(&mut self, place: usize, marker: &PlacedMarker<'_>) {
        let found = &marker.found;
        match &marker.kind {
            BracketKind::New(id, label) => self.add_entity(place, marker, id, label),
            BracketKind::Duplicate(id) => {
                let why = format!("{id} stands on line {} already", self.roster.line_of(id));
                self.warnings.add_not_read(found.line, found.written, &why);
                let place = self.contributions.iter().position(|item| item.local_id == *id);
                if let Some(place) = place.filter(|_| marker.is_boundary()) {
                    (self.above, self.under) = (ReferenceOwner::Entity(place), None);
                }
            }
            BracketKind::Rejected(why) => {
                self.warnings.add_not_read(found.line, found.written, why);
                if marker.is_boundary() {
                    self.above = ReferenceOwner::Unread;
                }
            }
            BracketKind::Mention => {}
        }
    }

    fn add_entity(&mut self, place: usize, marker: &PlacedMarker<'_>, id: &LocalId, label: &str) {
        let said = MarkerContent::Entity { id: id.clone(), label: label.to_owned() };
        self.record_marker(&marker.found, marker.slips, said);
        let entity = self.contributions.len();
        (self.above, self.under) = (ReferenceOwner::Entity(entity), None);
        self.text_owners.push((place, TextOwner::Entity(entity)));
        self.contributions.push(EntityContribution {
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
        marker: &PlacedMarker<'_>,
        verdict_type: VerdictType,
        label: &str,
    ) {
        let found = &marker.found;
        let label = Some(clean_label(label)).filter(|label| !label.is_empty());
        let author = self.roster.own;
        self.text_owners.push((place, TextOwner::Verdict(self.verdicts.len())));
        self.verdicts.push(VerdictDraft {
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
            self.warnings.add_warning(found.line, WarningKind::JudgesMarker, &message);
        }
        self.under = Some(verdict_type);
        self.record_marker(found, marker.slips, MarkerContent::Verdict { verdict_type, label });
    }

    /// Assigns the texts after all markers are parsed, because parsed markers are removed from
    /// them.
    fn assign_texts(&mut self) {
        for (place, speaker) in std::mem::take(&mut self.text_owners) {
            let (line, text) = self.text_after(place);
            match speaker {
                TextOwner::Entity(entity) => self.complete_entity(entity, line, &text),
                TextOwner::Verdict(verdict) => self.complete_verdict(verdict, line, &text),
            }
        }
    }

    fn complete_entity(&mut self, entity: usize, line: usize, text: &str) {
        let Some(item) = self.contributions.get(entity) else { return };
        let (id, label) = (item.local_id.to_string(), item.label.clone());
        let text = if text.is_empty() {
            let message = format!("{id} says nothing after its label; the label is its content");
            self.warnings.add_warning(line, WarningKind::NoContent, &message);
            label
        } else {
            self.cut_to_limit(line, &id, text).to_owned()
        };
        if let Some(item) = self.contributions.get_mut(entity) {
            item.text = text;
        }
    }

    fn complete_verdict(&mut self, verdict: usize, line: usize, text: &str) {
        let Some(draft) = self.verdicts.get(verdict) else { return };
        let whose = format!("the {}", draft.verdict_type);
        let text = self.cut_to_limit(line, &whose, text).to_owned();
        if let Some(draft) = self.verdicts.get_mut(verdict) {
            draft.description = Some(text).filter(|text| !text.is_empty());
        }
    }

    /// Returns the line of an entity or verdict and its text, which ends at the next of them.
    fn text_after(&self, place: usize) -> (usize, String) {
        let after = self.markers_after(place);
        let inside = after.iter().take_while(|marker| !marker.is_boundary());
        let inside: Vec<InnerMarker> = inside
            .filter(|marker| !marker.is_mention())
            .map(|PlacedMarker { found, .. }| {
                let is_read = self.read.contains(&found.start);
                InnerMarker { start: found.start, mark: found.mark, end: found.end, is_read }
            })
            .collect();
        let next = after.iter().find(|marker| marker.is_boundary());
        let end = next.map_or(self.end, |marker| marker.found.start);
        let Some(PlacedMarker { found, .. }) = self.placed.get(place) else {
            return (0, String::new());
        };
        (found.line, text_without_markers(self.text, found.end..end, &inside))
    }

    /// The markers after the one at `place`.
    fn markers_after(&self, place: usize) -> &'a [PlacedMarker<'a>] {
        self.placed.get(place + 1..).unwrap_or_default()
    }

    /// Returns the text after a move in its paragraph, up to the next marker.
    fn text_following(&self, place: usize, found: &FoundMarker<'_>) -> Option<String> {
        let next = self.markers_after(place).iter().find(|marker| !marker.is_mention());
        let end = next.map_or(found.paragraph_end, |marker| marker.found.start);
        let text = self.text.get(found.end..end.min(found.paragraph_end))?;
        let text =
            text.trim_start_matches(|sign: char| ":-–—".contains(sign) || sign.is_whitespace());
        let text = truncate_text(text.trim_end());
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn cut_to_limit<'b>(&mut self, line: usize, whose: &str, text: &'b str) -> &'b str {
        let kept = truncate_text(text);
        if kept.len() < text.len() {
            let message = format!("the text of {whose} is cut at {TEXT_CHARS_MAX} characters");
            self.warnings.add_warning(line, WarningKind::Cut, &message);
        }
        kept
    }

    /// Records a parsed marker, with a near-miss warning if it deviates from the exact notation.
    pub(crate) fn record_marker(
        &mut self,
        found: &FoundMarker<'_>,
        slips: DeviationSet,
        said: MarkerContent,
    ) {
        self.warnings.add_near_miss(found.line, found.written, &said, slips);
        self.read.insert(found.start);
        self.markers.push(ReplyMarker { line: found.line, content: said });
    }

    /// Adds the warnings that depend on the whole reply.
    fn warn_about_reply(&mut self, layout: &MarkdownLayout) {
        for (id, line) in self.roster.unknown_mentions() {
            let message =
                format!("`[{id}]` has no label, and nothing in this reply stands under that id");
            self.warnings.add_warning(*line, WarningKind::NotRead, &message);
        }
        if let Some(line) = layout.wrapped_on {
            self.warnings.add_wrapped(line);
        }
        if let Some(line) = layout.open_fence {
            let message =
                "the code block that begins here is never closed; nothing after it is read";
            self.warnings.add_warning(line, WarningKind::OpenCodeBlock, message);
        }
        if self.markers.is_empty() {
            let code = if layout.has_brackets_in_code { "; code is not read" } else { "" };
            let message =
                format!("{} marked nothing, and contributes nothing{code}", self.roster.own);
            self.warnings.add_warning(None, WarningKind::NoMarkers, &message);
        }
    }
}

/// Cuts a text to the length that `register` accepts.
fn truncate_text(text: &str) -> &str {
    // The byte length is at least the character count, so most texts need no counting.
    if text.len() <= TEXT_CHARS_MAX {
        return text;
    }
    let end = text.char_indices().nth(TEXT_CHARS_MAX).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text).trim_end()
}
