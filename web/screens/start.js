// Forms that start a run: a question, an aligned dialogue, a review of a document.

import { html, nothing } from '../vendor/lit-html.js';
import { postJson } from '../api.js';
import { hasRoute } from '../routes.js';
import { failure } from '../parts/notices.js';

const FORMS = [['ask', 'Ask a council'], ['align', 'Align experts'], ['review', 'Review a document']];
const ABOUT = /** @type {Record<string, string>} */ ({
  ask: 'Several models answer on their own, review each other, and a chair reports. A critic who never saw the debate tries to break the conclusion.',
  align: 'A Judge designs a panel of experts. They argue in rounds until every tension is resolved or accepted.',
  review: 'A panel reads the document and decides: SHIP, REVISE or HOLD. It says what to change, and where.',
});
const MODES = [['general', 'General'], ['architecture', 'Architecture'], ['review', 'Code or document']];

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
    if (kind !== this.kind) this.error = null;
    this.kind = FORMS.some(([name]) => name === kind) ? kind : 'ask';
    this.title = FORMS.find(([name]) => name === this.kind)?.[1] ?? '';
  }

  view() {
    const parts = /** @type {Record<string, () => unknown>} */ ({ ask: askFields, align: alignFields, review: reviewFields });
    return html`<section class="start">
      <nav class="choices" aria-label="Kind of run">${this.forms.map(([name, label]) => html`<a href="#/new/${name}" aria-current=${this.kind === name ? 'page' : nothing}>${label}</a>`)}</nav>
      <h1>${this.title}</h1>
      <p class="lead">${ABOUT[this.kind]}</p>
      ${this.error ? failure(this.error) : nothing}
      <form class="stack" @submit=${(/** @type {SubmitEvent} */ event) => this.send(event)}>
        ${parts[this.kind]?.()}
        <label class="inline"><input type="checkbox" name="rehearse" value="true"> Rehearse offline: scripted seats, no model is asked</label>
        <button class="primary" ?disabled=${this.isSending}>${this.isSending ? 'Starting…' : 'Start'}</button>
      </form></section>`;
  }

  /** A second click sends the same key, so that only one run starts.
   * @param {SubmitEvent} event
   */
  async send(event) {
    event.preventDefault();
    if (this.isSending) return;
    const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
    this.isSending = true;
    this.error = null;
    this.host.redraw();
    try {
      const started = await postJson(`/api/${this.kind}`, readFields(fields), this.key);
      this.key = crypto.randomUUID();
      location.hash = `#/d/${encodeURIComponent(started.dialogue_id)}/run`;
    } catch (error) {
      this.error = error;
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

function askFields() {
  return html`<label>Question <textarea name="question" rows="3" required maxlength="20000" placeholder="Should reads go through a cache?"></textarea></label>
    <details><summary>Context and limits</summary><div class="stack">
      <label>Mode <select name="mode">${MODES.map(([value, label]) => html`<option value=${value}>${label}</option>`)}</select></label>
      <label>Files of the project, one path per line <textarea name="context" rows="2"></textarea></label>${limits()}</div></details>`;
}

function alignFields() {
  return html`<label>Question <textarea name="question" rows="3" required maxlength="20000" placeholder="Which storage should the archive use?"></textarea></label>
    <details><summary>Panel and limits</summary><div class="stack">
      <label>Experts in the panel <input name="panel" type="number" min="2" max="12" placeholder="the Judge decides"></label>
      <label>Rounds at most <input name="max_rounds" type="number" min="1" max="100" placeholder="10"></label>
      <label>Agreement in percent <input name="to" type="number" min="1" max="100" placeholder="100"></label>
      <label>Domain of the ethos <input name="domain"></label>
      <label>Constraints, one per line <textarea name="constraints" rows="2"></textarea></label>
      <label>Files of the project, one path per line <textarea name="context" rows="2"></textarea></label>${limits()}</div></details>`;
}

function reviewFields() {
  return html`<label>Path of the document <input name="path" required placeholder="posts/launch.md"></label>
    <details><summary>Type and tier</summary><div class="stack">
      <label>Type <input name="type" placeholder="by the rules"></label>
      <label>Tier <input name="tier" type="number" min="1" max="3" placeholder="by the rules"></label>
      <label>Author <input name="producer"></label></div></details>`;
}

function limits() {
  return html`<label>Budget in dollars <input name="budget_usd" type="number" min="0" step="0.01" placeholder="by the settings"></label>
    <label>Deadline <input name="deadline" placeholder="such as 10m"></label>`;
}
