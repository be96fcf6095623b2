//! Extracts entities, references, moves and verdict drafts from an expert's reply.
//!
//! Three steps: find the markers, read them in order, and give each entity and verdict its text.
//! The entities are known before the markers are read, because a reference may point at a later
//! one. Each reference belongs to the last entity above it.
//!
//! What `register` would reject for a reason visible in the reply is left out here with a warning,
//! because one rejected item would reject the batch of the whole round.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::markers::extraction::{
    EntityContribution, MarkedReference, MarkerContent, MarkerDeviation, MarkerWarning,
    MoveContribution, ReplyExtraction, ReplyMarker, VerdictDraft, WarningKind, sort_warnings,
};
use crate::markers::grammar::{BracketContent, WrittenId, WrittenTarget};
use crate::markers::reply_text::{ReplyText, first_paragraph, text_without_gaps};
use crate::markers::scan::{FoundMarker, find_markers};
use crate::markers::targets::{check_reference, dedup_targets, resolve_target, sequence_in_round};
use crate::model::entity::{MoveType, ReferenceType};
use crate::model::ids::{EntityTarget, ExpertSlug, LocalId};
use crate::model::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, LIST_ITEMS_MAX, TEXT_CHARS_MAX};
use crate::model::text::to_one_line;
use crate::model::verdict::VerdictType;

/// Parses one expert's reply in one round. Never fails; problems become warnings.
pub fn extract_reply(reply: &str, expert: &ExpertSlug, round: u8) -> ReplyExtraction {
    let reply = ReplyText::parse(reply.strip_prefix('\u{feff}').unwrap_or(reply));
    let markers = find_markers(&reply, expert);
    let mut reader = ReplyReader {
        entities: ReplyEntities { own: expert, round, lines: HashMap::new() },
        reply: &reply,
        above: ReferenceOwner::Nothing,
        text_owner: None,
        removed: Vec::new(),
        read: ReplyExtraction {
            expert: expert.clone(),
            round,
            contributions: Vec::new(),
            moves: Vec::new(),
            verdicts: Vec::new(),
            markers: Vec::new(),
            warnings: Vec::new(),
        },
    };
    for marker in &markers {
        reader.note_entity(marker);
    }
    for (place, marker) in markers.iter().enumerate() {
        let rest = markers.get(place + 1..).unwrap_or_default();
        reader.read_marker(marker, rest);
    }
    reader.finish_text(reply.body.end);
    reader.warn_about_reply();
    let mut read = reader.read;
    read.warnings = sort_warnings(read.warnings);
    read
}

/// The entities that one reply defines, with their lines.
#[derive(Debug)]
pub(crate) struct ReplyEntities<'a> {
    pub own: &'a ExpertSlug,
    pub round: u8,
    pub lines: HashMap<LocalId, usize>,
}

/// The entity that the next references belong to.
#[derive(Debug, Clone, Copy)]
enum ReferenceOwner {
    Nothing,
    /// Its place among the contributions.
    Entity(usize),
    /// A bracket that was meant as an entity but could not be parsed.
    Unread,
}

/// The entity or verdict whose text is being read.
#[derive(Debug, Clone, Copy)]
struct TextOwner {
    kind: OwnerKind,
    text_start: usize,
    line: usize,
}

/// An entity or a verdict of this reply, by its place.
#[derive(Debug, Clone, Copy)]
enum OwnerKind {
    Entity(usize),
    Verdict(usize),
}

struct ReplyReader<'a> {
    reply: &'a ReplyText<'a>,
    entities: ReplyEntities<'a>,
    above: ReferenceOwner,
    text_owner: Option<TextOwner>,
    /// The markers that were read; the texts are kept without them.
    removed: Vec<Range<usize>>,
    read: ReplyExtraction,
}

