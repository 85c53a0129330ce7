/** Offsets and quotes. Python counts code points, JavaScript counts UTF-16 units; here the two meet. */

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
const QUOTED = new RegExp([...PAIRS, ...CJK_PAIRS].join('|'), 'g');

/** @typedef {{output: string, input: string}} Texts */
/** @typedef {{place: 'output' | 'input', start: number, end: number}} Span in UTF-16 units */

/**
 * Where words that a person put in quotation marks stand: the first place each, in the output or else the input.
 * @param {string} words
 * @param {Texts} texts
 * @returns {Span[]}
 */
export function findQuoted(words, texts) {
  /** @type {Span[]} */
  const spans = [];
  for (const match of words.matchAll(QUOTED)) {
    const quote = (match.slice(1).find((group) => group !== undefined) ?? '').trim();
    const place = PLACES.find((name) => quote && texts[name].includes(quote));
    if (!place) continue;
    const start = texts[place].indexOf(quote);
    spans.push({ place, start, end: start + quote.length });
  }
  return spans;
}

/**
 * Spans that found their place, from a drafted row's quotes (code points, null when not found).
 * @param {Quote[]} quotes
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
