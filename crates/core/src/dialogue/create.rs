//! `create`: opens a dialogue with its expert pool and suggests the panel of the first round.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dialogue::diagnostics::{Diagnostics, RequestWarning};
use crate::dialogue::panel::draw_panel;
use crate::dialogue::request::{OperationRequest, ReadFields, read_request};
use crate::ethos::requests::{constraints_schema, read_constraints};
use crate::ethos::rule_set::EthosConstraint;
use crate::model::dialogue::{
    DialogueOpening, ExpertProfile, ExpertSource, ExpertTier, ProtocolKind, to_panel_seat,
};
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::journal::JournalEvent;
use crate::model::limits::{EXPERTS_MAX, LINE_CHARS_MAX, SIMILAR_TITLES_MAX, TEXT_CHARS_MAX};
use crate::model::string_enum::word_schema;
use crate::model::text::{default_expert_name, slugify_title};
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError, ValidationErrors};
use crate::protocols::alignment::types::PlannedPool;

/// By default every expert must agree.
const CONVERGENCE_PERCENT_DEFAULT: u8 = 100;

/// Arguments of `create`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct CreateRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub title: String,
    /// The decision to make.
    #[schemars(length(max = TEXT_CHARS_MAX))]
    question: Option<String>,
    /// Facts for every expert: subject, description, constraints {name: requirement}, situation.
    #[schemars(extend("type" = "object"))]
    background: Option<Value>,
    /// All become experts; Plenary draws the panel.
    expert_pool: Option<RequestedPool>,
    /// Experts in round 0 [all].
    #[schemars(range(min = 1, max = EXPERTS_MAX))]
    panel_size: Option<usize>,
    /// Agreement that a final verdict needs [100].
    #[schemars(range(min = 1, max = 100))]
    convergence_percent: Option<u8>,
    /// Folder of prompts and exports.
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub output_dir: Option<String>,
    #[serde(default)]
    calibrated: bool,
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub domain_id: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "constraints_schema")]
    constraints: Value,
    /// The experts of the pool as the caller sent them; the journal keeps them unchanged.
    #[serde(skip)]
    experts_as_given: Value,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(inline, extend("x-item" = "expert_pool"))]
struct RequestedPool {
    #[schemars(length(max = LINE_CHARS_MAX))]
    domain: Option<String>,
    #[schemars(length(max = EXPERTS_MAX))]
    experts: Vec<PoolExpert>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(inline, extend("x-item" = "expert", "x-named-by" = ["slug", "role"]))]
struct PoolExpert {
    #[schemars(length(max = LINE_CHARS_MAX))]
    role: String,
    #[schemars(schema_with = "word_schema::<ExpertTier>")]
    tier: ExpertTier,
    /// 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    relevance: Option<f64>,
    #[schemars(length(max = LINE_CHARS_MAX))]
    focus: Option<String>,
    /// "You …"
    #[schemars(length(max = TEXT_CHARS_MAX))]
    description: Option<String>,
    /// Short name [generated].
    #[schemars(length(max = LINE_CHARS_MAX))]
    slug: Option<ExpertSlug>,
    #[schemars(length(max = LINE_CHARS_MAX), extend("format" = "hex_color"))]
    color: Option<String>,
}

impl PoolExpert {
    fn profile(&self, slug: ExpertSlug) -> ExpertProfile {
        ExpertProfile {
            description: self.description.clone(),
            focus: self.focus.clone(),
            relevance: self.relevance,
            color: self.color.clone(),
            ..ExpertProfile::new(slug, self.role.clone(), self.tier, ExpertSource::Pool)
        }
    }
}

