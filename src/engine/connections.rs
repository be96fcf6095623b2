//! How each seat is reached: its transports, in the order in which they are tried.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::ids::ExpertSlug;
use crate::providers::Transport;

/// Every seat's transports. Seats of one provider share them.
#[derive(Debug, Clone, Default)]
pub struct Connections(BTreeMap<ExpertSlug, Arc<[Transport]>>);

impl Connections {
    pub fn add(&mut self, seat: ExpertSlug, transports: Arc<[Transport]>) {
        self.0.insert(seat, transports);
    }

    pub(super) fn of(&self, seat: &ExpertSlug) -> &[Transport] {
        self.0.get(seat).map_or(&[], AsRef::as_ref)
    }

    /// A seat of the plan that nothing leads to.
    pub(super) fn missing<'a>(
        &self,
        mut seats: impl Iterator<Item = &'a ExpertSlug>,
    ) -> Option<&'a ExpertSlug> {
        seats.find(|seat| self.of(seat).is_empty())
    }
}
