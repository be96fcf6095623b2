// The run: seats against stages, the text as it streams, time and money against the limits, the feed.

import { html, nothing } from '../vendor/lit-html.js';
import { clock, count, duration, money, plural, seatName } from '../format.js';
import { hrefToDialogue } from '../router.js';
import { stopText } from '../run_state.js';
import { badge } from '../parts/badges.js';
import { bar } from '../parts/charts.js';
import { loading } from '../parts/notices.js';
import { costOf } from '../record_views.js';
import { readableStream } from '../parts/stream_text.js';

/** The end of a long text is what moves. */
const TAIL_CHARS = 1200;
const FEED_SHOWN = 60;

const CELL_WORDS = /** @type {Record<string, string>} */ ({ waiting: 'asked', not_sent: 'not sent', lost: 'interrupted' });

const UNANSWERED = new Set(['failed', 'not_sent', 'lost']);

const OPEN_CELLS = new Set(['waiting', 'writing', 'retrying']);

export class RunScreen {
  /** @param {import('./dialogue.js').DialogueFrame} frame */
  constructor(frame) {
    this.frame = frame;
    this.showsAll = false;
    this.shownStages = 0;
  }

  /** The newest column is what the reader of a live run came for. */
  drawn() {
    const stages = this.frame.run.stages.length;
    const box = document.querySelector('.matrix')?.parentElement;
    if (!box || stages === this.shownStages) return;
    this.shownStages = stages;
    // A column begins where the fixed one ends.
    box.style.scrollPaddingLeft = `${box.querySelector('th')?.offsetWidth ?? 0}px`;
    if (this.frame.isRunning) box.scrollLeft = box.scrollWidth;
  }

  view() {
    const run = this.frame.run;
    if (run.events === 0) return loading('the run');
    if (!run.isPlanned) return html`<div class="run"><p class="lead">An agent or a person leads this dialogue. Each panel, round and verdict that they register appears here.</p>${this.feed()}</div>`;
    return html`<div class="run">
      ${this.meters()}
      ${this.outcome()}
      ${this.matrix()}
      ${this.writing()}
      ${this.feed()}
    </div>`;
  }

  meters() {
    const run = this.frame.run;
    const limits = run.limits ?? this.frame.record.limits ?? {};
    const elapsed = run.elapsed(this.frame.isRunning ? this.now() : run.lastAt);
    const wall = limits.wall_max_ms ?? limits.wall_ms ?? null;
    // Some calls, such as a directive's restatement, belong to no seat.
    const cost = Math.max(run.cost, this.frame.isRunning ? 0 : costOf(this.frame.record) ?? 0);
    return html`<dl class="meters">
      ${meter('Time', duration(elapsed), wall && duration(wall), wall ? elapsed / wall : null)}
      ${meter('Cost', money(cost) + (run.unpriced ? ' and more' : ''), limits.usd_max === undefined || limits.usd_max === null ? null : money(limits.usd_max), limits.usd_max ? cost / limits.usd_max : null)}
      ${meter('Tokens', count(run.tokens), limits.tokens_max ? count(limits.tokens_max) : null, limits.tokens_max ? run.tokens / limits.tokens_max : null)}
      ${meter('Calls', count(run.calls), limits.calls_max ? count(limits.calls_max) : null, limits.calls_max ? run.calls / limits.calls_max : null)}
    </dl>`;
  }

  outcome() {
    const run = this.frame.run;
    const states = [...run.cells.values()].map((cell) => this.stateOf(cell));
    const [asked, failed] = [states.length, states.filter((state) => UNANSWERED.has(state)).length];
    const health = failed > 0 ? html`<span class="warn">${failed} of ${plural(asked, 'request')} without an answer</span>` : html`<span class="soft">${plural(asked, 'request')}, none failed</span>`;
    const state = run.stop ? html`The run ${stopText(run.stop, run.wait === 'decided')}.` : this.frame.isRunning ? html`<strong>${this.frame.host.connection.isLost ? 'The server does not answer. This is what it said last.' : this.current()}</strong>` : html`${badge('interrupted')} The process of this run ended.`;
    return html`<p class="run-state" aria-live="polite">${state} ${health} ${run.stop?.['stop'] === 'done' ? html`<a href=${hrefToDialogue(this.frame.id, 'result')}>Read the result</a>` : nothing}</p>`;
  }

  /** The stage that works now, in words. */
  current() {
    const run = this.frame.run;
    const stage = run.stages.findLast((candidate) => run.seats.some((seat) => run.cell(candidate.key, seat.seat)));
    return stage ? `${stage.name} in progress.` : 'The run begins.';
  }

