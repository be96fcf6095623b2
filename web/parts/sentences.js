// Text in which each sentence leads to its source.

import { html } from '../vendor/lit-html.js';
import { hrefWith } from '../router.js';
import { hasEntity, linkedText } from './entities.js';

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** @param {string} text */
export function splitSentences(text) {
  return [...segmenter.segment(text)].map((part) => part.segment);
}

/**
 * @param {string} text
 * @param {string} source such as `conclusion.recommendation`
 */
export function sourcedText(text, source) {
  return splitSentences(text).map((sentence) => {
    const href = hrefWith({ source, sentence: sentence.trim(), call: null });
    return html`<a class="sentence" href=${href}>${sentence}</a>`;
  });
}

/**
 * A text that names entities leads to them; any other one leads to its own source.
 *
 * @param {string} text
 * @param {string} source
 */
export function sourcedOrLinked(text, source) {
  return hasEntity(text) ? linkedText(text) : sourcedText(text, source);
}
