// The ethos: principles, domains with their tenets, and each dialogue's rules and conflicts.

import { html, nothing } from '../vendor/lit-html.js';
import { postJson } from '../api.js';
import { words } from '../format.js';
import { RemoteValue } from '../host.js';
import { hrefTo, hrefToDialogue } from '../router.js';
import { getIfOffered } from '../routes.js';
import { badge } from '../parts/badges.js';
import { empty, settled } from '../parts/notices.js';

/**
 * @param {import('../host.js').PageHost} host
 * @param {import('../router.js').ScreenAddress} address
 */
export function makeEthosScreen(host, address) {
  return new EthosScreen(host, address);
}

const RESOLUTIONS = [['a_supersedes', 'The first rule wins'], ['b_supersedes', 'The second rule wins'], ['merged', 'Both are one rule'], ['removed', 'Neither applies']];

class EthosScreen {
  /**
   * @param {import('../host.js').PageHost} host
   * @param {import('../router.js').ScreenAddress} address
   */
  constructor(host, address) {
    this.host = host;
    this.title = 'Ethos';
    this.chosen = address.parts[1] ?? '';
    /** @type {RemoteValue<any>} */
    this.overview = new RemoteValue(host);
    /** @type {RemoteValue<any>} */
    this.ethos = new RemoteValue(host);
  }

  /** @param {import('../router.js').ScreenAddress} address */
  show(address) {
    this.chosen = address.parts[1] ?? '';
  }

  view() {
    this.overview.want('overview', async () => (await getIfOffered('/api/ethos')) ?? {});
    return html`<section class="ethos"><h1>Ethos</h1>
      <p class="lead">Principles hold everywhere, tenets in their domain, constraints in one dialogue. Together they are the rules that a calibrated panel must follow or challenge.</p>
      ${this.chosen ? this.one() : nothing}
      ${settled(this.overview, 'the ethos', (overview) => this.all(overview))}</section>`;
  }

  /** @param {any} overview */
  all(overview) {
    const [principles, domains, made] = [overview.principles ?? [], overview.domains ?? [], overview.ethos ?? []];
    if (principles.length + domains.length + made.length === 0) {
      return empty('There is no principle and no domain yet.', html`<p class="soft">Start with <code>plenary ethos principle add</code> or <code>plenary ethos import FILE.yaml</code>.</p>`);
    }
    return html`
      ${made.length > 0 ? html`<h2>Dialogues</h2><ul class="plain rows">${made.map((/** @type {any} */ item) => html`<li>${badge(item.ethos_status)} <a href=${hrefTo(['ethos', item.ethos_id])}>${item.ethos_id}</a> <a class="soft" href=${hrefToDialogue(item.dialogue_id)}>${item.dialogue_id}</a></li>`)}</ul>` : nothing}
      ${principles.length > 0 ? html`<h2>Principles</h2>${ruleTable(principles)}` : nothing}
      ${domains.map((/** @type {any} */ domain) => domainView(domain))}`;
  }

  one() {
    const id = this.chosen;
    this.ethos.want(id, () => postJson('/api/ethos', { op: 'get', ethos_id: id }));
    return settled(this.ethos, 'the rules', (ethos) => html`<article class="layer-box"><h2>${ethos.ethos_id} ${badge(ethos.ethos_status)}</h2>
      <div class="scroll" tabindex="0" role="group" aria-label="Rules"><table><thead><tr><th scope="col">Rule</th><th scope="col">Type</th><th scope="col">Text</th><th scope="col">Priority</th><th scope="col">From</th></tr></thead>
      <tbody>${(ethos.rules ?? []).map((/** @type {any} */ rule) => html`<tr><th scope="row">${rule.rule_id ?? rule.id ?? `RULE${String(rule.seq).padStart(2, '0')}`}</th><td>${rule.type}</td><td><strong>${rule.label}</strong> <span class="soft">${rule.description ?? ''}</span></td><td>${rule.priority ?? rule.effective_priority ?? ''}</td><td>${rule.source_id ?? ''}</td></tr>`)}</tbody></table></div>
      ${(ethos.conflicts ?? []).length > 0 ? html`<h3>Conflicts</h3><ul class="plain">${ethos.conflicts.map((/** @type {any} */ conflict) => this.conflict(ethos, conflict))}</ul>` : nothing}
      ${ethos.ethos_status === 'draft' && (ethos.open_conflicts ?? 0) === 0 ? html`<p><button type="button" class="primary" @click=${() => this.post({ op: 'approve', ethos_id: id })}>Approve</button></p>` : nothing}</article>`);
  }

  /**
   * @param {any} ethos
   * @param {any} conflict
   */
  conflict(ethos, conflict) {
    const isOpen = !conflict.resolution || !conflict.resolved_by;
    return html`<li class="card"><p class="facts">${isOpen ? badge('open') : badge('resolved')} <strong>${conflict.a}</strong> and <strong>${conflict.b}</strong> <span>${words(conflict.type)}</span></p>
      <p class="prose soft">${conflict.reason ?? ''}</p>
      ${isOpen ? html`<form class="stack" @submit=${(/** @type {SubmitEvent} */ event) => this.resolve(event, ethos.ethos_id, conflict.conflict)}>
        <label>Resolution <select name="resolution">${RESOLUTIONS.map(([value, label]) => html`<option value=${value}>${label}</option>`)}</select></label>
        <label>Why <input name="reason" required></label><button class="primary">Resolve</button></form>` : html`<p>${words(conflict.resolution)} <span class="soft">by ${conflict.resolved_by}</span></p>`}</li>`;
  }

  /**
   * @param {SubmitEvent} event
   * @param {string} id
   * @param {number} conflict
   */
  resolve(event, id, conflict) {
    event.preventDefault();
    const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
    void this.post({ op: 'resolve', ethos_id: id, conflict, resolution: fields.get('resolution'), reason: fields.get('reason') });
  }

  /** @param {object} body */
  async post(body) {
    try {
      await postJson('/api/ethos', body);
      this.host.announce('Done.');
    } catch (error) {
      this.host.report(error);
    }
    this.ethos.expire();
    this.overview.expire();
    this.host.redraw();
  }
}

/** @param {any[]} rows */
function ruleTable(rows) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Rules"><table><thead><tr><th scope="col">Id</th><th scope="col">State</th><th scope="col">Text</th><th scope="col">Priority</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr><th scope="row">${row.id}</th><td>${badge(row.status)}</td><td><strong>${row.label}</strong> <span class="soft">${row.description ?? ''}</span></td><td>${row.priority ?? ''}</td></tr>`)}</tbody></table></div>`;
}

/** @param {any} domain */
function domainView(domain) {
  return html`<h2>${domain.label} <span class="soft">${domain.code}${(domain.parent_domains ?? []).length > 0 ? ` · from ${domain.parent_domains.join(', ')}` : ''}</span></h2>
    ${domain.description ? html`<p class="prose soft">${domain.description}</p>` : nothing}
    ${(domain.tenets ?? []).length > 0 ? ruleTable(domain.tenets) : html`<p class="soft">No tenet.</p>`}
    ${(domain.lenses ?? []).map((/** @type {any} */ lens) => html`<p class="soft">Lens ${lens.id}: ${lens.label}</p>`)}`;
}
