/** Scripts import one way: core, texts, rows, table, then the screens, then the door; and nobody in a circle. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const STATIC = join(dirname(fileURLToPath(import.meta.url)), '../../coeval/ui/static');
const FLOORS = [['vendor', 'core'], ['texts'], ['rows'], ['table'], ['criteria', 'scrutiny'], ['']];

const files = readdirSync(STATIC, { recursive: true, encoding: 'utf-8' }).filter(
  (name) => name.endsWith('.js') && !name.startsWith('bundle'),
);
const roomOf = (name) => (dirname(name) === '.' ? '' : dirname(name));
const floorOf = (name) => FLOORS.findIndex((rooms) => rooms.includes(roomOf(name)));

/** What a script imports, as paths under static/. */
function importsOf(name) {
  const source = readFileSync(join(STATIC, name), 'utf-8');
  const paths = source.matchAll(/^(?:import|\} from|export [^;]* from)[^']*'(\.[^']+)';/gm);
  return Array.from(paths, ([, path]) => relative(STATIC, join(STATIC, dirname(name), path)));
}

test('every script stands in a room, and imports only from below or from its own', () => {
  const wrong = files
    .filter((name) => !name.startsWith('vendor'))
    .flatMap((name) =>
      importsOf(name)
        .filter(
          (other) =>
            floorOf(other) > floorOf(name) ||
            (floorOf(other) === floorOf(name) &&
              roomOf(other) !== roomOf(name) &&
              roomOf(other) !== 'vendor'),
        )
        .map((other) => `${name} imports ${other}`),
    );
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    files.filter((name) => floorOf(name) < 0),
    [],
  );
});

test('no circle', () => {
  const done = new Set();
  const visit = (name, way) => {
    assert.ok(!way.includes(name), [...way, name].join(' -> '));
    if (done.has(name)) return;
    for (const other of importsOf(name)) visit(other, [...way, name]);
    done.add(name);
  };
  for (const name of files) visit(name, []);
  assert.ok(files.flatMap(importsOf).length > 80, 'the imports were found');
});
