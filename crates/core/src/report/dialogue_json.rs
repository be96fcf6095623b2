//! The seed's `dialogue.json`: the whole record as one JSON document, with the part that comes from
//! its run or from imported verdicts; and how an export is recognised.
//!
//! These structs are a public contract. They borrow from the record to make the export cheap.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::dialogue::diagnostics::RequestWarning;
use crate::ethos::compliance::EthosCompliance;
use crate::model::dialogue::{
    DialogueStatus, ExpertSource, ExpertTier, PanelSeat, ProtocolKind, TerminalState,
};
use crate::model::entity::{Entity, EntityEvent, EntityReference, ExpertMove, ReferenceType};
use crate::model::ids::{DialogueId, EntityId, ExpertSlug, LocalId, VerdictId};
use crate::model::lifecycle::EntityStatus;
use crate::model::record::{DialogueRecord, Expert, RecordedVerdict, RoundRecord};
use crate::model::time::Moment;
use crate::model::verdict::{VerdictConfidence, VerdictType, VoteTally};
use crate::protocols::alignment::state::acceptance_of;
use crate::protocols::conclusion::document::ConclusionExport;
use crate::report::calibration_export::{CalibrationExport, calibration_export};
use crate::report::dialogue_facts::{
    ActionsByExpert, ExpertAction, expert_actions, record_warnings, reference_targets,
    related_perspectives,
};
use crate::report::html::{HTML_GENERATOR, HTML_LAST_LINE};
use crate::report::scoreboard::{DialogueScoreboard, record_scoreboard};

#[derive(Debug, Serialize)]
pub struct DialogueDocument<'a> {
    id: &'a DialogueId,
    title: &'a str,
    question: Option<&'a str>,
    date: String,
    status: DialogueStatus,
    protocol: ProtocolKind,
    rehearsal: bool,
    #[serde(rename = "terminalState")]
    terminal_state: Option<TerminalState>,
    #[serde(rename = "totalRounds")]
    total_rounds: u8,
    #[serde(rename = "totalAlignment")]
    total_alignment: i64,
    #[serde(rename = "convergencePercent")]
    convergence_percent: u8,
    #[serde(rename = "closedBecause", skip_serializing_if = "Option::is_none")]
    closed_because: Option<&'a str>,
    created_at: Moment,
    background: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<CalibrationExport>,
    #[serde(flatten)]
    ending: ConclusionExport<'a>,
    expert_pool: Option<PoolSection<'a>>,
    experts: Vec<ExpertSection<'a>>,
    rounds: Vec<RoundSection<'a>>,
    perspectives: Vec<EntitySection<'a>>,
    recommendations: Vec<EntitySection<'a>>,
    tensions: Vec<EntitySection<'a>>,
    evidence: Vec<EntitySection<'a>>,
    claims: Vec<EntitySection<'a>>,
    moves: Vec<MoveSection<'a>>,
    verdicts: Vec<VerdictSection<'a>>,
    /// Only for alignment dialogues.
    #[serde(skip_serializing_if = "Option::is_none")]
    scoreboard: Option<DialogueScoreboard>,
    pub warnings: Vec<RequestWarning>,
    #[serde(rename = "headHash")]
    head_hash: &'a str,
}

#[derive(Debug, Serialize)]
struct PoolSection<'a> {
    domain: Option<&'a str>,
    experts: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    panel_reason: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct ExpertSection<'a> {
    slug: &'a ExpertSlug,
    role: &'a str,
    tier: ExpertTier,
    source: ExpertSource,
    #[serde(rename = "creationReason", skip_serializing_if = "Option::is_none")]
    creation_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    focus: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<f64>,
    #[serde(rename = "firstRound")]
    first_round: Option<u8>,
    scores: &'a BTreeMap<u8, i64>,
    total: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct RoundSection<'a> {
    round: u8,
    title: Option<&'a str>,
    score: i64,
    summary: Option<&'a str>,
    panel: Vec<PanelSeat>,
    #[serde(serialize_with = "by_slug")]
    experts: Vec<(&'a ExpertSlug, ExpertPart<'a>)>,
    created_at: Moment,
}

