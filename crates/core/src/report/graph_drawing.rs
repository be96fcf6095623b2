//! Draws entities and their references as SVG: a column for each round, a box for each entity that
//! links to its entry. `html.rs` draws it; a file needs no script to show it, and `graph.js` redraws
//! parts of it.
//!
//! **Invariant:** every text passes [`escape_html`]; the style sheet of the file has all colours.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::json;

use crate::model::entity::ReferenceType;
use crate::model::ids::EntityId;
use crate::model::text::truncate_within;
use crate::report::graph::{GraphDocument, GraphEdge, GraphNode};
use crate::report::html::escape_html;
use crate::report::safe_text::safe_line;

const BOX_WIDTH: usize = 184;
const BOX_HEIGHT: usize = 46;
const BOX_GAP: usize = 12;
const COLUMN_GAP: usize = 76;
const MARGIN: usize = 10;
/// The line with the number of the round.
const HEAD_HEIGHT: usize = 28;

/// A round with more entities gets another column: a reader scrolls sideways or down, not both far.
const COLUMN_ROWS_MAX: usize = 14;

/// Characters of a label that fit into a box.
const LABEL_CHARS: usize = 25;

/// Passes over the columns; more change little.
const ORDER_PASSES: usize = 4;

/// The entities nearest to `first`: these, then those that refer to them or that they refer to, and
/// so on, up to `nodes_max`. The entities with the most references follow if there is room.
pub(crate) fn nearest_part(
    graph: &GraphDocument,
    first: &[EntityId],
    nodes_max: usize,
) -> GraphDocument {
    let neighbours = list_neighbours(graph);
    let degree = |id: EntityId| neighbours.get(&id).map_or(0, Vec::len);
    let mut busiest: Vec<EntityId> = graph.nodes.iter().map(|node| node.id).collect();
    busiest.sort_by_key(|id| (std::cmp::Reverse(degree(*id)), *id));
    let mut chosen: BTreeSet<EntityId> = BTreeSet::new();
    for start in first.iter().copied().chain(busiest) {
        let mut waiting = std::collections::VecDeque::from([start]);
        while let Some(id) = waiting.pop_front().filter(|_| chosen.len() < nodes_max) {
            if chosen.insert(id) {
                waiting.extend(neighbours.get(&id).into_iter().flatten());
            }
        }
    }
    let is_chosen = |id: EntityId| chosen.contains(&id);
    GraphDocument {
        nodes: graph.nodes.iter().filter(|node| is_chosen(node.id)).cloned().collect(),
        edges: graph
            .edges
            .iter()
            .filter(|edge| is_chosen(edge.source) && is_chosen(edge.target))
            .cloned()
            .collect(),
    }
}

fn list_neighbours(graph: &GraphDocument) -> BTreeMap<EntityId, Vec<EntityId>> {
    let mut neighbours: BTreeMap<EntityId, Vec<EntityId>> = BTreeMap::new();
    for node in &graph.nodes {
        neighbours.entry(node.id).or_default();
    }
    for GraphEdge { source, target, .. } in &graph.edges {
        if neighbours.contains_key(source) && neighbours.contains_key(target) && source != target {
            neighbours.entry(*source).or_default().push(*target);
            neighbours.entry(*target).or_default().push(*source);
        }
    }
    neighbours
}

/// The drawing. `linked` are the entities with an entry to link to.
pub(crate) fn draw_graph(graph: &GraphDocument, linked: &BTreeSet<EntityId>) -> String {
    let columns = place_columns(graph);
    let rows = columns.iter().map(|column| column.ids.len()).max().unwrap_or(0);
    let width = 2 * MARGIN + columns.len() * (BOX_WIDTH + COLUMN_GAP) - COLUMN_GAP;
    let height = 2 * MARGIN + HEAD_HEIGHT + rows * (BOX_HEIGHT + BOX_GAP);
    let places = place_boxes(&columns);
    let mut svg = format!(
        "<svg class=\"graph\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"group\" aria-labelledby=\"graph-title graph-about\">\n\
         <title id=\"graph-title\">Graph of {} entities</title>\n\
         <desc id=\"graph-about\">A column for each round. A line leads from an entity to the one it \
         refers to. The table below has the same references.</desc>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>\n",
        graph.nodes.len()
    );
    for (number, column) in columns.iter().enumerate().filter(|(_, column)| column.is_first) {
        let x = MARGIN + number * (BOX_WIDTH + COLUMN_GAP);
        let _ =
            writeln!(svg, "<text class=\"round\" x=\"{x}\" y=\"24\">Round {}</text>", column.round);
    }
    for edge in &graph.edges {
        if let (Some(from), Some(to)) = (places.get(&edge.source), places.get(&edge.target)) {
            svg.push_str(&draw_edge(edge, *from, *to));
        }
    }
    for node in &graph.nodes {
        if let Some(place) = places.get(&node.id) {
            svg.push_str(&draw_box(node, *place, linked.contains(&node.id)));
        }
    }
    svg.push_str("</svg>");
    svg
}

