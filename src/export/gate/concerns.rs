//! The final concerns about an artifact, each with its lines.

use serde::Serialize;

use crate::domain::gate::{Artifact, Block, Concern, resolve};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::Transcript;
use crate::protocols::gate::{ConcernLedger, FIRST, Numbered, Position, SECOND, positions};

/// A concern with its location in the artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedConcern {
    /// The id by which other deliberators cite it.
    pub id: String,
    /// Its number among its deliberator's concerns. In JSON it is part of the id.
    #[serde(skip)]
    pub number: usize,
    pub deliberator: ExpertSlug,
    /// The round of the judgement that counts.
    pub round: u8,
    /// Whether its deliberator blocks, and whether the block is irreducible.
    pub blocking: bool,
    pub irreducible: bool,
    #[serde(flatten)]
    pub concern: Concern,
    /// `None` if the locus does not occur in the artifact.
    pub line: Option<usize>,
    pub end_line: Option<usize>,
}

impl PlacedConcern {
    pub(super) fn block(&self) -> Block {
        Block::written(self.blocking, self.irreducible)
    }
}

pub(super) fn placed(transcript: &Transcript, artifact: &Artifact) -> Vec<PlacedConcern> {
    positions(transcript).iter().flat_map(|position| of_position(position, artifact)).collect()
}

fn of_position(position: &Position<'_>, artifact: &Artifact) -> Vec<PlacedConcern> {
    let Some(held) = position.held() else { return Vec::new() };
    let round = if position.second.held().is_some() { SECOND } else { FIRST };
    let place = |Numbered { id, number, concern }: Numbered<'_>| {
        let lines = resolve(&concern.locus, &artifact.text);
        PlacedConcern {
            id,
            number,
            deliberator: position.seat.clone(),
            round,
            blocking: held.would_block,
            irreducible: held.block() == Block::Irreducible,
            concern: concern.clone(),
            line: lines.map(|lines| lines.start),
            end_line: lines.map(|lines| lines.end),
        }
    };
    ConcernLedger::of(position).kept.into_iter().map(place).collect()
}