/// An expert's part in a round.
#[derive(Debug, Serialize)]
struct ExpertPart<'a> {
    score: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<&'a str>,
    #[serde(serialize_with = "by_local_id")]
    mapping: Vec<(&'a LocalId, EntityId)>,
    actions: Vec<ExpertAction<'a>>,
}

fn by_slug<S: Serializer>(
    parts: &[(&ExpertSlug, ExpertPart<'_>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().map(|(slug, part)| (slug, part)))
}

fn by_local_id<S: Serializer>(
    mapping: &[(&LocalId, EntityId)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(mapping.iter().map(|(local, global)| (local, global)))
}

#[derive(Debug, Serialize)]
struct EntitySection<'a> {
    id: EntityId,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    contributors: &'a [ExpertSlug],
    round: u8,
    status: EntityStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a Value>,
    references: &'a [EntityReference],
    #[serde(rename = "adoptedInVerdict", skip_serializing_if = "Option::is_none")]
    adopted_in_verdict: Option<&'a VerdictId>,
    events: &'a [EntityEvent],
    #[serde(flatten)]
    derived: DerivedLinks,
    created_at: Moment,
}

/// Fields derived from references, under the seed's names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum DerivedLinks {
    Perspective {},
    Tension {
        #[serde(rename = "relatedPerspectives")]
        related_perspectives: Vec<EntityId>,
        /// The expert whose seat owns it in the newest panel.
        #[serde(skip_serializing_if = "Option::is_none")]
        owner: Option<ExpertSlug>,
        #[serde(rename = "acceptedBecause", skip_serializing_if = "Option::is_none")]
        accepted_because: Option<String>,
    },
    Recommendation {
        addresses_tensions: Vec<EntityId>,
        builds_on: Vec<EntityId>,
    },
    Evidence {
        supports: Vec<EntityId>,
    },
    Claim {
        depends_on: Vec<EntityId>,
    },
}

#[derive(Debug, Serialize)]
struct MoveSection<'a> {
    expert: &'a ExpertSlug,
    round: u8,
    #[serde(rename = "type")]
    move_type: &'static str,
    targets: &'a [EntityId],
    context: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VerdictSection<'a> {
    id: &'a VerdictId,
    #[serde(rename = "type")]
    verdict_type: VerdictType,
    round: u8,
    author: Option<&'a ExpertSlug>,
    recommendation: &'a str,
    description: &'a str,
    conditions: &'a [String],
    tensions_resolved: &'a [EntityId],
    tensions_accepted: &'a [EntityId],
    recommendations_adopted: &'a [EntityId],
    key_evidence: &'a [EntityId],
    key_claims: &'a [EntityId],
    #[serde(skip_serializing_if = "Option::is_none")]
    supporting_experts: Option<&'a [ExpertSlug]>,
    vote: Option<VoteTally>,
    confidence: Option<VerdictConfidence>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    forced: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'a str>,
    #[serde(rename = "ethos_compliance", skip_serializing_if = "Option::is_none")]
    ethos_compliance: Option<&'a EthosCompliance>,
    #[serde(rename = "created_at")]
    created_at: Moment,
}

