//! `blue_dialogue_evolve_panel`

use super::tool::{Tool, Work};
use crate::error::to_json_text;
use crate::operations::{self, PanelResult};
use crate::record::panel::PanelRequest;
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_evolve_panel",
    about: "Say who sits in the next round: keep experts, draw from the pool, seat those you \
        created. Without it the last panel stays.",
    arguments: schema::argument_schema::<PanelRequest>,
    answer: keys!(PanelResult { status, round, panel, warnings }),
    work: Work::Add(|project, arguments| {
        to_json_text(&operations::evolve_panel(project, arguments)?)
    }),
};
