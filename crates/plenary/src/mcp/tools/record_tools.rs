//! The tools for records that only call an operation: eight of the `blue_dialogue_…` tools.

use plenary_core::dialogue::create::CreateRequest;
use plenary_core::dialogue::expert::ExpertRequest;
use plenary_core::dialogue::panel::PanelRequest;
use plenary_core::dialogue::progress::DialogueProgress;
use plenary_core::dialogue::verdict::parse::VerdictRequest;
use plenary_engine::app::dialogues::{
    CreateResult, ExpertResult, PanelResult, create_dialogue, create_expert, evolve_panel,
};
use plenary_engine::app::export_record::{ExportRequest, ExportResult, export_record};
use plenary_engine::app::queries::{SearchRequest, search_store};
use plenary_engine::app::round_context::{ContextRequest, read_context};
use plenary_engine::app::rounds::{
    ProgressRequest, VerdictRegistered, give_verdict, read_progress,
};
use plenary_engine::error::to_json_text;
use plenary_engine::files::allowed_file::WritePermission;

use crate::mcp::schema::{argument_schema, keys};
use crate::mcp::tools::tool::{Tool, Work};

pub(crate) const CREATE_TOOL: Tool = Tool {
    name: "blue_dialogue_create",
    about: "Start an alignment dialogue that you lead as its Judge: experts argue in rounds, and \
        everything they say gets an id. Returns the dialogue's id, the panel for round 0 and \
        `judge_protocol`: read it, it says what to do next.",
    arguments: argument_schema::<CreateRequest>,
    answer: keys!(CreateResult {
        status,
        dialogue_id,
        output_dir,
        panel,
        judge_protocol,
        warnings
    }),
    work: Work::Open(|project, arguments| to_json_text(&create_dialogue(project, arguments)?)),
};

pub(crate) const EVOLVE_PANEL_TOOL: Tool = Tool {
    name: "blue_dialogue_evolve_panel",
    about: "Say who sits in the next round: keep experts, draw from the pool, seat those you \
        created. Without it the last panel stays.",
    arguments: argument_schema::<PanelRequest>,
    answer: keys!(PanelResult { status, round, panel, warnings }),
    work: Work::Add(|project, arguments| to_json_text(&evolve_panel(project, arguments)?)),
};

pub(crate) const ROUND_CONTEXT_TOOL: Tool = Tool {
    name: "blue_dialogue_round_context",
    about: "Everything the panel of a round may read, for all its experts at once: background, \
        all that was said before, open tensions, and each expert's own part. Build a prompt for \
        each expert from it, or let `render` write them.",
    arguments: argument_schema::<ContextRequest>,
    answer: &["dialogue", "prior_rounds", "active_tensions", "experts", "prompts", "warnings"],
    // Rendering writes files.
    work: Work::Add(|project, arguments| read_context(project, arguments, WritePermission::Remote)),
};

pub(crate) const EXPERT_CREATE_TOOL: Tool = Tool {
    name: "blue_dialogue_expert_create",
    about: "Create an expert mid-dialogue, when nobody on the panel can settle a tension. Then \
        seat it with blue_dialogue_evolve_panel.",
    arguments: argument_schema::<ExpertRequest>,
    answer: keys!(ExpertResult { status, expert, warnings }),
    work: Work::Add(|project, arguments| to_json_text(&create_expert(project, arguments)?)),
};

pub(crate) const PROGRESS_TOOL: Tool = Tool {
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

pub(crate) const VERDICT_REGISTER_TOOL: Tool = Tool {
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

pub(crate) const EXPORT_TOOL: Tool = Tool {
    name: "blue_dialogue_export",
    about: "Write a whole record to a file, over an earlier one: JSON, or Markdown for people. \
        Returns its path.",
    arguments: argument_schema::<ExportRequest>,
    answer: keys!(ExportResult { status, path, stats, warnings }),
    work: Work::Replace(|project, arguments| {
        to_json_text(&export_record(project, arguments, WritePermission::Remote)?)
    }),
};

pub(crate) const SEARCH_TOOL: Tool = Tool {
    name: "blue_dialogue_search",
    about: "Look things up in all records. cite: what ids mean, with references both ways. \
        similar: earlier dialogues on a subject. stats: counts. list: dialogues, a page at a time.",
    arguments: argument_schema::<SearchRequest>,
    // Which of them are there depends on the op.
    answer: &[
        "status",
        "citations",
        "errors",
        "results",
        "dialogues",
        "next",
        "by_status",
        "by_protocol",
        "by_terminal_state",
        "entities",
        "averages",
        "top_experts",
        "warnings",
    ],
    work: Work::Look(|project, arguments| to_json_text(&search_store(project, arguments)?)),
};