/// The whole record as one document.
pub fn dialogue_document(record: &DialogueRecord) -> DialogueDocument<'_> {
    let (dialogue, opening) = (&record.dialogue, &record.dialogue.opening);
    let related = related_perspectives(record);
    let concluded = record.conclusion.as_ref();
    DialogueDocument {
        id: &opening.dialogue_id,
        title: &opening.title,
        question: opening.question.as_deref(),
        date: dialogue.created_at.utc_day().to_string(),
        status: dialogue.status,
        protocol: opening.protocol,
        rehearsal: opening.rehearsal,
        terminal_state: dialogue
            .terminal_state
            .or(concluded.and_then(|concluded| concluded.ending.terminal_state)),
        total_rounds: dialogue.total_rounds,
        total_alignment: dialogue.total_alignment,
        convergence_percent: opening.convergence_percent,
        closed_because: dialogue.closed_because.as_deref(),
        created_at: dialogue.created_at,
        background: opening.background.as_ref(),
        calibration: calibration_export(record),
        ending: ConclusionExport::from_concluded(concluded),
        expert_pool: record.pool.as_ref().map(|pool| PoolSection {
            domain: pool.domain.as_deref(),
            experts: &pool.experts,
            panel_reason: pool.panel_reason.as_deref(),
        }),
        experts: record.experts.iter().map(expert_section).collect(),
        rounds: round_sections(record),
        perspectives: entity_sections(&record.perspectives, |_| DerivedLinks::Perspective {}),
        recommendations: entity_sections(&record.recommendations, |entity| {
            DerivedLinks::Recommendation {
                addresses_tensions: reference_targets(
                    entity,
                    &[ReferenceType::Address, ReferenceType::Resolve],
                )
                .collect(),
                builds_on: reference_targets(
                    entity,
                    &[ReferenceType::Refine, ReferenceType::Depend],
                )
                .collect(),
            }
        }),
        tensions: entity_sections(&record.tensions, |entity| DerivedLinks::Tension {
            related_perspectives: related.get(&entity.id).into_iter().flatten().copied().collect(),
            owner: record.owner_of(entity.id).cloned(),
            accepted_because: acceptance_of(&entity.events).map(str::to_owned),
        }),
        evidence: entity_sections(&record.evidence, |entity| DerivedLinks::Evidence {
            supports: reference_targets(entity, &[ReferenceType::Support]).collect(),
        }),
        claims: entity_sections(&record.claims, |entity| DerivedLinks::Claim {
            depends_on: reference_targets(entity, &[ReferenceType::Depend]).collect(),
        }),
        moves: record.moves.iter().map(move_section).collect(),
        verdicts: record.verdicts.iter().map(verdict_section).collect(),
        scoreboard: record_scoreboard(record),
        warnings: record_warnings(record),
        head_hash: &record.head,
    }
}

fn expert_section(expert: &Expert) -> ExpertSection<'_> {
    let profile = &expert.profile;
    ExpertSection {
        slug: &profile.expert_slug,
        role: &profile.role,
        tier: profile.tier,
        source: profile.source,
        creation_reason: profile.creation_reason.as_deref(),
        focus: profile.focus.as_deref(),
        description: profile.description.as_deref(),
        mandate: profile.mandate.as_deref(),
        relevance: profile.relevance,
        first_round: profile.first_round,
        scores: &expert.scores,
        total: expert.total,
        color: profile.color.as_deref(),
    }
}

fn round_sections(record: &DialogueRecord) -> Vec<RoundSection<'_>> {
    let mut actions = expert_actions(record);
    let mut mapping: BTreeMap<(u8, &ExpertSlug), Vec<(&LocalId, EntityId)>> = BTreeMap::new();
    for (local, global) in &record.local_ids {
        mapping.entry((local.round, &local.expert)).or_default().push((local, *global));
    }
    record
        .rounds
        .iter()
        .map(|held| round_section(record, held, &mut actions, &mut mapping))
        .collect()
}

fn round_section<'a>(
    record: &'a DialogueRecord,
    held: &'a RoundRecord,
    actions: &mut ActionsByExpert<'a>,
    mapping: &mut BTreeMap<(u8, &'a ExpertSlug), Vec<(&'a LocalId, EntityId)>>,
) -> RoundSection<'a> {
    let panel = record.panel_of(held.round);
    let parts = record.experts.iter().filter_map(|expert| {
        let slug = &expert.profile.expert_slug;
        let part = ExpertPart {
            score: expert.scores.get(&held.round).copied(),
            raw: expert.replies.get(&held.round).map(String::as_str),
            mapping: mapping.remove(&(held.round, slug)).unwrap_or_default(),
            actions: actions.remove(&(held.round, slug)).unwrap_or_default(),
        };
        let took_part = part.score.is_some()
            || part.raw.is_some()
            || !part.mapping.is_empty()
            || !part.actions.is_empty()
            || panel.iter().any(|seat| seat.expert_slug == *slug);
        took_part.then_some((slug, part))
    });
    RoundSection {
        round: held.round,
        title: held.title.as_deref(),
        score: held.score,
        summary: held.summary.as_deref(),
        experts: parts.collect(),
        panel,
        created_at: held.created_at,
    }
}

fn entity_sections<'a>(
    entities: &'a [Entity],
    derive: impl Fn(&Entity) -> DerivedLinks,
) -> Vec<EntitySection<'a>> {
    entities.iter().map(|entity| entity_section(entity, derive(entity))).collect()
}

