// Loading, empty and failed: the three screens that every screen can be.

import { html, nothing } from '../vendor/lit-html.js';
import { ApiProblem } from '../api.js';

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
  const hint = error instanceof ApiProblem ? error.hint : '';
  return html`<div class="notice bad" role="alert">
    <p><strong>${message}</strong></p>${hint ? html`<p>${withCode(hint)}</p>` : nothing}
  </div>`;
}

/** Text between backticks is code.
 * @param {string} text
 */
export function withCode(text) {
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
