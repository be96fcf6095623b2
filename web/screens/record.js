// The raw record: all entities as a table of any length, the chain's head, the export files.

import { html, nothing } from '../vendor/lit-html.js';
import { dialoguePath } from '../api.js';
import { plural } from '../format.js';
import { hrefWith, replaceAddress } from '../router.js';
import { kindName } from '../parts/badges.js';
import { entityBadge } from '../parts/entity_badge.js';
import { entityIndex, entityLink } from '../parts/entities.js';
import { empty } from '../parts/notices.js';
import { WindowedList } from '../parts/windowed.js';

const KINDS = ['P', 'R', 'T', 'E', 'C'];
const FORMATS = [['json', 'JSON'], ['markdown', 'Markdown'], ['html', 'HTML']];

export class RecordScreen {
  /** @param {import('./dialogue.js').DialogueFrame} frame */
  constructor(frame) {
    this.frame = frame;
    this.list = new WindowedList(frame.host, (/** @type {import('../parts/entities.js').Entity} */ entity) => drawEntity(entity, frame.record));
  }

  leave() {
    this.list.leave();
  }

  drawn() {
    this.list.drawn();
  }

  view() {
    const record = this.frame.record;
    const all = [...entityIndex(record).values()];
    const rows = this.chosen(all);
    return html`<section class="record">
      <dl class="fields">
        <div><dt>Export</dt><dd class="actions">${FORMATS.map(([format, label]) => html`<a class="button" href="${dialoguePath(this.frame.id, '/export')}?format=${format}" download>${label}</a>`)}</dd></div>
        <div><dt>Head of this dialogue</dt><dd><code class="hash">${record.headHash ?? record.head ?? ''}</code><p class="soft">Check it with <code>plenary verify ${this.frame.id}</code></p></dd></div>
        ${(record.warnings ?? []).length > 0 ? html`<div><dt>Warnings</dt><dd><ul class="plain">${record.warnings.map((/** @type {any} */ warning) => html`<li class="warn">${warning.message ?? warning}</li>`)}</ul></dd></div>` : nothing}
      </dl>
      <h2>Entities</h2>
      ${this.filters(all)}
      ${rows.length === 0 ? empty('No entity matches.') : html`<p class="soft">${plural(rows.length, 'entity').replace('entitys', 'entities')}</p>${this.list.view(rows, 'Entities')}`}
    </section>`;
  }

  /** @param {import('../parts/entities.js').Entity[]} all */
  chosen(all) {
    const { query } = this.frame;
    const [kind, round, expert, text] = ['kind', 'round', 'expert', 'find'].map((name) => query.get(name) ?? '');
    const needle = (text ?? '').toLowerCase();
    return all.filter((entity) => (!kind || entity.id.startsWith(kind)) && (!round || String(entity.round) === round)
      && (!expert || entity.contributors.includes(expert))
      && (!needle || `${entity.id} ${entity.label} ${entity.content ?? entity.description ?? ''}`.toLowerCase().includes(needle)));
  }

  /** @param {import('../parts/entities.js').Entity[]} all */
  filters(all) {
    const rounds = [...new Set(all.map((entity) => entity.round))].sort((a, b) => a - b);
    const experts = [...new Set(all.flatMap((entity) => entity.contributors))].sort();
    const set = (/** @type {string} */ name) => (/** @type {Event} */ event) => replaceAddress(hrefWith({ [name]: /** @type {HTMLInputElement} */ (event.target).value }));
    const value = (/** @type {string} */ name) => this.frame.query.get(name) ?? '';
    return html`<form class="filters" @submit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <label class="grow"><span class="hidden">Find in the entities</span><input type="search" placeholder="Find in the entities" .value=${value('find')} @input=${set('find')}></label>
      ${select('Any kind', value('kind'), KINDS.map((kind) => [kind, kindName(kind)]), set('kind'))}
      ${select('Any round', value('round'), rounds.map((round) => [String(round), `Round ${round}`]), set('round'))}
      ${select('Any seat', value('expert'), experts.map((name) => [name, name]), set('expert'))}
    </form>`;
  }
}

/**
 * A choice whose first option stands for all.
 *
 * @param {string} all
 * @param {string} value
 * @param {string[][]} options
 * @param {(event: Event) => void} onChange
 */
export function select(all, value, options, onChange) {
  return html`<label><span class="hidden">${all}</span><select @change=${onChange}><option value="" ?selected=${value === ''}>${all}</option>
    ${options.map(([key, text]) => html`<option value=${key} ?selected=${value === key}>${text}</option>`)}</select></label>`;
}

/**
 * @param {import('../parts/entities.js').Entity} entity
 * @param {any} record
 */
function drawEntity(entity, record) {
  return html`<div class="entity-row">${entityLink(entity.id)}<span class="row-title">${entity.label}</span>
    <span class="row-facts"><span class="entity-state">${entityBadge(entity, record)}</span><span class="entity-seats">${entity.contributors.join(', ')}</span><span>round ${entity.round}</span></span></div>`;
}
