//! Who is named, and whether they take part.

use std::collections::BTreeSet;

use super::faults::not_in_dialogue;
use crate::domain::dialogue::Dialogue;
use crate::domain::facts::Facts;
use crate::domain::ids::{Actor, ExpertSlug, JUDGE};
use crate::domain::refusal::{Fault, Item};

/// The experts of a dialogue, to call names against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roll<'a> {
    pub dialogue: &'a Dialogue,
    pub facts: &'a Facts,
}

impl Roll<'_> {
    /// The expert, or a fault about whoever was named instead.
    pub(super) fn expert(&self, name: &str, item: &Item, field: &str) -> Result<ExpertSlug, Fault> {
        let found = self.facts.expert(name).map(|expert| expert.expert_slug.clone());
        found.ok_or_else(|| not_in_dialogue(name, self.dialogue).about(item).field(field))
    }

    /// The experts in the order they were named, each once; strangers are each complained of once.
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

    /// The same, where the Judge may be named too.
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
