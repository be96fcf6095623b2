// The JSON that a seat is writing, as lines that a person can follow. The raw text is in the calls.

import { words } from '../format.js';

/**
 * Keys become labels, strings lose their quotes, brackets disappear. The text may end anywhere. Text
 * that is no JSON stays as it is.
 *
 * @param {string} text
 */
export function readableStream(text) {
  const start = /^\s*(?:```(?:json)?\s*)?(?=[{[])/.exec(text);
  if (!start) return text;
  let shown = '';
  for (const [token] of text.slice(start[0].length).matchAll(/"(?:[^"\\]|\\.)*"?\s*:?|[^"\s{}[\],:]+/gs)) {
    const isKey = token.endsWith(':');
    const value = plainText(token.replace(/\s*:$/, ''));
    shown += isKey ? `${shown ? '\n' : ''}${words(value)}: ` : `${/: $|^$/.test(shown) ? '' : '\n  '}${value}`;
  }
  return shown;
}

/** A literal without its quotes and escapes; the last one may be incomplete.
 * @param {string} literal
 */
function plainText(literal) {
  if (!literal.startsWith('"')) return literal;
  const whole = literal.length > 1 && literal.endsWith('"') && !literal.endsWith('\\"') ? literal : `${literal.replace(/\\(?:u[0-9a-f]{0,3})?$/i, '')}"`;
  try {
    return String(JSON.parse(whole));
  } catch {
    return literal.slice(1);
  }
}
