//! Facts that a conclusion is validated against: the participants and the entities.

use std::collections::BTreeMap;

use super::text::ConclusionParticipant;
use crate::domain::ids::{EntityId, ExpertSlug};
use crate::domain::time::Day;

/// The facts that the validator compares a conclusion with.
#[derive(Debug, Clone)]
pub struct ConclusionContext<'a> {
    pub participants: &'a [ConclusionParticipant],
    /// Letters that may also name a participant.
    pub letters: Vec<(char, ExpertSlug)>,
    /// Every entity of the record, with its contributors.
    pub entities: &'a BTreeMap<EntityId, Vec<ExpertSlug>>,
    /// The day of writing; `review_by` must be later.
    pub today: Day,
}
