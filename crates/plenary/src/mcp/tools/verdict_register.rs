//! `blue_dialogue_verdict_register`

use plenary_core::dialogue::verdict::parse::VerdictRequest;
use plenary_engine::app::rounds::{VerdictRegistered, give_verdict};
use plenary_engine::error::to_json_text;

use crate::mcp::schema::{argument_schema, keys};
use crate::mcp::tools::tool::{Tool, Work};

pub(crate) const TOOL: Tool = Tool {
    name: "blue_dialogue_verdict_register",
    about: "Record what was decided. `final` closes the dialogue, and is refused while a tension \
        is neither resolved nor accepted or too few agree, unless `forced` with a `warning`.",
    arguments: argument_schema::<VerdictRequest>,
    answer: keys!(VerdictRegistered {
        status,
        dialogue_id,
        verdict_id,
        dialogue_status,
        adopted,
        tensions_resolved,
        warnings,
    }),
    work: Work::Add(|project, arguments| to_json_text(&give_verdict(project, arguments)?)),
};
