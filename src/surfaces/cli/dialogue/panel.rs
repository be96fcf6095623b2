//! `dialogue panel`.

use clap::Args;
use serde_json::{Value, json};

use super::super::session::{Done, Session};
use super::super::table::Table;
use super::command::{Data, warn};
use crate::error::Error;
use crate::operations::{self, PanelEvolved};

/// Record who sits at the table in the next round
///
/// Without a recorded panel a round has the last one, retained.
#[derive(Debug, Args)]
pub(crate) struct Panel {
    /// The dialogue.
    id: Option<String>,
    /// The round this panel is for; it must be the next one.
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    /// An expert and how they came: muffin:retained, eclair:pool, palmier:created. May be repeated.
    #[arg(long = "seat", value_name = "EXPERT:SOURCE")]
    seats: Vec<String>,
    #[command(flatten)]
    data: Data,
}

impl Panel {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let seats: Vec<Value> = self.seats.iter().map(|seat| seat_of(seat)).collect();
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.id)
            .with("round", self.round)
            .with("panel", (!seats.is_empty()).then_some(seats));
        let evolved = operations::evolve_panel(&session.for_existing()?, arguments.value())?;
        let width = session.ui.table_width();
        session.ui.answer(&evolved, |evolved| text(evolved, width))?;
        warn(session.ui, &evolved.warnings);
        Ok(Done::Well)
    }
}

/// Someone whose source is not said has been there before.
fn seat_of(seat: &str) -> Value {
    let (expert, source) = seat.split_once(':').unwrap_or((seat, "retained"));
    json!({ "expert_slug": expert, "source": source })
}

fn text(evolved: &PanelEvolved, width: usize) -> String {
    let mut table = Table::new(&["EXPERT", "SOURCE", "TIER", "ROLE"]);
    for seat in &evolved.panel {
        table.row([seat.expert_slug.as_str(), seat.source.name(), seat.tier.name(), &seat.role]);
    }
    format!("Panel of round {}\n\n{}", evolved.round, table.draw(width))
}