impl ReplyReader<'_> {
    /// Returns the id and label of a new entity, or the reason why the bracket does not define one.
    /// A bracket without a label mentions an entity and gives `None`.
    fn define_entity(
        &self,
        content: &BracketContent<'_>,
    ) -> Option<Result<(LocalId, String), String>> {
        let BracketContent::Entity { id, label: Some(label) } = content else { return None };
        let label = to_one_line(label);
        if label.chars().count() > LINE_CHARS_MAX {
            return Some(Err(format!("its label is over {LINE_CHARS_MAX} characters")));
        }
        Some(self.own_id(id).map(|id| (id, label)))
    }

    fn own_id(&self, id: &WrittenId) -> Result<LocalId, String> {
        let ReplyEntities { own, round, .. } = &self.entities;
        let seq = sequence_in_round(id, own, *round)?;
        Ok(LocalId { expert: (*own).clone(), kind: id.kind, round: *round, seq })
    }

    fn note_entity(&mut self, marker: &FoundMarker<'_>) {
        if let Some(Ok((id, _))) = self.define_entity(&marker.content) {
            self.entities.lines.entry(id).or_insert(marker.line);
        }
    }

    fn read_marker(&mut self, marker: &FoundMarker<'_>, rest: &[FoundMarker<'_>]) {
        match &marker.content {
            BracketContent::Entity { id, label } => match self.define_entity(&marker.content) {
                Some(Ok((local_id, label))) => self.read_entity(marker, id, local_id, label),
                Some(Err(reason)) => self.reject_entity(marker, &reason),
                None if label.is_none() => self.check_mention(marker, id),
                None => {}
            },
            BracketContent::Reference { ref_type, targets } => {
                self.read_reference(marker, *ref_type, targets);
            }
            BracketContent::Move { move_type, targets, words } => {
                let next = rest.iter().find(|next| !next.is_mention());
                let end = next.map_or(self.reply.body.end, |next| next.start);
                let after = self.reply.text.get(marker.end..end).unwrap_or_default();
                let context = if words.is_empty() { first_paragraph(after) } else { *words };
                let context = Some(truncate_text(context)).filter(|text| !text.is_empty());
                self.read_move(marker, *move_type, targets, context);
            }
            BracketContent::Verdict { verdict_type, label } => {
                self.read_verdict(marker, *verdict_type, label);
            }
            BracketContent::Unreadable { reason, is_entity: true } => {
                self.reject_entity(marker, reason);
            }
            BracketContent::Unreadable { reason, is_entity: false } => {
                self.warn_not_read(marker, reason);
            }
        }
    }

    fn read_entity(
        &mut self,
        marker: &FoundMarker<'_>,
        id: &WrittenId,
        local_id: LocalId,
        label: String,
    ) {
        let first = self.entities.lines.get(&local_id).copied().unwrap_or_default();
        let same = self.read.contributions.iter().position(|item| item.local_id == local_id);
        if let Some(place) = same {
            let reason = format!("{local_id} is already defined on line {first}");
            self.warn_not_read(marker, &reason);
            if marker.begins_line {
                self.above = ReferenceOwner::Entity(place);
                self.begin_text(marker, None);
            }
            return;
        }
        let mut deviations = marker.deviations.clone();
        if id.expert.is_none() {
            deviations.insert(MarkerDeviation::MissingPrefix);
        }
        if !id.is_padded() {
            deviations.insert(MarkerDeviation::ZeroPadding);
        }
        let content = MarkerContent::new_entity(local_id.clone(), label.clone());
        self.record_marker(marker, deviations, content);
        let place = self.read.contributions.len();
        self.above = ReferenceOwner::Entity(place);
        self.begin_text(marker, Some(OwnerKind::Entity(place)));
        let (text, references) = (String::new(), Vec::new());
        self.read.contributions.push(EntityContribution { local_id, label, text, references });
    }

    /// An unreadable entity that begins a line ends the text above, because the text after it
    /// belongs to it.
    fn reject_entity(&mut self, marker: &FoundMarker<'_>, reason: &str) {
        self.warn_not_read(marker, reason);
        if marker.begins_line {
            self.above = ReferenceOwner::Unread;
            self.begin_text(marker, None);
        }
    }

    /// Warns about `[MUFFIN-P0101]` without a label if the reply does not define that entity.
    fn check_mention(&mut self, marker: &FoundMarker<'_>, id: &WrittenId) {
        if let Ok(local_id) = self.own_id(id)
            && (id.expert.is_some() || id.is_padded())
            && !self.entities.lines.contains_key(&local_id)
        {
            let reason = format!("it has no label, and the reply does not define {local_id}");
            self.warn_not_read(marker, &reason);
        }
    }

    fn read_reference(
        &mut self,
        marker: &FoundMarker<'_>,
        written_type: Option<ReferenceType>,
        written: &[WrittenTarget<'_>],
    ) {
        let place = match self.above {
            ReferenceOwner::Entity(place) => place,
            ReferenceOwner::Nothing => {
                return self.warn_not_read(marker, "no entity precedes this marker");
            }
            ReferenceOwner::Unread => {
                return self
                    .warn_not_read(marker, "the marker above it is not an entity of this reply");
            }
        };
        let Some(source) = self.read.contributions.get(place).map(|item| item.local_id.clone())
        else {
            return;
        };
        let ref_type = written_type.unwrap_or(ReferenceType::Support);
        let mut deviations = marker.deviations.clone();
        let mut targets = Vec::new();
        for target in written {
            let resolved = resolve_target(&target.form, &self.entities, &mut deviations);
            let checked = resolved
                .and_then(|it| check_reference(&self.entities, &source, ref_type, &it).map(|()| it))
                .and_then(|it| self.add_reference(place, ref_type, it, marker.line));
            match checked {
                Ok(target) => targets.push(target),
                Err(reason) => self.warn_not_read(marker, &format!("{}: {reason}", target.written)),
            }
        }
        if targets.is_empty() {
            return;
        }
        if written_type.is_none() {
            let message = format!("`{}` has no type and is read as support", marker.written);
            self.warn(marker, WarningKind::UntypedReference, message);
        }
        let content = MarkerContent::Reference { ref_type, source, targets };
        self.record_marker(marker, deviations, content);
    }

    fn add_reference(
        &mut self,
        place: usize,
        ref_type: ReferenceType,
        target: EntityTarget,
        line: usize,
    ) -> Result<EntityTarget, String> {
        let entity =
            self.read.contributions.get_mut(place).ok_or("no entity precedes this marker")?;
        let is_same = |it: &MarkedReference| it.ref_type == ref_type && it.target == target;
        if !entity.references.iter().any(is_same) {
            if entity.references.len() >= LIST_ITEMS_MAX {
                return Err(format!("{} already has {LIST_ITEMS_MAX} references", entity.local_id));
            }
            let target = target.clone();
            entity.references.push(MarkedReference { ref_type, target, line });
        }
        Ok(target)
    }

    fn read_move(
        &mut self,
        marker: &FoundMarker<'_>,
        move_type: MoveType,
        written: &[WrittenTarget<'_>],
        context: Option<&str>,
    ) {
        let mut deviations = marker.deviations.clone();
        let mut targets = Vec::new();
        for target in written {
            match resolve_target(&target.form, &self.entities, &mut deviations) {
                Ok(target) => targets.push(target),
                Err(reason) => {
                    return self.warn_not_read(marker, &format!("{}: {reason}", target.written));
                }
            }
        }
        let targets = dedup_targets(targets);
        let needed = move_type.targets_min();
        if targets.len() < needed {
            return self.warn_not_read(marker, &format!("it needs {needed} different ids"));
        }
        if move_type == MoveType::Request && context.is_none() {
            return self.warn_not_read(marker, "it does not name the subject of the request");
        }
        if self.read.moves.len() >= BATCH_ITEMS_MAX {
            let reason = format!("a round has at most {BATCH_ITEMS_MAX} moves");
            return self.warn_not_read(marker, &reason);
        }
        let is_again = move_type == MoveType::Converge
            && self.read.moves.iter().any(|made| made.move_type == MoveType::Converge);
        let context = context.map(str::to_owned);
        let topic = context.clone().filter(|_| move_type == MoveType::Request);
        let content = MarkerContent::Move { move_type, targets: targets.clone(), topic };
        self.record_marker(marker, deviations, content);
        if !is_again {
            let line = marker.line;
            self.read.moves.push(MoveContribution { line, move_type, targets, context });
        }
    }

    fn read_verdict(&mut self, marker: &FoundMarker<'_>, verdict_type: VerdictType, label: &str) {
        let label = Some(to_one_line(label)).filter(|label| !label.is_empty());
        let author = self.entities.own;
        self.begin_text(marker, Some(OwnerKind::Verdict(self.read.verdicts.len())));
        self.read.verdicts.push(VerdictDraft {
            verdict_type,
            round: self.entities.round,
            author_expert: author.clone(),
            recommendation: label.clone(),
            description: None,
            supporting_experts: (verdict_type == VerdictType::Minority)
                .then(|| vec![author.clone()]),
        });
        if verdict_type.takes_effect() {
            let message =
                format!("only the Judge gives {verdict_type} verdicts; {author} wrote this one");
            self.warn(marker, WarningKind::JudgesMarker, message);
        }
        let deviations = marker.deviations.clone();
        self.record_marker(marker, deviations, MarkerContent::Verdict { verdict_type, label });
    }

    /// Records a parsed marker, with a near-miss warning if it deviates from the exact notation.
    fn record_marker(
        &mut self,
        marker: &FoundMarker<'_>,
        deviations: BTreeSet<MarkerDeviation>,
        content: MarkerContent,
    ) {
        if !deviations.is_empty() {
            let slips = deviations.into_iter().collect();
            let warning = MarkerWarning::near_miss(marker.line, marker.written, &content, slips);
            self.read.warnings.push(warning);
        }
        self.removed.push(marker.open..marker.end);
        self.read.markers.push(ReplyMarker { line: marker.line, content });
    }

    /// Ends the text of the owner above and begins that of the next one.
    fn begin_text(&mut self, marker: &FoundMarker<'_>, owner: Option<OwnerKind>) {
        self.finish_text(marker.start);
        let (text_start, line) = (marker.end, marker.line);
        self.text_owner = owner.map(|kind| TextOwner { kind, text_start, line });
    }

    fn warn_not_read(&mut self, marker: &FoundMarker<'_>, reason: &str) {
        self.read.warnings.push(MarkerWarning::not_read(marker.line, marker.written, reason));
    }

    fn warn(&mut self, marker: &FoundMarker<'_>, kind: WarningKind, message: String) {
        self.read.warnings.push(MarkerWarning::new(marker.line, kind, message));
    }

    /// Assigns its text to the owner above. All markers in the text are read by now; they are
    /// removed from it.
    fn finish_text(&mut self, end: usize) {
        let Some(TextOwner { kind, text_start, line }) = self.text_owner.take() else { return };
        let text = text_without_gaps(self.reply.text, text_start..end, &self.removed);
        let kept = truncate_text(&text);
        if kept.len() < text.len() {
            let message = format!("the text is cut at {TEXT_CHARS_MAX} characters");
            self.read.warnings.push(MarkerWarning::new(line, WarningKind::Cut, message));
        }
        match kind {
            OwnerKind::Entity(place) => self.complete_entity(place, line, kept),
            OwnerKind::Verdict(place) => {
                if let Some(draft) = self.read.verdicts.get_mut(place) {
                    draft.description = Some(kept.to_owned()).filter(|text| !text.is_empty());
                }
            }
        }
    }

    fn complete_entity(&mut self, place: usize, line: usize, text: &str) {
        let Some(item) = self.read.contributions.get_mut(place) else { return };
        item.text = if text.is_empty() { item.label.clone() } else { text.to_owned() };
        if text.is_empty() {
            let message =
                format!("{} has no text after its label; the label is its content", item.local_id);
            self.read.warnings.push(MarkerWarning::new(line, WarningKind::NoContent, message));
        }
    }

    /// Adds the warnings that depend on the whole reply.
    fn warn_about_reply(&mut self) {
        let reply = self.reply;
        if reply.is_wrapped {
            let message =
                "a code block named Markdown encloses the whole reply; it is read".to_owned();
            let (line, kind) = (
                Some(reply.line_number(reply.body.start).saturating_sub(1)),
                WarningKind::NearMiss,
            );
            let slips = vec![MarkerDeviation::CodeFence];
            self.read.warnings.push(MarkerWarning { line, kind, message, slips });
        }
        if let Some(start) = reply.open_fence {
            let message = "the code block that begins here is not closed; nothing after it is read"
                .to_owned();
            let line = reply.line_number(start);
            self.read.warnings.push(MarkerWarning::new(line, WarningKind::OpenCodeBlock, message));
        }
        if self.read.markers.is_empty() {
            let code =
                if reply.has_brackets_in_code() { "; markers in code are not read" } else { "" };
            let message = format!(
                "the reply of {} has no markers, so it contributes nothing{code}",
                self.entities.own
            );
            self.read.warnings.push(MarkerWarning::new(None, WarningKind::NoMarkers, message));
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
