//! `blue_dialogue_progress`

use plenary_core::dialogue::progress::DialogueProgress;
use plenary_engine::app::rounds::{ProgressRequest, read_progress};
use plenary_engine::error::to_json_text;

use crate::mcp::schema::{argument_schema, keys};
use crate::mcp::tools::tool::{Tool, Work};

pub(crate) const TOOL: Tool = Tool {
    name: "blue_dialogue_progress",
    about: "Where a dialogue stands: score, velocity, open tensions, whether it converges.",
    arguments: argument_schema::<ProgressRequest>,
    answer: keys!(DialogueProgress {
        dialogue_id,
        status,
        round,
        score,
        total_alignment,
        velocity,
        work_remaining,
        open_tensions,
        new_perspectives,
        converge_percent,
        converging,
        leaderboard,
        estimated_rounds_remaining,
        warnings,
    }),
    work: Work::Look(|project, arguments| to_json_text(&read_progress(project, arguments)?)),
};
