// States as a mark and a word: colour is never the only signal.

import { html, nothing } from '../vendor/lit-html.js';
import { words } from '../format.js';

/** @typedef {'' | 'good' | 'warn' | 'bad' | 'live'} BadgeTone */

/** @type {Record<string, [BadgeTone, string]>} */
const STATES = {
  running: ['live', '◐'], writing: ['live', '◐'], waiting: ['', '○'], asked: ['', '○'],
  interrupted: ['warn', '‖'], incomplete: ['warn', '◔'], failed: ['bad', '✕'], lost: ['warn', '‖'],
  done: ['', '●'], replied: ['good', '✓'], corrected: ['good', '✎'], retrying: ['warn', '↻'], not_sent: ['warn', '–'],
  clean: ['good', '✓'], revised: ['good', '✎'], unconverged: ['bad', '✕'], not_converged: ['warn', '▲'],
  ship: ['good', '✓'], revise: ['warn', '✎'], hold: ['bad', '✕'], skipped: ['', '–'],
  approve: ['good', '✓'], reject: ['bad', '✕'], conditional: ['warn', '◑'], abstain: ['', '–'], none: ['', '–'],
  open: ['warn', '○'], reopened: ['bad', '↺'], addressed: ['', '◑'], resolved: ['good', '✓'], accepted: ['', '≈'],
  proposed: ['', '○'], amended: ['', '✎'], adopted: ['good', '✓'], rejected: ['bad', '✕'],
  refined: ['', '✎'], conceded: ['', '↓'], merged: ['', '⊕'], cited: ['', '○'], challenged: ['warn', '?'],
  confirmed: ['good', '✓'], refuted: ['bad', '✕'], asserted: ['', '○'], supported: ['good', '✓'], opposed: ['warn', '?'],
  withdrawn: ['', '↓'], converged: ['good', '✓'], approved: ['good', '✓'], draft: ['', '○'], active: ['good', '✓'],
  deprecated: ['', '–'], violation: ['bad', '✕'], exception: ['warn', '!'], compliant: ['good', '✓'], not_applicable: ['', '–'],
  held: ['good', '✓'], mixed: ['warn', '◑'], abandoned: ['', '–'], pass: ['good', '✓'], flag: ['warn', '!'],
};

/** Words that a newcomer cannot guess. */
const MEANINGS = /** @type {Record<string, string>} */ ({
  clean: 'The critic passed the conclusion at once.',
  revised: 'The critic objected, the conclusion was revised, and then it passed.',
  unconverged: 'The critic rejected the conclusion twice.',
  interrupted: 'The process ended in mid-run. The run can be resumed.',
  incomplete: 'The run stopped at a limit. It can be resumed.',
  corrected: 'The reply was repaired, or the seat was asked again.',
  not_sent: 'The budget does not cover the call.',
  not_converged: 'The panel did not agree. The Judge gave a verdict all the same.',
  converged: 'The panel agreed, and every tension is resolved or accepted.',
});

/**
 * @param {string | null | undefined} state
 * @param {string} [text] instead of the state's own word
 */
export function badge(state, text) {
  if (!state) return nothing;
  const [tone, mark] = STATES[state.toLowerCase()] ?? ['', '·'];
  return html`<span class="badge ${tone}" title=${MEANINGS[state.toLowerCase()] ?? nothing}><span class="mark" aria-hidden="true">${mark}</span>${text ?? words(state)}</span>`;
}

/**
 * The state of a dialogue and, once it is done, how it ended.
 *
 * @param {{ state: string, status?: string | null, terminal_state?: string | null, protocol?: string, verdict?: string | null,
 *   overridden?: string | null, forced?: boolean | null, is_imported?: boolean }} row
 */
export function stateBadge(row) {
  const verdict = row.overridden ?? row.verdict;
  const ending = verdict ?? row.terminal_state;
  if (row.state === 'done' && row.forced) return badge('not_converged', 'NOT CONVERGED');
  if (row.state === 'done' && ending) return badge(ending, verdict ?? undefined);
  // A log that was read from a file has many verdicts and none of its own.
  if (row.state === 'done' && row.protocol === 'review') return badge('done', row.is_imported ?? row.status === 'converged' ? 'imported' : undefined);
  if (row.state === 'done' && row.status === 'converged') return badge('converged');
  return badge(row.state);
}

/** What a person decided over the verdict of a review.
 * @param {any} review
 * @returns {string | null}
 */
export function decisionOf(review) {
  const last = (review?.overrides ?? []).at(-1);
  return last?.decision ?? last?.as ?? null;
}

/** @param {string} text */
export function flag(text) {
  return html`<span class="flag">${text}</span>`;
}

const KINDS = /** @type {Record<string, string>} */ ({
  P: 'Perspective', R: 'Recommendation', T: 'Tension', E: 'Evidence', C: 'Claim',
});

/** @param {string} id such as `P0101` */
export function kindName(id) {
  return KINDS[id.charAt(0)] ?? 'Entity';
}
