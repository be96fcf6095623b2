// Forms that start a run: a question, an aligned dialogue, a review of a document.

import { html, nothing } from '../vendor/lit-html.js';
import { ApiProblem, postJson } from '../api.js';
import { hasRoute } from '../routes.js';
import { failure, fieldProblem } from '../parts/notices.js';

const FORMS = [['ask', 'Ask a council'], ['align', 'Align experts'], ['review', 'Review a document']];
const ABOUT = /** @type {Record<string, string>} */ ({
  ask: 'Several models answer on their own, review each other, and a chair reports. A critic who never saw the debate tries to break the conclusion.',
  align: 'A Judge designs a panel of experts. They argue in rounds until every tension is resolved or accepted.',
  review: 'A panel reads the document and decides: SHIP, REVISE or HOLD. It says what to change, and where.',
});
const MODES = [['general', 'General'], ['architecture', 'Architecture'], ['review', 'Code or document']];

/** Draws a field with its label and, below it, what the server says is wrong with it.
 * @typedef {(name: string, text: string, control: unknown) => unknown} FieldLabel
 */

/**
 * @param {import('../host.js').PageHost} host
 * @param {import('../router.js').ScreenAddress} address
 */
export function makeStartScreen(host, address) {
  return new StartScreen(host, address);
}

class StartScreen {
  /**
   * @param {import('../host.js').PageHost} host
   * @param {import('../router.js').ScreenAddress} address
   */
  constructor(host, address) {
    this.host = host;
    this.kind = '';
    this.title = '';
    /** @type {unknown} */
    this.error = null;
    /** The field that the error is about. */
    this.wrongField = '';
    /** The next drawing leads the reader to the error. */
    this.isNews = false;
    this.isSending = false;
    this.key = crypto.randomUUID();
    this.forms = FORMS.filter(([name]) => name !== 'align');
    this.show(address);
    void this.findForms();
  }

  /** The form of the built-in Judge needs a server that has one. */
  async findForms() {
    if (await hasRoute('/api/align')) this.forms = FORMS;
    this.host.redraw();
  }

  /** @param {import('../router.js').ScreenAddress} address */
  show(address) {
    const kind = address.parts[1] ?? 'ask';
    if (kind !== this.kind) this.fail(null);
    this.kind = FORMS.some(([name]) => name === kind) ? kind : 'ask';
    this.title = FORMS.find(([name]) => name === this.kind)?.[1] ?? '';
  }

  view() {
    const parts = /** @type {Record<string, (label: FieldLabel) => unknown>} */ ({ ask: askFields, align: alignFields, review: reviewFields });
    return html`<section class="start">
      <nav class="choices" aria-label="Kind of run">${this.forms.map(([name, label]) => html`<a href="#/new/${name}" aria-current=${this.kind === name ? 'page' : nothing}>${label}</a>`)}</nav>
      <h1>${this.title}</h1>
      <p class="lead">${ABOUT[this.kind]}</p>
      <form class="stack" @submit=${(/** @type {SubmitEvent} */ event) => this.send(event)}>
        ${parts[this.kind]?.((name, text, control) => this.label(name, text, control))}
        <label class="inline"><input type="checkbox" name="rehearse" value="true"> Rehearse offline: scripted seats, no model is asked</label>
        <button class="primary" ?disabled=${this.isSending}>${this.isSending ? 'Starting…' : 'Start'}</button>
        ${this.error && !this.wrongField ? html`<div id="start-error" tabindex="-1">${failure(this.error)}</div>` : nothing}
      </form></section>`;
  }

  /** @type {FieldLabel} */
  label(name, text, control) {
    const isWrong = this.wrongField === name && this.error instanceof ApiProblem;
    return html`<label>${text} ${control}</label>
      ${isWrong ? html`<p id="start-error" class="field-error" role="alert">${fieldProblem(/** @type {ApiProblem} */ (this.error))}</p>` : nothing}`;
  }

  /** Leads the reader to a new error: to the field that is wrong, else to the text beside Start. */
  drawn() {
    for (const control of document.querySelectorAll('.start form [name]')) {
      const isWrong = this.wrongField !== '' && control.getAttribute('name') === this.wrongField;
      control.setAttribute('aria-invalid', String(isWrong));
      if (isWrong) control.setAttribute('aria-describedby', 'start-error');
      else control.removeAttribute('aria-describedby');
    }
    if (!this.isNews || this.isSending) return;
    this.isNews = false;
    const target = document.querySelector('.start [aria-invalid="true"]') ?? document.getElementById('start-error');
    const fold = target?.closest('details');
    if (fold) fold.open = true;
    if (target instanceof HTMLElement) target.focus();
  }

