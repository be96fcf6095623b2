//! Ids of concerns, which stay the same from the first round to the verdict.

use super::positions::SeatResult;
use crate::domain::gate::{DeliberatorJudgement, ReviewConcern};
use crate::domain::ids::ExpertSlug;

/// A concern with the id that others cite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedConcern<'a> {
    pub id: String,
    /// Its number among those of its deliberator, from 1.
    pub number: usize,
    pub concern: &'a ReviewConcern,
}

/// The concerns of a deliberator at the end, and those that it dropped after the first round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConcernIds<'a> {
    pub kept: Vec<NumberedConcern<'a>>,
    pub dropped: Vec<NumberedConcern<'a>>,
}

impl<'a> NumberedConcern<'a> {
    /// The concerns of a first judgement, in their order.
    pub fn from_first_round(seat: &ExpertSlug, judgement: &'a DeliberatorJudgement) -> Vec<Self> {
        (1..).zip(&judgement.concerns).map(|(number, one)| Self::new(seat, number, one)).collect()
    }

    fn new(seat: &ExpertSlug, number: usize, concern: &'a ReviewConcern) -> Self {
        Self { id: format!("{seat}-{number}"), number, concern }
    }
}

impl<'a> ConcernIds<'a> {
    /// A concern of the first round keeps its id, so citations stay valid; new concerns get the
    /// next numbers.
    pub fn from_results(position: &SeatResult<'a>) -> Self {
        let seat = position.seat;
        let first = position
            .first
            .judgement()
            .map(|judgement| NumberedConcern::from_first_round(seat, judgement));
        let mut open = first.unwrap_or_default();
        let Some(second) = position.second.judgement() else {
            return Self { kept: open, dropped: Vec::new() };
        };
        let mut unused = open.len() + 1..;
        let mut kept = Vec::new();
        for concern in &second.concerns {
            let same = open.iter().position(|known| is_same_concern(known.concern, concern));
            let number = same.map(|place| open.remove(place).number).or_else(|| unused.next());
            kept.extend(number.map(|number| NumberedConcern::new(seat, number, concern)));
        }
        Self { kept, dropped: open }
    }
}

/// Whether two concerns quote the same text or state the same issue.
fn is_same_concern(one: &ReviewConcern, other: &ReviewConcern) -> bool {
    let plain = |text: &str| text.trim().to_lowercase();
    let same = |one: &str, other: &str| !one.trim().is_empty() && plain(one) == plain(other);
    same(&one.locus, &other.locus) || same(&one.issue, &other.issue)
}
