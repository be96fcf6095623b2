// The ethos: principles and domains with their tenets; and each dialogue's rules, conflicts and compliance.

import { html, nothing } from '../vendor/lit-html.js';
import { dialoguePath, getJson, postJson } from '../api.js';
import { approverName, capital, count, date, plural, words } from '../format.js';
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

/** What a person can decide, and what becomes of rules a and b. */
const RESOLUTIONS = /** @type {[string, (a: string, b: string) => string][]} */ ([
  ['a_supersedes', (a, b) => `${a} applies, ${b} leaves the ethos`],
  ['b_supersedes', (a, b) => `${b} applies, ${a} leaves the ethos`],
  ['merged', (a, b) => `${a} takes in the text of ${b}`],
  ['removed', () => 'both leave the ethos'],
]);

const RESOLVERS = /** @type {Record<string, string>} */ ({
  priority: 'by priority', manual: 'by a person', model: 'by a person, as the model proposed',
});

class EthosScreen {
  /**
   * @param {import('../host.js').PageHost} host
   * @param {import('../router.js').ScreenAddress} address
   */
  constructor(host, address) {
    this.host = host;
    this.title = 'Ethos';
    this.chosen = address.parts[1] ?? '';
    this.isRejecting = false;
    /** @type {RemoteValue<any>} */
    this.overview = new RemoteValue(host);
    /** @type {RemoteValue<{ ethos: any, record: any }>} */
    this.ethos = new RemoteValue(host);
  }

  /** @param {import('../router.js').ScreenAddress} address */
  show(address) {
    const chosen = address.parts[1] ?? '';
    if (chosen !== this.chosen) this.ethos.value = null;
    this.chosen = chosen;
    this.isRejecting = false;
  }

  view() {
    if (this.chosen) return this.one();
    this.overview.want('overview', async () => (await getIfOffered('/api/ethos')) ?? {});
    return html`<section class="ethos"><h1>Ethos</h1>
      <p class="lead">Principles hold everywhere, tenets in their domain, constraints in one dialogue. Together they are the rules that a calibrated panel must follow or challenge.</p>
      ${settled(this.overview, 'the ethos', overview)}</section>`;
  }

  /** The rules of one dialogue. */
  one() {
    const id = this.chosen;
    this.ethos.want(id, async () => {
      const ethos = await postJson('/api/ethos', { op: 'get', ethos_id: id });
      return { ethos, record: await getJson(dialoguePath(ethos.dialogue_id)) };
    });
    return html`<section class="ethos"><p><a href=${hrefTo(['ethos'])}>All principles and domains</a></p>
      ${settled(this.ethos, 'the rules', ({ ethos, record }) => this.rules(ethos, record))}</section>`;
  }

  /**
   * @param {any} ethos
   * @param {any} record the dialogue that it binds
   */
  rules(ethos, record) {
    const isDraft = ethos.ethos_status === 'draft';
    const open = ethos.open_conflicts ?? 0;
    return html`<header class="headline">
        <p class="kicker">Ethos, version ${ethos.version}</p>
        <h1>${record.question ?? record.title}</h1>
        <p id="ethos-state" class="facts" tabindex="-1">${badge(ethos.ethos_status)} <span>${plural(ethos.counts.rules, 'rule')}</span>
          ${open > 0 ? html`<span class="warn">${plural(open, 'open conflict')}</span>` : nothing}
          ${ethos.domains.length > 0 ? html`<span>${ethos.domains.map((/** @type {any} */ chosen) => chosen.label + (chosen.lens ? `, lens ${chosen.lens}` : '')).join(', ')}</span>` : nothing}
          ${ethos.approved_at ? html`<span>approved ${ethos.approved_by === 'automatic' ? 'without a conflict' : `by ${approverName(ethos.approved_by)}`} on ${date(ethos.approved_at)}</span>` : nothing}
          <a href=${hrefToDialogue(ethos.dialogue_id)}>Show the dialogue</a></p>
      </header>
      ${ethos.rejected_because ? html`<p class="notice warn">Rejected: ${ethos.rejected_because}</p>` : nothing}
      ${isDraft ? this.decision(ethos, open) : nothing}
      ${conflicts(ethos, (conflict) => this.resolution(ethos.ethos_id, conflict))}
      <h2>Rules</h2>${ruleTable(ethos, record)}`;
  }

  /** What a person can do with a draft.
   * @param {any} ethos
   * @param {number} open
   */
  decision(ethos, open) {
    const id = ethos.ethos_id;
    return html`<div class="layer-box decide">
      <p>${open > 0 ? html`<strong>Resolve ${open === 1 ? 'the conflict' : 'the conflicts'} below,</strong> then approve the rules. No round is held before.` : html`<strong>These rules wait for your approval.</strong> No round is held before.`}</p>
      <div class="actions">
        <button type="button" class="primary" ?disabled=${open > 0} @click=${() => this.post({ op: 'approve', ethos_id: id }, 'The rules are approved.', 'ethos-state')}>Approve the rules</button>
        <button type="button" aria-expanded=${this.isRejecting} @click=${() => { this.isRejecting = !this.isRejecting; this.host.redraw(); }}>Reject…</button></div>
      ${this.isRejecting ? html`<form class="stack" @submit=${(/** @type {SubmitEvent} */ event) => this.submit(event, { op: 'reject', ethos_id: id }, 'The rules are rejected.', 'ethos-state')}>
        <label>Why <textarea name="reason" rows="2" required maxlength="2000"></textarea></label><button class="danger">Reject the rules</button></form>` : nothing}
    </div>`;
  }

