//! `blue_dialogue_verdict_register`

use schemars::JsonSchema;

use super::tool::{Tool, Work};
use crate::domain::verdict::{Confidence, VerdictType};
use crate::error::document_text;
use crate::operations::{self, VerdictRegistered};
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_verdict_register",
    about: "Record what was decided. `final` closes the dialogue, and is refused while a tension \
        is neither resolved nor accepted or too few agree, unless `forced` with a `warning`.",
    arguments: schema::arguments::<Arguments>,
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
        document_text(&operations::give_verdict(project, arguments)?)
    }),
};

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Arguments {
    dialogue_id: String,
    /// final, V01, minority-esg …
    verdict_id: String,
    #[schemars(schema_with = "schema::word::<VerdictType>")]
    verdict_type: VerdictType,
    round: Option<u8>,
    /// A slug; null: the Judge.
    #[schemars(schema_with = "schema::text_or_null", default)]
    author_expert: Option<String>,
    recommendation: String,
    description: String,
    conditions: Option<Vec<String>>,
    /// 12-0, 10-1-1 or unanimous.
    vote: Option<String>,
    #[schemars(schema_with = "schema::word::<Confidence>", default)]
    confidence: Option<Confidence>,
    tensions_resolved: Option<Vec<String>>,
    tensions_accepted: Option<Vec<String>>,
    recommendations_adopted: Option<Vec<String>>,
    key_evidence: Option<Vec<String>>,
    key_claims: Option<Vec<String>>,
    /// Whose a minority verdict is.
    supporting_experts: Option<Vec<String>>,
    forced: Option<bool>,
    warning: Option<String>,
}