impl OperationRequest for CreateRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        refuse_shared_names(fields, notes);
        let given = fields.given.get("constraints").cloned().unwrap_or_default();
        if let Err(fault) = read_constraints(&given) {
            notes.add_error(fault);
        }
        let is_calibrated = fields.get("calibrated").unwrap_or(false);
        let settings = ["domain_id", "constraints"].into_iter();
        let without = settings.filter(|name| fields.given.has(name) && !is_calibrated);
        for name in without {
            let message = format!("'{name}' needs a calibrated dialogue");
            notes.add_error(
                ValidationError::new(ErrorCode::NotSupported, message)
                    .with_field(name)
                    .with_suggestion("set 'calibrated' to true"),
            );
        }
    }
}

impl CreateRequest {
    #[must_use]
    pub fn with_domain(self, slug: String) -> Self {
        Self { domain_id: Some(slug), ..self }
    }

    /// The constraints with their ids. `validate` refused those that cannot be read.
    fn constraints(&self) -> Vec<EthosConstraint> {
        read_constraints(&self.constraints).unwrap_or_default()
    }
}

/// Rejects duplicate slugs in a pool. Experts with faults of their own are left out.
fn refuse_shared_names(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
    let pool: Value = fields.get("expert_pool").unwrap_or_default();
    let experts = pool.get("experts").and_then(Value::as_array).into_iter().flatten();
    let experts = experts.filter_map(|expert| PoolExpert::deserialize(expert).ok());
    let mut taken = BTreeSet::new();
    for slug in experts.filter_map(|expert| expert.slug) {
        if !taken.insert(slug.clone()) {
            notes.add_error(
                ValidationError::new(
                    ErrorCode::ExpertExists,
                    format!("expert '{slug}' is in the pool twice"),
                )
                .about_item(&ErrorItem::Local {
                    item_type: "expert",
                    local_id: Some(slug.to_string()),
                })
                .with_field("slug")
                .with_value(slug.as_str()),
            );
        }
    }
}

/// Values that `create` gets from outside: id, output folder and random seed.
#[derive(Debug)]
pub struct DialogueNaming {
    pub dialogue_id: DialogueId,
    pub output_dir: String,
    pub seed: u64,
}

/// Result of `decide_create`.
#[derive(Debug)]
pub struct CreateDecision {
    pub changes: Vec<JournalEvent>,
    pub panel: Vec<ExpertProfile>,
    pub warnings: Vec<RequestWarning>,
}

/// Parses the arguments. `convergence` is the project's default for `convergence_percent`.
pub fn parse_create_request(
    arguments: &Value,
    convergence: Option<u8>,
) -> Result<(CreateRequest, Vec<RequestWarning>), ValidationErrors> {
    let (request, warnings) = read_request::<CreateRequest>(arguments)?;
    let request = CreateRequest {
        convergence_percent: request.convergence_percent.or(convergence),
        experts_as_given: arguments.pointer("/expert_pool/experts").cloned().unwrap_or_default(),
        ..request
    };
    Ok((request, warnings))
}

/// Reads a pool as `create` takes it, or its bare list of experts.
pub fn parse_expert_pool(given: &Value) -> Result<PlannedPool, ValidationErrors> {
    let pool = match given {
        Value::Array(experts) => json!({ "experts": experts }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            given.get("expert_pool").unwrap_or(given).clone()
        }
    };
    let arguments = json!({ "title": "pool", "expert_pool": pool });
    let (request, _) = parse_create_request(&arguments, None)?;
    let pool = request.expert_pool.as_ref();
    let experts = pool.map(|pool| assign_slugs(&pool.experts)).unwrap_or_default();
    Ok(PlannedPool {
        domain: pool.and_then(|pool| pool.domain.clone()),
        experts,
        as_given: request.experts_as_given,
    })
}

/// Gives each unnamed expert a free pastry name.
fn assign_slugs(experts: &[PoolExpert]) -> Vec<ExpertProfile> {
    let taken: BTreeSet<&ExpertSlug> =
        experts.iter().filter_map(|expert| expert.slug.as_ref()).collect();
    let free = (0..).filter_map(|nth| default_expert_name(nth).parse().ok());
    let mut free = free.filter(|slug: &ExpertSlug| !taken.contains(slug));
    let named = experts.iter().filter_map(|expert| {
        let slug = expert.slug.clone().or_else(|| free.next())?;
        Some(expert.profile(slug))
    });
    named.collect()
}

