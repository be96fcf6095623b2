//! The arguments of `blue_dialogue_round_register`, as clients see them.

use std::collections::BTreeMap;

use plenary_core::model::entity::{MoveType, ReferenceType};
use plenary_core::model::ids::EntityKind;
use plenary_core::model::string_enum::word_schema;
use schemars::JsonSchema;
use serde_json::Value;

// The only operation that reads its arguments by hand (`record/register/read/`): faults found in the
// record are reported together with those of the batch, so a faulty batch is read as far as possible.
#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
pub(crate) struct RegisterArguments {
    dialogue_id: String,
    #[schemars(extend("type" = "object"))]
    batch: Option<Value>,
    round: Option<u8>,
    /// The sum of the experts' scores.
    score: i64,
    title: Option<String>,
    /// Your synthesis.
    summary: Option<String>,
    /// By slug.
    expert_scores: Option<BTreeMap<String, i64>>,
    #[schemars(extend("type" = "object"))]
    score_components: Option<Value>,
    /// Replies, by slug.
    raw_content: Option<BTreeMap<String, String>>,
    perspectives: Option<Vec<Item>>,
    recommendations: Option<Vec<Recommendation>>,
    tensions: Option<Vec<Tension>>,
    evidence: Option<Vec<Item>>,
    claims: Option<Vec<Item>>,
    /// References outside the items.
    refs: Option<Vec<LooseReference>>,
    moves: Option<Vec<Move>>,
    tension_updates: Option<Vec<Update>>,
    updates: Option<Vec<Update>>,
    /// Slugs of the experts who are ready to conclude.
    converge: Option<Vec<String>>,
}

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Item {
    local_id: String,
    label: String,
    content: String,
    /// Slugs.
    contributors: Option<Vec<String>>,
    references: Option<Vec<Reference>>,
}

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
#[schemars(inline)]
struct Recommendation {
    local_id: String,
    label: String,
    content: String,
    contributors: Option<Vec<String>>,
    #[schemars(extend("type" = "object"))]
    parameters: Option<Value>,
    references: Option<Vec<Reference>>,
}

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
#[schemars(inline)]
struct Tension {
    local_id: String,
    label: String,
    description: String,
    contributors: Option<Vec<String>>,
    references: Option<Vec<Reference>>,
}

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Reference {
    r#type: RefKind,
    /// P0001, MUFFIN-P0101 or @muffin.
    target: String,
}

// The short name stands in the schema, which every conversation pays for.
#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct RefKind(#[schemars(schema_with = "word_schema::<ReferenceType>")] ReferenceType);

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
#[schemars(inline)]
struct LooseReference {
    source_id: String,
    ref_type: RefKind,
    target_id: String,
    #[schemars(schema_with = "word_schema::<EntityKind>", default)]
    source_type: Option<EntityKind>,
    #[schemars(schema_with = "word_schema::<EntityKind>", default)]
    target_type: Option<EntityKind>,
}

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
#[schemars(inline)]
struct Move {
    expert: String,
    #[schemars(schema_with = "word_schema::<MoveType>")]
    r#type: MoveType,
    target: Option<String>,
    targets: Option<Vec<String>>,
    /// The topic of a request.
    context: Option<String>,
}

#[expect(dead_code, reason = "describes what the operation reads")]
#[derive(JsonSchema)]
struct Update {
    id: String,
    /// Tensions: addressed, resolved, reopened.
    status: String,
    /// Slugs, or judge.
    by: Vec<String>,
    via: Option<String>,
    reason: Option<String>,
}
