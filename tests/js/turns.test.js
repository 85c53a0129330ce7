/** Conversations as turns whose words keep their places in the whole text. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseMarkdown, parsePlain } from '../../coeval/ui/static/texts/markdown.js';
import { parseTurns, turnsOf } from '../../coeval/ui/static/texts/display.js';

const CHAT = '── user ──\nWhy is **snow** white?\n\n── assistant ──\n🦊 It scatters.\n\n- all\n- light';

function leavesOf(nodes) {
  return nodes.flatMap((node) => ('text' in node ? [node] : leavesOf(node.children)));
}

test('every turn has its role and its words', () => {
  const turns = turnsOf(CHAT).map(({ role, start, end }) => [role, CHAT.slice(start, end)]);
  assert.deepEqual(turns, [
    ['user', 'Why is **snow** white?'],
    ['assistant', '🦊 It scatters.\n\n- all\n- light'],
  ]);
});

for (const parse of [parsePlain, parseMarkdown])
  test(`leaves of ${parse.name} stand where they say`, () => {
    const leaves = leavesOf(parseTurns(CHAT, parse));
    assert.ok(leaves.length >= 2);
    for (const { text, start } of leaves) assert.equal(CHAT.slice(start, start + text.length), text);
  });

test('other texts have no turns, nor has a heading that comes later or is escaped', () => {
  for (const text of ['', 'Hello', 'Hello\n── user ──\nHi', '\\── user ──\nHi'])
    assert.deepEqual(turnsOf(text), []);
});

const AGENT =
  '── user ──\nWhen?\n\n── tool call: find ──\n{"of": "beans"}\n\n── tool result: find ──\n' +
  `${'🌱 a long line\n'.repeat(500)}the end\n\n── assistant ──\nIn May.`;

test('steps are folded in order, and a long result has a part behind “More”', () => {
  const turns = parseTurns(AGENT, parseMarkdown);
  assert.deepEqual(
    turns.map(({ tag }) => tag),
    ['div', 'details', 'details', 'div'],
  );
  const names = turns.slice(1, 3).map(({ children }) => children[0].children[0].label);
  assert.deepEqual(names, ['2. tool call: find', '3. tool result: find']);
  const [head, more] = turns[2].children[1].children;
  assert.equal(more.tag, 'details');
  assert.ok(head.text.length <= 1500 && !head.text.includes('the end'));
  for (const { text, start } of leavesOf(turns)) assert.equal(AGENT.slice(start, start + text.length), text);
  assert.ok(
    leavesOf([turns[2]])
      .map((leaf) => leaf.text)
      .join('')
      .endsWith('the end'),
  );
});

test('an empty turn is a turn', () => {
  assert.deepEqual(
    turnsOf('── user ──\n\n\n── assistant ──\n').map(({ start, end }) => end - start),
    [0, 0],
  );
});
