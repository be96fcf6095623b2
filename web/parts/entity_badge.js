// The state of an entity, the same on every screen.

import { tensionBoard } from '../record_views.js';
import { badge } from './badges.js';

/** @type {WeakMap<object, Set<string>>} */
const accepted = new WeakMap();

/**
 * An open tension waits for an answer, an open perspective does not; and a tension that the panel
 * accepted is accepted on every screen.
 *
 * @param {{ id: string, status: string }} entity
 * @param {any} record
 */
export function entityBadge(entity, record) {
  if (!entity.id.startsWith('T')) return entity.status === 'open' ? badge('asserted', 'open') : badge(entity.status);
  return badge(acceptedIds(record).has(entity.id) ? 'accepted' : entity.status);
}

/** @param {any} record */
function acceptedIds(record) {
  let ids = accepted.get(record);
  if (!ids) {
    ids = new Set((tensionBoard(record, null)['accepted'] ?? []).map((tension) => tension.id));
    accepted.set(record, ids);
  }
  return ids;
}
