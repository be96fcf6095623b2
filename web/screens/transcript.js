// The transcript: by round and seat, rendered or raw, the opinions of a round side by side.

import { html, nothing } from '../vendor/lit-html.js';
import { dialoguePath, getJson } from '../api.js';
import { plural, words } from '../format.js';
import { RemoteValue } from '../host.js';
import { hrefToDialogue } from '../router.js';
import { badge } from '../parts/badges.js';
import { entityLink } from '../parts/entities.js';
import { markdown } from '../parts/markdown.js';
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
    const entries = rounds.reduce((sum, round) => sum + round.entries.length, 0);
    const isOpen = (/** @type {TranscriptRound} */ round, /** @type {number} */ index) => this.opened.get(round.round) ?? (entries <= OPEN_ENTRIES_MAX || index === 0);
    return html`<section class="transcript">
      <div class="toolbar" role="group" aria-label="View">
        ${this.switch('Raw', this.isRaw, () => { this.isRaw = !this.isRaw; })}
        ${this.switch('Side by side', this.isWide, () => { this.isWide = !this.isWide; })}
        <button type="button" @click=${() => this.openAll(rounds, false)}>Collapse all</button>
        <button type="button" @click=${() => this.openAll(rounds, true)}>Expand all</button>
        <span class="soft">${plural(rounds.length, 'round')}, ${entries === 1 ? '1 reply' : `${entries.toLocaleString('en-US')} replies`}</span>
      </div>
      ${rounds.map((round, index) => this.round(round, isOpen(round, index)))}
    </section>`;
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
      <div class=${this.isWide && round.entries.length > 1 ? 'entries wide' : 'entries'}>${round.entries.map((entry) => this.entry(entry))}</div>` : nothing}
    </details>`;
  }

  /** @param {TranscriptEntry} entry */
  entry(entry) {
    const score = entry.score === null || entry.score === undefined ? nothing : html`<span class="score">score ${entry.score}</span>`;
    return html`<article class="entry">
      <header><h3>${entry.seat}</h3> <span class="soft">${words(entry.purpose ?? '')}</span>
        ${badge(entry.stance)} ${score} ${['replied', 'parsed', 'done', 'read'].includes(entry.status) ? nothing : badge(entry.status)}
        ${entry.call === null || entry.call === undefined ? nothing : html`<a class="soft call-link" href=${hrefToDialogue(this.frame.id, 'calls', { call: entry.call })}>call ${entry.call}</a>`}</header>
      ${entry.entities?.length ? html`<p class="ids">${entry.entities.map((id) => html`${entityLink(id)} `)}</p>` : nothing}
      ${this.isRaw || !entry.blocks?.length ? html`<pre class="raw" tabindex="0">${entry.raw ?? ''}</pre>` : html`<div class="prose md">${markdown(entry.blocks)}</div>`}
    </article>`;
  }
}
