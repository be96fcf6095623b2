// Text in which each sentence leads to its source.

import { html } from '../vendor/lit-html.js';
import { hrefWith } from '../router.js';
import { hasEntity, linkedText } from './entities.js';
import { withCode } from './notices.js';

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
    // An empty line between two paragraphs is no sentence.
    if (sentence.trim() === '') return sentence;
    const href = hrefWith({ source, sentence: sentence.trim(), call: null });
    return html`<a class="sentence" href=${href}>${withCode(sentence)}</a>`;
  });
}

/** How to get from a text to its source. A dialogue that an agent leads has no replies.
 * @param {any} record
 */
export function sourceHint(record) {
  const hasReplies = Boolean(record.council || record.review || record.alignment);
  return html`<p class="soft hint">Choose any underlined sentence, or the sign ¶ after one, to see ${hasReplies ? 'the reply it comes from' : 'what the record has about it'}.</p>`;
}

/**
 * Each sentence leads to its source. Where it names entities, those lead to theirs, and a sign after
 * it to its own.
 *
 * @param {string | null | undefined} text
 * @param {string} source
 */
export function sourcedOrLinked(text, source) {
  return splitSentences(text ?? '').map((sentence) => {
    if (!hasEntity(sentence)) return sourcedText(sentence, source);
    const href = hrefWith({ source, sentence: sentence.trim(), call: null });
    return html`${linkedText(sentence.trimEnd())}<a class="from" href=${href} aria-label="Show the source of this sentence" title="Show the source of this sentence">¶</a> `;
  });
}
