// Which routes this server has: screens and forms of routes that it does not have are not offered.

import { getJson } from './api.js';

/** @type {Promise<Set<string>> | null} */
let known = null;

/** The paths of `/api/openapi.json`, fetched once. */
function fetchRoutes() {
  known ??= getJson('/api/openapi.json').then((document) => new Set(Object.keys(document.paths ?? {})), () => {
    known = null;
    return new Set();
  });
  return known;
}

/** @param {string} path */
export async function hasRoute(path) {
  return (await fetchRoutes()).has(path);
}

/**
 * The document of a route, or `null` from a server without it.
 *
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function getIfOffered(path) {
  return (await hasRoute(path)) ? getJson(path) : null;
}
