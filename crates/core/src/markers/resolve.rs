//! Reads references and moves: finds the entity a reference belongs to and resolves the targets.
//!
//! What `register` would reject for a reason visible in the reply is left out here with a warning,
//! because one rejected item would reject the batch of the whole round.

use std::collections::{HashMap, HashSet};

use crate::markers::extract::{ExtractionBuilder, ReferenceOwner};
use crate::markers::extraction::{MarkerContent, MoveContribution};
use crate::markers::scan::FoundMarker;
use crate::markers::warnings::{DeviationSet, MarkerDeviation, WarningKind};
use crate::markers::written_id::{IdPrefix, RoundPlace, TargetForm, WrittenId, WrittenTarget};
use crate::model::entity::{InvalidReference, MoveType, ReferenceType};
use crate::model::ids::{EntityId, EntityKind, EntityTarget, ExpertSlug, LocalId};
use crate::model::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, LIST_ITEMS_MAX};

impl ExtractionBuilder<'_> {
    pub(crate) fn read_reference(
        &mut self,
        found: &FoundMarker<'_>,
        mut slips: DeviationSet,
        ref_type: Option<ReferenceType>,
        pointers: &[WrittenTarget<'_>],
    ) {
        let (line, written) = (found.line, found.written);
        let source = match self.reference_source() {
            Ok(source) => source,
            Err(why) => return self.warnings.add_not_read(line, written, why),
        };
        let meant = ref_type.unwrap_or(ReferenceType::Support);
        let targets = self.resolve_targets(found, pointers, &mut slips, |reader, target| {
            reader.check_reference(&source, meant, target)
        });
        let targets = self.keep_references(found, meant, targets);
        if targets.is_empty() {
            return;
        }
        if ref_type.is_none() {
            let message = format!("`{written}` has no type and is read as support");
            self.warnings.add_warning(line, WarningKind::UntypedReference, &message);
        }
        if let Some(verdict_type) = self.under {
            let message =
                format!("`{written}` stands under a {verdict_type}; it is taken for {source}'s");
            self.warnings.add_warning(line, WarningKind::Elsewhere, &message);
        }
        self.record_marker(
            found,
            slips,
            MarkerContent::Reference { source, ref_type: meant, targets },
        );
    }

    pub(crate) fn read_move(
        &mut self,
        found: &FoundMarker<'_>,
        mut slips: DeviationSet,
        (move_type, pointers): (MoveType, &[WrittenTarget<'_>]),
        context: Option<String>,
    ) {
        let (line, written) = (found.line, found.written);
        let targets =
            dedup_targets(self.resolve_targets(found, pointers, &mut slips, |_, _| Ok(())));
        let needed = move_type.targets_min();
        if targets.len() < needed {
            if targets.len() == pointers.len() || needed > 1 {
                let why = format!("it needs {needed} different ids");
                self.warnings.add_not_read(line, written, &why);
            }
            return;
        }
        if move_type == MoveType::Request && context.is_none() {
            return self.warnings.add_not_read(line, written, "it does not say what is asked for");
        }
        if self.moves.len() >= BATCH_ITEMS_MAX {
            let why = format!("a round holds at most {BATCH_ITEMS_MAX} moves");
            return self.warnings.add_not_read(line, written, &why);
        }
        let is_again = move_type == MoveType::Converge
            && self.moves.iter().any(|made| made.move_type == MoveType::Converge);
        let topic = context.clone().filter(|_| move_type == MoveType::Request);
        self.record_marker(
            found,
            slips,
            MarkerContent::Move { move_type, targets: targets.clone(), topic },
        );
        if !is_again {
            self.moves.push(MoveContribution { line, move_type, targets, context });
        }
    }

    /// Returns the entity that a reference belongs to.
    fn reference_source(&self) -> Result<LocalId, &'static str> {
        let place = match self.above {
            ReferenceOwner::Entity(place) => place,
            ReferenceOwner::Nothing => {
                return Err("there is no entity above it that it could belong to");
            }
            ReferenceOwner::Unread => {
                return Err("what stands above it is not an entity of this reply");
            }
        };
        let entity = self.contributions.get(place).ok_or("there is no entity above it")?;
        Ok(entity.local_id.clone())
    }

    /// Resolves the written targets. Each target that fails to resolve or fails `check` gives a
    /// warning.
    fn resolve_targets(
        &mut self,
        found: &FoundMarker<'_>,
        pointers: &[WrittenTarget<'_>],
        slips: &mut DeviationSet,
        check: impl Fn(&Self, &EntityTarget) -> Result<(), String>,
    ) -> Vec<EntityTarget> {
        let mut targets = Vec::with_capacity(pointers.len());
        for pointer in pointers {
            let aimed = resolve_target(&pointer.form, self.roster, slips);
            let aimed = aimed.and_then(|target| check(self, &target).map(|()| target));
            match aimed {
                Ok(target) => targets.push(target),
                Err(why) => {
                    let why = format!("{}: {why}", pointer.written);
                    self.warnings.add_not_read(found.line, found.written, &why);
                }
            }
        }
        targets
    }

    /// Checks that a reference of this type may connect an entity of this kind to the target.
    fn check_reference(
        &self,
        source: &LocalId,
        ref_type: ReferenceType,
        target: &EntityTarget,
    ) -> Result<(), String> {
        match target {
            EntityTarget::Local(id) if id == source => {
                return Err("nothing refers to itself".to_owned());
            }
            // In round 0 no earlier perspective exists.
            EntityTarget::Position(expert)
                if expert == self.roster.own
                    && self.roster.round == 0
                    && self.roster.other_perspectives(source) == 0 =>
            {
                return Err(format!("{expert} has no other perspective yet"));
            }
            EntityTarget::Local(_) | EntityTarget::Position(_) | EntityTarget::Global(_) => {}
        }
        ref_type.check_kinds(source.kind, target.entity_kind()).map_err(|nonsense| match nonsense {
            InvalidReference::TensionOnly => {
                format!("only a tension can be the target of {ref_type}")
            }
            InvalidReference::SameKindOnly => {
                format!("{source} can refine only another {}", source.kind.type_name())
            }
        })
    }

    /// Adds the references to the entity above and returns the targets that were kept.
    fn keep_references(
        &mut self,
        found: &FoundMarker<'_>,
        ref_type: ReferenceType,
        targets: Vec<EntityTarget>,
    ) -> Vec<EntityTarget> {
        let ReferenceOwner::Entity(place) = self.above else { return Vec::new() };
        let Some(entity) = self.contributions.get_mut(place) else { return Vec::new() };
        let mut kept = Vec::with_capacity(targets.len());
        for target in targets {
            let is_new = !self.kept.contains(&(place, ref_type, target.clone()));
            if is_new && entity.references.len() >= LIST_ITEMS_MAX {
                let why = format!("{} has {LIST_ITEMS_MAX} references already", entity.local_id);
                self.warnings.add_not_read(found.line, found.written, &why);
                break;
            }
            if is_new {
                self.kept.insert((place, ref_type, target.clone()));
                entity.references.push((ref_type, target.clone()));
            }
            kept.push(target);
        }
        kept
    }
}

fn dedup_targets(targets: Vec<EntityTarget>) -> Vec<EntityTarget> {
    let mut seen = HashSet::new();
    targets.into_iter().filter(|target| seen.insert(target.clone())).collect()
}

/// Returns the one target that the written id can mean, or the reason why there is none.
pub(crate) fn resolve_target(
    aim: &TargetForm,
    roster: &ReplyEntities<'_>,
    slips: &mut DeviationSet,
) -> Result<EntityTarget, String> {
    match aim {
        TargetForm::Position(expert) => Ok(EntityTarget::Position(expert.clone())),
        TargetForm::Id(id) => {
            let candidates = candidate_targets(id, roster);
            match candidates.as_slice() {
                [target] => {
                    note_deviations(id, target, slips);
                    Ok(target.clone())
                }
                [] => Err(explain_unresolved(id, roster)),
                several => {
                    let names: Vec<String> = several.iter().map(EntityTarget::to_string).collect();
                    Err(format!("zeros are missing; it could be {}", names.join(" or ")))
                }
            }
        }
    }
}

/// Returns every target that an id can mean in this round.
fn candidate_targets(id: &WrittenId, roster: &ReplyEntities<'_>) -> Vec<EntityTarget> {
    let places = id.possible_places();
    match &id.prefix {
        IdPrefix::Own => own_candidates(id, &places, roster),
        IdPrefix::Other(expert) => {
            let held = places.into_iter().filter(|(round, _)| *round <= roster.round);
            let local =
                |(round, seq)| LocalId { expert: expert.clone(), kind: id.kind, round, seq };
            held.map(local).map(EntityTarget::Local).collect()
        }
        IdPrefix::Missing => {
            let meant = |place: &RoundPlace| target_without_prefix(id, *place, roster);
            places.iter().filter_map(meant).collect()
        }
    }
}

/// An entity of this reply takes precedence over one of an earlier round.
fn own_candidates(
    id: &WrittenId,
    places: &[RoundPlace],
    roster: &ReplyEntities<'_>,
) -> Vec<EntityTarget> {
    let alone = id.sequence_alone().map(|seq| (roster.round, seq));
    let locals: Vec<LocalId> =
        places.iter().copied().chain(alone).map(|place| roster.local_id(id.kind, place)).collect();
    if let Some(said) = locals.iter().find(|id| roster.contains_id(id)) {
        return vec![EntityTarget::Local(said.clone())];
    }
    locals.into_iter().filter(|id| id.round < roster.round).map(EntityTarget::Local).collect()
}

/// An id without a prefix is a global id if its round is earlier. Global ids of this round do not
/// exist yet, so such an id means the expert's own entity.
fn target_without_prefix(
    id: &WrittenId,
    (round, seq): RoundPlace,
    roster: &ReplyEntities<'_>,
) -> Option<EntityTarget> {
    if round < roster.round {
        return Some(EntityTarget::Global(EntityId { kind: id.kind, round, seq }));
    }
    let local = roster.local_id(id.kind, (round, seq));
    roster.contains_id(&local).then_some(EntityTarget::Local(local))
}

fn note_deviations(id: &WrittenId, target: &EntityTarget, slips: &mut DeviationSet) {
    if id.prefix == IdPrefix::Missing && matches!(target, EntityTarget::Local(_)) {
        slips.add(MarkerDeviation::MissingPrefix);
    }
    if !id.is_padded() {
        slips.add(MarkerDeviation::ZeroPadding);
    }
}

fn explain_unresolved(id: &WrittenId, roster: &ReplyEntities<'_>) -> String {
    let rounds = id.possible_places();
    let Some((round, seq)) = rounds.first().copied() else {
        return "an id is a letter, two digits of round and two of number".to_owned();
    };
    if round > roster.round {
        return format!("round {round} is still to come");
    }
    let local = roster.local_id(id.kind, (roster.round, seq));
    match id.prefix {
        IdPrefix::Missing => {
            format!("this round has no global ids yet, and there is no {local} in this reply")
        }
        IdPrefix::Own | IdPrefix::Other(_) => format!("there is no {local} in this reply"),
    }
}

/// Role of a bracket with an id.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BracketKind {
    New(LocalId, String),
    /// The reply defines this id earlier.
    Duplicate(LocalId),
    Mention,
    Rejected(String),
}

/// The entities of one reply.
#[derive(Debug)]
pub(crate) struct ReplyEntities<'a> {
    pub own: &'a ExpertSlug,
    pub round: u8,
    lines: HashMap<LocalId, usize>,
    perspectives: usize,
    /// Ids of this expert and round that the reply mentions, with their line. The reply may fail to
    /// define them.
    mentioned: Vec<(LocalId, usize)>,
}

