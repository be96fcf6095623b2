// The verdicts of an expert dialogue: final, minority, dissent; conditions; rules and exceptions.

import { html, nothing } from '../vendor/lit-html.js';
import { approverName, capital, words } from '../format.js';
import { badge } from '../parts/badges.js';
import { entityIndex, entityLink, linkedText } from '../parts/entities.js';
import { sourcedOrLinked, sourceHint } from '../parts/sentences.js';

/** @param {any} record */
export function verdictsView(record) {
  const verdicts = record.verdicts ?? [];
  if (verdicts.length === 0) return nothing;
  const finals = verdicts.filter((/** @type {any} */ verdict) => verdict.type === 'final');
  const others = verdicts.filter((/** @type {any} */ verdict) => verdict.type !== 'final');
  return html`<section class="verdicts" aria-label="Verdicts">
    ${finals.map((/** @type {any} */ verdict) => finalVerdict(verdict, record))}
    ${others.map((/** @type {any} */ verdict) => otherVerdict(verdict))}
  </section>`;
}

/** The first thing that a reader must know of a panel that did not agree.
 * @param {any} record
 */
export function forcedNotice(record) {
  const forced = (record.verdicts ?? []).find((/** @type {any} */ verdict) => verdict.type === 'final' && verdict.forced);
  if (!forced) return nothing;
  const why = (forced.warning ?? '').replace(/^NOT CONVERGED:?\s*/, '') || 'the Judge gave a verdict without agreement';
  return html`<p class="notice warn forced"><strong>NOT CONVERGED.</strong> ${linkedText(capital(why))}</p>`;
}

/**
 * @param {any} verdict
 * @param {any} record
 */
function finalVerdict(verdict, record) {
  const isAnswer = !record.conclusion && !record.draft;
  return html`<article class="verdict">
    <h2 class="kicker">Final verdict</h2>
    <p class=${isAnswer ? 'answer' : 'prose'}>${sourcedOrLinked(verdict.recommendation, `verdict.${verdict.id}`)}</p>
    <p class="prose">${sourcedOrLinked(verdict.description, `verdict.${verdict.id}`)}</p>
    ${isAnswer ? sourceHint(record) : nothing}
    <dl class="fields">
      ${verdict.vote ? pair('Vote', html`<strong>${verdict.vote}</strong>`) : nothing}
      ${verdict.confidence ? pair('Confidence', verdict.confidence) : nothing}
      ${verdict.conditions?.length ? pair('Conditions', html`<ul>${verdict.conditions.map((/** @type {string} */ text) => html`<li>${sourcedOrLinked(text, `verdict.${verdict.id}`)}</li>`)}</ul>`) : nothing}
      ${ids('Adopted', verdict.recommendationsAdopted, record)}
      ${ids('Key claims', verdict.keyClaims, record)}
      ${ids('Key evidence', verdict.keyEvidence, record)}
      ${ids('Tensions resolved', verdict.tensionsResolved, record)}
      ${ids('Tensions accepted', verdict.tensionsAccepted, record)}
    </dl>
    ${compliance(verdict.ethos_compliance, record, `verdict.${verdict.id}`)}
  </article>`;
}

/** @param {any} verdict */
function otherVerdict(verdict) {
  const who = verdict.author ?? (verdict.supportingExperts ?? []).join(', ');
  return html`<article class="verdict minor"><h3>${capital(words(verdict.type))}${who ? ` of ${who}` : ''}</h3>
    <p class="prose">${sourcedOrLinked(verdict.recommendation, `verdict.${verdict.id}`)}</p><p class="prose soft">${sourcedOrLinked(verdict.description, `verdict.${verdict.id}`)}</p></article>`;
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function pair(name, value) {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

/**
 * @param {string} name
 * @param {(string | { id: string, reason?: string })[] | null | undefined} items
 * @param {any} record
 */
function ids(name, items, record) {
  if (!items?.length) return nothing;
  const index = entityIndex(record);
  return pair(name, html`<ul class="claims">${items.map((item) => {
    const id = typeof item === 'string' ? item : item.id;
    const reason = typeof item === 'string' ? '' : item.reason;
    return html`<li>${entityLink(id)} ${index.get(id)?.label ?? ''}${reason ? html` <span class="soft">${reason}</span>` : nothing}</li>`;
  })}</ul>`);
}

/**
 * Each rule of the ethos, with what the verdict says of it.
 *
 * @param {any} compliance rules and their status in a calibrated dialogue
 * @param {any} record
 * @param {string} source such as `verdict.final`
 */
export function compliance(compliance, record, source) {
  if (!compliance) return nothing;
  const known = new Map((record.calibration?.rules ?? []).map((/** @type {any} */ rule) => [rule.rule_id, rule.label]));
  const rules = compliance.rules ?? [];
  const exceptions = compliance.exceptions ?? [];
  return html`<section><h3>Ethos ${badge(compliance.fully_compliant ? 'compliant' : 'exception', compliance.fully_compliant ? 'fully compliant' : 'with exceptions')}</h3>
    ${rules.length > 0 ? html`<div class="scroll" tabindex="0" role="group" aria-label="Rules"><table class="compliance"><thead><tr><th scope="col">Rule</th><th scope="col">Status</th><th scope="col">Reason</th></tr></thead>
      <tbody>${rules.map((/** @type {any} */ rule) => html`<tr><th scope="row">${rule.rule_id} <span class="label">${known.get(rule.rule_id) ?? ''}</span></th><td>${badge(rule.status)}</td><td class="reason">${sourcedOrLinked(rule.reason, source)} ${(rule.ids ?? []).map(entityLink)}</td></tr>`)}</tbody></table></div>` : nothing}
    ${exceptions.map((/** @type {any} */ item) => html`<p class="exception">${badge('exception', `${words(item.exception_type ?? 'exception')} exception`)} <strong>${item.rule_id} ${item.rule_label ?? ''}</strong>: ${sourcedOrLinked(item.justification, source)} <span class="soft">approved by ${approverName(item.approved_by)}</span></p>`)}
    ${(compliance.violations ?? []).map((/** @type {any} */ item) => html`<p class="exception">${badge('violation')} <strong>${item.rule_id} ${item.rule_label ?? ''}</strong>: ${sourcedOrLinked(item.justification, source)}</p>`)}
  </section>`;
}
