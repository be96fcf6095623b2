// Requests to the server: JSON in, JSON out, one error type for all that goes wrong.

/**
 * An answer that is not a success, or no answer at all (`status` 0).
 */
export class ApiProblem extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {string} hint
   * @param {{ field?: string, value?: unknown, valid_options?: string[] }} [place] what in the request is wrong
   */
  constructor(status, code, message, hint, place = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.field = place.field ?? '';
    this.value = place.value;
    this.options = place.valid_options ?? [];
  }
}

/** @type {(isAnswered: boolean) => void} */
let tellResult = () => {};

/** Learns of each request whether the server answered it.
 * @param {(isAnswered: boolean) => void} tell
 */
export function onResult(tell) {
  tellResult = tell;
}

/** Whether the server did not answer at all.
 * @param {unknown} error
 */
export function isUnreachable(error) {
  return error instanceof ApiProblem && error.status === 0;
}

/** Whether the reader must sign in.
 * @param {unknown} error
 */
export function isUnauthorized(error) {
  return error instanceof ApiProblem && error.status === 401;
}

/**
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function getJson(path, signal) {
  return request(path, { method: 'GET', ...(signal ? { signal } : {}) });
}

/**
 * Changes carry the header that a foreign page cannot send without the server's consent.
 *
 * @param {string} path
 * @param {object} body
 * @param {string} [key] makes a repeated start return the first run
 * @returns {Promise<any>}
 */
export function postJson(path, body, key) {
  /** @type {Record<string, string>} */
  const headers = { 'content-type': 'application/json', 'x-plenary': '1' };
  if (key) headers['idempotency-key'] = key;
  return request(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/**
 * @param {string} id
 * @param {string} [rest] such as `/calls/3`
 */
export function dialoguePath(id, rest = '') {
  return `/api/dialogues/${encodeURIComponent(id)}${rest}`;
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...options });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    tellResult(false);
    throw new ApiProblem(0, 'unreachable', 'The server does not answer.', 'Start it again with `plenary serve`.');
  }
  tellResult(true);
  if (response.status === 204) return null;
  const text = await response.text();
  const document = parse(text);
  if (response.ok && document !== undefined) return document;
  throw problem(response.status, document);
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * @param {number} status
 * @param {any} document
 */
function problem(status, document) {
  const message = document?.message ?? document?.detail ?? document?.title ?? `The server answered ${status}.`;
  const code = document?.error_code ?? document?.code ?? String(status);
  return new ApiProblem(status, code, message, document?.suggestion ?? document?.hint ?? '', document ?? {});
}