/// The whole graph for the script of the file. No letter of it can end the element.
pub(crate) fn graph_data(graph: &GraphDocument) -> String {
    let node = |node: &GraphNode| {
        let label = safe_line(&node.label);
        json!([node.id, node.round, node.status, node.contributors, label])
    };
    let edge = |edge: &GraphEdge| json!([edge.source, edge.ref_type, edge.target]);
    let data = json!({
        "nodes": graph.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": graph.edges.iter().map(edge).collect::<Vec<_>>(),
    });
    data.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// A column of boxes. Only the first one of a round is titled.
struct GraphColumn {
    round: u8,
    is_first: bool,
    ids: Vec<EntityId>,
}

/// The top left corner of a box.
#[derive(Clone, Copy)]
struct BoxPlace {
    column: usize,
    x: usize,
    y: usize,
}

/// Entities by round, ordered so that lines cross little: each box moves to the mean row of the boxes
/// that it is connected with.
fn place_columns(graph: &GraphDocument) -> Vec<GraphColumn> {
    let mut rounds: BTreeMap<u8, Vec<EntityId>> = BTreeMap::new();
    for node in &graph.nodes {
        rounds.entry(node.round).or_default().push(node.id);
    }
    let neighbours = list_neighbours(graph);
    for _ in 0..ORDER_PASSES {
        let rows: BTreeMap<EntityId, usize> = rounds
            .values()
            .flat_map(|ids| ids.iter().enumerate().map(|(row, id)| (*id, row)))
            .collect();
        let mean = |id: &EntityId| {
            let near: Vec<usize> = neighbours
                .get(id)
                .into_iter()
                .flatten()
                .filter(|other| other.round != id.round)
                .filter_map(|other| rows.get(other).copied())
                .collect();
            let own = rows.get(id).copied().unwrap_or_default();
            // In hundredths: whole numbers sort the same on every machine.
            (100 * near.iter().sum::<usize>()).checked_div(near.len()).unwrap_or(100 * own)
        };
        for ids in rounds.values_mut() {
            ids.sort_by_cached_key(|id| (mean(id), *id));
        }
    }
    let split = |(round, ids): (u8, Vec<EntityId>)| {
        let count = ids.len().div_ceil(COLUMN_ROWS_MAX);
        let rows = ids.len().div_ceil(count.max(1)).max(1);
        let part = move |(place, part): (usize, &[EntityId])| GraphColumn {
            round,
            is_first: place == 0,
            ids: part.to_vec(),
        };
        ids.chunks(rows).enumerate().map(part).collect::<Vec<_>>()
    };
    rounds.into_iter().flat_map(split).collect()
}

fn place_boxes(columns: &[GraphColumn]) -> BTreeMap<EntityId, BoxPlace> {
    let in_column = |(column, boxes): (usize, &GraphColumn)| {
        let x = MARGIN + column * (BOX_WIDTH + COLUMN_GAP);
        let place = move |(row, id): (usize, &EntityId)| {
            let y = MARGIN + HEAD_HEIGHT + row * (BOX_HEIGHT + BOX_GAP);
            (*id, BoxPlace { column, x, y })
        };
        boxes.ids.iter().enumerate().map(place).collect::<Vec<_>>()
    };
    columns.iter().enumerate().flat_map(in_column).collect()
}

/// A curve between facing sides; within a column it runs outside, at the right.
fn draw_edge(edge: &GraphEdge, from: BoxPlace, to: BoxPlace) -> String {
    let (y1, y2) = (from.y + BOX_HEIGHT / 2, to.y + BOX_HEIGHT / 2);
    let (right, left) = (|place: BoxPlace| place.x + BOX_WIDTH, |place: BoxPlace| place.x);
    let bend = COLUMN_GAP / 2;
    let (x1, c1, c2, x2) = match from.column.cmp(&to.column) {
        std::cmp::Ordering::Less => (right(from), right(from) + bend, left(to) - bend, left(to)),
        std::cmp::Ordering::Greater => (left(from), left(from) - bend, right(to) + bend, right(to)),
        std::cmp::Ordering::Equal => (right(from), right(from) + bend, right(to) + bend, right(to)),
    };
    let class = match edge.ref_type {
        ReferenceType::Oppose | ReferenceType::Question | ReferenceType::Reopen => " against",
        ReferenceType::Support | ReferenceType::Resolve => " for",
        ReferenceType::Refine | ReferenceType::Address | ReferenceType::Depend => "",
    };
    format!(
        "<path class=\"edge{class}\" d=\"M{x1} {y1}C{c1} {y1} {c2} {y2} {x2} {y2}\" \
         marker-end=\"url(#arrow)\"><title>{} {} {}</title></path>\n",
        edge.source,
        edge.ref_type.name(),
        edge.target
    )
}

fn draw_box(node: &GraphNode, place: BoxPlace, is_linked: bool) -> String {
    let (BoxPlace { x, y, .. }, id) = (place, node.id);
    let label = escape_html(&truncate_within(&node.label, LABEL_CHARS));
    let shapes = format!(
        "<title>{id}: {}</title><rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" \
         height=\"{BOX_HEIGHT}\" rx=\"6\"/><text class=\"id\" x=\"{tx}\" y=\"{}\">{id} · {}</text>\
         <text x=\"{tx}\" y=\"{}\">{label}</text>",
        escape_html(&node.label),
        y + 18,
        node.status.name(),
        y + 36,
        tx = x + 10,
    );
    let kind = id.kind.name();
    match is_linked {
        true => format!("<a class=\"node {kind}\" href=\"#{id}\">{shapes}</a>\n"),
        false => format!("<g class=\"node {kind}\">{shapes}</g>\n"),
    }
}

#[cfg(test)]
#[path = "graph_drawing_tests.rs"]
mod tests;
