// What became of a conclusion: recorded outcomes, and the form that records one.

import { html, nothing } from '../vendor/lit-html.js';
import { dialoguePath, postJson } from '../api.js';
import { age } from '../format.js';
import { badge } from '../parts/badges.js';

const OUTCOMES = [['held', 'It held'], ['mixed', 'Mixed'], ['failed', 'It failed']];

export class OutcomeForm {
  /** @param {{ id: string, host: import('../host.js').PageHost, reload?: () => Promise<unknown> }} frame */
  constructor(frame) {
    this.frame = frame;
    this.isSending = false;
    /** What the person recorded on this visit. */
    this.recorded = '';
  }

  /** @param {any} record */
  view(record) {
    const known = record.outcomes ?? [];
    return html`<section class="outcomes">
      ${known.length > 0 ? html`<h3>What became of it</h3><ul class="plain">${known.map((/** @type {any} */ outcome) => html`<li>${badge(outcome.outcome)} ${outcome.note ?? ''} <span class="soft">${age(outcome.at ?? outcome.created_at ?? '')}</span></li>`)}</ul>` : nothing}
      ${record.rehearsal ? nothing : this.entry()}
    </section>`;
  }

  /** The form; once it is sent, what it recorded stands in its place. */
  entry() {
    if (this.recorded) return html`<p id="outcome-${this.frame.id}" class="recorded" tabindex="-1"><strong>Recorded:</strong> ${this.recorded}</p>`;
    return html`<details><summary>Record what became of it</summary>${this.form()}</details>`;
  }

  form() {
    return html`<form class="stack" @submit=${(/** @type {SubmitEvent} */ event) => this.send(event)}>
      <fieldset><legend>Outcome</legend>${OUTCOMES.map(([value, label]) => html`<label class="inline"><input type="radio" name="outcome" value=${value} required> ${label}</label>`)}</fieldset>
      <label>What happened <textarea name="note" rows="2" required></textarea></label>
      <button class="primary" ?disabled=${this.isSending}>Record</button></form>`;
  }

  /** @param {SubmitEvent} event */
  async send(event) {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    this.isSending = true;
    try {
      await postJson(dialoguePath(this.frame.id, '/outcome'), { outcome: form.get('outcome'), note: form.get('note') });
      this.recorded = `${OUTCOMES.find(([value]) => value === form.get('outcome'))?.[1]}. ${form.get('note')}`;
      this.frame.host.announce('Recorded.');
      this.frame.host.focus(`outcome-${this.frame.id}`);
      await this.frame.reload?.();
    } catch (error) {
      this.frame.host.report(error);
    }
    this.isSending = false;
    this.frame.host.redraw();
  }
}
