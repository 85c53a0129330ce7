/** Places in a text: offsets, quotes, and the cursor that selects words by keyboard. */

/* Offsets and quotes. Python counts code points and JavaScript counts UTF-16 units; this file converts them. */

/** A function from code-point offsets of `text` to UTF-16 offsets. */
export function utf16Index(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (offset) => Math.max(0, Math.min(offset, text.length));
  const starts = [];
  for (let at = 0; at < text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) starts.push(at);
  starts.push(text.length);
  return (offset) => starts[Math.max(0, Math.min(offset, starts.length - 1))];
}

/** @type {('output' | 'input')[]} */
const PLACES = ['output', 'input'];
const PAIRS = ['“([^“”]{2,400})”', '"([^"\\n]{2,400})"', '„([^„“”]{2,400})[“”]', '«([^«»]{2,400})»'];
const CJK_PAIRS = ['「([^「」]{1,400})」', '『([^『』]{1,400})』'];
/** Shorter words without quotation marks are the beginning of a remark. */
const SHORTEST = 4;
const QUOTED = new RegExp([...PAIRS, ...CJK_PAIRS].join('|'), 'g');

/** @typedef {{output: string, input: string}} Texts */
/** @typedef {{place: 'output' | 'input', start: number, end: number}} Span in UTF-16 units */

/** The first place of a phrase, in the output or else in the input. @param {string} quote @returns {Span[]} */
function findPhrase(quote, texts) {
  const place = PLACES.find((name) => quote && texts[name].includes(quote));
  if (!place) return [];
  const start = texts[place].indexOf(quote);
  return [{ place, start, end: start + quote.length }];
}

/**
 * The places of the phrases in quotation marks. Evidence without quotation marks may be one phrase of the text.
 * @param {string} words
 * @param {Texts} texts
 * @param {string} kind of the line
 * @returns {Span[]}
 */
export function findQuoted(words, texts, kind = '') {
  const quotes = [...words.matchAll(QUOTED)].map((match) =>
    match.slice(1).find((group) => group !== undefined),
  );
  if (!quotes.length && kind === 'evidence' && words.trim().length >= SHORTEST) quotes.push(words);
  return quotes.flatMap((quote) => findPhrase((quote ?? '').trim(), texts));
}

/**
 * The spans of a drafted row's quotes that were found; quotes count code points, null if not found.
 * @param {Pick<Quote, 'start' | 'end' | 'place'>[]} quotes
 * @param {Record<'output' | 'input', (offset: number) => number>} toUtf16
 * @returns {Span[]}
 */
export function quotedSpans(quotes, toUtf16) {
  return quotes.flatMap(({ start, end, place: said }) => {
    if (start === null || end === null || start >= end) return [];
    const place = said === 'input' ? 'input' : 'output';
    return [{ place, start: toUtf16[place](start), end: toUtf16[place](end) }];
  });
}

/**
 * The marked passages without a line of their own, for the criterion in use.
 * @param {{ evaluation?: Evaluation | null, evaluations?: (Evaluation & { criterion: number })[] }} step
 * @param {{ criterion: number }} work
 * @param {Record<'output' | 'input', (offset: number) => number>} toUtf16
 */
export function evidenceSpans({ evaluation, evaluations }, { criterion }, toUtf16) {
  const own = evaluations?.find((one) => one.criterion === criterion) ?? evaluation;
  return quotedSpans(own?.marks ?? [], toUtf16).map((span) => ({ ...span, row: 'evidence', label: '' }));
}

/**
 * Cuts overlapping spans into pieces that do not overlap.
 * In: [{start, end, row, label}]; out, in order: [{start, end, rows: [row...], labels: [of spans ending here]}].
 */
export function cutSpans(spans) {
  const edges = [...new Set(spans.flatMap((span) => [span.start, span.end]))].sort((a, b) => a - b);
  const pieces = [];
  for (let i = 0; i + 1 < edges.length; i += 1) {
    const [start, end] = [edges[i], edges[i + 1]];
    const over = spans.filter((span) => span.start <= start && span.end >= end);
    if (!over.length) continue;
    const ending = over.filter((span) => span.end === end).map((span) => span.label);
    pieces.push({
      start,
      end,
      rows: [...new Set(over.map((span) => span.row))],
      labels: [...new Set(ending)],
    });
  }
  return pieces;
}

/*
 * Selecting words without a mouse. In a focused text the arrow keys move from word to word and from line to
 * line, Shift with an arrow stretches the selection; Page Up, Page Down, Home and End scroll as they always do.
 */

const words = Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: 'word' }) : null;

/**
 * A part of a text with the rest of the words that it cuts.
 * @param {string} text
 * @param {{start: number, end: number}} part
 */