  /**
   * @param {unknown} error
   * @param {HTMLFormElement} [form]
   */
  fail(error, form) {
    const field = error instanceof ApiProblem ? error.field : '';
    this.error = error;
    this.wrongField = form?.elements.namedItem(field) ? field : '';
    this.isNews = error !== null;
  }

  /** A second click sends the same key, so that only one run starts.
   * @param {SubmitEvent} event
   */
  async send(event) {
    event.preventDefault();
    if (this.isSending) return;
    const form = /** @type {HTMLFormElement} */ (event.target);
    this.isSending = true;
    this.fail(null);
    this.host.redraw();
    try {
      const started = await postJson(`/api/${this.kind}`, readFields(new FormData(form)), this.key);
      this.key = crypto.randomUUID();
      location.hash = `#/d/${encodeURIComponent(started.dialogue_id)}/run`;
    } catch (error) {
      this.fail(error, form);
    }
    this.isSending = false;
    this.host.redraw();
  }
}

const NUMBERS = new Set(['budget_usd', 'panel_size', 'max_rounds', 'convergence_percent', 'tier', 'panel', 'to']);
const LISTS = new Set(['context', 'constraints']);

/** Empty fields are left out.
 * @param {FormData} fields
 */
function readFields(fields) {
  /** @type {Record<string, any>} */
  const body = {};
  for (const [name, value] of fields) {
    const text = String(value).trim();
    if (text === '') continue;
    if (NUMBERS.has(name)) body[name] = Number(text);
    else if (LISTS.has(name)) body[name] = text.split('\n').map((line) => line.trim()).filter(Boolean);
    else body[name] = text === 'true' ? true : text;
  }
  return body;
}

/** @param {FieldLabel} label */
function askFields(label) {
  return html`${label('question', 'Question', html`<textarea name="question" rows="3" required maxlength="20000" placeholder="Should reads go through a cache?"></textarea>`)}
    <details><summary>Context and limits</summary><div class="stack">
      ${label('mode', 'Mode', html`<select name="mode">${MODES.map(([value, text]) => html`<option value=${value}>${text}</option>`)}</select>`)}
      ${label('context', 'Files of the project, one path per line', html`<textarea name="context" rows="2"></textarea>`)}${limits(label)}</div></details>`;
}

/** @param {FieldLabel} label */
function alignFields(label) {
  return html`${label('question', 'Question', html`<textarea name="question" rows="3" required maxlength="20000" placeholder="Which storage should the archive use?"></textarea>`)}
    <details><summary>Panel and limits</summary><div class="stack">
      ${label('panel', 'Experts in the panel', html`<input name="panel" type="number" min="2" max="12" placeholder="the Judge decides">`)}
      ${label('max_rounds', 'Rounds at most', html`<input name="max_rounds" type="number" min="1" max="100" placeholder="10">`)}
      ${label('to', 'Agreement in percent', html`<input name="to" type="number" min="1" max="100" placeholder="100">`)}
      ${label('domain', 'Domain of the ethos', html`<input name="domain">`)}
      ${label('constraints', 'Constraints, one per line', html`<textarea name="constraints" rows="2"></textarea>`)}
      ${label('context', 'Files of the project, one path per line', html`<textarea name="context" rows="2"></textarea>`)}${limits(label)}</div></details>`;
}

/** @param {FieldLabel} label */
function reviewFields(label) {
  return html`${label('path', 'Path of the document', html`<input name="path" required placeholder="posts/launch.md">`)}
    <details><summary>Type and tier</summary><div class="stack">
      ${label('type', 'Type', html`<input name="type" placeholder="by the rules">`)}
      ${label('tier', 'Tier', html`<input name="tier" type="number" min="1" max="3" placeholder="by the rules">`)}
      ${label('producer', 'Author', html`<input name="producer">`)}</div></details>`;
}

/** @param {FieldLabel} label */
function limits(label) {
  return html`${label('budget_usd', 'Budget in dollars', html`<input name="budget_usd" type="number" min="0" step="0.01" placeholder="by the settings">`)}
    ${label('deadline', 'Deadline', html`<input name="deadline" placeholder="such as 10m">`)}`;
}
