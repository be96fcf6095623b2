// The history of reviews: verdicts by type and week, who blocks how often, drift, overrides.

import { html, nothing } from '../vendor/lit-html.js';
import { getJson } from '../api.js';
import { age, count, moment, percent, plural, words } from '../format.js';
import { RemoteValue } from '../host.js';
import { hrefToDialogue } from '../router.js';
import { getIfOffered } from '../routes.js';
import { badge, flag, stateBadge } from '../parts/badges.js';
import { bar } from '../parts/charts.js';
import { empty, settled, withCode } from '../parts/notices.js';

/** Rows of a table; the log itself has all. */
const ROWS_SHOWN = 20;

/** @param {import('../host.js').PageHost} host */
export function makeReviewsScreen(host) {
  return new ReviewsScreen(host);
}

class ReviewsScreen {
  /** @param {import('../host.js').PageHost} host */
  constructor(host) {
    this.host = host;
    this.title = 'Reviews';
    /** @type {RemoteValue<any>} */
    this.audit = new RemoteValue(host);
    /** @type {RemoteValue<any>} */
    this.latest = new RemoteValue(host);
  }

  show() {}

  view() {
    this.audit.want('audit', async () => (await getIfOffered('/api/audit')) ?? {});
    this.latest.want('latest', () => getJson('/api/dialogues?protocol=review'));
    return html`<section class="reviews"><header class="head"><h1>Reviews</h1><a class="button" href="#/new/review">Review a document</a></header>
      ${settled(this.audit, 'the statistics', (audit) => statistics(audit))}
      <h2>Latest</h2>
      ${settled(this.latest, 'the reviews', (page) => latest(page.dialogues))}</section>`;
  }
}

/** @param {any[]} rows */
function latest(rows) {
  if (rows.length === 0) return empty('No document was reviewed yet.');
  return html`<ul class="plain rows">${rows.map((row) => html`<li><a class="dialogue-row" href=${hrefToDialogue(row.dialogue_id)}><span class="row-state">${stateBadge(row)}</span><span class="row-title">${row.title}</span>
    <span class="row-facts">${row.rehearsal ? flag('rehearsal') : nothing}${row.overridden ? flag('overridden') : nothing}<time class="number" datetime=${row.created_at}>${age(row.created_at)}</time></span></a></li>`)}</ul>`;
}

/** @param {any} audit */
function statistics(audit) {
  if (audit.logged === undefined) return nothing;
  if (audit.logged === 0) return html`<p class="lead">The verdict log has no verdict yet. Rehearsed reviews are left out of the statistics.</p>`;
  return html`
    <dl class="meters">
      <div><dt>Verdicts</dt><dd><strong>${count(audit.decided)}</strong></dd></div>
      <div><dt>${badge('ship', 'SHIP')}</dt><dd><strong>${count(audit.ship)}</strong></dd></div>
      <div><dt>${badge('revise', 'REVISE')}</dt><dd><strong>${count(audit.revise)}</strong></dd></div>
      <div><dt>${badge('hold', 'HOLD')}</dt><dd><strong>${count(audit.hold)}</strong></dd></div>
      <div><dt>Incomplete</dt><dd><strong>${count(audit.incomplete)}</strong></dd></div>
      <div><dt>Overridden</dt><dd><strong>${count(audit.overrides?.overridden)}</strong> <span class="soft">${percent(audit.overrides?.overridden_percent)}</span></dd></div>
      <div><dt>Drift</dt><dd><strong>${words(audit.drift?.verdict ?? '–')}</strong>${audit.drift?.verdict === 'cannot_tell' ? html` <span class="soft">three weeks of five verdicts each are needed</span>` : nothing}</dd></div>
    </dl>
    ${audit.rehearsals_left_out > 0 ? html`<p class="soft hint">${plural(audit.rehearsals_left_out, 'rehearsed verdict')} left out of these figures. The list of the latest reviews has them.</p>` : nothing}
    ${(audit.remarks ?? []).map((/** @type {any} */ remark) => html`<p class="notice warn">${withCode(remark.message)}</p>`)}
    ${overrides(audit.overridden_verdicts ?? [])}
    ${artifacts(audit.by_artifact ?? [])}
    <h2>By type</h2>${distribution(audit.by_type ?? [], 'artifact_type', 'Type')}
    <h2>By week</h2>${distribution(audit.by_week ?? [], 'week', 'Week')}
    <h2>Deliberators</h2>${deliberators(audit.deliberators ?? [])}`;
}

