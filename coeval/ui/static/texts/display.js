/** A text as nodes: conversations, images, Markdown, plain text. */

import { button, el } from '../core/dom.js';
import { tr } from '../core/words.js';
import { parseMarkdown, parsePlain } from './markdown.js';

/*
 * Conversations: a line such as `── user ──` heads every turn of the text, see coeval/domain/tasks.py. Each turn
 * becomes a part of its own, with offsets in the whole text so that marks and selections fit.
 */

const HEADING = /^── ([^\n─]{1,80}) ──$/gm;
const BETWEEN = 2;

/** The place of each turn in a conversation, [start, end) in UTF-16; an empty list for other texts. */
export function turnsOf(text) {
  const heads = Array.from(text.matchAll(HEADING));
  if (heads[0]?.index !== 0) return [];
  return heads.map((head, n) => ({
    role: head[1],
    start: head.index + head[0].length + 1,
    end: n + 1 < heads.length ? heads[n + 1].index - BETWEEN : text.length,
  }));
}

function shift(nodes, by) {
  return nodes.map((node) =>
    'tag' in node ? { ...node, children: shift(node.children, by) } : { ...node, start: node.start + by },
  );
}

/** A step of an agent: a call of a tool, its result, or reasoning, see `CALL` in coeval/domain/tasks.py. */
const STEP = /^(tool call|tool result|reasoning|tool|function)(:|$)/;
/** A step shows this many characters while it is folded, and this many before “More”. */
const PEEK = 90;
const LONG = 1500;

/** @param {string} text @param {number} start @returns {import('./markdown.js').TextNode[]} */
function cutLong(text, start) {
  if (text.length <= LONG * 1.2) return [{ text, start }];
  const at = Math.max(text.lastIndexOf('\n', LONG), text.lastIndexOf(' ', LONG), LONG - 100) + 1;
  const label = tr('More ({n} characters)', { n: (text.length - at).toLocaleString() });
  const more = { tag: 'summary', attributes: {}, label, children: [] };
  const rest = { text: text.slice(at), start: start + at };
  return [
    { text: text.slice(0, at), start },
    { tag: 'details', attributes: { class: 'turn-more' }, children: [more, rest] },
  ];
}

/** A folded step with its number in the conversation and the beginning of its words. */
function stepNode(text, { role, start, end }, number) {
  const words = text.slice(start, end);
  const peek = { tag: 'span', attributes: { class: 'turn-peek' }, label: words.slice(0, PEEK), children: [] };
  const name = { tag: 'b', attributes: {}, label: `${number}. ${role}`, children: [] };
  const body = { tag: 'div', attributes: { class: 'turn-words' }, children: cutLong(words, start) };
  return {
    tag: 'details',
    attributes: { class: 'turn is-step', role: 'group', 'aria-label': role },
    children: [{ tag: 'summary', attributes: { class: 'turn-role' }, children: [name, peek] }, body],
  };
}

/** Opens everything that is folded around a mark. @param {Element} mark */
export function unfold(mark) {
  for (let one = mark.closest('details'); one; one = one.parentElement?.closest('details') ?? null)
    one.setAttribute('open', '');
}

/**
 * The turns as nodes; `parse` makes the nodes of one turn's words. The role is a label, not part of the text.
 * @param {string} text
 * @param {(text: string) => import('./markdown.js').TextNode[]} parse
 */
export function parseTurns(text, parse) {
  return turnsOf(text).map((turn, n) =>
    STEP.test(turn.role) ? stepNode(text, turn, n + 1) : turnNode(text, turn, parse),
  );
}

function turnNode(text, { role, start, end }, parse) {
  return {
    tag: 'div',
    attributes: { class: `turn${role === 'user' ? ' is-user' : ''}`, role: 'group', 'aria-label': role },
    children: [
      { tag: 'span', attributes: { class: 'turn-role' }, label: role, children: [] },
      {
        tag: 'div',
        attributes: { class: 'turn-words' },
        children: shift(parse(text.slice(start, end)), start),
      },
    ],
  };
}

/* The images of an instance: each is small until it is opened, or shows why it is missing. */

const note = (text) => el('p', { class: 'wb-no-image ce-note', dir: 'auto' }, text);

function picture({ name, source }) {
  const failed = source.startsWith('data:')
    ? tr('“{name}” could not be loaded. Reload the page to try again.', { name })
    : tr('“{name}” could not be loaded from {host}. Reload the page to try again.', {
        name,
        host: new URL(source).host,
      });
  const onerror = () => opens.replaceWith(note(failed));
  const opens = button(el('img', { src: source, alt: name, referrerpolicy: 'no-referrer', onerror }), {
    class: 'wb-image',
    title: tr('Larger or smaller'),
    'aria-expanded': 'false',
    onclick: () =>
      opens.setAttribute('aria-expanded', String(opens.getAttribute('aria-expanded') === 'false')),
  });
  return opens;
}

/**
 * The part above the texts; nothing if the instance has no image.
 * @param {StepImage[]} images
 */
export function imageNodes(images) {
  return images.map((image) => (image.problem ? note(image.problem) : picture(image)));
}

/* Text trees on the page with marks, and the offsets of a selection in the source. */

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

/** Cuts a leaf along the pieces that touch it. */
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

/** Parses a text once; it is rendered again whenever the marks change. */
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

/** The selected part of the source in `pane` as [start, end) in UTF-16, or null. */
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
