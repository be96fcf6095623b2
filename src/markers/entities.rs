//! Decides which brackets with an id define an entity of this reply and which only mention one.
//! `ReplyEntities` keeps the entities; `extract.rs` fills it in its first pass.

use std::collections::HashMap;

use super::slip::{DeviationSet, MarkerDeviation};
use super::spelling::{IdPrefix, WrittenId};
use crate::domain::ids::{EntityKind, ExpertSlug, LocalId};
use crate::domain::limits::LINE_CHARS_MAX;

/// Role of a bracket with an id.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BracketKind {
    New(LocalId, String),
    /// The reply defines this id earlier.
    Duplicate(LocalId),
    Mention,
    Rejected(String),
}

/// The entities of one reply.
#[derive(Debug)]
pub(super) struct ReplyEntities<'a> {
    pub own: &'a ExpertSlug,
    pub round: u8,
    lines: HashMap<LocalId, usize>,
    perspectives: usize,
    /// Ids of this expert and round that the reply mentions, with their line. The reply may fail to
    /// define them.
    mentioned: Vec<(LocalId, usize)>,
}

impl<'a> ReplyEntities<'a> {
    pub(super) fn new(own: &'a ExpertSlug, round: u8) -> Self {
        Self { own, round, lines: HashMap::new(), perspectives: 0, mentioned: Vec::new() }
    }

    pub(super) fn contains_id(&self, id: &LocalId) -> bool {
        self.lines.contains_key(id)
    }

    pub(super) fn local_id(&self, kind: EntityKind, (round, seq): (u8, u8)) -> LocalId {
        LocalId { expert: self.own.clone(), kind, round, seq }
    }

    /// Number of perspectives in the reply, not counting this entity.
    pub(super) fn other_perspectives(&self, source: &LocalId) -> usize {
        self.perspectives.saturating_sub(usize::from(source.kind == EntityKind::Perspective))
    }

    /// Mentioned ids that the reply does not define.
    pub(super) fn unknown_mentions(&self) -> impl Iterator<Item = &(LocalId, usize)> {
        self.mentioned.iter().filter(|(id, _)| !self.contains_id(id))
    }

    /// Classifies a bracket and records a new entity. Deviations from the exact notation are added
    /// to `slips`.
    pub(super) fn classify_bracket(
        &mut self,
        id: &WrittenId,
        label: Option<&str>,
        line: usize,
        slips: &mut DeviationSet,
    ) -> BracketKind {
        let label = label.map(clean_label).filter(|label| !label.is_empty());
        let seq = match (self.sequence_in_round(id, slips), &label) {
            (Ok(seq), _) => seq,
            (Err(why), Some(_)) => return BracketKind::Rejected(why),
            (Err(_), None) => return BracketKind::Mention,
        };
        let local_id = self.local_id(id.kind, (self.round, seq));
        let Some(label) = label else {
            self.mentioned.push((local_id, line));
            return BracketKind::Mention;
        };
        if label.chars().count() > LINE_CHARS_MAX {
            return BracketKind::Rejected(format!("its label is over {LINE_CHARS_MAX} characters"));
        }
        if self.contains_id(&local_id) {
            return BracketKind::Duplicate(local_id);
        }
        if id.prefix == IdPrefix::Missing {
            slips.add(MarkerDeviation::MissingPrefix);
        }
        self.perspectives += usize::from(id.kind == EntityKind::Perspective);
        self.lines.insert(local_id.clone(), line);
        BracketKind::New(local_id, label)
    }

    pub(super) fn line_of(&self, id: &LocalId) -> usize {
        self.lines.get(id).copied().unwrap_or_default()
    }

    /// Returns the number within the round if the id belongs to this expert and round.
    fn sequence_in_round(&self, id: &WrittenId, slips: &mut DeviationSet) -> Result<u8, String> {
        if let IdPrefix::Other(name) = &id.prefix {
            return Err(format!("it is an id of {name}, and this is {}'s reply", self.own));
        }
        let places = id.possible_places();
        if let Some((_, seq)) = places.iter().find(|(round, _)| *round == self.round) {
            if !id.is_padded() {
                slips.add(MarkerDeviation::ZeroPadding);
            }
            return Ok(*seq);
        }
        if let Some(seq) = id.sequence_alone() {
            slips.add(MarkerDeviation::MissingRound);
            return Ok(seq);
        }
        Err(match places.first() {
            Some((round, _)) => format!("it is of round {round}, and this is round {}", self.round),
            None => "an id is a letter, two digits of round and two of number".to_owned(),
        })
    }
}

/// Returns the label on one line, without emphasis around it.
pub(super) fn clean_label(label: &str) -> String {
    let words: Vec<&str> = label.split_whitespace().collect();
    let joined = words.join(" ");
    let mut label = joined.as_str();
    for mark in ["***", "**", "*", "__", "~~"] {
        let inner = label.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        label = inner.unwrap_or(label);
    }
    for mark in ['*', '`'] {
        // Emphasis or inline code that opened before the id closes here.
        let bare = label.trim_end_matches(mark);
        label = if bare.contains(mark) { label } else { bare.trim_end() };
    }
    label.to_owned()
}
