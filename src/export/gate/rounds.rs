//! The two rounds as in the log, with provider and model of each seat.

use serde::Serialize;

use crate::domain::gate::SeatRow;
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::RunState;
use crate::protocols::gate::seat_rows;

/// One deliberator's row in one round.
#[derive(Debug, Serialize)]
pub struct SeatRoundRow {
    #[serde(flatten)]
    pub row: SeatRow,
    pub provider: Option<ExpertSlug>,
    pub model: String,
}

pub(super) fn review_rounds(transcript: &RunState) -> (Vec<SeatRoundRow>, Vec<SeatRoundRow>) {
    let (first, second) = seat_rows(transcript);
    let told =
        |rows: Vec<SeatRow>| rows.into_iter().map(|row| seat_round_row(transcript, row)).collect();
    (told(first), told(second))
}

fn seat_round_row(transcript: &RunState, row: SeatRow) -> SeatRoundRow {
    let seat = row.deliberator().parse().ok().and_then(|name| transcript.plan.find_seat(&name));
    SeatRoundRow {
        provider: seat.map(|seat| seat.provider.clone()),
        model: seat.map(|seat| seat.model.clone()).unwrap_or_default(),
        row,
    }
}
