//! Seats of the rehearsal panel.

use crate::domain::ask::TransportKind;
use crate::domain::plan::{SeatRole, TokenPrice};
use crate::providers::Provider;

use super::temper::SeatTemper;

pub(super) const MODEL: &str = "rehearsal-1";
const OUTPUT_TOKENS_MAX: u32 = 2_000;

/// Three seats; the first chairs, and the others can replace it.
pub fn rehearsal_panel() -> Vec<Provider> {
    SeatTemper::ALL.iter().filter_map(|temper| rehearsal_seat(*temper)).collect()
}

fn rehearsal_seat(temper: SeatTemper) -> Option<Provider> {
    let price = TokenPrice {
        input_per_mtok: 0.0,
        output_per_mtok: 0.0,
        source: TransportKind::Rehearsal.name().to_owned(),
    };
    Some(Provider {
        name: temper.name().parse().ok()?,
        roles: vec![SeatRole::Participant, SeatRole::Chair],
        model: MODEL.to_owned(),
        family: "rehearsal".to_owned(),
        version: None,
        transports: vec![TransportKind::Rehearsal],
        dialect: None,
        base_url: None,
        key_variable: None,
        key: None,
        command: Vec::new(),
        mcp: None,
        price: Some(price),
        output_tokens_max: OUTPUT_TOKENS_MAX,
        temperature: None,
        timeouts: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_seats_sit_at_the_table_and_cost_nothing() {
        let panel = rehearsal_panel();
        let names: Vec<&str> = panel.iter().map(|seat| seat.name.as_str()).collect();
        assert_eq!(names, ["optimist", "skeptic", "pragmatist"]);
        for seat in panel {
            assert_eq!(seat.roles, SeatRole::ALL);
            assert_eq!(seat.transports, [TransportKind::Rehearsal]);
            let price = seat.price.unwrap();
            assert_eq!(price.input_per_mtok + price.output_per_mtok, 0.0);
        }
    }
}
