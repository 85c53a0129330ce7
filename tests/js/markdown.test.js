/** Markdown as a tree of known elements whose words know their place in the source. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseMarkdown } from '../../coeval/ui/static/texts/markdown.js';
import { drawer } from './draw.js';

/** Every leaf under the nodes. */
function leavesOf(nodes) {
  return nodes.flatMap((node) => ('text' in node ? [node] : leavesOf(node.children)));
}

/** The tree as `<tag>` around words, attributes left out. */
function outline(nodes) {
  return nodes
    .map((node) => ('text' in node ? node.text : `<${node.tag}>${outline(node.children)}</${node.tag}>`))
    .join('');
}

function tagsOf(nodes) {
  return nodes.flatMap((node) => ('tag' in node ? [node, ...tagsOf(node.children)] : []));
}

const CASES = [
  [
    'Some *slanted*, **bold**, ~~gone~~ and `code`.',
    '<p>Some <em>slanted</em>, <strong>bold</strong>, <s>gone</s> and <code>code</code>.</p>',
  ],
  ['## Head\n\ntext', '<p>Head</p><p>text</p>'],
  ['- one\n- two\n  - deep', '<ul><li><p>one</p></li><li><p>two</p><ul><li><p>deep</p></li></ul></li></ul>'],
  ['> said\n> so', '<blockquote><p>said\nso</p></blockquote>'],
  ['```py\na <b>\n\nc\n```', '<pre><code>a <b>\n\nc</code></pre>'],
  [
    '|a|b|c|\n|-|-|-|\n|1||**3**|\nx',
    '<table><tr><th>a</th><th>b</th><th>c</th></tr><tr><td>1</td><td></td><td><strong>3</strong></td></tr><tr><td>x</td></tr></table>',
  ],
  ['a|b\n-|-\n1|2', '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>'],
  ['1 \\* 2 &amp; 3', '<p>1 * 2 &amp; 3</p>'],
  ['one  \ntwo', '<p>one<br></br>two</p>'],
  [
    '[label](https://example.org "title") <https://example.org/x>',
    '<p><a>label</a> <a>https://example.org/x</a></p>',
  ],
  [
    '[ ] not, [x] done, ![a picture](https://example.org/p.png)',
    '<p>[ ] not, [x] done, <span>a picture</span></p>',
  ],
  [
    'a <b onclick=x>tag</b>\n\n<div>\nblock\n</div>',
    '<p>a <b onclick=x>tag</b></p><p><div>\nblock\n</div></p>',
  ],
  ['3. three\n4. four', '<ol><li><p>three</p></li><li><p>four</p></li></ol>'],
  ['---\n\n    indented', '<hr></hr><pre><code>indented</code></pre>'],
];

for (const [source, shown] of CASES) {
  test(`${JSON.stringify(source)} is shown as ${shown}`, () =>
    assert.equal(outline(parseMarkdown(source)), shown));
}

test('every leaf is the source at its place', () => {
  for (const source of CASES.map(([text]) => text)) {
    for (const { text, start } of leavesOf(parseMarkdown(source)))
      assert.equal(source.slice(start, start + text.length), text);
  }
});

test('leaves stand in order and never overlap, whatever is written', () => {
  const parts = [
    '*',
    '**',
    '_',
    '`',
    '[',
    '](',
    ')',
    '<',
    '>',
    '\n',
    '\n\n',
    '- ',
    '1. ',
    '> ',
    '|',
    '|-|\n',
    '~~',
    '#',
    ' ',
    'a',
    'https://a.b',
    '\\',
    '&amp;',
    '🦊',
    '香',
    '\t',
  ];
  const draw = drawer(7);
  for (let round = 0; round < 500; round += 1) {
    const source = Array.from({ length: draw(40) }, () => parts[draw(parts.length)]).join('');
    let at = 0;
    for (const { text, start } of leavesOf(parseMarkdown(source))) {
      assert.ok(start >= at && source.slice(start, start + text.length) === text, JSON.stringify(source));
      at = start + text.length;
    }
  }
});

test('only known elements and addresses come out', () => {
  const source =
    '[x](javascript:alert(1)) [y](data:text/html,x) ![z](https://a.b/c.png) <img src=x onerror=y> <javascript:x>';
  const nodes = tagsOf(parseMarkdown(source));
  assert.deepEqual([...new Set(nodes.map(({ tag }) => tag))].sort(), ['p', 'span']);
  assert.ok(nodes.every(({ attributes }) => !Object.keys(attributes).length));
});

test('what nobody writes is shown as it stands: endless paragraphs, and what takes too long', () => {
  for (const text of ['a '.repeat(20_000), '*'.repeat(30_000)])
    assert.equal(outline(parseMarkdown(text)), `<p>${text}</p>`);
  assert.equal(outline(parseMarkdown('- a\n\n'.repeat(5000), 0)), `<p>${'- a\n\n'.repeat(5000)}</p>`);
});

test('nested without end is cut, so that no page breaks on it', () => {
  const depth = (nodes) =>
    Math.max(0, ...nodes.map((node) => ('tag' in node ? 1 + depth(node.children) : 0)));
  for (const mark of ['> ', '1. ', '+ ']) assert.ok(depth(parseMarkdown(`${mark.repeat(3000)}a`)) < 90);
});
