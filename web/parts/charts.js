// Small charts in SVG. Each has a text that says the same; the numbers stand in a table beside it.

import { html, svg } from '../vendor/lit-html.js';

const WIDTH = 240;
const HEIGHT = 56;

/**
 * @param {string} title
 * @param {(number | null)[]} values
 * @param {(value: number | null) => string} text
 */
export function lineChart(title, values, text) {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(0, ...known), Math.max(1, ...known)];
  const x = (/** @type {number} */ index) => (values.length < 2 ? WIDTH / 2 : 6 + (index * (WIDTH - 12)) / (values.length - 1));
  const y = (/** @type {number} */ value) => HEIGHT - 6 - ((value - low) / (high - low)) * (HEIGHT - 12);
  const points = values.flatMap((value, index) => (value === null ? [] : [[x(index), y(value)]]));
  const last = values.at(-1) ?? null;
  const label = `${title}: ${values.map((value, index) => `round ${index} ${text(value)}`).join(', ')}`;
  return html`<figure class="chart">
    <figcaption>${title} <strong>${text(last)}</strong></figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${label} preserveAspectRatio="none">
      <line class="axis" x1="0" x2=${WIDTH} y1=${y(0)} y2=${y(0)}></line>
      <polyline class="line" points=${points.map((point) => point.join(',')).join(' ')}></polyline>
      ${points.map(([cx, cy]) => svg`<path class="dot" d="M${cx} ${cy}h0"></path>`)}
    </svg>
  </figure>`;
}

/**
 * A bar of a share, for use inside tables.
 *
 * @param {number} share 0 to 1
 * @param {string} [tone]
 */
export function bar(share, tone = '') {
  const width = Math.max(0, Math.min(1, share)) * 100;
  return html`<svg class="bar ${tone}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="rail" width="100" height="8" rx="2"></rect><rect class="fill" width=${width} height="8" rx="2"></rect>
  </svg>`;
}

/**
 * A span on a time line.
 *
 * @param {number} start 0 to 1
 * @param {number} length 0 to 1
 * @param {number} first the share of the span before the first byte
 * @param {string} tone
 */
export function span(start, length, first, tone) {
  const [x, width] = [start * 100, Math.max(0.4, length * 100)];
  return html`<svg class="span ${tone}" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="rail" width="100" height="10"></rect>
    <rect class="wait" x=${x} width=${width} height="10" rx="0.6"></rect>
    <rect class="fill" x=${x + width * first} width=${width * (1 - first)} height="10" rx="0.6"></rect>
  </svg>`;
}
