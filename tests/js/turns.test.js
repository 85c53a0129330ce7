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

test('an empty turn is a turn', () => {
  assert.deepEqual(
    turnsOf('── user ──\n\n\n── assistant ──\n').map(({ start, end }) => end - start),
    [0, 0],
  );
});
