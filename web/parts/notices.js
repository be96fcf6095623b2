// Loading, empty and failed: the three screens that every screen can be.

import { html, nothing } from '../vendor/lit-html.js';
import { ApiProblem } from '../api.js';
import { capital } from '../format.js';

/** @param {string} what */
export function loading(what) {
  return html`<p class="loading" role="status">Loading ${what}…</p>`;
}

/**
 * @param {string} text
 * @param {unknown} [more]
 */
export function empty(text, more = nothing) {
  return html`<div class="empty"><p>${text}</p>${more}</div>`;
}

/** @param {unknown} error */
export function failure(error) {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ApiProblem ? optionsHint(error) || pageHint(error.code, error.hint, error.status) : '';
  return html`<div class="notice bad" role="alert">
    <p><strong>${withCode(capital(message))}</strong></p>${hint ? html`<p>${withCode(capital(hint))}</p>` : nothing}
  </div>`;
}

/**
 * A value that the server refused, for the place of the form that has it.
 *
 * @param {ApiProblem} problem
 */
export function fieldProblem(problem) {
  const value = typeof problem.value === 'string' && problem.value ? `“${problem.value}”` : 'This value';
  const message = problem.message.replace(new RegExp(`^(field )?'?${problem.field}'?(?= )`), value);
  return html`<strong>${capital(message)}.</strong> ${withCode(capital(optionsHint(problem) || problem.hint))}`;
}

/** @param {ApiProblem} problem */
function optionsHint(problem) {
  return problem.options.length > 0 ? `Choose one of: ${problem.options.join(', ')}.` : '';
}

/** What the page offers instead of the commands that an error suggests. */
const PAGE_HINTS = /** @type {Record<string, string>} */ ({
  dialogue_not_found: 'The address may be cut, or the dialogue is in another store.',
  ambiguous_id: 'Several dialogues fit this short id. Choose yours in the list.',
  target_not_found: 'The record has no such part.',
  interrupted: 'Plenary kept all answers. Choose Resume above to continue.',
  stopped: 'Plenary kept all answers. Choose Resume above to continue.',
  unfinished: 'Choose Resume above to continue the run.',
  deadline_exceeded: 'Plenary kept all answers. Choose Resume above to continue.',
  budget_exhausted: 'Plenary kept all answers. Choose Resume above, with a higher budget.',
  quorum_not_met: 'Fix what failed, then choose Resume above: the missing seats are asked again.',
  families_not_met: 'Add a provider of another family, or wait until it answers again. Then choose Resume above.',
  partial_not_allowed: 'Fix what failed, then choose Resume above.',
  audit_unavailable: 'Without an audit no conclusion is Clean. Resume asks the critic again.',
  synthesis_unavailable: 'All replies are kept. Resume asks for the conclusion again.',
  revision_unavailable: 'Resume asks for the revision again.',
  adjudication_unavailable: 'The document does not pass. Resume asks the adjudicator again.',
  judge_unavailable: 'Plenary kept all answers. Resume asks the Judge again.',
  ethos_conflict_open: 'Decide the conflicts, then choose Resume above.',
});

const NO_PROVIDER = 'Choose “Rehearse offline”, or set the key of a provider and start the server again.';

/**
 * @param {string} code
 * @param {string} hint of the server, which names commands
 * @param {number} [status]
 */
export function pageHint(code, hint, status = 0) {
  if (code === 'invalid_configuration' && status === 422) return NO_PROVIDER;
  return PAGE_HINTS[code] ?? hint;
}

/** Text between backticks is code.
 * @param {string} text
 */
export function withCode(text) {
  // A single backtick opens no code.
  if (text.split('`').length % 2 === 0) return text;
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

/**
 * The value, or what is known about its absence.
 *
 * @template T
 * @param {import('../host.js').RemoteValue<T>} remote
 * @param {string} what
 * @param {(value: T) => unknown} view
 */
export function settled(remote, what, view) {
  if (remote.error !== null) return failure(remote.error);
  return remote.value === null ? loading(what) : view(remote.value);
}
