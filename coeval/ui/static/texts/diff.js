/** What changed between the drafted words and the new ones, word by word. */

import { el } from '../core/dom.js';
import { diffArrays } from '../vendor/diff.js';

/** @typedef {['same' | 'del' | 'ins', string]} Part */

/** After so long a comparison is given up, and the whole is shown as gone and come. */
const MAX_MS = 50;

const words =
  typeof Intl !== 'undefined' && Intl.Segmenter
    ? new Intl.Segmenter(undefined, { granularity: 'word' })
    : null;

/** Words, spaces and signs in order; languages without spaces are cut where the browser finds words. */
function tokensOf(text) {
  if (words) return Array.from(words.segment(text), (part) => part.segment);
  return text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
}

/** One struck-out and one new stretch per change; a lone space between two changed words joins them. */
function joinParts(parts) {
  const joined = [];
  let [gone, come, gap] = ['', '', ''];
  const close = () => {
    if (gone) joined.push(['del', gone]);
    if (come) joined.push(['ins', come]);
    [gone, come] = ['', ''];
  };
  const keep = (text) => {
    if (!text) return;
    if (joined.at(-1)?.[0] === 'same') joined.at(-1)[1] += text;
    else joined.push(['same', text]);
  };
  for (const [kind, text] of parts) {
    if (kind === 'same' && !text.trim() && (gone || come)) gap += text;
    else if (kind === 'same') {
      close();
      keep(gap + text);
      gap = '';
    } else {
      gone += gap + (kind === 'del' ? text : '');
      come += gap + (kind === 'ins' ? text : '');
      gap = '';
    }
  }
  close();
  keep(gap);
  return joined;
}

/**
 * The 'same' and 'del' parts spell `before`, 'same' and 'ins' spell `after`.
 * @param {string} before
 * @param {string} after
 * @returns {Part[]}
 */
export function diffWords(before, after) {
  const changes = diffArrays(tokensOf(before), tokensOf(after), { timeout: MAX_MS }) ?? [
    { removed: true, value: [before] },
    { added: true, value: [after] },
  ];
  const parts = changes.map(({ added, removed, value }) => [
    removed ? 'del' : added ? 'ins' : 'same',
    value.join(''),
  ]);
  return joinParts(parts);
}

/** The difference as nodes: struck out what went, underlined what came. */
export function diffNodes(before, after) {
  return diffWords(before, after).map(([kind, text]) => (kind === 'same' ? text : el(kind, {}, text)));
}
