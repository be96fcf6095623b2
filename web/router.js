// The address of a screen: everything after `#`, so that a link to any screen works and Back goes back.

/**
 * `#/d/ID/calls?call=3` is `{parts: ['d', ID, 'calls'], query}`.
 *
 * @typedef {{ parts: string[], query: URLSearchParams }} ScreenAddress
 */

/**
 * @param {string} hash
 * @returns {ScreenAddress}
 */
export function parseAddress(hash) {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const parts = path.split('/').filter(Boolean).map(decodePart);
  return { parts, query: new URLSearchParams(query) };
}

/** @param {string} part */
function decodePart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * @param {string[]} parts
 * @param {Record<string, string | number | null | undefined>} [query] empty values are left out
 */
export function hrefTo(parts, query = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value));
  }
  const path = `#/${parts.map(encodeURIComponent).join('/')}`;
  return search.size > 0 ? `${path}?${search}` : path;
}

/**
 * @param {string} id
 * @param {string} [screen]
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export function hrefToDialogue(id, screen = '', query = {}) {
  return hrefTo(screen ? ['d', id, screen] : ['d', id], query);
}

/**
 * The present address with some values of its query replaced.
 *
 * @param {Record<string, string | number | null | undefined>} changes
 */
export function hrefWith(changes) {
  const { parts, query } = parseAddress(location.hash);
  return hrefTo(parts, { ...Object.fromEntries(query), ...changes });
}

/**
 * Replaces the address without a step in the history: for filters that change while typing.
 *
 * @param {string} href
 */
export function replaceAddress(href) {
  history.replaceState(null, '', href);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}