  /** Seats in the order in which they are asked; those that wait for a later stage come last. */
  seats() {
    const run = this.frame.run;
    const first = (/** @type {import('../run_state.js').RunSeat} */ seat) => {
      const place = run.stages.findIndex((stage) => run.cell(stage.key, seat.seat));
      return place < 0 ? run.stages.length : place;
    };
    const isShown = (/** @type {import('../run_state.js').RunSeat} */ seat) => first(seat) < run.stages.length || (!run.isOver && this.frame.record.protocol !== 'alignment' && seat.roles.includes('participant'));
    return run.seats.filter((seat) => run.stages.length === 0 || isShown(seat)).toSorted((a, b) => first(a) - first(b));
  }

  matrix() {
    const run = this.frame.run;
    const seats = this.seats();
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Seats and stages" @scroll=${markScrolled}><table class="matrix">
      <caption class="hidden">Seats and stages</caption>
      <thead><tr><th scope="col">Seat</th>${run.stages.map((stage) => html`<th scope="col">${stage.name}</th>`)}</tr></thead>
      <tbody>${seats.map((seat) => html`<tr><th scope="row">${seatName(seat.seat)}<span class="soft model">${seat.model}</span></th>
        ${run.stages.map((stage) => html`<td>${this.cell(run.cell(stage.key, seat.seat))}</td>`)}</tr>`)}</tbody>
    </table></div>`;
  }

  /** The last moment of which the page knows. */
  now() {
    return this.frame.host.connection.lostAt ?? Date.now();
  }

  /** A process that was killed says nothing: its open requests are lost.
   * @param {import('../run_state.js').RunCell} cell
   */
  stateOf(cell) {
    return !cell.until && !this.frame.isRunning && OPEN_CELLS.has(cell.state) ? 'lost' : cell.state;
  }

  /** @param {import('../run_state.js').RunCell | undefined} cell */
  cell(cell) {
    if (!cell) return html`<span class="soft" aria-label="not asked">·</span>`;
    const state = this.stateOf(cell);
    const time = cell.until ? cell.latency ?? Date.parse(cell.until) - Date.parse(cell.since) : state === 'writing' ? this.now() - Date.parse(cell.since) : null;
    const label = badge(state, CELL_WORDS[state] ?? state);
    return html`<span class="cell">${cell.call === null ? label : html`<a class="quiet-link" href=${hrefToDialogue(this.frame.id, 'calls', { call: cell.call })}>${label}</a>`}
      ${cell.note ? html`<span class="soft">${cell.note}</span>` : nothing}
      <span class="soft">${[time === null ? '' : duration(Math.max(0, time)), state === 'writing' && cell.bytes > 0 ? `${count(cell.bytes)} bytes` : ''].filter(Boolean).join(' · ')}</span></span>`;
  }

  writing() {
    const run = this.frame.run;
    const active = run.stages.flatMap((stage) => run.seats.flatMap((seat) => {
      const cell = run.cell(stage.key, seat.seat);
      return cell?.state === 'writing' && cell.text ? [{ stage, seat, cell }] : [];
    }));
    if (active.length === 0 || !this.frame.isRunning) return nothing;
    return html`<section aria-label="Being written"><h2>Being written</h2><div class="streams">${active.map(({ stage, seat, cell }) => html`
      <article class="stream"><h3>${seatName(seat.seat)} <span class="soft">${stage.name.toLowerCase()}</span></h3><pre><span>${readableStream(cell.text).slice(-TAIL_CHARS)}<span class="caret" aria-hidden="true"></span></span></pre></article>`)}</div></section>`;
  }

  feed() {
    const lines = this.frame.run.feed;
    const shown = this.showsAll ? lines : lines.slice(-FEED_SHOWN);
    return html`<section><h2>Events</h2>
      ${shown.length < lines.length ? html`<p><button type="button" class="quiet" @click=${() => { this.showsAll = true; this.frame.host.redraw(); }}>Show all ${count(lines.length)}</button></p>` : nothing}
      <ol class="feed" reversed>${shown.toReversed().map((line) => html`<li class=${line.tone} data-event=${line.id}><time datetime=${line.ts}>${clock(line.ts)}</time> <strong>${line.who}</strong> <span>${line.text}</span></li>`)}</ol></section>`;
  }
}

/** The fixed column hides the shadow of the box, so it casts its own.
 * @param {Event} event
 */
function markScrolled(event) {
  const box = /** @type {HTMLElement} */ (event.target);
  box.classList.toggle('scrolled', box.scrollLeft > 0);
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string | null} limit
 * @param {number | null} share
 */
function meter(name, value, limit, share) {
  return html`<div><dt>${name}</dt><dd><strong>${value}</strong>${limit ? html` <span class="soft">of ${limit}</span>` : nothing}${share === null ? nothing : bar(share, share > 0.9 ? 'bad' : share > 0.7 ? 'warn' : '')}</dd></div>`;
}
