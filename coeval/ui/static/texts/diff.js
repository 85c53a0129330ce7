/** What changed between the drafted words and the new ones, word by word. */

import { el } from '../core/dom.js';

const MAX_CELLS = 1_000_000;

const words =
  typeof Intl !== 'undefined' && Intl.Segmenter
    ? new Intl.Segmenter(undefined, { granularity: 'word' })
    : null;

/** Words, spaces and signs in order; languages without spaces are cut where the browser finds words. */
function tokensOf(text) {
  if (words) return Array.from(words.segment(text), (part) => part.segment);
  return text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
}

/** Longest common subsequence lengths from every pair of positions to the ends. */
function commonLengths(a, b) {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const skip = Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1] + 1 : skip;
    }
  }
  return (i, j) => lengths[i * width + j];
}

/** The changed middle, once equal beginnings and ends are set aside; too large a middle is shown whole. */
function diffMiddle(a, b) {
  if (!a.length || !b.length || a.length * b.length > MAX_CELLS) {
    return [
      ['del', a.join('')],
      ['ins', b.join('')],
    ];
  }
  const common = commonLengths(a, b);
  const parts = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      parts.push(['same', a[i]]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common(i + 1, j) >= common(i, j + 1))) {
      parts.push(['del', a[i]]);
      i += 1;
    } else {
      parts.push(['ins', b[j]]);
      j += 1;
    }
  }
  return parts;
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
    } else if (text) {
      gone += gap + (kind === 'del' ? text : '');
      come += gap + (kind === 'ins' ? text : '');
      gap = '';
    }
  }
  close();
  keep(gap);
  return joined;
}

/** [['same'|'del'|'ins', text]...]: the 'same' and 'del' parts spell `before`, 'same' and 'ins' spell `after`. */
export function diffWords(before, after) {
  const [a, b] = [tokensOf(before), tokensOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const middle = diffMiddle(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  return joinParts([
    ['same', a.slice(0, head).join('')],
    ...middle,
    ['same', a.slice(a.length - tail).join('')],
  ]);
}

/** The difference as nodes: struck out what went, underlined what came. */
export function diffNodes(before, after) {
  return diffWords(before, after).map(([kind, text]) => (kind === 'same' ? text : el(kind, {}, text)));
}
