//! `blue_dialogue_evolve_panel`

use super::tool::{Tool, Work};
use crate::error::document_text;
use crate::operations::{self, PanelEvolved};
use crate::record::panel::PanelRequest;
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_evolve_panel",
    about: "Say who sits in the next round: keep experts, draw from the pool, seat those you \
        created. Without it the last panel stays.",
    arguments: schema::arguments::<PanelRequest>,
    answer: keys!(PanelEvolved { status, round, panel, warnings }),
    work: Work::Add(|project, arguments| {
        document_text(&operations::evolve_panel(project, arguments)?)
    }),
};
