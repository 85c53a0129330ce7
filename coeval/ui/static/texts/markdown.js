/**
 * Markdown for untrusted texts, with GitHub's tables and strikethrough. The parser gives the source position of
 * every part, so that quotes can be marked in the result; this file converts its tree.
 * A node is {tag, attributes, children} or {text, start}. HTML stays text, and nothing external is ever
 * fetched.
 */

import { Strikethrough, Table, parser } from '../vendor/markdown.js';

/** @typedef {{text: string, start: number}} Leaf `text` is the source from `start` on. */
/** @typedef {{tag: string, attributes: Record<string, string>, children: TextNode[]}} Branch */
/** @typedef {Leaf | Branch} TextNode */

const markdown = parser.configure([Table, Strikethrough]);

/** Texts beyond these limits are shown unparsed, because parsing could take long. */
const MAX_PARAGRAPH = 20_000;
const MAX_MS = 500;
const MAX_DEPTH = 40;

const TAGS = {
  Blockquote: 'blockquote',
  BulletList: 'ul',
  Emphasis: 'em',
  InlineCode: 'code',
  ListItem: 'li',
  Paragraph: 'p',
  Strikethrough: 's',
  StrongEmphasis: 'strong',
};

/** Parts that contain only other parts and white space. */
const HOLDERS = new Set(['Document', 'Blockquote', 'BulletList', 'OrderedList', 'ListItem']);

/** Parts whose characters are markup, not text. */
const SIGNS =
  /^(?:HeaderMark|QuoteMark|ListMark|EmphasisMark|StrikethroughMark|CodeMark|CodeInfo|LinkMark|LinkTitle|LinkLabel|TableDelimiter)$/;
const MARGIN_SIGNS = /^(?:HeaderMark|QuoteMark)$/;

/** @returns {Leaf[]} */
function leaf(source, from, to) {
  return from < to ? [{ text: source.slice(from, to), start: from }] : [];
}

/** The nodes of source[from:to] within a part: its parts, and the text between them. @returns {TextNode[]} */
function wordsOf(source, part, depth, from = part.from, to = part.to) {
  const nodes = [];
  let at = from;
  for (let child = part.firstChild; child; child = child.nextSibling) {
    if (child.from < from || child.to > to) continue;
    if (!HOLDERS.has(part.name)) nodes.push(...leaf(source, at, child.from));
    nodes.push(...nodesOf(source, child, depth));
    at = child.to;
    // the space after a marker at the margin belongs to the marker
    if (MARGIN_SIGNS.test(child.name)) while (source[at] === ' ' && at < to) at += 1;
  }
  return HOLDERS.has(part.name) ? nodes : [...nodes, ...leaf(source, at, to)];
}

/** A link or an image as its label; one without a target, like [x], stays as written. */
function linkNodes(source, part, depth) {
  const url = part.getChild('URL');
  const [open, close] = part.getChildren('LinkMark');
  if (!url || !close) return leaf(source, part.from, part.to);
  const children =
    part.name === 'Autolink'
      ? leaf(source, url.from, url.to)
      : wordsOf(source, part, depth, open.to, close.from);
  const address = source.slice(url.from, url.to);
  if (part.name === 'Image' || !/^https?:\/\//i.test(address))
    return [{ tag: 'span', attributes: {}, children }];
  const attributes = { href: address, target: '_blank', rel: 'noopener noreferrer nofollow' };
  return [{ tag: 'a', attributes, children }];
}

function codeNode(source, part) {
  const lines = part.getChildren('CodeText');
  const children = lines.flatMap((line, n) => [
    ...(n ? leaf(source, lines[n - 1].to, line.from) : []),
    ...leaf(source, line.from, line.to),
  ]);
  return { tag: 'pre', attributes: {}, children: [{ tag: 'code', attributes: {}, children }] };
}

/** @returns {Record<string, string>} */
function listAttributes(source, part) {
  const mark = part.firstChild?.getChild('ListMark');
  const first = mark ? Number.parseInt(source.slice(mark.from, mark.to), 10) : 1;
  return first > 1 ? { start: String(first) } : {};
}

/** The cells of a row, null for empty ones; the parser only reports the bars between them. */
function cellsOf(line) {
  const cells = [];
  let cell = null;
  for (let child = line.firstChild; child; child = child.nextSibling) {
    if (child.name === 'TableCell') cell = child;
    else if (child.from > line.from) {
      cells.push(cell);
      cell = null;
    }
  }
  return cell ? [...cells, cell] : cells;
}

function tableNode(source, part, depth) {
  const row = (line, tag) => {
    const children = cellsOf(line).map((cell) => ({
      tag,
      attributes: {},
      children: cell ? wordsOf(source, cell, depth) : [],
    }));
    return { tag: 'tr', attributes: {}, children };
  };
  const head = part.getChildren('TableHeader').map((line) => row(line, 'th'));
  const rows = part.getChildren('TableRow').map((line) => row(line, 'td'));
  return { tag: 'table', attributes: {}, children: [...head, ...rows] };
}

/** @returns {TextNode[]} */
function nodesOf(source, part, depth = 0) {
  const { name, from, to } = part;
  if (SIGNS.test(name)) return [];
  if (depth > MAX_DEPTH) return leaf(source, from, to);
  const inside = () => wordsOf(source, part, depth + 1);
  const level = name.match(/^(?:ATX|Setext)Heading(\d)/)?.[1];
  if (level) return [{ tag: 'p', attributes: { class: `md-h md-h${level}` }, children: inside() }];
  switch (name) {
    case 'Link':
    case 'Image':
    case 'Autolink':
      return linkNodes(source, part, depth + 1);
    case 'Escape':
      return leaf(source, from + 1, to);
    case 'HardBreak':
      return [{ tag: 'br', attributes: {}, children: [] }];
    case 'HorizontalRule':
      return [{ tag: 'hr', attributes: {}, children: [] }];
    case 'FencedCode':
    case 'CodeBlock':
      return [codeNode(source, part)];
    case 'Table':
      return [tableNode(source, part, depth + 1)];
    case 'HTMLBlock':
    case 'CommentBlock':
    case 'ProcessingInstructionBlock':
    case 'LinkReference':
      return [{ tag: 'p', attributes: {}, children: leaf(source, from, to) }];
    case 'OrderedList':
      return [{ tag: 'ol', attributes: listAttributes(source, part), children: inside() }];
    default:
      return name in TAGS
        ? [{ tag: TAGS[name], attributes: {}, children: inside() }]
        : leaf(source, from, to);
  }
}

/** The parser's tree, or null if the text would take too long. */
function parseWithin(source, maxMs) {
  if (source.split(/\n\s*\n/).some((paragraph) => paragraph.length > MAX_PARAGRAPH)) return null;
  const until = performance.now() + maxMs;
  const work = markdown.startParse(source);
  for (;;) {
    const tree = work.advance();
    if (tree) return tree;
    if (performance.now() > until) return null;
  }
}

/** The blocks of a Markdown text. @returns {TextNode[]} */
export function parseMarkdown(source, maxMs = MAX_MS) {
  const tree = parseWithin(source, maxMs);
  if (tree) return wordsOf(source, tree.topNode, 0);
  return [{ tag: 'p', attributes: {}, children: parsePlain(source) }];
}

/** Plain text in the same form: one leaf, shown with its line breaks. @returns {TextNode[]} */
export function parsePlain(source) {
  return [{ text: source, start: 0 }];
}
