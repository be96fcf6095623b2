//! The entities of a dialogue as a graph, and its tensions as a board.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::entity::{Entity, EntityEvent, EntityReference, ReferenceType};
use crate::model::ids::{EntityId, EventActor, ExpertSlug};
use crate::model::lifecycle::{EntityEventType, EntityStatus};
use crate::model::record::DialogueRecord;
use crate::model::time::Moment;
use crate::protocols::alignment::state::acceptance_of;

/// Entities and the references between them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraphDocument {
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<GraphEdge>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraphNode {
    pub id: EntityId,
    /// `perspective`, `recommendation`, `tension`, `evidence` or `claim`.
    pub kind: &'static str,
    pub label: String,
    pub round: u8,
    pub status: EntityStatus,
    pub contributors: Vec<ExpertSlug>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraphEdge {
    pub source: EntityId,
    #[serde(rename = "type")]
    pub ref_type: ReferenceType,
    pub target: EntityId,
}

/// The tensions of a dialogue, by what became of them.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct TensionBoard {
    pub open: Vec<BoardTension>,
    pub addressed: Vec<BoardTension>,
    /// Not settled, and the Judge or a verdict accepts that.
    pub accepted: Vec<BoardTension>,
    pub resolved: Vec<BoardTension>,
    pub reopened: Vec<BoardTension>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BoardTension {
    pub id: EntityId,
    pub label: String,
    pub description: String,
    pub round: u8,
    pub status: EntityStatus,
    pub raised_by: Vec<ExpertSlug>,
    /// The expert whose seat owns the tension in the newest panel of the board's round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<ExpertSlug>,
    /// Why the Judge accepted it in a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_because: Option<String>,
    /// Who made the last step towards a settlement; empty if no step was made.
    pub settled_by: Vec<EventActor>,
    /// What settled it: an entity or a verdict.
    pub settled_with: Option<String>,
    /// Ids of the rules of the ethos that it challenges, such as `RULE05`.
    pub challenges: Vec<String>,
    pub events: Vec<EntityEvent>,
}

/// Builds the graph of a record.
pub fn graph_document(record: &DialogueRecord) -> GraphDocument {
    GraphDocument {
        nodes: record.all_entities().map(graph_node).collect(),
        edges: record.all_entities().flat_map(graph_edges).collect(),
    }
}

fn graph_node(entity: &Entity) -> GraphNode {
    GraphNode {
        id: entity.id,
        kind: entity.id.kind.type_name(),
        label: entity.label.clone(),
        round: entity.id.round,
        status: entity.status,
        contributors: entity.contributors.clone(),
    }
}

fn graph_edges(entity: &Entity) -> impl Iterator<Item = GraphEdge> {
    let edge = move |made: &EntityReference| GraphEdge {
        source: entity.id,
        ref_type: made.ref_type,
        target: made.target,
    };
    entity.references.iter().map(edge)
}

/// The board after a round; without a round as it is now.
pub fn tension_board(record: DialogueRecord, round: Option<u8>) -> TensionBoard {
    let record = match round.and_then(|round| round.checked_add(1)) {
        Some(next) => {
            let mut record = record.rewound_to(next);
            // The panel of the next round was not known yet.
            record.panels.remove(&next);
            record
        }
        None => record,
    };
    let mut board = TensionBoard::default();
    for tension in &record.tensions {
        let column = if tension.status == EntityStatus::Resolved {
            &mut board.resolved
        } else if is_accepted(&record, tension) {
            &mut board.accepted
        } else if tension.status == EntityStatus::Addressed {
            &mut board.addressed
        } else if tension.status == EntityStatus::Reopened {
            &mut board.reopened
        } else {
            &mut board.open
        };
        column.push(board_tension(&record, tension));
    }
    board
}

/// Whether a tension is accepted: by the Judge in a round, or by a verdict.
fn is_accepted(record: &DialogueRecord, tension: &Entity) -> bool {
    let accepted = record.verdicts.iter().flat_map(|given| &given.verdict.tensions_accepted);
    let is_active = tension.status != EntityStatus::Resolved;
    is_active
        && (acceptance_of(&tension.events).is_some()
            || accepted.flatten().any(|one| *one == tension.id))
}

fn board_tension(record: &DialogueRecord, tension: &Entity) -> BoardTension {
    let is_step = |event: &&EntityEvent| {
        [EntityStatus::Addressed, EntityStatus::Resolved]
            .map(EntityEventType::Reached)
            .contains(&event.event_type)
    };
    let step = tension.events.iter().rev().find(is_step);
    let made = record.calibration.iter().flat_map(|calibration| &calibration.challenges);
    let own = made.filter(|challenge| challenge.tension == tension.id);
    BoardTension {
        id: tension.id,
        label: tension.label.clone(),
        description: tension.text.clone(),
        round: tension.id.round,
        status: tension.status,
        raised_by: tension.contributors.clone(),
        owner: record.owner_of(tension.id).cloned(),
        accepted_because: acceptance_of(&tension.events).map(str::to_owned),
        settled_by: step.map(|event| event.actors.clone()).unwrap_or_default(),
        settled_with: step.and_then(|event| event.reference.as_ref()).map(ToString::to_string),
        challenges: own.map(|challenge| challenge.rule_id.clone()).collect(),
        events: tension.events.clone(),
    }
}

/// All entities with their history.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EntitiesAnswer {
    pub entities: Vec<EntityRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct EntityRow {
    #[serde(flatten)]
    pub node: GraphNode,
    pub content: String,
    pub references: Vec<GraphEdge>,
    pub events: Vec<EntityEvent>,
    pub created_at: Moment,
}

impl EntitiesAnswer {
    pub fn from_record(record: &DialogueRecord) -> Self {
        let row = |entity: &Entity| EntityRow {
            node: graph_node(entity),
            content: entity.text.clone(),
            references: graph_edges(entity).collect(),
            events: entity.events.clone(),
            created_at: entity.created_at,
        };
        Self { entities: record.all_entities().map(row).collect() }
    }
}
