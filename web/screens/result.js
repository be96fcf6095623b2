// The result: the answer first, then objections and what changed, then what it rests on.

import { html, nothing } from '../vendor/lit-html.js';
import { capital, date, plural, words } from '../format.js';
import { hrefToDialogue, hrefWith } from '../router.js';
import { stopText } from '../run_state.js';
import { badge } from '../parts/badges.js';
import { empty, pageHint, withCode } from '../parts/notices.js';
import { entityIndex, entityLink, linkedText } from '../parts/entities.js';
import { sourcedText, sourceHint } from '../parts/sentences.js';
import { wordDiff } from '../parts/word_diff.js';
import { OutcomeForm } from './outcome.js';
import { reportView } from './report.js';
import { reviewResult } from './review_result.js';
import { forcedNotice, verdictsView } from './verdicts.js';

export class ResultScreen {
  /** @param {import('./dialogue.js').DialogueFrame} frame */
  constructor(frame) {
    this.frame = frame;
    this.outcome = new OutcomeForm(frame);
  }

  view() {
    const record = this.frame.record;
    if (record.review) return html`<div class="result">${reviewResult(record)}</div>`;
    if (record.imported) return empty(`${plural(record.imported.length, 'verdict')} of another log.`, html`<p><a href="#/reviews">Show all verdicts by artifact, type and week</a></p>`);
    const conclusion = record.conclusion ?? record.draft;
    return html`<div class="result">
      ${forcedNotice(record)}
      ${conclusion ? this.conclusion(record, conclusion) : record.verdicts?.length ? nothing : unfinished(record, this.frame)}
      ${record.protocol === 'alignment' || !conclusion ? verdictsView(record) : nothing}
      ${record.conclusion ? this.outcome.view(record) : nothing}
      ${record.council?.report ? reportView(record.council, record) : nothing}
    </div>`;
  }

  /**
   * @param {any} record
   * @param {any} conclusion
   */
  conclusion(record, conclusion) {
    const isDraft = !record.conclusion;
    return html`<section class="conclusion" aria-label="Conclusion">
      ${isDraft ? html`<p class="notice warn"><strong>${record.terminalState === 'unconverged' ? 'The critic rejected this conclusion twice. It is shown as a draft.' : 'This is a draft. No critic has passed it yet.'}</strong> ${record.explanation ?? ''}</p>` : nothing}
      <h2 class="kicker">Recommendation</h2>
      <p class="answer">${sourcedText(conclusion.recommendation, 'conclusion.recommendation')}</p>
      ${sourceHint(record)}
      <dl class="fields">
        <div><dt>Holds only if</dt><dd class="prose">${sourcedText(conclusion.key_condition, 'conclusion.key_condition')}</dd></div>
        <div><dt>Unresolved</dt><dd>${conclusion.unresolved_points.length === 0 ? html`<span class="soft">nothing</span>` : html`<ul class="points">${conclusion.unresolved_points.map((/** @type {any} */ point) => unresolvedPoint(point))}</ul>`}</dd></div>
        <div><dt>Review by</dt><dd><a class="sentence" href=${hrefWith({ source: 'conclusion.review_by', sentence: null })}>${date(conclusion.review_by)}</a></dd></div>
        <div><dt>Participants</dt><dd>${conclusion.participants.map((/** @type {any} */ who) => who.agent).join(', ')}</dd></div>
      </dl>
      ${auditView(record)}
      ${restsOn(record)}
      <p><a href=${hrefToDialogue(this.frame.id, 'transcript')}>Show the deliberation</a></p>
    </section>`;
  }
}

/** @param {any} point */
function unresolvedPoint(point) {
  return html`<li><span class="prose">${sourcedText(point.point, 'conclusion.unresolved_points')}</span>
    <ul class="claims">${(point.claims ?? []).map((/** @type {any} */ claim) => html`<li>${entityLink(claim.id)} <strong>${claim.agent}</strong> ${claim.claim}</li>`)}</ul></li>`;
}

