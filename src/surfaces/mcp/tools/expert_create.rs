//! `blue_dialogue_expert_create`

use schemars::JsonSchema;

use super::tool::{Tool, Work};
use crate::domain::expert::Tier;
use crate::error::document_text;
use crate::operations::{self, ExpertCreated};
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_expert_create",
    about: "Create an expert mid-dialogue, when nobody on the panel can settle a tension. Then \
        seat it with blue_dialogue_evolve_panel.",
    arguments: schema::arguments::<Arguments>,
    answer: keys!(ExpertCreated { status, expert, warnings }),
    work: Work::Add(|project, arguments| {
        document_text(&operations::create_expert(project, arguments)?)
    }),
};

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Arguments {
    dialogue_id: String,
    /// Short name: [a-z][a-z0-9_-]{0,31}
    expert_slug: String,
    role: String,
    #[schemars(schema_with = "schema::word::<Tier>")]
    tier: Tier,
    /// Why it is needed; name the tension.
    reason: String,
    description: Option<String>,
    focus: Option<String>,
    relevance: Option<f64>,
    color: Option<String>,
    mandate: Option<String>,
    first_round: Option<u8>,
}
