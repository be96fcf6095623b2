//! `blue_dialogue_progress`

use super::tool::{Tool, Work};
use crate::error::document_text;
use crate::operations::{self, ProgressRequest};
use crate::record::convergence::Progress;
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_progress",
    about: "Where a dialogue stands: score, velocity, open tensions, whether it converges.",
    arguments: schema::arguments::<ProgressRequest>,
    answer: keys!(Progress {
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
        document_text(&operations::progress(project, arguments)?)
    }),
};
