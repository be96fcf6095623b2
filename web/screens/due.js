// Conclusions past their review date, and how the audited conclusions of the store ended.

import { html, nothing } from '../vendor/lit-html.js';
import { getJson } from '../api.js';
import { date } from '../format.js';
import { RemoteValue } from '../host.js';
import { hrefToDialogue } from '../router.js';
import { hasRoute } from '../routes.js';
import { badge } from '../parts/badges.js';
import { empty, settled } from '../parts/notices.js';
import { OutcomeForm } from './outcome.js';

/** @param {import('../host.js').PageHost} host */
export function makeDueScreen(host) {
  return new DueScreen(host);
}

class DueScreen {
  /** @param {import('../host.js').PageHost} host */
  constructor(host) {
    this.host = host;
    this.title = 'Due';
    /** @type {RemoteValue<any>} */
    this.due = new RemoteValue(host);
    /** @type {Map<string, OutcomeForm>} */
    this.forms = new Map();
  }

  show() {}

  view() {
    this.due.want('due', async () => ((await hasRoute('/api/due')) ? getJson('/api/due?within=30d') : { due: [] }));
    return html`<section class="due-screen"><h1>Due for review</h1>
      <p class="lead">A conclusion names the day on which it should be read again. Record what became of it.</p>
      ${settled(this.due, 'the due conclusions', (due) => this.both(due.due))}</section>`;
  }

  /** What is due now, then what is due within a month.
   * @param {any[]} items
   */
  both(items) {
    const today = new Date().toISOString().slice(0, 10);
    const soon = items.filter((item) => item.review_by > today);
    return html`${this.list(items.filter((item) => item.review_by <= today))}
      ${soon.length > 0 ? html`<h2>In the next 30 days</h2>${this.list(soon)}` : nothing}`;
  }

  /** @param {any[]} items */
  list(items) {
    if (items.length === 0) return empty('No conclusion is due.');
    return html`<ul class="due-list">${items.map((item) => html`<li class="card">
      <p class="facts">${badge(item.days_overdue > 0 ? 'open' : 'waiting', `review by ${date(item.review_by)}`)}${item.terminal_state ? badge(item.terminal_state) : nothing}</p>
      <p class="row-title"><a href=${hrefToDialogue(item.dialogue_id)}>${item.title ?? item.question ?? item.dialogue_id}</a></p>
      <p class="prose">${item.recommendation ?? ''}</p>
      ${this.form(item.dialogue_id).entry()}</li>`)}</ul>`;
  }

  /** @param {string} id */
  form(id) {
    let form = this.forms.get(id);
    if (!form) {
      form = new OutcomeForm({ id, host: this.host });
      this.forms.set(id, form);
    }
    return form;
  }
}
