//! Reads references and moves: finds the entity a reference belongs to and resolves the targets.
//!
//! What `register` would reject for a reason visible in the reply is left out here with a warning,
//! because one rejected item would reject the batch of the whole round.

use std::collections::HashSet;

use super::aim::resolve_target;
use super::extract::{ExtractionBuilder, ReferenceOwner};
use super::extraction::MoveContribution;
use super::marker::MarkerContent;
use super::pointers::WrittenTarget;
use super::scan::FoundMarker;
use super::slip::DeviationSet;
use super::warning::WarningKind;
use crate::domain::ids::LocalId;
use crate::domain::limits::{BATCH_ITEMS_MAX, LIST_ITEMS_MAX};
use crate::domain::reference::{InvalidReference, MoveType, ReferenceType};
use crate::domain::target::EntityTarget;

impl ExtractionBuilder<'_> {
    pub(super) fn read_reference(
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

    pub(super) fn read_move(
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
