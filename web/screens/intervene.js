// Interventions: whisper, directive with its restatement, stop; after a stop resume and conclude.

import { html, nothing } from '../vendor/lit-html.js';
import { dialoguePath, postJson } from '../api.js';
import { seatName } from '../format.js';
import { hrefTo } from '../router.js';

/** @typedef {'' | 'whisper' | 'direct' | 'stop' | 'resume'} OpenForm */

const RESUMABLE = new Set(['interrupted', 'incomplete', 'failed']);

const WAITS = {
  '': 'The run stopped before its end. A resumed run never pays twice for a stored reply.',
  open: 'The run waits for your decisions. Resume it when all conflicts are decided.',
  decided: 'All conflicts are decided. Resume the run.',
};

export class InterveneForms {
  /** @param {any} frame */
  constructor(frame) {
    /** @type {import('./dialogue.js').DialogueFrame & { reload(): Promise<unknown> }} */
    this.frame = frame;
    /** @type {OpenForm} */
    this.open = '';
    this.isSending = false;
    this.said = '';
    /** @type {{ text: string, restated: string } | null} the directive that waits for a yes */
    this.pending = null;
  }

  view() {
    const record = this.frame.record;
    if (record.protocol === 'review' && !RESUMABLE.has(record.state)) return nothing;
    if (!this.frame.isRunning && !RESUMABLE.has(record.state)) return nothing;
    const { stop, wait } = this.frame.run;
    return html`<section class="intervene" aria-label="Intervene"><fieldset ?disabled=${this.frame.host.connection.isLost}>
      <div class="actions">
        ${!this.frame.isRunning && wait === 'open' ? html`<a class="button primary" href=${hrefTo(['ethos', stop?.['ethos']])}>Show the conflicts</a>` : nothing}
        ${this.frame.isRunning ? html`
          ${this.toggle('whisper', 'Whisper')}${this.toggle('direct', 'Direct')}${this.toggle('stop', 'Stop')}
          ${this.open === '' && this.said === '' ? html`<span class="soft">Speak to the panel while it works, or end its rounds.</span>` : nothing}`
          : html`${this.toggle('resume', 'Resume', wait === 'decided')}<span class="soft">${WAITS[wait]}</span>`}
        <span class="soft" role="status">${this.said}</span>
      </div>
      ${this.open === '' ? nothing : this.form()}
    </fieldset></section>`;
  }

  /**
   * @param {OpenForm} name
   * @param {string} label
   * @param {boolean} [isNext] whether it is what the reader came for
   */
  toggle(name, label, isNext = false) {
    const isOpen = this.open === name;
    return html`<button type="button" class=${isOpen ? 'pressed' : isNext ? 'primary' : ''} aria-expanded=${isOpen} @click=${() => this.choose(isOpen ? '' : name)}>${label}</button>`;
  }

  /** @param {OpenForm} name */
  choose(name) {
    this.open = name;
    this.pending = null;
    this.frame.host.redraw();
  }

  form() {
    const parts = { whisper: () => this.whisper(), direct: () => this.direct(), stop: () => this.stop(), resume: () => this.resume(), '': () => nothing };
    return parts[this.open]();
  }

  whisper() {
    const seats = this.frame.run.listenersOf(this.frame.record.protocol);
    return html`<form class="stack" @submit=${(/** @type {SubmitEvent} */ event) => this.submit(event, '/whisper', 'Whispered. The next prompts contain it.')}>
      <p class="soft">The seats read a whisper with their next prompt. They may follow it or not.</p>
      <label>Message <textarea name="text" rows="2" required maxlength="2000"></textarea></label>
      <label>To <select name="to"><option value="">all seats</option>${seats.map((seat) => html`<option value=${seat.seat}>${seatName(seat.seat)}</option>`)}</select></label>
      <button class="primary" ?disabled=${this.isSending}>Whisper</button></form>`;
  }

  direct() {
    if (this.pending) return this.confirmation(this.pending);
    return html`<form class="stack" @submit=${(/** @type {SubmitEvent} */ event) => this.restate(event)}>
      <p class="soft">A directive binds the next round. The chair says how it understands it, and you confirm.</p>
      <label>Directive for the next round <textarea name="text" rows="2" required maxlength="2000"></textarea></label>
      <button class="primary" ?disabled=${this.isSending}>${this.isSending ? 'The chair restates it…' : 'Let the chair restate it'}</button></form>`;
  }

  /** @param {{ text: string, restated: string }} pending */
  confirmation(pending) {
    return html`<div class="stack"><p>The chair understood it so:</p><blockquote class="prose">${pending.restated}</blockquote>
      <div class="actions"><button type="button" class="primary" ?disabled=${this.isSending} @click=${() => this.post('/direct', { text: pending.text, confirmed: true }, 'The directive holds from the next round.')}>Yes, direct the panel</button>
      <button type="button" @click=${() => this.choose('direct')}>Say it again</button></div></div>`;
  }

  stop() {
    return html`<div class="stack"><p>The panel finishes what it is writing, skips the other rounds and concludes on its answers.</p>
      <div class="actions"><button type="button" class="danger" ?disabled=${this.isSending} @click=${() => this.post('/stop', {}, 'Stopping.')}>Stop the rounds</button></div></div>`;
  }

  resume() {
    return html`<form class="stack" @submit=${(/** @type {SubmitEvent} */ event) => this.submit(event, '/resume', 'Resumed.')}>
      <label>New budget in dollars <input name="budget_usd" type="number" min="0" step="0.01" placeholder="as before"></label>
      <button class="primary" ?disabled=${this.isSending}>Resume</button></form>`;
  }

  /** The first request returns the restatement; the second one, confirmed, takes effect.
   * @param {SubmitEvent} event
   */
  async restate(event) {
    event.preventDefault();
    const text = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('text'));
    await this.attempt(async () => {
      const answer = await postJson(dialoguePath(this.frame.id, '/direct'), { text });
      this.pending = { text, restated: readRestatement(answer.suggestion ?? '') };
    });
  }

  /**
   * @param {SubmitEvent} event
   * @param {string} path
   * @param {string} done
   */
  async submit(event, path, done) {
    event.preventDefault();
    const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
    /** @type {Record<string, any>} */
    const body = {};
    for (const [name, value] of fields) if (value !== '') body[name] = name === 'budget_usd' ? Number(value) : value;
    await this.post(path, body, done);
  }

  /**
   * @param {string} path
   * @param {object} body
   * @param {string} done
   */
  async post(path, body, done) {
    await this.attempt(async () => {
      await postJson(dialoguePath(this.frame.id, path), body);
      this.finish(done);
      await this.frame.reload();
    });
  }

  /** @param {string} done */
  finish(done) {
    this.open = '';
    this.pending = null;
    this.said = done;
    this.frame.host.announce(done);
  }

  /** @param {() => Promise<void>} work */
  async attempt(work) {
    if (this.isSending) return;
    this.isSending = true;
    this.frame.host.redraw();
    try {
      await work();
    } catch (error) {
      this.frame.host.report(error);
    }
    this.isSending = false;
    this.frame.host.redraw();
  }
}

/** The server says it in a sentence: `understood as: …. Not confirmed yet: …`.
 * @param {string} said
 */
function readRestatement(said) {
  return said.replace(/^understood as: /, '').replace(/\.? Not confirmed yet: .*$/s, '');
}
