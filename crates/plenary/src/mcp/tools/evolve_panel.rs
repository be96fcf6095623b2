//! `blue_dialogue_evolve_panel`

use plenary_core::dialogue::panel::PanelRequest;
use plenary_engine::app::dialogues::{PanelResult, evolve_panel};
use plenary_engine::error::to_json_text;

use crate::mcp::schema::{argument_schema, keys};
use crate::mcp::tools::tool::{Tool, Work};

pub(crate) const TOOL: Tool = Tool {
    name: "blue_dialogue_evolve_panel",
    about: "Say who sits in the next round: keep experts, draw from the pool, seat those you \
        created. Without it the last panel stays.",
    arguments: argument_schema::<PanelRequest>,
    answer: keys!(PanelResult { status, round, panel, warnings }),
    work: Work::Add(|project, arguments| to_json_text(&evolve_panel(project, arguments)?)),
};
