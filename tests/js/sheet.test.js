/** The table as a spreadsheet: what is copied and pasted, and what is taken back. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readCells, writeCells } from '../../coeval/ui/static/table/clipboard.js';
import { Edits } from '../../coeval/ui/static/table/sheet_work.js';
import { drawer } from './draw.js';

test('cells are read as spreadsheets write them', () => {
  assert.deepEqual(readCells('a\tb\r\nc\td\r\n'), [
    ['a', 'b'],
    ['c', 'd'],
  ]);
  assert.deepEqual(readCells('"two\nlines"\t"a ""quote"""\nnext'), [['two\nlines', 'a "quote"'], ['next']]);
  assert.deepEqual(readCells('"not closed\tb'), [['"not closed', 'b']]);
  assert.deepEqual(readCells('say "hi" there\t"half" quoted'), [['say "hi" there', '"half" quoted']]);
  assert.deepEqual(readCells(''), [['']]);
  assert.deepEqual(readCells('\t\n'), [['', '']]);
});

test('whatever is copied is pasted as it was', () => {
  const draw = drawer(11);
  const parts = ['a', '"', '\t', '\n', ' ', '""', '香', "'", '=1+1'];
  for (let round = 0; round < 500; round += 1) {
    const rows = Array.from({ length: 1 + draw(4) }, () =>
      Array.from({ length: 1 + draw(4) }, () =>
        Array.from({ length: draw(5) }, () => parts[draw(parts.length)]).join(''),
      ),
    );
    // a last line that is empty and alone is what a spreadsheet's last line break looks like
    if (rows.at(-1).join('') === '' && rows.at(-1).length === 1) rows.push(['end']);
    assert.deepEqual(readCells(writeCells(rows)), rows);
  }
});

test('endless input takes no time', () => {
  for (const text of ['"'.repeat(100_000), '"a\t'.repeat(30_000), '\t'.repeat(100_000)]) {
    const start = performance.now();
    readCells(text);
    assert.ok(performance.now() - start < 3000);
  }
});

const state = (score) => /** @type {any} */ ({ score, rows: [], added: [] });

test('changes are taken back one by one and done again', () => {
  const edits = new Edits();
  edits.begin(state(0));
  for (const score of [1, 2, 3]) edits.note(state(score));
  assert.deepEqual([edits.undo()?.score, edits.undo()?.score], [2, 1]);
  assert.equal(edits.redo()?.score, 2);
  edits.note(state(9));
  assert.equal(edits.redo(), null, 'a new change ends what could be done again');
  assert.deepEqual(
    [edits.undo()?.score, edits.undo()?.score, edits.undo()?.score, edits.undo()],
    [2, 1, 0, null],
  );
});

test('letters typed in one box in one go are one change', () => {
  const edits = new Edits();
  edits.begin(state(0));
  for (const score of [1, 2, 3]) edits.note(state(score), 'box');
  edits.close();
  edits.note(state(4), 'box');
  assert.deepEqual([edits.undo()?.score, edits.undo()?.score, edits.undo()], [3, 0, null]);
});

test('what changes nothing is no change, and the past has an end', () => {
  const edits = new Edits();
  edits.begin(state(0));
  edits.note(state(0));
  assert.equal(edits.undo(), null);
  for (let score = 1; score < 400; score += 1) edits.note(state(score));
  let steps = 0;
  while (edits.undo()) steps += 1;
  assert.equal(steps, 200);
});
