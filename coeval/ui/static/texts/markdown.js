/**
 * A small, safe Markdown for texts that strangers wrote: headings, lists, quotes, code, emphasis, links.
 * It yields a tree whose text leaves know where in the source they stand, so that quotes can be marked in it.
 * A node is {tag, children, attributes?} or {text, start}. No picture or other outside thing is ever fetched.
 */

const FENCE = /^ {0,3}(```+|~~~+)/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const BULLET = /^( {0,8})(?:[-*+]|(\d{1,9})[.)])[ \t]+/;
const QUOTE = /^ {0,3}> ?/;

/** Bounded repeats keep hostile text, such as ten thousand lone stars, from taking quadratic time. */
const INLINE = new RegExp(
  [
    '(?<tick>`{1,3})(?<code>[^`]{1,1000})\\k<tick>',
    '(?<strong>\\*\\*|(?<!\\w)__)(?=\\S)(?<bold>[^\\n]{1,400}?)(?<=\\S)\\k<strong>',
    '(?<em>\\*|(?<!\\w)_)(?=[^\\s*_])(?<slant>[^\\n*_]{1,400}?)(?<=\\S)\\k<em>(?!\\w)',
    '~~(?=\\S)(?<strike>[^\\n~]{1,400}?)~~',
    '!?\\[(?<label>[^\\]\\n]{1,400})\\]\\((?<url>[^)\\s]{1,1000})\\)',
  ].join('|'),
  'gu',
);

function leaf(source, start, end) {
  return { text: source.slice(start, end), start };
}

function linkNode(source, groups, at) {
  const children = parseInline(source, at, at + groups.label.length);
  if (!/^https?:\/\//i.test(groups.url)) return { tag: 'span', children };
  const attributes = { href: groups.url, target: '_blank', rel: 'noopener noreferrer nofollow' };
  return { tag: 'a', attributes, children };
}

function inlineNode(source, match, start) {
  const { groups } = match;
  const at = start + match.index;
  const inside = (tag, mark, text) => ({
    tag,
    children: parseInline(source, at + mark.length, at + mark.length + text.length),
  });
  if (groups.code) {
    const from = at + groups.tick.length;
    return { tag: 'code', children: [leaf(source, from, from + groups.code.length)] };
  }
  if (groups.bold) return inside('strong', groups.strong, groups.bold);
  if (groups.slant) return inside('em', groups.em, groups.slant);
  if (groups.strike) return inside('s', '~~', groups.strike);
  return linkNode(source, groups, at + match[0].indexOf('[') + 1);
}

/** The nodes of source[start:end], with emphasis, code and links. */
export function parseInline(source, start, end) {
  const nodes = [];
  let done = start;
  for (const match of source.slice(start, end).matchAll(INLINE)) {
    const at = start + match.index;
    if (at > done) nodes.push(leaf(source, done, at));
    nodes.push(inlineNode(source, match, start));
    done = at + match[0].length;
  }
  if (done < end) nodes.push(leaf(source, done, end));
  return nodes;
}

function linesOf(source) {
  const lines = [];
  let start = 0;
  for (const text of source.split('\n')) {
    lines.push({ text, start, end: start + text.length });
    start += text.length + 1;
  }
  return lines;
}

function startsBlock(line) {
  return (
    !line.text.trim() || [FENCE, HEADING, RULE, BULLET, QUOTE].some((pattern) => pattern.test(line.text))
  );
}

function takeFence(source, lines, at) {
  const [, fence] = lines[at].text.match(FENCE);
  let to = at + 1;
  while (to < lines.length && !lines[to].text.trimStart().startsWith(fence)) to += 1;
  const body = to > at + 1 ? [leaf(source, lines[at + 1].start, lines[to - 1].end)] : [];
  return [{ tag: 'pre', children: [{ tag: 'code', children: body }] }, to + 1];
}

function takeQuote(source, lines, at) {
  const children = [];
  let to = at;
  while (to < lines.length && QUOTE.test(lines[to].text)) {
    const from = lines[to].start + lines[to].text.match(QUOTE)[0].length;
    children.push({ tag: 'p', children: parseInline(source, from, lines[to].end) });
    to += 1;
  }
  return [{ tag: 'blockquote', children }, to];
}

/** Neighbouring items of one kind; an item may run on over plain lines. Depth is shown, not nested. */
function takeList(source, lines, at) {
  const ordered = lines[at].text.match(BULLET)[2];
  const children = [];
  let to = at;
  while (to < lines.length) {
    const match = lines[to].text.match(BULLET);
    if (!match || Boolean(match[2]) !== Boolean(ordered) || RULE.test(lines[to].text)) break;
    const from = to;
    to += 1;
    while (to < lines.length && !startsBlock(lines[to])) to += 1;
    const attributes = { class: `md-depth-${Math.min(3, Math.floor(match[1].length / 2))}` };
    const inline = parseInline(source, lines[from].start + match[0].length, lines[to - 1].end);
    children.push({ tag: 'li', attributes, children: inline });
  }
  const attributes = ordered && ordered !== '1' ? { start: ordered } : {};
  return [{ tag: ordered ? 'ol' : 'ul', attributes, children }, to];
}

function takeParagraph(source, lines, at) {
  let to = at + 1;
  while (to < lines.length && !startsBlock(lines[to])) to += 1;
  return [{ tag: 'p', children: parseInline(source, lines[at].start, lines[to - 1].end) }, to];
}

function takeBlock(source, lines, at) {
  const { text, start, end } = lines[at];
  if (!text.trim()) return [null, at + 1];
  if (FENCE.test(text)) return takeFence(source, lines, at);
  if (RULE.test(text)) return [{ tag: 'hr', children: [] }, at + 1];
  if (QUOTE.test(text)) return takeQuote(source, lines, at);
  if (BULLET.test(text)) return takeList(source, lines, at);
  const heading = text.match(HEADING);
  if (!heading) return takeParagraph(source, lines, at);
  const attributes = { class: `md-h md-h${heading[1].length}` };
  return [{ tag: 'p', attributes, children: parseInline(source, start + heading[0].length, end) }, at + 1];
}

/** The blocks of a Markdown text. */
export function parseMarkdown(source) {
  const lines = linesOf(source);
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = takeBlock(source, lines, at);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

/** The same shape for plain text: one leaf, shown with its line breaks. */
export function parsePlain(source) {
  return [{ text: source, start: 0 }];
}