  /**
   * @param {string} id
   * @param {any} conflict
   */
  resolution(id, conflict) {
    const proposed = conflict.proposal?.resolution ?? '';
    const choice = (/** @type {string} */ value, /** @type {string} */ label) => html`<label class="choice"><input type="radio" name="resolution" value=${value} required ?checked=${value === proposed}> <span>${capital(label)}${value === proposed ? html` <span class="soft">as the model proposes</span>` : nothing}</span></label>`;
    return html`<form class="stack" @submit=${(/** @type {SubmitEvent} */ event) => this.submit(event, { op: 'resolve', ethos_id: id, conflict: conflict.conflict }, `Conflict ${conflict.conflict} is resolved.`, `conflict-${conflict.conflict}`)}>
      <fieldset><legend>Resolution</legend>${RESOLUTIONS.map(([value, text]) => choice(value, text(conflict.a, conflict.b)))}</fieldset>
      <label>Why <textarea name="reason" rows="2" required maxlength="2000"></textarea></label><button class="primary">Resolve</button></form>`;
  }

  /**
   * @param {SubmitEvent} event
   * @param {object} body
   * @param {string} done
   * @param {string} place
   */
  submit(event, body, done, place) {
    event.preventDefault();
    const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
    return this.post({ ...body, ...Object.fromEntries(fields) }, done, place);
  }

  /**
   * @param {object} body
   * @param {string} done what a screen reader says
   * @param {string} place the element that then shows the decision, and gets the focus
   */
  async post(body, done, place) {
    try {
      await postJson('/api/ethos', body);
      this.isRejecting = false;
      this.host.announce(done);
      this.host.focus(place);
    } catch (error) {
      this.host.report(error);
    }
    this.ethos.expire();
    this.overview.expire();
    this.host.redraw();
  }
}

/** @param {any} all */
function overview(all) {
  const [principles, domains, made] = [all.principles ?? [], all.domains ?? [], all.ethos ?? []];
  if (principles.length + domains.length + made.length === 0) {
    return empty('There is no principle and no domain yet.', html`<p class="soft">Start with <code>plenary ethos principle add</code> or <code>plenary ethos import FILE.yaml</code>.</p>`);
  }
  return html`
    ${made.length > 0 ? html`<h2>Dialogues</h2><ul class="plain ethos-list">${made.map((/** @type {any} */ item) => html`<li><a href=${hrefTo(['ethos', item.ethos_id])}><span class="row-state">${badge(item.ethos_status)}</span> <span><span class="title">${item.title}</span> <span class="soft">version ${Number(item.ethos_id.slice(-3))}</span></span></a></li>`)}</ul>` : nothing}
    ${principles.length > 0 ? html`<h2>Principles</h2>${libraryTable(principles, 'Principles')}` : nothing}
    ${domains.map((/** @type {any} */ domain) => domainView(domain))}`;
}

/**
 * Those that a person decides or decided come first. A conflict keeps its place when it is resolved, so
 * that no form takes the place of another.
 *
 * @param {any} ethos
 * @param {(conflict: any) => unknown} form
 */
function conflicts(ethos, form) {
  const all = ethos.conflicts ?? [];
  if (all.length === 0) return nothing;
  const [manual, automatic] = [false, true].map((is) => all.filter((/** @type {any} */ conflict) => (conflict.resolved_by === 'priority') === is));
  const canDecide = ethos.ethos_status === 'draft';
  return html`<h2>Conflicts</h2><ul class="plain conflicts">${[...manual, ...automatic].map((conflict) => html`<li class="card">
    <p id="conflict-${conflict.conflict}" class="facts" tabindex="-1">${badge(conflict.resolution ? 'resolved' : 'open')} <span>Conflict ${conflict.conflict}</span> <span>${words(conflict.type)}</span></p>
    <p class="prose">${capital(conflict.finding)}.</p>
    <div class="versus">${side(conflict.a, conflict.a_source, conflict.proposal?.quote_a, ethos)}${side(conflict.b, conflict.b_source, conflict.proposal?.quote_b, ethos)}</div>
    ${conflict.proposal ? html`<p class="soft">The model proposes${conflict.proposal.resolution ? html` that <strong>${resolutionText(conflict.proposal.resolution, conflict)}</strong>` : nothing}: ${conflict.proposal.reason}</p>` : nothing}
    ${conflict.resolution ? html`<p><strong>${capital(resolutionText(conflict.resolution, conflict))}</strong> <span class="soft">${RESOLVERS[conflict.resolved_by] ?? ''}${conflict.reason ? `: ${conflict.reason}` : ''}</span></p>` : canDecide ? form(conflict) : nothing}
  </li>`)}</ul>`;
}

