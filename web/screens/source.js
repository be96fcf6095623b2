// Where a sentence comes from: the passage in the raw reply, the prompt, the call, the journal entry.

import { html, nothing } from '../vendor/lit-html.js';
import { dialoguePath, getJson } from '../api.js';
import { count, duration, money, moment, purposeName, seatName, stageText, words } from '../format.js';
import { RemoteValue } from '../host.js';
import { hrefWith } from '../router.js';
import { kindName } from '../parts/badges.js';
import { entityBadge } from '../parts/entity_badge.js';
import { entityIndex, entityLink, linkedText } from '../parts/entities.js';
import { failure, loading, settled } from '../parts/notices.js';

/**
 * @typedef {{ call: number | null, seat: string, round: number, start: number, end: number, quote: string,
 *   journal_seq: number | null, hash: string | null }} EntitySource
 * @typedef {{ entity: any, sources: EntitySource[], used_in: { kind: string, id: string }[], rests_on?: string[] }} Provenance
 */

/** Of a label, enough to find it; the record cuts long ones. */
const LABEL_CHARS = 40;

export class SourcePanel {
  /** @param {import('./dialogue.js').DialogueFrame} frame */
  constructor(frame) {
    this.frame = frame;
    this.source = '';
    this.sentence = '';
    this.place = 0;
    /** @type {EntitySource[]} the passages of the shown reply */
    this.passages = [];
    /** @type {RemoteValue<Provenance>} */
    this.provenance = new RemoteValue(frame.host);
    /** @type {RemoteValue<any>} */
    this.call = new RemoteValue(frame.host);
    this.marked = '';
    /** @type {Element | null} */
    this.opener = null;
  }

  /** @param {URLSearchParams} query */
  show(query) {
    const source = query.get('source') ?? '';
    if (source && !this.source) this.opener = document.activeElement;
    // The passage of another sentence must not show, not even for a moment.
    if (source !== this.source) this.provenance.value = null;
    this.source = source;
    this.sentence = query.get('sentence') ?? '';
    this.place = Number(query.get('at') ?? 0);
    if (!source) return;
    const path = dialoguePath(this.frame.id, `/provenance/${encodeURIComponent(source)}`);
    this.provenance.want(`${path} ${this.frame.version}`, () => getJson(path));
  }

  leave() {
    this.dialog()?.close();
  }

  dialog() {
    return /** @type {HTMLDialogElement | null} */ (document.getElementById('source'));
  }

  /** Opens the panel when the address names a source, and brings the marked passage into view. */
  drawn() {
    const dialog = this.dialog();
    if (this.source && dialog && !dialog.open) dialog.showModal();
    if (!this.source) return;
    const marks = [...dialog?.querySelectorAll('mark') ?? []];
    const label = entityIndex(this.frame.record).get(this.source)?.label.slice(0, LABEL_CHARS) ?? '';
    const mark = marks.find((one) => one.textContent?.includes(label)) ?? marks[0];
    const key = `${this.source} ${this.place} ${this.sentence}`;
    if (mark && this.marked !== key) {
      this.marked = key;
      mark.scrollIntoView({ block: 'center' });
      dialog?.scrollTo(0, 0);
    }
  }

  close() {
    this.marked = '';
    if (this.source) location.hash = hrefWith({ source: null, sentence: null, at: null, call: null });
    if (this.opener instanceof HTMLElement) this.opener.focus();
  }

  view() {
    if (!this.source) return nothing;
    return html`<dialog id="source" class="drawer" aria-labelledby="source-title" @close=${() => this.close()}>
      <header><p class="kicker">Source</p>
        <h2 id="source-title">${this.heading()}</h2>
        <form method="dialog"><button class="quiet" aria-label="Close">✕</button></form></header>
      ${settled(this.provenance, 'the source', (provenance) => this.body(provenance))}
    </dialog>`;
  }

  heading() {
    const [kind, field] = this.source.split('.');
    if (kind === 'audit') return field === '2' ? 'Second audit' : 'Audit';
    if (this.source === 'council.report') return 'Report of the chair';
    return field ? `${words(kind ?? '')}: ${words(field)}` : `${kindName(this.source)} ${this.source}`;
  }

  /** @param {Provenance} provenance */
  body(provenance) {
    const entity = entityIndex(this.frame.record).get(this.source);
    const replies = provenance.sources.filter((one, index, all) => all.findIndex((other) => isSameReply(other, one)) === index);
    const source = replies[this.place] ?? replies[0];
    this.passages = provenance.sources.filter((one) => source && isSameReply(one, source));
    return html`
      ${entity ? this.aboutEntity(entity) : this.sentence ? html`<blockquote class="prose">${this.sentence}</blockquote>` : nothing}
      ${source ? this.sourceView(replies, source) : html`<p class="soft">The record has no reply behind this: a person or an agent registered it.</p>`}
      ${this.related(provenance, entity)}`;
  }

