//! Resolves expert names of a request.

use std::collections::BTreeSet;

use super::faults::expert_not_in_dialogue;
use crate::domain::dialogue::Dialogue;
use crate::domain::facts::RecordLookup;
use crate::domain::ids::{EventActor, ExpertSlug, JUDGE_SLUG};
use crate::domain::refusal::{ErrorItem, ValidationError};

/// Experts of a dialogue, for name lookup.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpertLookup<'a> {
    pub dialogue: &'a Dialogue,
    pub facts: &'a RecordLookup,
}

impl ExpertLookup<'_> {
    /// Finds an expert; an unknown name is an error.
    pub(super) fn find_expert(
        &self,
        name: &str,
        item: &ErrorItem,
        field: &str,
    ) -> Result<ExpertSlug, ValidationError> {
        let found = self.facts.find_expert(name).map(|expert| expert.expert_slug.clone());
        found.ok_or_else(|| {
            expert_not_in_dialogue(name, self.dialogue).about_item(item).with_field(field)
        })
    }

    /// Finds each expert once, in the given order. Each unknown name is reported once.
    pub(super) fn find_experts<'n>(
        &self,
        names: impl IntoIterator<Item = &'n String>,
        item: &ErrorItem,
        field: &str,
        faults: &mut Vec<ValidationError>,
    ) -> Vec<ExpertSlug> {
        let mut seen = BTreeSet::new();
        let mut experts = Vec::new();
        for name in names.into_iter().filter(|name| seen.insert(name.as_str())) {
            match self.find_expert(name, item, field) {
                Ok(expert) => experts.push(expert),
                Err(fault) => faults.push(fault),
            }
        }
        experts
    }

    /// Same as `find_experts`, but the Judge may be named too.
    pub(super) fn find_actors(
        &self,
        names: &[String],
        item: &ErrorItem,
        faults: &mut Vec<ValidationError>,
    ) -> Vec<EventActor> {
        let judge = names.iter().any(|name| name == JUDGE_SLUG).then_some(EventActor::Judge);
        let others = names.iter().filter(|name| *name != JUDGE_SLUG);
        let experts =
            self.find_experts(others, item, "by", faults).into_iter().map(EventActor::Expert);
        judge.into_iter().chain(experts).collect()
    }
}
