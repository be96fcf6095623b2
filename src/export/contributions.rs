//! Groups entities by round and expert; each is listed once, under its first contributor.

use std::collections::BTreeMap;

use crate::domain::entity::Entity;
use crate::domain::ids::ExpertSlug;
use crate::domain::record::{DialogueRecord, Expert};

#[derive(Debug)]
pub(crate) struct RoundContributions<'a>(BTreeMap<(u8, Option<ExpertSlug>), Vec<&'a Entity>>);

impl<'a> RoundContributions<'a> {
    pub(crate) fn from_record(record: &'a DialogueRecord) -> Self {
        let mut brought: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for entity in record.all_entities() {
            let first = entity.contributors.first();
            let seated = first.filter(|slug| record.find_expert(slug).is_some()).cloned();
            brought.entry((entity.id.round, seated)).or_default().push(entity);
        }
        Self(brought)
    }

    pub(crate) fn by_expert(&self, round: u8, expert: &ExpertSlug) -> &[&'a Entity] {
        self.0.get(&(round, Some(expert.clone()))).map_or(&[], Vec::as_slice)
    }

    /// Entities whose first contributor is not an expert of the dialogue.
    pub(crate) fn without_expert(&self, round: u8) -> &[&'a Entity] {
        self.0.get(&(round, None)).map_or(&[], Vec::as_slice)
    }

    /// `Muffin +12`: experts with a score in a round but without listed contributions.
    pub(crate) fn only_scored(&self, record: &DialogueRecord, round: u8) -> Vec<String> {
        let scored = |expert: &Expert| {
            let slug = &expert.profile.expert_slug;
            let score = expert.scores.get(&round)?;
            let listed =
                expert.replies.contains_key(&round) || !self.by_expert(round, slug).is_empty();
            (!listed).then(|| format!("{} {score:+}", slug.display_name()))
        };
        record.experts.iter().filter_map(scored).collect()
    }
}
