//! `blue_dialogue_evolve_panel`

use schemars::JsonSchema;

use super::tool::{Tool, Work};
use crate::domain::expert::SeatSource;
use crate::error::document_text;
use crate::operations::{self, PanelEvolved};
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_evolve_panel",
    about: "Say who sits in the next round: keep experts, draw from the pool, seat those you \
        created. Without it the last panel stays.",
    arguments: schema::arguments::<Arguments>,
    answer: keys!(PanelEvolved { status, round, panel, warnings }),
    work: Work::Add(|project, arguments| {
        document_text(&operations::evolve_panel(project, arguments)?)
    }),
};

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Arguments {
    dialogue_id: String,
    round: u8,
    panel: Vec<Seat>,
}

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Seat {
    expert_slug: String,
    #[schemars(schema_with = "schema::word::<SeatSource>")]
    source: SeatSource,
    /// What this expert should attend to; one is computed.
    round_context: Option<String>,
    mandate: Option<String>,
}
