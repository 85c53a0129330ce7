/** Text trees on the page, with marks laid over them and a way back from a selection to the source. */

import { el } from '../core/dom.js';
import { parseMarkdown, parsePlain } from './markdown.js';
import { parseTurns } from './turns.js';

const starts = new WeakMap();

function textNode(text, start) {
  const node = document.createTextNode(text);
  starts.set(node, start);
  return node;
}

function markNode(text, start, piece, closes) {
  const label = closes ? piece.labels.filter(Boolean).join(' ') : '';
  return el(
    'mark',
    { 'data-rows': piece.rows.join(' '), 'data-label': label || null },
    textNode(text, start),
  );
}

/** One leaf cut along the pieces that touch it. */
function leafNodes(leaf, pieces) {
  const end = leaf.start + leaf.text.length;
  const nodes = [];
  let at = leaf.start;
  const cut = (from, to) => leaf.text.slice(from - leaf.start, to - leaf.start);
  for (const piece of pieces) {
    const [from, to] = [Math.max(piece.start, at), Math.min(piece.end, end)];
    if (from >= to) continue;
    if (from > at) nodes.push(textNode(cut(at, from), at));
    nodes.push(markNode(cut(from, to), from, piece, to === piece.end));
    at = to;
  }
  if (at < end) nodes.push(textNode(cut(at, end), at));
  return nodes;
}

function treeNodes(nodes, pieces) {
  return nodes.flatMap((node) =>
    node.tag
      ? [el(node.tag, node.attributes, node.label ?? null, ...treeNodes(node.children, pieces))]
      : leafNodes(node, pieces),
  );
}

/** Parses once; render again whenever the marks change. */
export function parseText(text, display) {
  const parse = display === 'markdown' ? parseMarkdown : parsePlain;
  const turns = parseTurns(text, parse);
  return turns.length ? turns : parse(text);
}

export function renderText(tree, pieces = []) {
  return treeNodes(tree, pieces);
}

/** Guidelines and other Markdown without marks. */
export function markdownNodes(text) {
  return renderText(parseMarkdown(text));
}

function leavesUnder(node) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const leaves = [];
  while (walker.nextNode()) leaves.push(walker.currentNode);
  return leaves;
}

/** The stretch of the source that is selected inside `pane` as [start, end), or null. UTF-16 offsets. */
export function selectedSource(pane, selection) {
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const inside = leavesUnder(pane).filter((node) => starts.has(node) && range.intersectsNode(node));
  const spans = inside
    .map((node) => ({
      start: starts.get(node) + (node === range.startContainer ? range.startOffset : 0),
      end: starts.get(node) + (node === range.endContainer ? range.endOffset : node.data.length),
    }))
    .filter((span) => span.start < span.end);
  return spans.length ? { start: spans[0].start, end: spans[spans.length - 1].end } : null;
}