impl<'a> ReplyEntities<'a> {
    pub(crate) fn new(own: &'a ExpertSlug, round: u8) -> Self {
        Self { own, round, lines: HashMap::new(), perspectives: 0, mentioned: Vec::new() }
    }

    pub(crate) fn contains_id(&self, id: &LocalId) -> bool {
        self.lines.contains_key(id)
    }

    pub(crate) fn local_id(&self, kind: EntityKind, (round, seq): (u8, u8)) -> LocalId {
        LocalId { expert: self.own.clone(), kind, round, seq }
    }

    /// Number of perspectives in the reply, not counting this entity.
    pub(crate) fn other_perspectives(&self, source: &LocalId) -> usize {
        self.perspectives.saturating_sub(usize::from(source.kind == EntityKind::Perspective))
    }

    /// Mentioned ids that the reply does not define.
    pub(crate) fn unknown_mentions(&self) -> impl Iterator<Item = &(LocalId, usize)> {
        self.mentioned.iter().filter(|(id, _)| !self.contains_id(id))
    }

    /// Classifies a bracket and records a new entity. Deviations from the exact notation are added
    /// to `slips`.
    pub(crate) fn classify_bracket(
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

    pub(crate) fn line_of(&self, id: &LocalId) -> usize {
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
pub(crate) fn clean_label(label: &str) -> String {
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