fn entity_section(entity: &Entity, derived: DerivedLinks) -> EntitySection<'_> {
    let is_tension = matches!(derived, DerivedLinks::Tension { .. });
    EntitySection {
        id: entity.id,
        label: &entity.label,
        content: (!is_tension).then_some(entity.text.as_str()),
        description: is_tension.then_some(entity.text.as_str()),
        contributors: &entity.contributors,
        round: entity.id.round,
        status: entity.status,
        parameters: entity.parameters.as_ref(),
        references: &entity.references,
        adopted_in_verdict: entity.adopted_in_verdict.as_ref(),
        events: &entity.events,
        derived,
        created_at: entity.created_at,
    }
}

fn move_section(made: &ExpertMove) -> MoveSection<'_> {
    MoveSection {
        expert: &made.expert,
        round: made.round,
        move_type: made.move_type.name(),
        targets: &made.targets,
        context: made.context.as_deref(),
    }
}

/// A verdict as exports show it.
pub(crate) fn verdict_section(given: &RecordedVerdict) -> VerdictSection<'_> {
    let verdict = &given.verdict;
    VerdictSection {
        id: &verdict.verdict_id,
        verdict_type: verdict.verdict_type,
        round: verdict.round,
        author: verdict.author_expert.as_ref(),
        recommendation: &verdict.recommendation,
        description: &verdict.description,
        conditions: verdict.conditions.as_deref().unwrap_or_default(),
        tensions_resolved: verdict.tensions_resolved.as_deref().unwrap_or_default(),
        tensions_accepted: verdict.tensions_accepted.as_deref().unwrap_or_default(),
        recommendations_adopted: verdict.recommendations_adopted.as_deref().unwrap_or_default(),
        key_evidence: verdict.key_evidence.as_deref().unwrap_or_default(),
        key_claims: verdict.key_claims.as_deref().unwrap_or_default(),
        supporting_experts: verdict.supporting_experts.as_deref(),
        vote: verdict.vote,
        confidence: verdict.confidence,
        forced: verdict.forced,
        warning: verdict.warning.as_deref(),
        ethos_compliance: verdict.ethos_compliance.as_ref(),
        created_at: given.created_at,
    }
}

/// Hex digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// The text before the hash in the last line of a Markdown export.
pub(crate) const LAST_LINE_PREFIX: &str = "Head of the chain: `";

/// The first fact of a Markdown export is within these lines: title, rehearsal note, table head.
const FACT_LINES_MAX: usize = 8;

/// The fields of every JSON export; further ones depend on the record.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "that the fields are there and have these types is all that counts")]
pub struct ExportShape {
    id: DialogueId,
    title: String,
    protocol: ProtocolKind,
    #[serde(rename = "totalRounds")]
    total_rounds: u8,
    created_at: Moment,
    experts: Vec<IgnoredAny>,
    rounds: Vec<IgnoredAny>,
    perspectives: Vec<IgnoredAny>,
    verdicts: Vec<IgnoredAny>,
    warnings: Vec<IgnoredAny>,
    #[serde(rename = "headHash")]
    head_hash: String,
}

impl ExportShape {
    /// Whether the document is an export.
    pub fn is_export(&self) -> bool {
        is_hash(&self.head_hash)
    }
}

/// Recognises a Markdown export by its first and last bytes.
pub fn is_markdown_export(head: &str, tail: &str) -> bool {
    let is_fact = |line: &str| line.starts_with("| Dialogue | `");
    let begins = head.starts_with("# ") && head.lines().take(FACT_LINES_MAX).any(is_fact);
    let last = tail.trim_end().lines().next_back().unwrap_or_default();
    let hash = last.strip_prefix(LAST_LINE_PREFIX).and_then(|rest| rest.strip_suffix('`'));
    begins && hash.is_some_and(is_hash)
}

/// Recognises an HTML export by its first and last bytes.
pub fn is_html_export(head: &str, tail: &str) -> bool {
    let begins = head.starts_with("<!DOCTYPE html>") && head.contains(HTML_GENERATOR);
    let hash = tail.split_once(HTML_LAST_LINE).and_then(|(_, rest)| rest.split_once('<'));
    begins && hash.is_some_and(|(hash, _)| is_hash(hash))
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
