// The graph of the entities: a node's neighbourhood, or all that the filters leave; and the same as a table.

import { html, nothing, svg } from '../vendor/lit-html.js';
import { plural, shorten, words } from '../format.js';
import { hrefWith, replaceAddress } from '../router.js';
import { kindName } from '../parts/badges.js';
import { entityBadge } from '../parts/entity_badge.js';
import { entityLink } from '../parts/entities.js';
import { empty } from '../parts/notices.js';
import { busiest, layOut, needsFocus, NODE_HEIGHT, NODE_WIDTH, NODES_MAX, selectNodes } from '../graph_layout.js';
import { entityGraph } from '../record_views.js';
import { select } from './record.js';

/**
 * @typedef {{ id: string, kind: string, label: string, round: number, status: string, contributors: string[] }} GraphNode
 * @typedef {{ source: string, type: string, target: string }} GraphEdge
 * @typedef {{ nodes: GraphNode[], edges: GraphEdge[] }} EntityGraph
 */

const KINDS = ['P', 'R', 'T', 'E', 'C'];
const LINE_CHARS = 24;
const TABLE_ROWS_MAX = 200;

/** A graph a little wider than the window shrinks; a much wider one scrolls. */
const FIT_SHARE = 1.35;

export class GraphScreen {
  /** @param {import('./dialogue.js').DialogueFrame} frame */
  constructor(frame) {
    this.frame = frame;
    this.version = -1;
    /** @type {EntityGraph} */
    this.entities = { nodes: [], edges: [] };
    this.laidKey = '';
    this.shownKey = '';
    /** @type {string | null} */
    this.center = null;
    /** @type {ReturnType<typeof layOut> | null} */
    this.laid = null;
  }

  view() {
    if (this.version !== this.frame.version) {
      this.version = this.frame.version;
      this.entities = entityGraph(this.frame.record);
    }
    return this.graph(this.entities);
  }

  /** A wide drawing begins at the chosen node, or at the one with the most edges. */
  drawn() {
    if (this.shownKey === this.laidKey || !this.laid) return;
    const box = document.querySelector('.graph');
    const place = this.laid.places.get(this.center ?? '');
    if (!box || !place) return;
    this.shownKey = this.laidKey;
    const scale = (box.querySelector('svg')?.clientWidth ?? 0) / this.laid.width || 1;
    box.scrollTo(place.x * scale - box.clientWidth / 2, place.y * scale - box.clientHeight / 2);
  }

  /** @param {EntityGraph} graph */
  graph(graph) {
    if (graph.nodes.length === 0) return empty('There is no entity yet.');
    const query = this.frame.query;
    const filter = { kind: query.get('kind') ?? '', round: query.get('round') ?? '', expert: query.get('expert') ?? '', tension: query.get('tension') ?? '' };
    const isAll = query.get('all') === '1';
    const chosen = selectNodes(graph, filter, query.get('node'), isAll);
    this.center = chosen.focus ?? busiest(chosen);
    return html`<section class="graph-screen">
      ${this.filters(graph, filter, isAll)}
      <p class="soft" role="status">${plural(chosen.nodes.length, 'node')} of ${graph.nodes.length}${chosen.focus ? html`: ${entityLink(chosen.focus)} and its neighbours` : nothing}${chosen.isCut ? html`; the first ${NODES_MAX} are drawn, filter to see the others` : nothing}</p>
      ${isNarrow() ? nothing : guide(chosen.focus)}
      ${chosen.nodes.length === 0 ? empty('No node matches.') : isNarrow() ? html`${edgeTable(graph, chosen, this.frame.record, true)}<details class="layer"><summary>The drawing</summary>${guide(chosen.focus)}${this.drawing(chosen)}</details>` : html`${this.drawing(chosen)}${edgeTable(graph, chosen, this.frame.record, false)}`}
    </section>`;
  }

  /**
   * @param {EntityGraph} graph
   * @param {Record<string, string>} filter
   * @param {boolean} isAll
   */
  filters(graph, filter, isAll) {
    const rounds = [...new Set(graph.nodes.map((node) => node.round))].sort((a, b) => a - b);
    const experts = [...new Set(graph.nodes.flatMap((node) => node.contributors))].sort();
    const tensions = graph.nodes.filter((node) => node.id.startsWith('T'));
    const set = (/** @type {string} */ name) => (/** @type {Event} */ event) => replaceAddress(hrefWith({ [name]: /** @type {HTMLSelectElement} */ (event.target).value, node: null }));
    return html`<form class="filters" @submit=${(/** @type {Event} */ event) => event.preventDefault()}>
      ${select('Any kind', filter['kind'] ?? '', KINDS.map((kind) => [kind, kindName(kind)]), set('kind'))}
      ${select('Any round', filter['round'] ?? '', rounds.map((round) => [String(round), `Round ${round}`]), set('round'))}
      ${select('Any seat', filter['expert'] ?? '', experts.map((name) => [name, name]), set('expert'))}
      ${select('Any tension', filter['tension'] ?? '', tensions.map((node) => [node.id, `${node.id} ${shorten(node.label, 40)}`]), set('tension'))}
      ${needsFocus(graph) || this.frame.query.get('node') ? html`<a class="button" href=${hrefWith({ all: isAll ? null : 1, node: null })}>${isAll ? 'Show a neighbourhood' : 'Show all'}</a>` : nothing}</form>`;
  }

