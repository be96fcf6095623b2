//! Resolves expert names of a request.

use std::collections::BTreeSet;

use super::faults::not_in_dialogue;
use crate::domain::dialogue::Dialogue;
use crate::domain::facts::Facts;
use crate::domain::ids::{Actor, ExpertSlug, JUDGE};
use crate::domain::refusal::{Fault, Item};

/// Experts of a dialogue, for name lookup.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roll<'a> {
    pub dialogue: &'a Dialogue,
    pub facts: &'a Facts,
}

impl Roll<'_> {
    /// Finds an expert; an unknown name is an error.
    pub(super) fn expert(&self, name: &str, item: &Item, field: &str) -> Result<ExpertSlug, Fault> {
        let found = self.facts.expert(name).map(|expert| expert.expert_slug.clone());
        found.ok_or_else(|| not_in_dialogue(name, self.dialogue).about(item).field(field))
    }

    /// Finds each expert once, in the given order. Each unknown name is reported once.
    pub(super) fn experts<'n>(
        &self,
        names: impl IntoIterator<Item = &'n String>,
        item: &Item,
        field: &str,
        faults: &mut Vec<Fault>,
    ) -> Vec<ExpertSlug> {
        let mut seen = BTreeSet::new();
        let mut experts = Vec::new();
        for name in names.into_iter().filter(|name| seen.insert(name.as_str())) {
            match self.expert(name, item, field) {
                Ok(expert) => experts.push(expert),
                Err(fault) => faults.push(fault),
            }
        }
        experts
    }

    /// Same as `find_experts`, but the Judge may be named too.
    pub(super) fn actors(
        &self,
        names: &[String],
        item: &Item,
        faults: &mut Vec<Fault>,
    ) -> Vec<Actor> {
        let judge = names.iter().any(|name| name == JUDGE).then_some(Actor::Judge);
        let others = names.iter().filter(|name| *name != JUDGE);
        let experts = self.experts(others, item, "by", faults).into_iter().map(Actor::Expert);
        judge.into_iter().chain(experts).collect()
    }
}
