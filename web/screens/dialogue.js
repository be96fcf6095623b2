// One dialogue: its headline, the screens about it, and the source panel that any of them opens.

import { html, nothing } from '../vendor/lit-html.js';
import { dialoguePath, getJson, isUnauthorized, isUnreachable } from '../api.js';
import { age, duration, money, moment, plural, protocolName } from '../format.js';
import { RemoteValue } from '../host.js';
import { hrefToDialogue } from '../router.js';
import { costOf, panelOf } from '../record_views.js';
import { RunState } from '../run_state.js';
import { badge, decisionOf, flag, stateBadge } from '../parts/badges.js';
import { failure, loading } from '../parts/notices.js';
import { InterveneForms } from './intervene.js';
import { SourcePanel } from './source.js';

/**
 * What the screens of a dialogue share.
 *
 * @typedef {object} DialogueFrame
 * @property {string} id
 * @property {any} record the export document with `state`
 * @property {RunState} run
 * @property {import('../host.js').PageHost} host
 * @property {URLSearchParams} query
 * @property {boolean} isRunning
 * @property {InterveneForms} intervene
 * @property {number} version grows with each reload of the record
 *
 * @typedef {{ view(): unknown, drawn?(): void, leave?(): void }} SubScreen
 */

/** Three layers: the answer, how it came about, the data. */
const TABS = /** @type {[string, string, string, (record: any, run: RunState) => boolean][]} */ ([
  ['result', 'Result', 'answer', () => true],
  ['run', 'Run', 'deliberation', (record, run) => hasRun(record, run) || (record.protocol === 'alignment' && run.events > 0)],
  ['transcript', 'Transcript', 'deliberation', () => true],
  ['tensions', 'Tensions', 'deliberation', () => true],
  ['scores', 'Scores', 'deliberation', (record) => record.protocol === 'alignment'],
  ['graph', 'Graph', 'deliberation', () => true],
  ['calls', 'Calls', 'data', hasRun],
  ['record', 'Record', 'data', () => true],
]);

const LOADERS = /** @type {Record<string, () => Promise<new (frame: DialogueFrame) => SubScreen>>} */ ({
  result: async () => (await import('./result.js')).ResultScreen,
  run: async () => (await import('./run.js')).RunScreen,
  transcript: async () => (await import('./transcript.js')).TranscriptScreen,
  tensions: async () => (await import('./tensions.js')).TensionScreen,
  scores: async () => (await import('./scores.js')).ScoreScreen,
  graph: async () => (await import('./graph.js')).GraphScreen,
  calls: async () => (await import('./calls.js')).CallsScreen,
  record: async () => (await import('./record.js')).RecordScreen,
});

/** Events after which the record has more to show. */
const RELOADING = new Set(['round_held', 'reported', 'intervened', 'concluded', 'ruled', 'logged', 'overridden', 'stopped', 'started', 'recorded', 'panel_set', 'verdict_given']);
const RELOAD_DELAY_MS = 150;
const TICK_MS = 1000;
const ASKING_TICKS = 5;

const RUN_STATES = new Set(['running', 'interrupted', 'incomplete', 'failed']);

/** A dialogue that an agent leads has no run of ours.
 * @param {any} record
 * @param {RunState} run
 */
function hasRun(record, run) {
  return Boolean(record.council || record.review || record.alignment || RUN_STATES.has(record.state) || run.seats.length > 0);
}

/**
 * @param {import('../host.js').PageHost} host
 * @param {import('../router.js').ScreenAddress} address
 */
export function makeDialogueScreen(host, address) {
  return new DialogueScreen(host, address);
}

class DialogueScreen {
  /**
   * @param {import('../host.js').PageHost} host
   * @param {import('../router.js').ScreenAddress} address
   */
  constructor(host, address) {
    this.host = host;
    this.id = address.parts[1] ?? '';
    this.title = this.id;
    this.query = address.query;
    this.tab = '';
    /** The tab that was last brought into view; on a phone the row of tabs scrolls. */
    this.shownTab = '';
    this.run = new RunState();
    this.version = 0;
    /** @type {RemoteValue<any>} */
    this.remote = new RemoteValue(host);
    /** @type {SubScreen | null} */
    this.sub = null;
    this.intervene = new InterveneForms(this);
    this.source = new SourcePanel(this);
    /** @type {number | undefined} */
    this.timer = undefined;
    this.ticks = 0;
    this.hasLeft = false;
    this.ticker = window.setInterval(() => this.tick(), TICK_MS);
    this.address = address;
    void this.open();
  }

  get record() {
    return this.remote.value;
  }

  get isRunning() {
    return this.record?.state === 'running';
  }

  async open() {
    await this.reload();
    while (!this.record && !this.hasLeft && isUnreachable(this.remote.error)) {
      await this.host.connection.back();
      await this.reload();
    }
    if (!this.record || this.hasLeft) return;
    this.show(this.address);
    this.host.feed.follow([this.record.id ?? this.id], (event) => this.take(event));
    this.host.feed.onReturn = () => void this.reload();
  }

  /** @param {import('../router.js').ScreenAddress} address */
  show(address) {
    this.address = address;
    this.query = address.query;
    if (!this.record) return;
    const tab = address.parts[2] ?? (this.isRunning ? 'run' : 'result');
    this.source.show(address.query);
    if (tab !== this.tab) void this.openTab(tab);
  }

  /** @param {string} tab */
  async openTab(tab) {
    this.tab = tab;
    this.sub?.leave?.();
    this.sub = null;
    this.host.redraw();
    const load = LOADERS[tab];
    if (!load) return;
    const Screen = await this.host.connection.loadCode(load);
    if (this.tab !== tab || this.hasLeft) return;
    this.sub = new Screen(this);
    this.host.redraw();
  }

