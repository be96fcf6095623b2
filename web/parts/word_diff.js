// What changed between two texts, word by word: the longest common run of words stays.

import { html } from '../vendor/lit-html.js';

/** Texts of more words than this are shown whole: the table of a comparison grows with the square. */
const WORDS_MAX = 1200;

/** @typedef {{ kind: 'same' | 'removed' | 'added', text: string }} DiffPart */

/**
 * @param {string} before
 * @param {string} after
 * @returns {DiffPart[]}
 */
export function compareWords(before, after) {
  const [old, fresh] = [before.split(/(?<=\s)/), after.split(/(?<=\s)/)];
  if (old.length > WORDS_MAX || fresh.length > WORDS_MAX) {
    return [{ kind: 'removed', text: before }, { kind: 'added', text: after }];
  }
  const lengths = commonLengths(old, fresh);
  /** @type {DiffPart[]} */
  const parts = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      add(parts, 'same', old[i]);
      i += 1;
      j += 1;
    } else if (i < old.length && (j >= fresh.length || at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      add(parts, 'removed', old[i]);
      i += 1;
    } else {
      add(parts, 'added', fresh[j]);
      j += 1;
    }
  }
  return parts;
}

/**
 * @param {string[]} old
 * @param {string[]} fresh
 */
function commonLengths(old, fresh) {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      const row = /** @type {Uint16Array} */ (lengths[i]);
      row[j] = old[i] === fresh[j] ? at(lengths, i + 1, j + 1) + 1 : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
    }
  }
  return lengths;
}

/**
 * @param {Uint16Array[]} lengths
 * @param {number} i
 * @param {number} j
 */
function at(lengths, i, j) {
  return lengths[i]?.[j] ?? 0;
}

/**
 * @param {DiffPart[]} parts
 * @param {DiffPart['kind']} kind
 * @param {string | undefined} text
 */
function add(parts, kind, text = '') {
  const last = parts.at(-1);
  if (last?.kind === kind) last.text += text;
  else parts.push({ kind, text });
}

/**
 * @param {string} before
 * @param {string} after
 */
export function wordDiff(before, after) {
  return html`<p class="diff prose">${compareWords(before, after).map((part) => {
    if (part.kind === 'removed') return html`<del><span class="hidden">removed: </span>${part.text}</del>`;
    if (part.kind === 'added') return html`<ins><span class="hidden">added: </span>${part.text}</ins>`;
    return part.text;
  })}</p>`;
}
