// A list of any length: only the rows near the visible part are in the document.

import { html } from '../vendor/lit-html.js';

/** Rows drawn above and below the visible ones, so that a quick scroll finds text. */
const MARGIN_ROWS = 12;
const FIRST_ROWS = 40;

/**
 * Rows have one height, which the style sets (`--row`); the window scrolls.
 *
 * @template T
 */
export class WindowedList {
  /**
   * @param {import('../host.js').PageHost} host
   * @param {(row: T, index: number) => unknown} drawRow
   * @param {() => void} [onEnd] runs when the last rows are near
   */
  constructor(host, drawRow, onEnd = () => {}) {
    this.host = host;
    this.drawRow = drawRow;
    this.onEnd = onEnd;
    this.first = 0;
    this.last = FIRST_ROWS;
    /** @type {T[]} */
    this.rows = [];
    this.name = `window-${(WindowedList.made += 1)}`;
    /** The height of a row, once known: to read it after a change makes the browser lay out the page. */
    this.height = 0;
    /** Where the list begins in the document; rows in the margin make up for a notice above it. @type {number | null} */
    this.start = null;
    this.onScroll = () => this.measure();
    this.onResize = () => {
      this.height = 0;
      this.start = null;
      this.measure();
    };
    window.addEventListener('scroll', this.onScroll, { passive: true });
    window.addEventListener('resize', this.onResize, { passive: true });
  }

  static made = 0;

  leave() {
    window.removeEventListener('scroll', this.onScroll);
    window.removeEventListener('resize', this.onResize);
  }

  /**
   * @param {T[]} rows
   * @param {string} label
   */
  view(rows, label) {
    if (rows !== this.rows) this.start = null;
    this.rows = rows;
    const drawn = rows.slice(this.first, this.last);
    return html`<ol class="windowed" id=${this.name} aria-label=${label} @keydown=${moveFocus}>
      <li class="spacer" aria-hidden="true" role="presentation"></li>
      ${drawn.map((row, index) => html`<li class="row" aria-posinset=${this.first + index + 1} aria-setsize=${rows.length}>${this.drawRow(row, this.first + index)}</li>`)}
      <li class="spacer" aria-hidden="true" role="presentation"></li>
    </ol>`;
  }

  /** Gives the spacers their height. The policy forbids style attributes; properties are allowed. */
  drawn() {
    const list = document.getElementById(this.name);
    if (!list) return;
    const height = this.rowHeight(list);
    const [above, below] = list.querySelectorAll('.spacer');
    if (above instanceof HTMLElement) above.style.height = `${this.first * height}px`;
    if (below instanceof HTMLElement) below.style.height = `${Math.max(0, this.rows.length - this.last) * height}px`;
    this.measure();
  }

  measure() {
    const list = document.getElementById(this.name);
    if (!list || this.rows.length === 0) return;
    const height = this.rowHeight(list);
    this.start ??= list.getBoundingClientRect().top + window.scrollY;
    const top = window.scrollY - this.start;
    const visible = Math.ceil(window.innerHeight / height);
    const start = Math.max(0, Math.floor(top / height) - MARGIN_ROWS);
    const first = Math.min(start, Math.max(0, this.rows.length - visible));
    const last = Math.min(this.rows.length, first + visible + 2 * MARGIN_ROWS);
    if (last >= this.rows.length) this.onEnd();
    // Whole steps, so that not every pixel draws.
    if (Math.abs(first - this.first) < MARGIN_ROWS / 2 && Math.abs(last - this.last) < MARGIN_ROWS / 2) return;
    this.first = first;
    this.last = last;
    this.host.redraw();
  }

  /** @param {HTMLElement} list */
  rowHeight(list) {
    if (this.height === 0) this.height = list.querySelector('.row')?.getBoundingClientRect().height ?? 0;
    return this.height || 56;
  }
}

/** Arrow keys move between the rows' links.
 * @param {KeyboardEvent} event
 */
function moveFocus(event) {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const row = event.target instanceof Element ? event.target.closest('.row') : null;
  const next = event.key === 'ArrowDown' ? row?.nextElementSibling : row?.previousElementSibling;
  const link = next?.querySelector('a, button');
  if (link instanceof HTMLElement) {
    event.preventDefault();
    link.focus();
  }
}