  async reload() {
    this.remote.key = this.id;
    await this.remote.load(() => getJson(dialoguePath(this.id)));
    if (this.remote.error) {
      // Without a record the screen itself shows the error.
      if (this.record || isUnauthorized(this.remote.error)) this.host.report(this.remote.error);
      return this.host.redraw();
    }
    this.version += 1;
    this.title = this.record?.title ?? this.id;
    this.host.redraw();
  }

  /** @param {import('../live.js').RunEvent} event */
  take(event) {
    this.run.take(event);
    if (RELOADING.has(event.event)) {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.reload(), RELOAD_DELAY_MS);
    }
    // The events of a run that is over are read again, but they are no news.
    if (this.isRunning && ['stopped', 'round_held', 'verdict_given'].includes(event.event)) this.host.announce(this.run.feed.at(-1)?.text ?? '');
    this.host.redraw();
  }

  /** Elapsed times grow while the run works. A process that dies writes no event, so the page asks. */
  tick() {
    if (!this.isRunning || this.host.connection.isLost) return;
    this.ticks += 1;
    if (this.ticks % ASKING_TICKS === 0) void this.reload();
    this.host.redraw();
  }

  leave() {
    this.hasLeft = true;
    clearInterval(this.ticker);
    clearTimeout(this.timer);
    this.sub?.leave?.();
    this.source.leave();
  }

  drawn() {
    this.sub?.drawn?.();
    this.source.drawn();
    if (this.tab === this.shownTab) return;
    const link = document.querySelector('.screens a[aria-current]');
    if (!link) return;
    this.shownTab = this.tab;
    link.scrollIntoView({ block: 'nearest', inline: 'center' });
  }

  view() {
    const record = this.record;
    if (!record) return this.remote.error ? html`${failure(this.remote.error)}<p><a href="#/">Show the dialogues</a></p>` : loading('the dialogue');
    return html`<article class="dialogue">
      ${headline(record, this.run, this.host.connection.isLost)}
      ${screenTabs(record, this.run, this.id, this.tab)}
      ${this.intervene.view()}
      ${LOADERS[this.tab] ? this.sub ? this.sub.view() : loading('the screen') : noScreen(this.tab, this.id)}
      ${this.source.view()}
    </article>`;
  }
}

/**
 * @param {any} record
 * @param {RunState} run
 * @param {boolean} isLost
 */
function headline(record, run, isLost) {
  const row = {
    state: record.state ?? 'done', status: record.status, terminal_state: record.terminalState, protocol: record.protocol,
    verdict: record.review?.verdict ?? null, overridden: decisionOf(record.review), forced: isForced(record), is_imported: Boolean(record.imported),
  };
  const cost = costOf(record) ?? (run.calls > 0 ? run.cost : null);
  const panel = row.state === 'running' ? run.panel : panelOf(record);
  const isCutShort = (record.council?.interventions ?? []).some((/** @type {any} */ one) => one.kind === 'stop');
  return html`<header class="headline">
    <p class="kicker">${protocolName(record.protocol)}${record.rehearsal ? html` · <strong>rehearsal</strong>: no model was asked` : nothing}</p>
    <h1>${record.question ?? record.title}</h1>
    ${record.question && record.title && record.title !== record.question ? html`<p class="soft subtitle">${record.title}</p>` : nothing}
    <p class="facts">
      ${isLost && row.state === 'running' ? badge('lost', 'was running') : stateBadge(row)}
      ${row.overridden ? flag('OVERRIDDEN') : nothing}
      ${panel?.attempted ? html`<span class=${panel.succeeded < panel.attempted && row.state !== 'running' ? 'warn' : ''}>${panel.succeeded} of ${panel.attempted} ${record.protocol === 'alignment' ? 'experts' : 'seats'} answered</span>` : nothing}
      ${record.council?.flags?.degraded || record.review?.panel?.degraded || record.alignment?.panel?.failed?.length > 0 ? flag('DEGRADED') : nothing}
      ${isCutShort ? flag('CUT SHORT') : nothing}
      ${record.totalRounds ? html`<span>${plural(record.totalRounds, 'round')}</span>` : nothing}
      ${cost === null ? nothing : html`<span>${money(cost)}</span>`}
      ${run.startedAt && (run.endedAt || record.concluded_at) ? html`<span title="Time in which the run worked">${duration(run.elapsed(Date.parse(record.concluded_at)))}</span>` : nothing}
      <time datetime=${record.created_at} title=${moment(record.created_at)}>${age(record.created_at)}</time>
    </p>
  </header>`;
}

/**
 * @param {string} tab
 * @param {string} id
 */
function noScreen(tab, id) {
  if (tab === '') return loading('the screen');
  return html`<section class="empty"><p><strong>A dialogue has no screen “${tab}”.</strong></p><p><a href=${hrefToDialogue(id, 'result')}>Show the result</a></p></section>`;
}

/** @param {any} record */
export function isForced(record) {
  return (record.verdicts ?? []).some((/** @type {any} */ verdict) => verdict.type === 'final' && verdict.forced);
}

/**
 * @param {any} record
 * @param {RunState} run
 * @param {string} id
 * @param {string} tab
 */
function screenTabs(record, run, id, tab) {
  const tabs = TABS.filter(([, , , isShown]) => isShown(record, run));
  const layers = ['answer', 'deliberation', 'data'];
  return html`<nav class="screens" aria-label="Screens of this dialogue">${layers.map((layer) => html`
    <ul aria-label="The ${layer}">${tabs.filter(([, , of]) => of === layer).map(([name, label]) => html`
      <li><a href=${hrefToDialogue(id, name)} aria-current=${tab === name ? 'page' : nothing}>${label}</a></li>`)}</ul>`)}</nav>`;
}
