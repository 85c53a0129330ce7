/** One table of keys for the screens, their buttons and their page of keys. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { comboOf, digitOf, refuseTwins } from '../../coeval/ui/static/core/keys.js';
import { workbenchCommands } from '../../coeval/ui/static/table/table_keys.js';
import { openPage } from './page.js';

beforeEach(() => openPage());

test('no two commands of the scrutiny screen have one key', () => {
  const commands = workbenchCommands({});
  assert.ok(commands.length > 30);
  refuseTwins(commands);
});

test('a second command for a key is refused by name', () => {
  const twins = [
    { id: 'flag', combos: ['F'] },
    { id: 'find', combos: ['F'] },
  ];
  assert.throws(() => refuseTwins(twins), /The key F belongs to flag and to find/);
  refuseTwins([twins[0], { ...twins[1], inText: true }]);
});

test('digits of every script are digits, and so are the keys of a French keyboard without Shift', () => {
  for (const key of ['3', '٣', '۳', '३', '๓', '３', '𝟛']) assert.equal(digitOf({ key, code: '' }), '3', key);
  assert.equal(digitOf({ key: 'é', code: 'Digit2', shiftKey: false }), '2');
  assert.equal(digitOf({ key: '!', code: 'Digit1', shiftKey: true }), null);
  assert.equal(digitOf({ key: 'ж', code: 'Semicolon' }), null);
});

test('a key is named by its place where it writes another script, and by its sign elsewhere', () => {
  const combo = (key, code, more = {}) => comboOf({ key, code, ...more });
  assert.equal(combo('ش', 'KeyA'), 'A');
  assert.equal(combo('لا', 'KeyB'), 'B');
  assert.equal(combo('د', 'BracketRight'), ']');
  assert.equal(combo('؟', 'Slash', { shiftKey: true }), '?');
  assert.equal(combo('ـ', 'KeyJ', { shiftKey: true }), 'Shift+J');
  assert.equal(combo('a', 'KeyQ'), 'A');
  const altGraph = { ctrlKey: true, altKey: true, getModifierState: () => true };
  assert.equal(combo('[', 'Digit8', altGraph), '[');
  assert.equal(combo('Enter', 'Enter', { ctrlKey: true }), 'Ctrl+Enter');
});
