// Entities: their ids as links to their source, and cards.

import { html, nothing } from '../vendor/lit-html.js';
import { hrefWith } from '../router.js';
import { kindName } from './badges.js';

/**
 * @typedef {{ id: string, label: string, content?: string, description?: string, contributors: string[],
 *   round: number, status: string, references?: { type: string, target: string }[], events?: any[] }} Entity
 */

const ENTITY_ID = /\b([PRTEC]\d{4})\b/;

/** A link to the place where the entity was said.
 * @param {string} id
 */
export function entityLink(id) {
  return html`<a class="entity kind-${id.charAt(0)}" href=${hrefWith({ source: id, call: null })} title="${kindName(id)} ${id}: show its source">${id}</a>`;
}

/** @param {string} text */
export function hasEntity(text) {
  return ENTITY_ID.test(text);
}

/** Ids inside a text become links.
 * @param {string | null | undefined} text
 */
export function linkedText(text) {
  if (!text) return nothing;
  return text.split(ENTITY_ID).map((part, index) => (index % 2 === 1 ? entityLink(part) : part));
}

/**
 * All entities of a record, by id.
 *
 * @param {any} record
 * @returns {Map<string, Entity>}
 */
export function entityIndex(record) {
  const index = new Map();
  for (const kind of ['perspectives', 'recommendations', 'tensions', 'evidence', 'claims']) {
    for (const entity of record[kind] ?? []) index.set(entity.id, entity);
  }
  return index;
}
