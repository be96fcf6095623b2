//! The final concerns about an artifact, each with its lines.

use serde::Serialize;

use crate::domain::gate::{BlockLevel, ReviewArtifact, ReviewConcern, resolve_locus};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::RunState;
use crate::protocols::gate::{
    ConcernIds, FIRST, NumberedConcern, SECOND, SeatResult, list_seat_results,
};

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
    pub concern: ReviewConcern,
    /// `None` if the locus does not occur in the artifact.
    pub line: Option<usize>,
    pub end_line: Option<usize>,
}

impl PlacedConcern {
    pub(super) fn block_kind(&self) -> BlockLevel {
        BlockLevel::from_flags(self.blocking, self.irreducible)
    }
}

pub(super) fn placed_concerns(
    transcript: &RunState,
    artifact: &ReviewArtifact,
) -> Vec<PlacedConcern> {
    list_seat_results(transcript)
        .iter()
        .flat_map(|position| position_concerns(position, artifact))
        .collect()
}

fn position_concerns(position: &SeatResult<'_>, artifact: &ReviewArtifact) -> Vec<PlacedConcern> {
    let Some(held) = position.final_judgement() else { return Vec::new() };
    let round = if position.second.judgement().is_some() { SECOND } else { FIRST };
    let place = |NumberedConcern { id, number, concern }: NumberedConcern<'_>| {
        let lines = resolve_locus(&concern.locus, &artifact.text);
        PlacedConcern {
            id,
            number,
            deliberator: position.seat.clone(),
            round,
            blocking: held.would_block,
            irreducible: held.block_level() == BlockLevel::Irreducible,
            concern: concern.clone(),
            line: lines.map(|lines| lines.start),
            end_line: lines.map(|lines| lines.end),
        }
    };
    ConcernIds::from_results(position).kept.into_iter().map(place).collect()
}
