/** Differences between two texts, and flags of quotes. */

import { el } from '../core/dom.js';
import { tr } from '../core/words.js';
import { diffArrays } from '../vendor/diff.js';

/* Changes from the drafted words to the new ones, word by word. */

/** @typedef {['same' | 'del' | 'ins', string]} Part */

/** The time limit of a comparison; after it, the whole text is shown as replaced. */
const MAX_MS = 50;

const words =
  typeof Intl !== 'undefined' && Intl.Segmenter
    ? new Intl.Segmenter(undefined, { granularity: 'word' })
    : null;

/** Words, spaces and signs in order; for languages without spaces, the browser finds the words. */
function tokensOf(text) {
  if (words) return Array.from(words.segment(text), (part) => part.segment);
  return text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
}

/** One deleted and one inserted part per change; changed words with a single space between them are joined. */
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

/** The difference as nodes: deleted words struck out, inserted words underlined. */
export function diffNodes(before, after) {
  return diffWords(before, after).map(([kind, text]) => (kind === 'same' ? text : el(kind, {}, text)));
}

/* Flags below a line for quotes that are not in the output word for word. */

const SHOWN = 24;

/** The text of a flag; for a near match, it shows the difference from the passage to the quote. */
function flagOf({ text, place, passage }, sheet, several) {
  if (place === 'nearly in the output')
    return [sheet.nearly ?? tr('similar passage in the text:'), ' ', ...diffNodes(passage, text)];
  const said =
    place === 'input'
      ? (sheet.from_input ?? tr('quotes the input'))
      : (sheet.missing ?? tr('not in the text'));
  return [several ? `“${text.slice(0, SHOWN)}…” ${said}` : said];
}

/** @param {Quote[]} quotes @param {Sheet} sheet */
export function quoteFlags(quotes, sheet) {
  const elsewhere = quotes.filter(({ place }) => place !== 'output');
  return elsewhere.map((quote) => {
    const kind =
      quote.place === 'nearly in the output' ? ' is-near' : quote.place === 'input' ? ' is-input' : '';
    const flag = flagOf(quote, sheet, elsewhere.length > 1);
    return el('span', { class: `ce-flag${kind}`, title: quote.text }, ...flag);
  });
}
