//! Temper of a rehearsal seat.

use crate::domain::ids::ExpertSlug;

use super::variation::ReplyVariation;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeatTemper {
    Optimist,
    Skeptic,
    Pragmatist,
}

impl SeatTemper {
    pub(super) const ALL: [Self; 3] = [Self::Optimist, Self::Skeptic, Self::Pragmatist];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Optimist => "optimist",
            Self::Skeptic => "skeptic",
            Self::Pragmatist => "pragmatist",
        }
    }

    /// A seat of another name, as in a configured panel, gets a temper by its hash.
    pub(super) fn for_seat(seat: &ExpertSlug) -> Self {
        let named = Self::ALL.into_iter().find(|temper| seat.as_str().starts_with(temper.name()));
        let drawn = ReplyVariation::from_texts(&[seat.as_str()]).number_below(Self::ALL.len());
        named.or(Self::ALL.get(drawn).copied()).unwrap_or(Self::Pragmatist)
    }
}
