//! `blue_dialogue_create`

use schemars::JsonSchema;
use serde_json::Value;

use super::tool::{Tool, Work};
use crate::domain::expert::Tier;
use crate::error::document_text;
use crate::operations::{self, Created};
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_create",
    about: "Start an alignment dialogue that you lead as its Judge: experts argue in rounds, and \
        everything they say gets an id. Returns the dialogue's id, the panel for round 0 and \
        `judge_protocol`: read it, it says what to do next.",
    arguments: schema::arguments::<Arguments>,
    answer: keys!(Created { status, dialogue_id, output_dir, panel, judge_protocol, warnings }),
    work: Work::Open(|project, arguments| document_text(&operations::create(project, arguments)?)),
};

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Arguments {
    title: String,
    /// What is to be decided.
    question: Option<String>,
    /// What every expert must know: subject, description, constraints {name: requirement}, situation.
    #[schemars(extend("type" = "object"))]
    background: Option<Value>,
    /// Who may be called. All become experts; the panel is drawn from them.
    expert_pool: Option<Pool>,
    /// How many sit in round 0 [all].
    panel_size: Option<u8>,
    /// Agreement that a final verdict needs [100].
    convergence_percent: Option<u8>,
    /// Where prompts and exports go.
    output_dir: Option<String>,
}

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Pool {
    domain: Option<String>,
    experts: Vec<Expert>,
}

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Expert {
    role: String,
    #[schemars(schema_with = "schema::word::<Tier>")]
    tier: Tier,
    /// 0 to 1.
    relevance: Option<f64>,
    focus: Option<String>,
    /// "You …"
    description: Option<String>,
    /// Short name; one is given.
    slug: Option<String>,
    color: Option<String>,
}