/// Candidate ids for a title: `x`, `x-2` … `x-99`.
pub fn candidate_ids(title: &str) -> impl Iterator<Item = DialogueId> {
    let slug = slugify_title(title);
    (1..=SIMILAR_TITLES_MAX).filter_map(move |nth| {
        let id = if nth == 1 { slug.clone() } else { format!("{slug}-{nth}") };
        id.parse().ok()
    })
}

pub fn too_many_similar_titles(title: &str) -> ValidationError {
    let message = format!("Too many dialogues with similar titles ({SIMILAR_TITLES_MAX} already)");
    ValidationError::new(ErrorCode::TooManySimilarTitles, message)
        .with_field("title")
        .with_value(title)
        .with_suggestion("choose a title that differs from the earlier ones")
}

pub fn decide_create(request: &CreateRequest, naming: &DialogueNaming) -> CreateDecision {
    let mut warnings = Vec::new();
    let pool = request.expert_pool.as_ref();
    let profiles = pool.map(|pool| assign_slugs(&pool.experts)).unwrap_or_default();
    let panel = suggest_panel(&profiles, request.panel_size, naming.seed, &mut warnings);
    let drawn = panel.len() < profiles.len();

    let mut changes = vec![JournalEvent::DialogueOpened(DialogueOpening {
        dialogue_id: naming.dialogue_id.clone(),
        title: request.title.clone(),
        question: request.question.clone(),
        background: request.background.clone(),
        protocol: ProtocolKind::Alignment,
        rehearsal: false,
        convergence_percent: request.convergence_percent.unwrap_or(CONVERGENCE_PERCENT_DEFAULT),
        panel_seed: drawn.then(|| format!("{:016x}", naming.seed)),
        output_dir: naming.output_dir.clone(),
        calibrated: request.calibrated,
        domain_id: request.domain_id.clone(),
    })];
    changes.extend(request.constraints().into_iter().map(JournalEvent::ConstraintAdded));
    if let Some(pool) = pool {
        let (domain, experts) = (pool.domain.clone(), request.experts_as_given.clone());
        changes.push(JournalEvent::PoolGiven { domain, experts, panel_reason: None });
        changes.extend(profiles.into_iter().map(JournalEvent::ExpertAdded));
    }
    if !panel.is_empty() {
        changes.push(JournalEvent::PanelSet {
            round: ProtocolKind::Alignment.first_round(),
            seats: panel.iter().map(to_panel_seat).collect(),
        });
    }
    CreateDecision { changes, panel, warnings }
}

/// A pool without a Wildcard has no expert who questions an early consensus.
pub fn warn_without_wildcard(pool: &[ExpertProfile]) -> Option<RequestWarning> {
    let has_none = !pool.is_empty() && pool.iter().all(|one| one.tier != ExpertTier::Wildcard);
    let message = "the pool has no Wildcard expert; add one who questions an early consensus";
    has_none.then(|| RequestWarning::new("no_wildcard", message))
}

fn suggest_panel(
    pool: &[ExpertProfile],
    size: Option<usize>,
    seed: u64,
    warnings: &mut Vec<RequestWarning>,
) -> Vec<ExpertProfile> {
    warnings.extend(warn_without_wildcard(pool));
    match size {
        Some(size) if size < pool.len() => {
            let drawn = draw_panel(pool, size, seed);
            drawn.into_iter().filter_map(|place| pool.get(place).cloned()).collect()
        }
        Some(size) if size > pool.len() => {
            let message = format!("panel_size is {size}, but the pool has {}", pool.len());
            warnings.push(RequestWarning::new("pool_too_small", message));
            pool.to_vec()
        }
        Some(_) | None => pool.to_vec(),
    }
}
