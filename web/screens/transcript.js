// The transcript: by round and seat, rendered or raw, the opinions of a round side by side.

import { html, nothing } from '../vendor/lit-html.js';
import { dialoguePath, getJson } from '../api.js';
import { count, purposeName, seatName } from '../format.js';
import { RemoteValue } from '../host.js';
import { hrefToDialogue } from '../router.js';
import { badge } from '../parts/badges.js';
import { entityLink } from '../parts/entities.js';
import { markdown } from '../parts/markdown.js';
import { highlightText } from '../parts/highlight.js';
import { empty, settled } from '../parts/notices.js';

/**
 * @typedef {{ call: number | null, seat: string, purpose: string, status: string, raw: string | null,
 *   blocks: import('../parts/markdown.js').MarkdownBlock[], stance?: string | null, score?: number | null, entities: string[] }} TranscriptEntry
 * @typedef {{ round: number, title: string, summary?: string | null, entries: TranscriptEntry[] }} TranscriptRound
 */

/** Rounds with more entries in total than this begin closed, except the first. */
const OPEN_ENTRIES_MAX = 60;

export class TranscriptScreen {
  /** @param {import('./dialogue.js').DialogueFrame} frame */
  constructor(frame) {
    this.frame = frame;
    this.isRaw = false;
    this.isWide = true;
    /** The field as the reader typed it: a space at its end is the start of the next word. */
    this.typed = '';
    this.needle = '';
    /** @type {Map<number, boolean>} */
    this.opened = new Map();
    /** @type {RemoteValue<{ rounds: TranscriptRound[] }>} */
    this.remote = new RemoteValue(frame.host);
  }

  view() {
    const path = dialoguePath(this.frame.id, '/transcript');
    this.remote.want(`${path} ${this.frame.version}`, () => getJson(path));
    return settled(this.remote, 'the transcript', ({ rounds }) => this.rounds(rounds));
  }

  /** @param {TranscriptRound[]} rounds */
  rounds(rounds) {
    if (rounds.length === 0) return empty('There is no reply yet.');
    const found = this.find(rounds);
    const entries = countEntries(found);
    const isOpen = (/** @type {TranscriptRound} */ round, /** @type {number} */ index) => this.opened.get(round.round) ?? (entries <= OPEN_ENTRIES_MAX || index === 0);
    return html`<section class="transcript">
      <div class="toolbar" role="group" aria-label="View">
        <label class="grow"><span class="hidden">Find in the replies</span>
          <input type="search" placeholder="Find in the replies" .value=${this.typed} @input=${(/** @type {Event} */ event) => this.seek(/** @type {HTMLInputElement} */ (event.target).value)}></label>
        ${this.switch('Raw', this.isRaw, () => { this.isRaw = !this.isRaw; })}
        <span class="wide-only">${this.switch('Side by side', this.isWide, () => { this.isWide = !this.isWide; })}</span>
        <button type="button" @click=${() => this.openAll(rounds, false)}>Collapse all</button>
        <button type="button" @click=${() => this.openAll(rounds, true)}>Expand all</button>
        <span class="soft" role="status">${entries === 1 ? '1 reply' : `${count(entries)} replies`}${this.needle ? ` of ${count(countEntries(rounds))}` : ''}</span>
      </div>
      ${found.length === 0 ? empty('No reply has these words.') : found.map((round, index) => this.round(round, isOpen(round, index)))}
    </section>`;
  }

  /** The replies with the words that the reader looks for.
   * @param {TranscriptRound[]} rounds
   */
  find(rounds) {
    const needle = this.needle.toLowerCase();
    if (!needle) return rounds;
    const has = (/** @type {TranscriptEntry} */ entry) => `${seatName(entry.seat)} ${entry.raw ?? ''}`.toLowerCase().includes(needle);
    return rounds.map((round) => ({ ...round, entries: round.entries.filter(has) })).filter((round) => round.entries.length > 0);
  }

  /** @param {string} needle */
  seek(needle) {
    this.typed = needle;
    this.needle = needle.trim();
    this.opened.clear();
    this.frame.host.redraw();
  }

  drawn() {
    highlightText(document.querySelector('.transcript'), this.needle);
  }

  leave() {
    highlightText(null, '');
  }

  /**
   * @param {string} label
   * @param {boolean} isOn
   * @param {() => void} change
   */
  switch(label, isOn, change) {
    return html`<button type="button" aria-pressed=${isOn} class=${isOn ? 'pressed' : ''} @click=${() => { change(); this.frame.host.redraw(); }}>${label}</button>`;
  }

  /**
   * @param {TranscriptRound[]} rounds
   * @param {boolean} isOpen
   */
  openAll(rounds, isOpen) {
    for (const round of rounds) this.opened.set(round.round, isOpen);
    this.frame.host.redraw();
  }

  /**
   * @param {TranscriptRound} round
   * @param {boolean} isOpen
   */
  round(round, isOpen) {
    const toggle = (/** @type {Event} */ event) => {
      const now = /** @type {HTMLDetailsElement} */ (event.target).open;
      if (now === isOpen) return;
      this.opened.set(round.round, now);
      this.frame.host.redraw();
    };
    return html`<details class="round" ?open=${isOpen} @toggle=${toggle}>
      <summary><span class="round-number">Round ${round.round}</span> ${round.title} <span class="soft">${round.entries.length === 1 ? '1 reply' : `${round.entries.length} replies`}</span></summary>
      ${isOpen ? html`${round.summary ? html`<p class="prose soft">${round.summary}</p>` : nothing}
      <div class=${this.isWide && round.entries.length > 1 ? 'entries wide' : 'entries'}>${round.entries.map((entry) => this.entry(entry, round.round))}</div>` : nothing}
    </details>`;
  }

  /**
   * @param {TranscriptEntry} entry
   * @param {number} round
   */
  entry(entry, round) {
    const score = entry.score === null || entry.score === undefined ? nothing : html`<span class="score">score ${entry.score}</span>`;
    return html`<article class="entry">
      <header><h3>${seatName(entry.seat)}</h3> <span class="soft">${purposeName(entry.purpose ?? '', round)}</span>
        ${badge(entry.stance)} ${score} ${['replied', 'parsed', 'done', 'read'].includes(entry.status) ? nothing : badge(entry.status)}
        ${entry.call === null || entry.call === undefined ? nothing : html`<a class="soft call-link" href=${hrefToDialogue(this.frame.id, 'calls', { call: entry.call })}>call ${entry.call}</a>`}</header>
      ${entry.entities?.length ? html`<p class="ids">${entry.entities.map((id) => html`${entityLink(id)} `)}</p>` : nothing}
      ${this.isRaw || !entry.blocks?.length ? html`<pre class="raw" tabindex="0">${entry.raw ?? ''}</pre>` : html`<div class="prose md">${markdown(entry.blocks)}</div>`}
    </article>`;
  }
}

/** @param {TranscriptRound[]} rounds */
function countEntries(rounds) {
  return rounds.reduce((sum, round) => sum + round.entries.length, 0);
}