export function wholeWords(text, { start, end }) {
  const parts = words?.segment(text);
  const first = parts?.containing(start);
  const last = parts?.containing(end - 1);
  return text.slice(
    first?.isWordLike ? first.index : start,
    last?.isWordLike ? last.index + last.segment.length : end,
  );
}

/** [start, end] of every word of one text node. */
function wordSpans(text) {
  if (!words) return Array.from(text.matchAll(/[\p{L}\p{N}]+/gu), (m) => [m.index, m.index + m[0].length]);
  return Array.from(words.segment(text))
    .filter((part) => part.isWordLike)
    .map((part) => [part.index, part.index + part.segment.length]);
}

/** Every word under `pane` in reading order: {node, start, end}. */
function wordsOf(pane) {
  const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (node.parentElement?.closest('summary, details:not([open])')) continue; // folded, or not of the text
    for (const [start, end] of wordSpans(node.data)) found.push({ node, start, end });
  }
  return found;
}

/** A negative number if place a = [node, offset] comes before place b. */
function compare([a, i], [b, j]) {
  if (a === b) return i - j;
  return a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}

function nextWord(all, place) {
  return all.find((word) => compare([word.node, word.end], place) > 0);
}

function previousWord(all, place) {
  return all.findLast((word) => compare([word.node, word.start], place) < 0);
}

function select(selection, word) {
  if (word) selection.setBaseAndExtent(word.node, word.start, word.node, word.end);
}

/** Moves one word on or back, or to the word above or below. */
function move(selection, all, { forward, line }) {
  const range = selection.getRangeAt(0);
  if (line) {
    const { node, start } = nextWord(all, [range.startContainer, range.startOffset]) ?? all[0];
    selection.collapse(node, start);
    selection.modify('move', forward ? 'forward' : 'backward', 'line');
    return select(selection, nextWord(all, [selection.focusNode, selection.focusOffset]) ?? all.at(-1));
  }
  const word = forward
    ? nextWord(all, [range.endContainer, range.endOffset])
    : previousWord(all, [range.startContainer, range.startOffset]);
  return select(selection, word);
}

function stretch(selection, all, { forward, line }) {
  const focus = [selection.focusNode, selection.focusOffset];
  if (line) return selection.modify('extend', forward ? 'forward' : 'backward', 'line');
  const word = forward ? nextWord(all, focus) : previousWord(all, focus);
  return word && selection.extend(word.node, forward ? word.end : word.start);
}

/** The area that scrolls a text, and its part that a text which stays in view does not cover. @param {any} node */
export function viewOf(node) {
  const scroller = node.closest('.wb-read') ?? node;
  const { top, bottom } = scroller.getBoundingClientRect();
  const kept = scroller.querySelector('.is-pinned, .wb-passage:not([hidden])');
  const covers = kept && !kept.contains(node) && getComputedStyle(scroller).display !== 'grid';
  return { scroller, top: covers ? top + kept.offsetHeight : top, bottom };
}

/** The first visible word, where the cursor starts. */
function firstInView(all, pane) {
  const { top } = viewOf(pane);
  const range = document.createRange();
  return all.find(({ node, start, end }) => {
    range.setStart(node, start);
    range.setEnd(node, end);
    return range.getBoundingClientRect().top >= top;
  });
}

function keepInView(selection, pane) {
  const box = selection.getRangeAt(0).getBoundingClientRect();
  const { scroller, top, bottom } = viewOf(pane);
  if (box.bottom > bottom) scroller.scrollTop += box.bottom - bottom + 24;
  if (box.top < top) scroller.scrollTop -= top - box.top + 24;
}

function isInside(selection, pane) {
  return (
    selection.rangeCount > 0 && pane.contains(selection.anchorNode) && pane.contains(selection.focusNode)
  );
}

/** The direction of an arrow key in this text; in right-to-left text, right is back. */
function stepOf(key, pane) {
  const line = key === 'ArrowUp' || key === 'ArrowDown';
  const onward = key === 'ArrowRight' || key === 'ArrowDown';
  const turned = !line && getComputedStyle(pane).direction === 'rtl';
  return { line, forward: onward !== turned };
}

/** Handles the arrow keys in a pane, and no other key. */
export function walkText(event, pane) {
  if (!/^Arrow/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  const selection = window.getSelection();
  const all = wordsOf(pane);
  if (!all.length) return;
  if (!isInside(selection, pane)) select(selection, firstInView(all, pane) ?? all[0]);
  else if (event.shiftKey) stretch(selection, all, stepOf(event.key, pane));
  else move(selection, all, stepOf(event.key, pane));
  if (!isInside(selection, pane)) select(selection, all.at(-1));
  keepInView(selection, pane);
}
