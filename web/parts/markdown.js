// The Markdown tree of the server, drawn. Links of models are words with their address beside them.

import { html, nothing } from '../vendor/lit-html.js';
import { linkedText } from './entities.js';

/**
 * The shapes of `/api/openapi.json`.
 *
 * @typedef {{ type: 'heading', level: number, spans: MarkdownSpan[] } | { type: 'paragraph', spans: MarkdownSpan[] }
 *   | { type: 'list', ordered: boolean, start: number, items: MarkdownBlock[][] } | { type: 'quote', blocks: MarkdownBlock[] }
 *   | { type: 'code', language: string, text: string } | { type: 'rule' }
 *   | { type: 'table', head: MarkdownSpan[][], rows: MarkdownSpan[][][] }} MarkdownBlock
 * @typedef {{ type: 'text', text: string } | { type: 'emphasis' | 'strong' | 'strike', spans: MarkdownSpan[] }
 *   | { type: 'code', text: string } | { type: 'link', spans: MarkdownSpan[], address: string } | { type: 'break' }} MarkdownSpan
 */

/** Headings of a reply stand below those of the page. */
const HEADING_STEP = 3;

/**
 * @param {MarkdownBlock[]} blocks
 * @returns {unknown}
 */
export function markdown(blocks) {
  return blocks.map(drawBlock);
}

/**
 * @param {MarkdownBlock} block
 * @returns {unknown}
 */
function drawBlock(block) {
  switch (block.type) {
    case 'heading': return html`<p class="md-heading" role="heading" aria-level=${Math.min(6, block.level + HEADING_STEP)}>${drawSpans(block.spans)}</p>`;
    case 'paragraph': return html`<p>${drawSpans(block.spans)}</p>`;
    case 'list': return drawList(block);
    case 'quote': return html`<blockquote>${markdown(block.blocks)}</blockquote>`;
    case 'code': return html`<pre tabindex="0"><code>${block.text}</code></pre>`;
    case 'table': return drawTable(block);
    case 'rule': return html`<hr>`;
    default: return nothing;
  }
}

/**
 * @param {MarkdownSpan[]} spans
 * @returns {unknown}
 */
function drawSpans(spans) {
  return spans.map((span) => {
    switch (span.type) {
      case 'text': return linkedText(span.text);
      case 'emphasis': return html`<em>${drawSpans(span.spans)}</em>`;
      case 'strong': return html`<strong>${drawSpans(span.spans)}</strong>`;
      case 'strike': return html`<del>${drawSpans(span.spans)}</del>`;
      case 'code': return html`<code>${span.text}</code>`;
      case 'link': return html`${drawSpans(span.spans)} <span class="address">${span.address}</span>`;
      case 'break': return html`<br>`;
      default: return nothing;
    }
  });
}

/** @param {Extract<MarkdownBlock, { type: 'list' }>} list */
function drawList(list) {
  const items = list.items.map((item) => html`<li>${markdown(item)}</li>`);
  return list.ordered ? html`<ol start=${list.start}>${items}</ol>` : html`<ul>${items}</ul>`;
}

/** @param {Extract<MarkdownBlock, { type: 'table' }>} table */
function drawTable(table) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>
    <thead><tr>${table.head.map((cell) => html`<th scope="col">${drawSpans(cell)}</th>`)}</tr></thead>
    <tbody>${table.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${drawSpans(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
