/** What changed between two wordings. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { diffWords } from '../../coeval/ui/static/texts/diff.js';
import { drawer } from './draw.js';

const spell = (parts, without) =>
  parts
    .filter(([kind]) => kind !== without)
    .map(([, text]) => text)
    .join('');

test('whatever is drawn, the difference spells both wordings', () => {
  const words = ['a', 'bee', ' ', '  ', '香水', '。', '\n', "don't", '🦊'];
  const draw = drawer(5);
  const text = () => Array.from({ length: draw(13) }, () => words[draw(words.length)]).join('');
  for (let round = 0; round < 400; round += 1) {
    const [before, after] = [text(), text()];
    const parts = diffWords(before, after);
    assert.equal(spell(parts, 'ins'), before);
    assert.equal(spell(parts, 'del'), after);
  }
});

test('two changed words beside each other are one change', () => {
  assert.deepEqual(diffWords('It is very hard.', 'It is rather easy.'), [
    ['same', 'It is '],
    ['del', 'very hard'],
    ['ins', 'rather easy'],
    ['same', '.'],
  ]);
});

test('long texts without a word in common take no time', () => {
  const [before, after] = ['word '.repeat(4000), 'wort '.repeat(4000)];
  const start = performance.now();
  const parts = diffWords(before, after);
  assert.ok(performance.now() - start < 2000);
  assert.equal(spell(parts, 'ins'), before);
  assert.equal(spell(parts, 'del'), after);
});