/**
 * @param {string} resolution
 * @param {any} conflict
 */
function resolutionText(resolution, conflict) {
  return RESOLUTIONS.find(([value]) => value === resolution)?.[1](conflict.a, conflict.b) ?? words(resolution);
}

/**
 * One of the two rules of a conflict, with the words that the model quotes.
 *
 * @param {string} id
 * @param {{ source_id: string, label: string } | null} source
 * @param {string | undefined} quote
 * @param {any} ethos
 */
function side(id, source, quote, ethos) {
  const rule = ethos.rules.find((/** @type {any} */ one) => one.rule_id === id);
  return html`<div><p><strong>${id}</strong> ${source?.label ?? rule?.label ?? ''} <span class="soft">${source?.source_id ?? ''}${rule ? `, priority ${rule.priority}` : ''}</span></p>
    ${quote ? html`<blockquote class="prose">${quote}</blockquote>` : rule ? html`<p class="prose soft">${rule.description}</p>` : nothing}</div>`;
}

/**
 * Each rule, with what the final verdict says of it and the tensions that challenge it.
 *
 * @param {any} ethos
 * @param {any} record
 */
function ruleTable(ethos, record) {
  // Another version may number its rules otherwise.
  const binds = record.calibration?.ethos_id === ethos.ethos_id;
  const final = (record.verdicts ?? []).findLast((/** @type {any} */ verdict) => verdict.type === 'final');
  const given = new Map((binds ? final?.ethos_compliance?.rules ?? [] : []).map((/** @type {any} */ rule) => [rule.rule_id, rule]));
  const challenges = binds ? record.calibration.rule_challenges ?? [] : [];
  const challenged = (/** @type {string} */ id) => challenges.filter((/** @type {any} */ one) => one.rule_id === id);
  const hasStatus = given.size > 0;
  const compliance = (/** @type {any} */ rule) => {
    const found = given.get(rule.rule_id);
    return html`<td class="reason" data-label="Final verdict">${found ? html`${badge(found.status)} <p class="soft">${found.reason ?? ''}</p>` : nothing}</td>`;
  };
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Rules"><table class="compliance"><thead><tr><th scope="col">Rule</th><th scope="col">Text</th><th scope="col">From</th><th scope="col">Priority</th>${hasStatus ? html`<th scope="col">Final verdict</th>` : nothing}${challenges.length > 0 ? html`<th scope="col">Challenged by</th>` : nothing}</tr></thead>
    <tbody>${ethos.rules.map((/** @type {any} */ rule) => html`<tr><th scope="row">${rule.rule_id}</th><td class="text"><strong>${rule.label}</strong> <span class="soft">${rule.description}</span>${rule.supersedes.map((/** @type {any} */ one) => html`<p class="soft">replaces ${one.source_id}: ${one.reason}</p>`)}</td><td data-label="From">${capital(rule.type)} <span class="soft">${rule.source_id}</span></td><td class="number" data-label="Priority">${count(rule.priority)}</td>${hasStatus ? compliance(rule) : nothing}
      ${challenges.length > 0 ? html`<td data-label="Challenged by">${challenged(rule.rule_id).map((/** @type {any} */ one) => html`<p><a class="entity kind-T" href=${hrefToDialogue(ethos.dialogue_id, 'record', { source: one.tension })}>${one.tension}</a> <span class="soft">${one.experts.join(', ')}; ${words(one.outcome)}</span></p>`)}</td>` : nothing}</tr>`)}</tbody></table></div>`;
}

/**
 * @param {any[]} rows
 * @param {string} name
 */
function libraryTable(rows, name) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${name}><table class="compliance"><thead><tr><th scope="col">Id</th><th scope="col">Text</th><th scope="col">State</th><th scope="col">Priority</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr><th scope="row">${row.id}</th><td class="text"><strong>${row.label}</strong> <span class="soft">${row.description ?? ''}</span></td><td data-label="State">${badge(row.status)}</td><td class="number" data-label="Priority">${count(row.priority)}</td></tr>`)}</tbody></table></div>`;
}

/** @param {any} domain */
function domainView(domain) {
  const parents = domain.parent_domains ?? [];
  return html`<h2>${domain.label} <span class="soft">${domain.code}${parents.length > 0 ? ` · inherits from ${parents.join(', ')}` : ''}</span></h2>
    ${domain.description ? html`<p class="prose soft">${domain.description}</p>` : nothing}
    ${(domain.tenets ?? []).length > 0 ? libraryTable(domain.tenets, `Tenets of ${domain.label}`) : html`<p class="soft">No tenet.</p>`}
    ${(domain.lenses ?? []).map((/** @type {any} */ lens) => html`<p><strong>Lens ${lens.id}</strong> ${lens.label} <span class="soft">${lens.description ?? ''}</span></p>`)}`;
}
