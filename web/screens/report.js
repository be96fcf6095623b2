// The chair's report: the second layer below a conclusion.

import { html, nothing } from '../vendor/lit-html.js';
import { words } from '../format.js';
import { badge } from '../parts/badges.js';
import { sourcedOrLinked } from '../parts/sentences.js';

/**
 * @param {any} council
 * @param {any} record
 */
export function reportView(council, record) {
  const report = council.report;
  return html`<details class="layer" ?open=${!record.conclusion && !record.draft}><summary>How the council came to it</summary>
    <p class="prose">${said(report.conclusion?.statement)}</p>
    <p class="prose soft">${said(report.rationale?.summary)}</p>
    ${tally(council.tally)}
    ${section('Agreed', report.consensus_points, (/** @type {string} */ point) => html`${said(point)}`)}
    ${section('Disagreements', report.disagreements, disagreement)}
    ${section('Risks', report.risks, (/** @type {any} */ risk) => html`<strong>${risk.severity}</strong> ${said(risk.description)}${risk.mitigation ? html` <span class="soft">Mitigation: ${risk.mitigation}</span>` : nothing}`)}
    ${section('Uncertain', report.uncertainties, (/** @type {any} */ item) => html`${said(item.area)} <span class="soft">${said(item.reason)}</span>`)}
    ${section('Findings', report.findings, (/** @type {any} */ item) => html`${said(item.title ?? item.description ?? item.message)}`)}
    ${section('Next', report.next_actions, (/** @type {any} */ item) => html`<strong>${item.priority}</strong> ${said(item.action)} <span class="soft">${item.success_criteria ?? ''}</span>`)}
    ${failures(council.panel)}
  </details>`;
}

/** The chair's words, each sentence with its source.
 * @param {string | null | undefined} text
 */
function said(text) {
  return text ? sourcedOrLinked(text, 'council.report') : nothing;
}

/** @param {Record<string, number> | null} votes */
function tally(votes) {
  if (!votes) return nothing;
  const given = Object.entries(votes).filter(([, number]) => number > 0);
  return html`<p class="facts">${given.map(([stance, number]) => badge(stance, `${number} ${stance}`))}</p>`;
}

/**
 * @param {string} title
 * @param {any[] | null | undefined} items
 * @param {(item: any) => unknown} draw
 */
function section(title, items, draw) {
  if (!items?.length) return nothing;
  return html`<h3>${title}</h3><ul>${items.map((item) => html`<li>${draw(item)}</li>`)}</ul>`;
}

/** @param {any} item */
function disagreement(item) {
  return html`<strong>${item.topic}</strong>
    <ul>${(item.positions ?? []).map((/** @type {any} */ position) => html`<li><strong>${position.provider}</strong> ${said(position.position)}</li>`)}</ul>
    ${item.resolution ? html`<p>Resolution: ${said(item.resolution)} <span class="soft">${said(item.resolution_rationale)}</span></p>` : nothing}`;
}

/** @param {any} panel */
function failures(panel) {
  return section('Seats that failed', panel?.failed, (failed) => html`<strong>${failed.provider}</strong> in ${failed.round}: ${words(failed.error_type)} <span class="soft">${failed.error_message ?? ''}</span>`);
}
