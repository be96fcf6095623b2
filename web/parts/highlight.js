// Marks words in what is drawn, without a change of the document: the style sheet has their colour.

const NAME = 'found';

/** More marks than this no reader visits, and each one costs time. */
const MARKS_MAX = 500;

/**
 * @param {Element | null} root
 * @param {string} needle empty to remove the marks
 */
export function highlightText(root, needle) {
  // A browser without this interface shows the found replies unmarked.
  if (!('highlights' in CSS)) return;
  const ranges = root && needle ? findRanges(root, needle.toLowerCase()) : [];
  if (ranges.length > 0) CSS.highlights.set(NAME, new Highlight(...ranges));
  else CSS.highlights.delete(NAME);
}

/**
 * @param {Element} root
 * @param {string} needle
 */
function findRanges(root, needle) {
  const ranges = /** @type {Range[]} */ ([]);
  const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode() && ranges.length < MARKS_MAX) {
    const text = (nodes.currentNode.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
      const range = new Range();
      range.setStart(nodes.currentNode, at);
      range.setEnd(nodes.currentNode, at + needle.length);
      ranges.push(range);
    }
  }
  return ranges;
}
