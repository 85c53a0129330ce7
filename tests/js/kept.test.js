/** Unsaved work: what counts as the same, how kept words come back, and what two versions are compared by. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { Kept } from '../../coeval/ui/static/core/kept.js';
import { versionLines } from '../../coeval/ui/static/table/conflict.js';
import { SheetWork, sameState, stateOf, withState } from '../../coeval/ui/static/table/sheet_work.js';
import { openPage } from './page.js';

let storage;

beforeEach(() => {
  storage = openPage();
});

const row = (id, fields = {}) => ({
  id,
  kind: 'evidence',
  text: `text ${id}`,
  action: null,
  reason: '',
  new_text: '',
  ...fields,
});
const sheet = (fields = {}) => ({
  revision: 1,
  draft: 9,
  rows: [row(1), row(2)],
  added: [],
  score: null,
  ...fields,
});

test('words hidden behind an approval are no difference, words of a revision are', () => {
  const state = stateOf(sheet());
  const approved = { ...state, rows: [row(1, { action: 'approve' }), row(2)] };
  const hidden = { ...state, rows: [row(1, { action: 'approve', new_text: 'x', reason: 'y' }), row(2)] };
  assert.ok(sameState(approved, hidden));
  assert.ok(!sameState(state, approved));
  const revised = (text) => ({ ...state, rows: [row(1, { action: 'revise', new_text: text }), row(2)] });
  assert.ok(sameState(revised('new '), revised('new')));
  assert.ok(!sameState(revised('new'), revised('other')));
  assert.ok(!sameState({ ...state, score: 3 }, state));
});

test('an empty added line is no difference', () => {
  const state = stateOf(sheet());
  const added = (text) => ({ ...state, added: [{ kind: 'evidence', new_text: text, reason: '' }] });
  assert.ok(sameState(added('  '), state));
  assert.ok(!sameState(added('mine'), state));
});

test('kept words are laid over the sheet; those of a line that is gone come back as an added line', () => {
  const state = {
    score: 4,
    rows: [row(1, { action: 'delete' }), row(7, { action: 'revise', new_text: 'kept' })],
    added: [],
  };
  const shown = withState(sheet(), state);
  assert.equal(shown.score, 4);
  assert.deepEqual(
    shown.rows.map(({ action }) => action),
    ['delete', null],
  );
  assert.deepEqual(
    shown.added.map(({ new_text }) => new_text),
    ['kept'],
  );
});

test('old times are forgotten, words never; people are kept apart', () => {
  const old = new Date(Date.now() - 40 * 24 * 3600 * 1000).toISOString();
  storage.setItem('coeval:kept:p1:t:1:1', JSON.stringify({ edited: false, at: old }));
  storage.setItem('coeval:kept:p1:t:1:2', JSON.stringify({ edited: true, at: old }));
  const kept = new Kept('p1', 't');
  assert.equal(kept.get('1:1'), null);
  assert.ok(kept.get('1:2')?.edited);
  assert.equal(new Kept('p2', 't').get('1:2'), null);
});

test('a browser that keeps nothing is told of once', () => {
  let told = 0;
  const kept = new Kept('p', 't', () => {
    told += 1;
  });
  storage.full = true;
  kept.put('a', {});
  kept.put('a', {});
  assert.equal(told, 1);
});

test('work over another version or another draft is stale, over the same it is not', () => {
  const kept = new Kept('p', 't');
  const where = { place: '1:1', path: 'p', kept };
  const work = new SheetWork(sheet(), where);
  work.keep({ score: 3, rows: [], added: [] });
  const again = (fields) => new SheetWork(sheet(fields), where);
  assert.ok(again().hasUnsaved && !again().isStale);
  assert.ok(again({ revision: 2 }).isStale);
  assert.ok(again({ draft: 10 }).isStale);
  again().settle();
  assert.ok(!again().hasUnsaved);
});

test('two versions are compared line by line, criteria by their words', () => {
  const table = sheet({
    rows: [
      row(1, { kind: 'conclusion' }),
      row(2, { kind: 'score' }),
      row(3),
      row(4),
      row(5, { kind: 'criterion', text: 'Be true.' }),
    ],
  });
  const state = {
    score: 2,
    rows: [
      row(1, { action: 'approve' }),
      row(3, { action: 'revise', new_text: 'new', reason: 'why' }),
      row(4, { action: 'delete' }),
    ],
    added: [{ kind: 'evidence', new_text: 'mine', reason: '' }],
  };
  assert.deepEqual(versionLines(table, state), [
    ['Conclusion', 'approved'],
    ['Score', 'score 2'],
    ['Evidence 1', 'revised: new (why)'],
    ['Evidence 2', 'deleted'],
    ['Be true.', 'not decided'],
    ['Added evidence', 'mine'],
  ]);
});
