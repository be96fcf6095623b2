//! `blue_dialogue_progress`

use super::tool::{Tool, Work};
use crate::error::to_json_text;
use crate::operations::{self, ProgressRequest};
use crate::record::convergence::DialogueProgress;
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_progress",
    about: "Where a dialogue stands: score, velocity, open tensions, whether it converges.",
    arguments: schema::argument_schema::<ProgressRequest>,
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
    work: Work::Look(|project, arguments| {
        to_json_text(&operations::read_progress(project, arguments)?)
    }),
};