/** @param {any} record */
function auditView(record) {
  const audit = record.audit;
  if (!audit) return html`<p class="soft">No critic audited this conclusion.</p>`;
  const conclusion = record.conclusion ?? record.draft;
  const objections = [...(audit.objections ?? []), ...(audit.second_objections ?? [])];
  if (objections.length === 0) {
    return html`<section class="audit"><h3>Audit</h3><p>${badge('pass', 'passed')} The critic${audit.critic ? html` <strong>${audit.critic.seat}</strong>` : nothing}, who saw only the question and these fields, had no objection.</p></section>`;
  }
  return html`<section class="audit"><h3>Audit</h3>
    <ul class="objections">${(audit.objections ?? []).map((/** @type {any} */ objection) => html`<li>
      <p>${badge('flag', 'objection')} <strong>${words(objection.field)}</strong>: ${objectionText(objection, 1)}</p>
      ${changeOf(audit, conclusion, objection.field)}</li>`)}</ul>
    ${audit.re_verdict ? html`<p>Second look: ${badge(audit.re_verdict.toLowerCase(), audit.re_verdict === 'PASS' ? 'passed' : 'objected again')}</p>` : nothing}
    ${(audit.second_objections ?? []).map((/** @type {any} */ objection) => html`<p>${badge('flag', 'objection')} <strong>${words(objection.field)}</strong>: ${objectionText(objection, 2)}</p>`)}
    ${audit.same_family ? html`<p class="soft">Critic and synthesizer are models of one family.</p>` : nothing}
  </section>`;
}

/** The critic wrote it in its audit; an objection that Plenary counted is in no reply.
 * @param {any} objection
 * @param {number} audit
 */
function objectionText(objection, audit) {
  return objection.by === 'count' ? html`${objection.objection} <span class="soft">(counted)</span>` : sourcedText(objection.objection, `audit.${audit}`);
}

/**
 * @param {any} audit
 * @param {any} conclusion
 * @param {string} field
 */
function changeOf(audit, conclusion, field) {
  if (!audit.original || !(audit.revised_fields ?? []).includes(field)) return nothing;
  const [before, after] = [fieldText(audit.original[field]), fieldText(conclusion?.[field])];
  return html`<details open><summary>What changed</summary>${before === after ? html`<p class="soft">The field reads as before.</p>` : wordDiff(before, after)}</details>`;
}

/** @param {any} value */
function fieldText(value) {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((item) => item.point ?? item.agent ?? String(item)).join('\n');
  return String(value ?? '');
}

/** The entities that support the answer: adopted, or named by the report.
 * @param {any} record
 */
function restsOn(record) {
  const index = entityIndex(record);
  const final = (record.verdicts ?? []).find((/** @type {any} */ verdict) => verdict.type === 'final');
  const named = [...(final?.recommendationsAdopted ?? []), ...(final?.keyClaims ?? []), ...(final?.keyEvidence ?? [])];
  const ids = named.length > 0 ? named : (record.recommendations ?? []).map((/** @type {any} */ entity) => entity.id);
  if (ids.length === 0) return nothing;
  return html`<section><h3>Rests on</h3><ul class="claims">${ids.map((/** @type {string} */ id) => {
    const entity = index.get(id);
    return html`<li>${entityLink(id)} ${entity ? html`<strong>${entity.contributors.join(', ')}</strong> ${linkedText(entity.label)}` : nothing}</li>`;
  })}</ul></section>`;
}

/**
 * @param {any} record
 * @param {import('./dialogue.js').DialogueFrame} frame
 */
function unfinished(record, frame) {
  const error = record.council?.error ?? record.alignment?.error;
  const isLed = record.protocol === 'alignment' && frame.run.seats.length === 0;
  const what = frame.isRunning ? 'The deliberation is running. The answer appears here when it is complete.'
    : record.state === 'open' && isLed ? 'An agent or a person leads this dialogue. Its verdict appears here.' : 'This dialogue has no conclusion yet.';
  return html`<section class="empty">
    <p>${what}</p>
    ${frame.isRunning ? nothing : why(error, frame.run)}
    <p class="actions"><a class="button" href=${hrefToDialogue(frame.id, 'run')}>Show the run</a></p>
  </section>`;
}

/**
 * Why a run has no result, and what to do.
 *
 * @param {{ error_code: string, message: string, suggestion?: string } | null | undefined} error
 * @param {import('../run_state.js').RunState} run
 */
function why(error, { stop, wait }) {
  if (stop && wait) return html`<p><strong>The run ${stopText(stop, wait === 'decided')}.</strong></p><p class="soft">${wait === 'decided' ? 'Choose' : 'Decide, then choose'} Resume above.</p>`;
  if (error) return html`<p><strong>${sentence(error.message)}</strong></p><p class="soft measure">${withCode(sentence(pageHint(error.error_code, error.suggestion ?? '')))}</p>`;
  return stop && stop['stop'] !== 'done' ? html`<p>The run ${stopText(stop)}.</p>` : nothing;
}

/** @param {string} text */
function sentence(text) {
  return text ? `${capital(text).replace(/\.$/, '')}.` : '';
}
