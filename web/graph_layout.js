// Which nodes of a graph are drawn, and where: layers from left to right, by dagre.

import { graphlib, layout } from './vendor/dagre.js';

/**
 * @typedef {import('./screens/graph.js').GraphNode} GraphNode
 * @typedef {import('./screens/graph.js').GraphEdge} GraphEdge
 */

export const NODE_WIDTH = 190;
export const NODE_HEIGHT = 62;

/** More nodes than this no eye follows, and their layout takes over a second. */
export const NODES_MAX = 300;

/**
 * The neighbourhood of a node, or all that the filter leaves. Without a node, a filter or a wish
 * for all, a large graph shows the node with the most edges.
 *
 * @param {{ nodes: GraphNode[], edges: GraphEdge[] }} graph
 * @param {{ kind: string, round: string, expert: string, tension: string }} filter
 * @param {string | null} node
 * @param {boolean} wantsAll
 */
export function selectNodes(graph, filter, node, wantsAll) {
  const isFiltered = Boolean(filter.kind || filter.round || filter.expert || filter.tension);
  const isAll = node === null && (wantsAll || isFiltered || !needsFocus(graph));
  const near = filter.tension ? neighbours(graph, filter.tension, 2) : null;
  const fits = (/** @type {GraphNode} */ one) => (!filter.kind || one.id.startsWith(filter.kind)) && (!filter.round || String(one.round) === filter.round)
    && (!filter.expert || one.contributors.includes(filter.expert)) && (!near || near.has(one.id));
  const focus = isAll ? null : node ?? busiest(graph);
  const around = focus ? neighbours(graph, focus, 1) : null;
  const fitting = graph.nodes.filter((one) => (around ? around.has(one.id) && (one.id === focus || fits(one)) : fits(one)));
  const nodes = fitting.slice(0, NODES_MAX);
  const ids = new Set(nodes.map((one) => one.id));
  const edges = graph.edges.filter((edge) => ids.has(edge.source) && ids.has(edge.target) && edge.source !== edge.target);
  return { nodes, edges, focus, isCut: fitting.length > nodes.length };
}

/** A small graph is shown whole.
 * @param {{ nodes: GraphNode[] }} graph
 */
export function needsFocus(graph) {
  return graph.nodes.length > 24;
}

/** @param {{ nodes: GraphNode[], edges: GraphEdge[] }} graph */
export function busiest(graph) {
  /** @type {Map<string, number>} */
  const degrees = new Map();
  for (const edge of graph.edges) {
    degrees.set(edge.source, (degrees.get(edge.source) ?? 0) + 1);
    degrees.set(edge.target, (degrees.get(edge.target) ?? 0) + 1);
  }
  let best = graph.nodes[0]?.id ?? null;
  for (const node of graph.nodes) if (best === null || (degrees.get(node.id) ?? 0) > (degrees.get(best) ?? 0)) best = node.id;
  return best;
}

/**
 * @param {{ edges: GraphEdge[] }} graph
 * @param {string} start
 * @param {number} steps
 */
function neighbours(graph, start, steps) {
  const found = new Set([start]);
  for (let step = 0; step < steps; step += 1) {
    const before = new Set(found);
    for (const { source, target } of graph.edges) {
      if (before.has(source)) found.add(target);
      if (before.has(target)) found.add(source);
    }
  }
  return found;
}

/**
 * @param {GraphNode[]} nodes
 * @param {GraphEdge[]} edges
 */
export function layOut(nodes, edges) {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'RL', nodesep: 14, ranksep: 92, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  edges.forEach((edge, index) => graph.setEdge(edge.source, edge.target, {}, String(index)));
  layout(graph);
  const places = new Map(nodes.map((node) => [node.id, /** @type {{ x: number, y: number }} */ (graph.node(node.id))]));
  const paths = edges.map((edge, index) => {
    const points = /** @type {{ points?: { x: number, y: number }[] }} */ (graph.edge(edge.source, edge.target, String(index))).points ?? [];
    const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
    return { ...edge, d: smoothPath(points), x: middle.x, y: middle.y - 4 };
  });
  const size = /** @type {{ width?: number, height?: number }} */ (graph.graph());
  return { width: Math.ceil(size.width ?? 0), height: Math.ceil(size.height ?? 0), places, paths };
}

/** @param {{ x: number, y: number }[]} points */
function smoothPath(points) {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${first.x} ${first.y}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    path += next ? `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}` : `L${point.x} ${point.y}`;
  });
  return path;
}