  /** @param {import('../parts/entities.js').Entity} entity */
  aboutEntity(entity) {
    return html`<section class="about"><p class="facts">${entityBadge(entity, this.frame.record)} <span>${entity.contributors.map(seatName).join(', ')}</span> <span>round ${entity.round}</span></p>
      <p class="prose">${entity.label}</p>
      ${(entity.content ?? entity.description ?? '') === entity.label ? nothing : html`<p class="prose soft">${linkedText(entity.content ?? entity.description)}</p>`}</section>`;
  }

  /**
   * @param {EntitySource[]} sources
   * @param {EntitySource} source
   */
  sourceView(sources, source) {
    return html`<section><h3>Said in the reply of ${seatName(source.seat)} <span class="soft">${this.stageOf(source)}</span></h3>
      ${sources.length > 1 ? html`<nav class="choices" aria-label="Replies">${sources.map((other, index) => html`
        <a href=${hrefWith({ at: index })} aria-current=${other === source ? 'true' : nothing}>${seatName(other.seat)}, round ${other.round}</a>`)}</nav>` : nothing}
      ${source.call === null || source.call === undefined ? this.rawOnly(source) : this.callView(source.call)}
    </section>
    ${source.journal_seq === null ? nothing : html`<details><summary>Journal entry ${source.journal_seq}</summary>
      <dl class="pairs"><div><dt>Entry</dt><dd>${source.journal_seq}</dd></div><div><dt>Hash</dt><dd><code class="hash">${source.hash}</code></dd></div>
      <div><dt>Characters</dt><dd>${count(source.start)} to ${count(source.end)}</dd></div></dl>
      <p class="soft">Check the chain with <code>plenary verify ${this.frame.id}</code></p></details>`}`;
  }

  /** What the seat was asked for, once the call is loaded, and in which round.
   * @param {EntitySource} source
   */
  stageOf(source) {
    const call = this.call.value;
    const purpose = call && call.call === source.call ? call.purpose : '';
    return purpose ? stageText(purpose, source.round) : `round ${source.round}`;
  }

  /** @param {EntitySource} source */
  rawOnly(source) {
    const round = (this.frame.record.rounds ?? []).find((/** @type {any} */ one) => one.round === source.round);
    const raw = round?.experts?.[source.seat]?.raw;
    return html`<pre class="raw" tabindex="0">${raw ? marked(raw, this.passages, this.sentence) : source.quote}</pre>`;
  }

  /** @param {number} number */
  callView(number) {
    const path = dialoguePath(this.frame.id, `/calls/${number}`);
    this.call.want(path, () => getJson(path));
    if (this.call.error) return failure(this.call.error);
    const call = this.call.value;
    if (!call || call.call !== number) return loading('the reply');
    return html`<pre class="raw" tabindex="0" aria-label="Raw reply">${marked(call.raw ?? '', this.passages, this.sentence)}</pre>
      ${callDetails(call)}`;
  }

  /**
   * @param {Provenance} provenance
   * @param {import('../parts/entities.js').Entity | undefined} entity
   */
  related(provenance, entity) {
    const rests = provenance.rests_on ?? [];
    return html`
      ${rests.length > 0 ? html`<section><h3>Rests on</h3><p class="ids">${rests.map((id) => html`${entityLink(id)} `)}</p></section>` : nothing}
      ${entity?.references?.length ? html`<section><h3>Refers to</h3><ul class="plain">${entity.references.map((reference) => html`<li>${words(reference.type)} ${entityLink(reference.target)} <span class="soft">${this.label(reference.target)}</span></li>`)}</ul></section>` : nothing}
      ${provenance.used_in.length > 0 ? html`<section><h3>Used in</h3><ul class="plain">${provenance.used_in.map((use) => this.usedIn(use))}</ul></section>` : nothing}
      ${entity?.events?.length ? html`<section><h3>History</h3><ol class="plain">${entity.events.map((event) => html`<li>${words(event.type)} <span class="soft">in round ${event.round} by ${(event.by ?? event.actors ?? []).map(seatName).join(', ') || 'Plenary'}${event.reason ? `: ${event.reason}` : ''}</span> ${event.reference || event.result ? entityOrText(event.reference ?? event.result) : nothing}</li>`)}</ol></section>` : nothing}`;
  }

