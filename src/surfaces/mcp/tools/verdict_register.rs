//! `blue_dialogue_verdict_register`

use super::tool::{Tool, Work};
use crate::error::to_json_text;
use crate::operations::{self, VerdictRegistered};
use crate::record::verdict::VerdictRequest;
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_verdict_register",
    about: "Record what was decided. `final` closes the dialogue, and is refused while a tension \
        is neither resolved nor accepted or too few agree, unless `forced` with a `warning`.",
    arguments: schema::argument_schema::<VerdictRequest>,
    answer: keys!(VerdictRegistered {
        status,
        dialogue_id,
        verdict_id,
        dialogue_status,
        adopted,
        tensions_resolved,
        warnings,
    }),
    work: Work::Add(|project, arguments| {
        to_json_text(&operations::give_verdict(project, arguments)?)
    }),
};