  /** @param {{ nodes: GraphNode[], edges: GraphEdge[], focus: string | null }} chosen */
  drawing(chosen) {
    const key = `${chosen.nodes.map((node) => node.id).join()}|${chosen.edges.length}`;
    if (this.laidKey !== key || !this.laid) {
      performance.mark('graph-start');
      this.laid = layOut(chosen.nodes, chosen.edges);
      performance.measure('graph-layout', 'graph-start');
      this.laidKey = key;
    }
    const { width, height, places, paths } = this.laid;
    return html`<div class="graph scroll" tabindex="0" role="group" aria-label="Graph of the entities; the table below has the same content">
      <svg class=${width < FIT_SHARE * Math.min(window.innerWidth, 1400) ? 'fit' : ''} width=${width} height=${height} viewBox="0 0 ${width} ${height}">
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"></path></marker></defs>
        ${paths.map((path) => svg`<g class="edge type-${path.type}"><path d=${path.d} marker-end="url(#arrow)"><title>${path.source} ${words(path.type)} ${path.target}</title></path><text x=${path.x} y=${path.y}>${words(path.type)}</text></g>`)}
        ${chosen.nodes.map((node) => this.node(node, places.get(node.id), chosen.focus === node.id))}
      </svg></div>`;
  }

  /**
   * @param {GraphNode} node
   * @param {{ x: number, y: number } | undefined} place
   * @param {boolean} isFocus
   */
  node(node, place, isFocus) {
    if (!place) return nothing;
    const [x, y] = [place.x - NODE_WIDTH / 2, place.y - NODE_HEIGHT / 2];
    const lines = wrapLabel(node.label);
    // The name begins with the visible text, so that speech control finds the node by it.
    const label = `${node.id} · ${words(node.status)} ${lines.join(' ')}, ${kindName(node.id)} of round ${node.round} by ${node.contributors.join(', ')}: ${node.label}`;
    const open = (/** @type {Event} */ event) => { event.preventDefault(); location.hash = hrefWith({ source: node.id }); };
    return svg`<a class="node kind-${node.id.charAt(0)} ${isFocus ? 'focus' : ''}" href=${isFocus ? hrefWith({ source: node.id }) : hrefWith({ node: node.id, all: null })} aria-label=${label}
        @keydown=${(/** @type {KeyboardEvent} */ event) => event.key === ' ' && open(event)}>
      <rect x=${x} y=${y} width=${NODE_WIDTH} height=${NODE_HEIGHT} rx="7"></rect>
      <text class="id" x=${x + 10} y=${y + 18}>${node.id} · ${words(node.status)}</text>
      ${lines.map((line, index) => svg`<text x=${x + 10} y=${y + 35 + index * 15}>${line}</text> `)}</a>`;
  }
}

/** Whether a drawing would show only one node at a time. */
function isNarrow() {
  return window.matchMedia('(max-width: 600px)').matches;
}

/** @param {string} label */
function wrapLabel(label) {
  const lines = /** @type {string[]} */ ([]);
  let line = '';
  for (const word of shorten(label, 2 * LINE_CHARS).split(' ')) {
    if (line && line.length + word.length + 1 > LINE_CHARS) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  const [one = '', two = '', ...rest] = [...lines, line].map((text) => shorten(text, LINE_CHARS + 2));
  const isCut = rest.length > 0 && !two.endsWith('…');
  return [one, isCut ? `${two}…` : two].filter(Boolean);
}

/** @param {string | null} focus */
function guide(focus) {
  return html`<p class="soft hint">Choose a node to see its neighbours${focus ? '; choose the thick one to read its source' : ''}.</p>
    <p class="legend">${KINDS.map((kind) => html`<span class="key kind-${kind}"><span class="swatch" aria-hidden="true"></span>${kindName(kind)}</span>`)}</p>`;
}

/** The same as the drawing, for a screen reader and for copying.
 * @param {EntityGraph} graph
 * @param {{ nodes: GraphNode[], edges: GraphEdge[] }} chosen
 * @param {any} record
 * @param {boolean} isFirst where no drawing fits the window
 */
function edgeTable(graph, chosen, record, isFirst) {
  const names = new Map(graph.nodes.map((node) => [node.id, node]));
  const rows = chosen.nodes.slice(0, TABLE_ROWS_MAX);
  return html`<details class="layer" ?open=${isFirst}><summary>${isFirst ? 'The entities and their references' : 'The same as a table'}</summary><div class="scroll" tabindex="0" role="group" aria-label="Nodes and edges"><table>
    <thead><tr><th scope="col">Node</th><th scope="col">State</th><th scope="col">Label</th><th scope="col">By</th><th scope="col">Round</th><th scope="col">Edges</th></tr></thead>
    <tbody>${rows.map((node) => html`<tr><th scope="row">${entityLink(node.id)}</th><td>${entityBadge(node, record)}</td><td>${node.label}</td><td>${node.contributors.join(', ')}</td><td>${node.round}</td>
      <td>${chosen.edges.filter((edge) => edge.source === node.id && names.has(edge.target)).map((edge) => html`${words(edge.type)} ${entityLink(edge.target)} `)}</td></tr>`)}</tbody></table></div>
      ${rows.length < chosen.nodes.length ? html`<p class="soft">The first ${TABLE_ROWS_MAX}; the screen Record lists all.</p>` : nothing}</details>`;
}
