// The list of dialogues: newest first, filtered, searched, drawn row by row as one scrolls.

import { html, nothing } from '../vendor/lit-html.js';
import { getJson, isUnauthorized, isUnreachable } from '../api.js';
import { age, money, moment, plural, protocolName } from '../format.js';
import { hrefTo, hrefToDialogue, replaceAddress } from '../router.js';
import { getIfOffered } from '../routes.js';
import { flag, stateBadge } from '../parts/badges.js';
import { empty, failure, loading } from '../parts/notices.js';
import { WindowedList } from '../parts/windowed.js';

/**
 * @typedef {{ dialogue_id: string, short_id: string, title: string, protocol: string, state: string, status: string,
 *   terminal_state: string | null, verdict?: string | null, overridden?: string | null, forced: boolean, rehearsal: boolean,
 *   degraded: boolean, rounds: number, cost_usd: number | null, created_at: string }} DialogueRow
 */

const STATES = ['running', 'open', 'interrupted', 'incomplete', 'failed', 'done'];
const PROTOCOLS = ['council', 'review', 'alignment'];
const SEARCH_DELAY_MS = 200;
const RELOAD_DELAY_MS = 500;

/** A reader further down keeps the rows that they read. */
const TOP_PIXELS = 400;

/**
 * @param {import('../host.js').PageHost} host
 * @param {import('../router.js').ScreenAddress} address
 */
export function makeListScreen(host, address) {
  return new ListScreen(host, address);
}

class ListScreen {
  /**
   * @param {import('../host.js').PageHost} host
   * @param {import('../router.js').ScreenAddress} address
   */
  constructor(host, address) {
    this.host = host;
    this.title = 'Dialogues';
    /** @type {DialogueRow[]} */
    this.rows = [];
    /** @type {string | null} */
    this.next = null;
    this.isLoading = false;
    this.isLoaded = false;
    /** @type {unknown} */
    this.error = null;
    this.due = 0;
    this.query = new URLSearchParams();
    this.isFollowing = false;
    this.hasLeft = false;
    /** @type {number | undefined} */
    this.reloading = undefined;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** Whether the store changed since the rows were read. */
    this.isBehind = false;
    this.onScroll = () => this.catchUp();
    window.addEventListener('scroll', this.onScroll, { passive: true });
    this.list = new WindowedList(host, (/** @type {DialogueRow} */ row) => drawRow(row), () => this.more());
    this.show(address);
    void this.countDue();
  }

  /** @param {import('../router.js').ScreenAddress} address */
  show(address) {
    if (this.isLoaded && address.query.toString() === this.query.toString()) return;
    this.query = address.query;
    void this.load();
  }

  leave() {
    this.hasLeft = true;
    clearTimeout(this.timer);
    clearTimeout(this.reloading);
    window.removeEventListener('scroll', this.onScroll);
    this.list.leave();
  }

  drawn() {
    this.list.drawn();
    if (!this.query.has('find')) return;
    this.query.delete('find');
    history.replaceState(null, '', hrefTo([], Object.fromEntries(this.query)));
    document.getElementById('search')?.focus();
  }

  async load() {
    const query = this.query.toString();
    this.isLoading = true;
    try {
      const page = await getJson(`/api/dialogues?${this.search()}`);
      if (query !== this.query.toString()) return;
      this.rows = page.dialogues;
      this.next = page.next;
      this.error = null;
      this.host.announce(plural(this.rows.length, 'dialogue') + (this.next ? ' and more' : ''));
    } catch (error) {
      this.error = error;
      if (isUnauthorized(error)) this.host.report(error);
    }
    this.isLoading = false;
    this.isLoaded = true;
    if (!this.error) this.follow();
    else if (isUnreachable(this.error)) void this.host.connection.back().then(() => { if (!this.hasLeft) void this.load(); });
    this.host.redraw();
  }

  async more() {
    if (this.isLoading || !this.next) return;
    this.isLoading = true;
    const query = this.query.toString();
    try {
      const page = await getJson(`/api/dialogues?${this.search(this.next)}`);
      if (query !== this.query.toString()) return;
      this.rows = [...this.rows, ...page.dialogues];
      this.next = page.next;
    } catch (error) {
      this.next = null;
      this.host.report(error);
    }
    this.isLoading = false;
    this.host.redraw();
  }

  /** @param {string} [after] */
  search(after) {
    const search = new URLSearchParams();
    for (const name of ['state', 'protocol', 'q']) {
      const value = this.query.get(name);
      if (value) search.set(name, value);
    }
    if (after) search.set('after', after);
    return search;
  }

