//! Ids of concerns, which stay the same from the first round to the verdict.

use super::positions::Position;
use crate::domain::gate::{Concern, Judgement};
use crate::domain::ids::ExpertSlug;

/// A concern with the id that others cite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered<'a> {
    pub id: String,
    /// Its number among those of its deliberator, from 1.
    pub number: usize,
    pub concern: &'a Concern,
}

/// The concerns of a deliberator at the end, and those that it dropped after the first round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConcernLedger<'a> {
    pub kept: Vec<Numbered<'a>>,
    pub dropped: Vec<Numbered<'a>>,
}

impl<'a> Numbered<'a> {
    /// The concerns of a first judgement, in their order.
    pub fn of_first(seat: &ExpertSlug, judgement: &'a Judgement) -> Vec<Self> {
        (1..).zip(&judgement.concerns).map(|(number, one)| Self::new(seat, number, one)).collect()
    }

    fn new(seat: &ExpertSlug, number: usize, concern: &'a Concern) -> Self {
        Self { id: format!("{seat}-{number}"), number, concern }
    }
}

impl<'a> ConcernLedger<'a> {
    /// A concern of the first round keeps its id, so citations stay valid; new concerns get the
    /// next numbers.
    pub fn of(position: &Position<'a>) -> Self {
        let seat = position.seat;
        let first = position.first.held().map(|judgement| Numbered::of_first(seat, judgement));
        let mut open = first.unwrap_or_default();
        let Some(second) = position.second.held() else {
            return Self { kept: open, dropped: Vec::new() };
        };
        let mut unused = open.len() + 1..;
        let mut kept = Vec::new();
        for concern in &second.concerns {
            let same = open.iter().position(|known| is_same(known.concern, concern));
            let number = same.map(|place| open.remove(place).number).or_else(|| unused.next());
            kept.extend(number.map(|number| Numbered::new(seat, number, concern)));
        }
        Self { kept, dropped: open }
    }
}

/// Whether two concerns quote the same text or state the same issue.
fn is_same(one: &Concern, other: &Concern) -> bool {
    let plain = |text: &str| text.trim().to_lowercase();
    let same = |one: &str, other: &str| !one.trim().is_empty() && plain(one) == plain(other);
    same(&one.locus, &other.locus) || same(&one.issue, &other.issue)
}
