//! What a conclusion must rest on: who took part, and what was said.

use std::collections::BTreeMap;

use super::text::Participant;
use crate::domain::ids::{EntityId, ExpertSlug};
use crate::domain::time::Day;

/// The facts that a conclusion is held against.
#[derive(Debug, Clone)]
pub struct Grounds<'a> {
    pub participants: &'a [Participant],
    /// Letters under which participants may be named, too.
    pub letters: Vec<(char, ExpertSlug)>,
    /// Every entity of the record, with its contributors.
    pub entities: &'a BTreeMap<EntityId, Vec<ExpertSlug>>,
    /// The day on which the conclusion was written: it is revisited later than that.
    pub today: Day,
}