  /** The list follows the store: a run that begins or ends changes it. */
  follow() {
    if (this.isFollowing) return;
    this.isFollowing = true;
    const follow = () => {
      this.isBehind = true;
      this.catchUp();
    };
    this.host.feed.followStore(follow);
    this.host.feed.onReturn = follow;
  }

  /** Reads the rows again, once the reader is at the top. */
  catchUp() {
    if (!this.isBehind || this.reloading !== undefined || window.scrollY > TOP_PIXELS) return;
    this.reloading = window.setTimeout(() => {
      this.reloading = undefined;
      this.isBehind = false;
      void this.load();
    }, RELOAD_DELAY_MS);
  }

  async countDue() {
    try {
      const due = await getIfOffered('/api/due');
      this.due = due?.due.length ?? 0;
      this.host.redraw();
    } catch {
      this.due = 0;
    }
  }

  view() {
    return html`<section class="list-screen">
      <header class="head"><h1>Dialogues</h1>
      ${this.due > 0 ? html`<a class="due-note" href="#/due">${plural(this.due, 'conclusion')} due for review</a>` : nothing}</header>
      ${this.filters()}
      ${this.error ? failure(this.error) : this.body()}
    </section>`;
  }

  filters() {
    return html`<form class="filters" role="search" @submit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <label class="grow"><span class="hidden">Search</span>
        <input id="search" type="search" placeholder="Search titles, questions, tensions, claims" .value=${this.searchText()} @input=${(/** @type {InputEvent} */ event) => this.type(event)}></label>
      ${this.choice('state', 'Any state', STATES.map((state) => [state, state]))}
      ${this.choice('protocol', 'Any protocol', PROTOCOLS.map((name) => [name, protocolName(name)]))}
    </form>`;
  }

  /**
   * @param {string} name
   * @param {string} all
   * @param {string[][]} options
   */
  choice(name, all, options) {
    const value = this.query.get(name) ?? '';
    return html`<label><span class="hidden">${name}</span>
      <select @change=${(/** @type {Event} */ event) => this.filter(name, /** @type {HTMLSelectElement} */ (event.target).value)}>
        <option value="" ?selected=${value === ''}>${all}</option>
        ${options.map(([key, text]) => html`<option value=${key} ?selected=${value === key}>${text}</option>`)}
      </select></label>`;
  }

  /** While the reader types, the field is ahead of the address. */
  searchText() {
    const field = document.getElementById('search');
    return field instanceof HTMLInputElement && field === document.activeElement ? field.value : this.query.get('q') ?? '';
  }

  /** @param {InputEvent} event */
  type(event) {
    const value = /** @type {HTMLInputElement} */ (event.target).value;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.filter('q', value), SEARCH_DELAY_MS);
  }

  /**
   * @param {string} name
   * @param {string} value
   */
  filter(name, value) {
    const query = Object.fromEntries(this.query);
    replaceAddress(hrefTo([], { ...query, [name]: value, find: null }));
  }

  body() {
    if (!this.isLoaded) return loading('the dialogues');
    if (this.rows.length === 0) return this.nothingThere();
    return html`${this.list.view(this.rows, 'Dialogues')}
      <p class="soft list-end">${this.next ? 'More follow as you scroll.' : plural(this.rows.length, 'dialogue')}</p>`;
  }

  nothingThere() {
    if (this.search().size > 0) return empty('No dialogue matches.', html`<p><a href="#/">Show all</a></p>`);
    return empty('There is no dialogue yet.', html`<p><a class="button primary" href="#/new/ask">Ask a first question</a></p>
      <p class="soft">Without a model key, Plenary rehearses offline.</p>`);
  }
}

/** @param {DialogueRow} row */
function drawRow(row) {
  return html`<a class="dialogue-row" href=${hrefToDialogue(row.dialogue_id)}>
    <span class="row-state">${stateBadge(row)}</span>
    <span class="row-title">${row.title}</span>
    <span class="row-facts">
      <span class="row-flags">${row.degraded ? flag('degraded') : nothing}${row.overridden ? flag('overridden') : nothing}${row.rehearsal ? flag('rehearsal') : nothing}</span>
      <span class="row-protocol">${protocolName(row.protocol)}</span>
      <span class="wide number">${plural(row.rounds, 'round')}</span>
      <span class="number row-cost">${row.cost_usd === null || row.cost_usd === undefined ? '' : money(row.cost_usd)}</span>
      <time class="number" datetime=${row.created_at} title=${moment(row.created_at)}>${age(row.created_at)}</time>
    </span>
  </a>`;
}
