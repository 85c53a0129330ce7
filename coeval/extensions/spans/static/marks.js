/** Error spans as values: words and edges of a text, pieces for the screen, lines with their decisions, the score. */

/**
 * @typedef {'output' | 'input'} Side
 * @typedef {{start: number | null, end: number | null, severity: string, category: string, side: Side, note: string}} Mark
 *   offsets count UTF-16 units here, and code points on their way to and from the server
 * @typedef {{at: number | null, was: Mark | null, action: string | null, span: Mark}} Line
 * @typedef {{name: string, title: string, side: Side, costs: number[]}} Category
 * @typedef {{title: string, scoring: string, severities: string[], costs: number[], categories: Category[], most: number}} Typology
 * @typedef {{rows: Line[], score: number | null}} State
 */

const WORDS = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu;

/** Where the words and signs of a text begin and end, as on the server. @param {string} text @returns {[number, number][]} */
export function wordsOf(text) {
  return Array.from(text.matchAll(WORDS), (match) => [match.index, match.index + match[0].length]);
}

/** Where its characters as people see them begin and end. @param {string} text @returns {[number, number][]} */
export function charactersOf(text) {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ index, segment }) => [index, index + segment.length]);
}

/** The offset in code points of an offset in UTF-16 units. @param {string} text @param {number} offset */
export function toPoints(text, offset) {
  if (!/[\ud800-\udbff]/.test(text)) return offset;
  let points = offset;
  for (let at = 0; at < offset; at += 1) if (isHigh(text.charCodeAt(at))) points -= 1;
  return points;
}

const isHigh = (unit) => unit >= 0xd800 && unit <= 0xdbff;

/** The units that a selection touches, widened to whole ones. @param {[number, number][]} units @param {number} start @param {number} end @returns {[number, number] | null} */
export function widen(units, start, end) {
  const touched = units.filter(([from, to]) => from < Math.max(end, start + 1) && to > start);
  return touched.length ? [touched[0][0], touched[touched.length - 1][1]] : null;
}

/**
 * An edge moved by one unit: `edge` is "start" or "end", `by` is -1 or 1. Null where it would leave the text or
 * pass the other edge.
 * @param {[number, number][]} units
 * @param {Mark} mark
 * @param {'start' | 'end'} edge
 * @param {-1 | 1} by
 * @returns {Mark | null}
 */
export function moveEdge(units, mark, edge, by) {
  if (mark.start === null || mark.end === null) return null;
  const place = edge === 'start' ? 0 : 1;
  const from = mark[edge] ?? 0;
  const edges = units.map((unit) => unit[place]);
  const to = by < 0 ? edges.findLast((one) => one < from) : edges.find((one) => one > from);
  if (to === undefined) return null;
  const moved = { ...mark, [edge]: to };
  return (moved.start ?? 0) < (moved.end ?? 0) ? moved : null;
}

/** @param {Mark} a @param {Mark} b */
function sameMark(a, b) {
  return (
    a.start === b.start &&
    a.end === b.end &&
    a.severity === b.severity &&
    a.category === b.category &&
    a.side === b.side &&
    a.note === b.note
  );
}

/** A line with another mark: one that is as it was drafted is approved, any other revised. @param {Line} line @param {Partial<Mark>} change @returns {Line} */
export function changed(line, change) {
  const span = { ...line.span, ...change };
  if (line.was === null) return { ...line, span };
  return { ...line, span, action: sameMark(span, line.was) ? 'approve' : 'revise' };
}

/** Approved or deleted; the same key once more takes it back. @param {Line} line @param {'approve' | 'delete'} action @returns {Line} */
export function decided(line, action) {
  const span = line.was ?? line.span;
  return { ...line, span, action: line.action === action ? null : action };
}

/** The lines that still need a decision. @param {Line[]} rows */
export function openLines(rows) {
  return rows.filter((line) => line.at !== null && line.action === null);
}

/** Lines that stay, in the order of the texts. @param {Line[]} rows */
export function inOrder(rows) {
  const rank = ({ span }) => [
    span.start === null ? 2 : span.side === 'input' ? 0 : 1,
    span.start ?? 0,
    span.end ?? 0,
  ];
  return [...rows].sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return x[0] - y[0] || x[1] - y[1] || x[2] - y[2];
  });
}

/** Minus the weights of the lines that stay. @param {Line[]} rows @param {Typology} typology */
export function scoreOf(rows, typology) {
  let sum = 0;
  for (const { action, span } of rows) {
    if (action === 'delete') continue;
    const costs = typology.categories.find(({ name }) => name === span.category)?.costs ?? typology.costs;
    sum += costs[typology.severities.indexOf(span.severity)] ?? 0;
  }
  return Math.round(-sum * 1e6) / 1e6 + 0;
}

/** A mark with its offsets turned by these functions, one for each side. @param {Mark} mark @param {Record<Side, (offset: number) => number>} turn @returns {Mark} */
export function turned(mark, turn) {
  if (mark.start === null || mark.end === null) return mark;
  return { ...mark, start: turn[mark.side](mark.start), end: turn[mark.side](mark.end) };
}