  /** @param {{ kind: string, id: string }} use */
  usedIn(use) {
    const isEntity = /^[PRTEC]\d{4}$/.test(use.id);
    return html`<li>${words(use.kind)} ${isEntity ? entityLink(use.id) : use.id.includes('.') ? html`<a href=${hrefWith({ source: use.id, sentence: null, at: null })}>${words(use.id.split('.')[1] ?? use.id)}</a>` : words(use.id)} <span class="soft">${isEntity ? this.label(use.id) : ''}</span></li>`;
  }

  /** @param {string} id */
  label(id) {
    return entityIndex(this.frame.record).get(id)?.label ?? '';
  }
}

/**
 * @param {EntitySource} one
 * @param {EntitySource} other
 */
function isSameReply(one, other) {
  return one.call === other.call && one.seat === other.seat && one.round === other.round;
}

/** @param {any} value */
function entityOrText(value) {
  return linkedText(typeof value === 'string' ? value : JSON.stringify(value));
}

/**
 * The raw text with its passages marked. Positions count Unicode characters, not UTF-16 units.
 *
 * @param {string} raw
 * @param {{ start: number, end: number }[]} passages
 * @param {string} sentence where a passage has it word for word, it alone is marked
 */
export function marked(raw, passages, sentence) {
  const characters = [...raw];
  const parts = /** @type {unknown[]} */ ([]);
  let at = 0;
  // Among the passages of a long document, those with the sentence are what the reader asked for.
  const stated = sentence ? findSentence(characters, sentence) : null;
  const exact = sentence ? passages.filter(({ start, end }) => characters.slice(start, end).join('').includes(sentence)) : [];
  const shown = exact.length > 0 ? exact : stated ? [stated] : passages;
  for (const { start, end } of shown.toSorted((a, b) => a.start - b.start)) {
    if (start < at || end <= start) continue;
    parts.push(characters.slice(at, start).join(''), markedPassage(characters.slice(start, end).join(''), sentence));
    at = end;
  }
  return [...parts, characters.slice(at).join('')];
}

/** A long reply has more texts than the server lists: the sentence itself is enough.
 * @param {string[]} characters
 * @param {string} sentence
 */
function findSentence(characters, sentence) {
  const at = characters.join('').indexOf(sentence);
  if (at < 0) return null;
  const start = [...characters.join('').slice(0, at)].length;
  return { start, end: start + [...sentence].length };
}

/**
 * @param {string} passage
 * @param {string} sentence
 */
function markedPassage(passage, sentence) {
  const inside = sentence ? passage.indexOf(sentence) : -1;
  if (inside < 0 || sentence === passage) return html`<mark>${passage}</mark>`;
  const rest = passage.slice(inside + sentence.length);
  return html`<span class="passage">${passage.slice(0, inside)}<mark>${sentence}</mark>${rest}</span>`;
}

/** The prompt as sent, and the facts of the call.
 * @param {any} call
 */
export function callDetails(call) {
  const cost = call.cost?.usd ?? call.cost_usd;
  const usage = call.usage ?? {};
  const rows = /** @type {[string, unknown][]} */ ([
    ['Call', call.call], ['Seat', seatName(call.seat)], ['Purpose', purposeName(call.purpose ?? '', call.round)],
    ['Model', call.model ?? call.model_served ?? call.model_asked], ['Transport', call.transport], ['Attempt', call.attempt],
    ['Sent', call.timing?.sent_at ? moment(call.timing.sent_at) : call.started_at ? moment(call.started_at) : null],
    ['Duration', duration(call.timing?.duration_ms ?? call.duration_ms)],
    ['Tokens', `${count(usage.input_tokens ?? call.tokens_in)} in, ${count(usage.output_tokens ?? call.tokens_out)} out`],
    ['Cost', money(cost)], ['Parsed', parseText(call.parse)],
  ]);
  return html`<details><summary>The prompt as sent</summary>
      ${(call.messages ?? []).length === 0 ? html`<p class="soft">The settings keep no prompts; the journal has their digest.</p>` : nothing}
      ${(call.messages ?? []).map((/** @type {any} */ message) => html`<h4>${message.role}</h4><pre class="raw" tabindex="0">${message.content}</pre>`)}</details>
    <details><summary>The call</summary><dl class="pairs">${rows.filter(([, value]) => value !== null && value !== undefined && value !== '').map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></details>`;
}

/** @param {any} parse */
function parseText(parse) {
  if (!parse) return null;
  if (parse.status === 'parsed') return parse.repaired ? 'yes, after a repair of the JSON' : 'yes';
  return `${parse.status}: ${parse.reason ?? ''}`;
}