/**
 * @param {any[]} rows
 * @param {string} key
 * @param {string} name
 */
function distribution(rows, key, name) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${name}><table class="numbers"><thead><tr><th scope="col">${name}</th><th scope="col">Decided</th><th scope="col">SHIP</th><th scope="col">REVISE</th><th scope="col">HOLD</th><th scope="col">Not SHIP</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr><th scope="row">${words(row[key] ?? '–')}</th><td>${count(row.decided)}</td><td>${count(row.ship)}</td><td>${count(row.revise)}</td><td>${count(row.hold)}</td><td>${share(row.not_ship_percent)}</td></tr>`)}</tbody></table></div>`;
}

/** Who decided otherwise than a review, why and when.
 * @param {any[]} rows
 */
function overrides(rows) {
  if (rows.length === 0) return nothing;
  return html`<h2>Overrides</h2><ul class="plain overrides">${rows.slice(0, ROWS_SHOWN).map((row) => html`<li>
    <p class="facts">${verdictBadge(row.verdict)}<span aria-label="decided as">→</span>${verdictBadge(row.decision)}<strong>${row.artifact}</strong><span>${row.by ?? 'a person'}</span><time datetime=${row.at} title=${moment(row.at)}>${age(row.at)}</time></p>
    <p class="prose">${row.why}</p></li>`)}</ul>${more(rows.length)}`;
}

/** @param {any[]} rows */
function artifacts(rows) {
  if (rows.length === 0) return nothing;
  return html`<h2>By artifact</h2><div class="scroll" tabindex="0" role="group" aria-label="By artifact"><table class="numbers"><thead><tr><th scope="col">Artifact</th><th scope="col" class="text">Newest verdict</th><th scope="col" class="text">Given</th><th scope="col">Verdicts</th><th scope="col">SHIP</th><th scope="col">REVISE</th><th scope="col">HOLD</th></tr></thead>
    <tbody>${rows.slice(0, ROWS_SHOWN).map((row) => html`<tr><th scope="row">${row.artifact}</th><td class="text">${verdictBadge(row.newest)}</td><td class="text"><time datetime=${row.newest_at} title=${moment(row.newest_at)}>${age(row.newest_at)}</time></td><td>${count(row.logged)}</td><td>${count(row.ship)}</td><td>${count(row.revise)}</td><td>${count(row.hold)}</td></tr>`)}</tbody></table></div>${more(rows.length)}`;
}

/** @param {number} length */
function more(length) {
  return length > ROWS_SHOWN ? html`<p class="soft">The newest ${ROWS_SHOWN}; <code>plenary log</code> has all.</p>` : nothing;
}

/** @param {string} verdict */
function verdictBadge(verdict) {
  return badge(verdict.toLowerCase(), verdict);
}

/** @param {any[]} rows */
function deliberators(rows) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Deliberators"><table class="numbers"><thead><tr><th scope="col">Deliberator</th><th scope="col">Asked</th><th scope="col">Absent</th><th scope="col">Blocks</th><th scope="col">Irreducible</th><th scope="col">Changed after R1</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr><th scope="row">${words(row.deliberator)}</th><td>${count(row.asked)}</td><td>${percent(row.absent_percent)}</td><td>${share(row.block_percent)}</td><td>${percent(row.irreducible_percent)}</td><td>${percent(row.change?.changed_percent)}</td></tr>`)}</tbody></table></div>`;
}

/** @param {number | null | undefined} value in percent */
function share(value) {
  return html`${bar((value ?? 0) / 100, 'warn')}<span class="share">${percent(value)}</span>`;
}
