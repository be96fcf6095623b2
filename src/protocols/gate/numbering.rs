//! What the concerns of a deliberator are called, from the first round to the verdict.

use super::positions::{Position, concern_id};
use crate::domain::gate::Concern;

/// A concern and what others cite it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered<'a> {
    pub id: String,
    /// Its number among those of its deliberator, from 1.
    pub number: usize,
    pub concern: &'a Concern,
}

/// The concerns that a deliberator holds in the end, and those that it dropped since the first
/// round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConcernLedger<'a> {
    pub kept: Vec<Numbered<'a>>,
    pub dropped: Vec<Numbered<'a>>,
}

impl<'a> ConcernLedger<'a> {
    /// A concern that was held from the start keeps its id, so that whoever cited it still means
    /// it; a new one is counted on.
    pub fn of(position: &Position<'a>) -> Self {
        let first = position.first.held();
        let first = first.map(|judgement| judgement.concerns.as_slice()).unwrap_or_default();
        let Some(second) = position.second.held() else {
            let kept = (1..).zip(first).map(|one| called(position, one)).collect();
            return Self { kept, dropped: Vec::new() };
        };
        let mut open: Vec<(usize, &Concern)> = (1..).zip(first).collect();
        let mut unused = first.len() + 1..;
        let mut kept = Vec::new();
        for concern in &second.concerns {
            let same = open.iter().position(|(_, known)| is_same(known, concern));
            let number = same.map(|place| open.remove(place).0).or_else(|| unused.next());
            kept.extend(number.map(|number| called(position, (number, concern))));
        }
        Self { kept, dropped: open.into_iter().map(|one| called(position, one)).collect() }
    }
}

fn called<'a>(position: &Position<'a>, (number, concern): (usize, &'a Concern)) -> Numbered<'a> {
    Numbered { id: concern_id(position.seat, number), number, concern }
}

/// About the same words, or in the same words.
fn is_same(one: &Concern, other: &Concern) -> bool {
    let plain = |text: &str| text.trim().to_lowercase();
    let same = |one: &str, other: &str| !one.trim().is_empty() && plain(one) == plain(other);
    same(&one.locus, &other.locus) || same(&one.issue, &other.issue)
}
