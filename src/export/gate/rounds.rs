//! The two rounds as in the log, with provider and model of each seat.

use serde::Serialize;

use crate::domain::gate::SeatRow;
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::Transcript;
use crate::protocols::gate::seat_rows;

/// One deliberator's row in one round.
#[derive(Debug, Serialize)]
pub struct SeatSaid {
    #[serde(flatten)]
    pub row: SeatRow,
    pub provider: Option<ExpertSlug>,
    pub model: String,
}

pub(super) fn rounds(transcript: &Transcript) -> (Vec<SeatSaid>, Vec<SeatSaid>) {
    let (first, second) = seat_rows(transcript);
    let told = |rows: Vec<SeatRow>| rows.into_iter().map(|row| said(transcript, row)).collect();
    (told(first), told(second))
}

fn said(transcript: &Transcript, row: SeatRow) -> SeatSaid {
    let seat = row.deliberator().parse().ok().and_then(|name| transcript.plan.seat(&name));
    SeatSaid {
        provider: seat.map(|seat| seat.provider.clone()),
        model: seat.map(|seat| seat.model.clone()).unwrap_or_default(),
        row,
    }
}
