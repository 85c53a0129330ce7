/** One table of keys for the screens, their buttons and their page of keys. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { refuseTwins } from '../../coeval/ui/static/core/keys.js';
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
