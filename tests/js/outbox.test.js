/** Saves on their way: written down first, sent until there is an answer, never twice at once. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';

import { ApiError } from '../../coeval/ui/static/core/api.js';
import { Outbox } from '../../coeval/ui/static/core/kept.js';
import { openPage } from './page.js';

const ENTRY = {
  uid: 'u1',
  box: 'ballot',
  task: 't',
  place: 'ballot:1',
  path: 'p',
  body: { a: 1 },
  state: {},
};
/** What the server says of its snapshots; where it ships nothing, as here at first, nothing is kept. */
const NOTHING_SHIPPED = { term: '', until: '', restored_at: '', taken_at: '' };
let shipped = NOTHING_SHIPPED;
const offline = () => new ApiError('offline', 'no line');
let storage;
/** The ends of the pages of a test. @type {AbortController[]} */
let pages = [];

beforeEach(() => {
  storage = openPage();
  shipped = NOTHING_SHIPPED;
  mock.timers.reset();
});

afterEach(() => {
  for (const page of pages) page.abort();
  pages = [];
});

/** An outbox whose sending gives, or throws, what is listed, one after the other; and what it reported. */
function build(answers, { person = 'p1', box = 'ballot' } = {}) {
  const log = [];
  const stop = new AbortController();
  pages.push(stop);
  const outbox = new Outbox(person, box, {
    signal: stop.signal,
    send: async ({ body }) => {
      log.push(['sent', body]);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
    onsaved: (_entry, answer) => log.push(['saved', answer]),
    onwaiting: (_entry, error, seconds) => log.push(['waiting', error.kind, seconds]),
    onrefused: (_entry, error) => log.push(['refused', error.kind]),
    onrestored: (what) => log.push(['restored', what]),
    onlost: (entry, error) => log.push(['lost', entry.uid, error.kind]),
    ask: async () => {
      if (shipped instanceof Error) throw shipped;
      return shipped;
    },
  });
  outbox.sent.onsignedout = () => log.push(['signed out']);
  return { outbox, log, stop };
}

const kept = () => Object.keys(storage).filter((key) => key.startsWith('coeval:outbox:'));

test('a save is written down before it is sent and struck off when it is answered', async () => {
  let during = [];
  const { outbox } = build([]);
  outbox.send = async () => {
    during = kept();
    return {};
  };
  await outbox.add({ ...ENTRY });
  assert.deepEqual(during, ['coeval:outbox:p1:u1']);
  assert.deepEqual(kept(), []);
});

test('what passes by itself is tried again after longer and longer, with the same body', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const busy = new ApiError('storage', 'busy', { status: 503 });
  const { outbox, log } = build([offline(), busy, { ok: true }]);
  await outbox.add({ ...ENTRY });
  assert.deepEqual(log.at(-1), ['waiting', 'offline', 1]);
  assert.equal(outbox.waitingFor('p', 'ballot:1')?.uid, 'u1');
  assert.equal(outbox.waitingFor('p', 'ballot:2'), undefined);
  for (const ms of [1000, 2000]) {
    mock.timers.tick(ms);
    await new Promise((done) => setImmediate(done));
  }
  assert.deepEqual(
    log.filter(([what]) => what === 'sent').map(([, body]) => body),
    [{ a: 1 }, { a: 1 }, { a: 1 }],
  );
  assert.deepEqual(log.at(-1), ['saved', { ok: true }]);
  assert.deepEqual(kept(), []);
});

test('a refusal is final and reported', async () => {
  const { outbox, log } = build([new ApiError('stale', 'no', { status: 409 })]);
  await outbox.add({ ...ENTRY });
  assert.deepEqual(log.at(-1), ['refused', 'stale']);
  assert.equal(outbox.size, 0);
});

test('a later page sends what was left, its own box and its own person only', async () => {
  for (const [uid, person, box] of [
    ['u1', 'p1', 'ballot'],
    ['u2', 'p1', 'scrutiny'],
    ['u3', 'p2', 'ballot'],
  ])
    storage.setItem(`coeval:outbox:${person}:${uid}`, JSON.stringify({ ...ENTRY, uid, box }));
  const { outbox, log } = build([{ n: 1 }]);
  await outbox.recover();
  assert.deepEqual(log, [
    ['sent', { a: 1 }],
    ['saved', { n: 1 }],
  ]);
  assert.equal(kept().length, 2);
});

test('where nothing can be kept it still waits in memory', async () => {
  storage.full = true;
  const { outbox, log, stop } = build([offline()]);
  await outbox.add({ ...ENTRY });
  assert.deepEqual(log.at(-1)[0], 'waiting');
  assert.equal(outbox.size, 1);
  stop.abort();
});

test('coming online sends at once', async () => {
  const { outbox, log, stop } = build([offline(), {}]);
  await outbox.add({ ...ENTRY });
  window.dispatchEvent(new Event('online'));
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(log.at(-1), ['saved', {}]);
  stop.abort();
});

const HERE = { term: 'a:1', until: '2026-01-01T10:00:00.000Z', restored_at: '', taken_at: '' };
const saved = (time, revision = 1) => ({ saved: { revision, submitted_at: `2026-01-01T${time}.000Z` } });
const unshipped = () => Object.keys(storage).filter((key) => key.startsWith('coeval:sent:'));

test('what was taken is kept until it is in the snapshots', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  shipped = HERE;
  const { outbox, stop } = build([saved('10:00:01'), saved('10:00:02')]);
  await outbox.recover();
  await outbox.add({ ...ENTRY });
  await outbox.add({ ...ENTRY, uid: 'u2' });
  assert.deepEqual([kept(), unshipped().length, outbox.size], [[], 2, 0]);
  shipped = { ...HERE, until: '2026-01-01T10:00:02.000Z' };
  mock.timers.tick(15_000);
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(unshipped(), ['coeval:sent:p1:u2']);
  stop.abort();
});

test('where nothing is shipped nothing is kept', async () => {
  const { outbox } = build([saved('10:00:01')]);
  await outbox.recover();
  await outbox.add({ ...ENTRY });
  assert.deepEqual(unshipped(), []);
});

/** A page that saved twice; then the server came back from a snapshot of 10:00. */
async function loseServer() {
  shipped = HERE;
  const before = build([saved('10:00:01'), saved('10:00:02')]);
  await before.outbox.recover();
  await before.outbox.add({ ...ENTRY, uid: 'u2', body: { revision: 0 } });
  await before.outbox.add({ ...ENTRY, uid: 'u1', body: { revision: 1 } });
  before.stop.abort();
  const at = { restored_at: '2026-01-01T10:05:00.000Z', taken_at: '2026-01-01T10:00:00.000Z' };
  shipped = { term: 'a:2', until: '2026-01-01T10:05:00.000Z', ...at };
}

test('after the server came back, all that was not shipped is sent again, in its order, and it is said', async () => {
  await loseServer();
  const { outbox, log, stop } = build([saved('10:00:01'), saved('10:06:00')]);
  await outbox.recover();
  assert.deepEqual(log, [
    ['sent', { revision: 0 }],
    ['sent', { revision: 1 }],
    ['restored', { sent: 1, maybe: false, takenAt: shipped.taken_at }], // the first was still there
  ]);
  stop.abort();
  const later = build([]);
  await later.outbox.recover();
  assert.deepEqual(later.log, []); // nothing is sent or said twice
  later.stop.abort();
});

test('what cannot be sent again just now stays, and what is refused is handed back', async () => {
  await loseServer();
  const { outbox, log, stop } = build([new ApiError('stale', 'no', { status: 409 }), offline()]);
  await outbox.recover();
  assert.deepEqual(log.at(-1), ['sent', { revision: 1 }]);
  assert.deepEqual(log[1], ['lost', 'u2', 'stale']);
  assert.deepEqual(unshipped(), ['coeval:sent:p1:u1']);
  stop.abort();
});

test('who saved after the snapshot, and has nothing left here, is told that it may be missing', async () => {
  await loseServer();
  for (const key of unshipped()) storage.removeItem(key);
  const { outbox, log, stop } = build([]);
  await outbox.recover();
  assert.deepEqual(log, [['restored', { sent: 0, maybe: true, takenAt: shipped.taken_at }]]);
  stop.abort();
});

test('a person who saves without a pause gets the shipped ones cleared all the same', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  shipped = HERE;
  const { outbox, stop } = build(Array.from({ length: 9 }, (_, n) => saved(`10:00:0${n}`)));
  await outbox.recover();
  shipped = { ...HERE, until: '2026-01-01T10:00:05.000Z' };
  for (let n = 0; n < 9; n += 1) {
    await outbox.add({ ...ENTRY, uid: `u${n}` });
    mock.timers.tick(5000);
    await new Promise((done) => setImmediate(done));
  }
  assert.ok(unshipped().length < 6, unshipped().length);
  stop.abort();
});

test('an open page notices another term, and sends again what that server may lack', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  shipped = HERE;
  const { outbox, log, stop } = build([saved('10:00:01'), saved('10:06:00')]);
  await outbox.recover();
  await outbox.add({ ...ENTRY });
  shipped = {
    ...HERE,
    term: 'a:2',
    restored_at: '2026-01-01T10:05:00.000Z',
    taken_at: '2026-01-01T10:00:00.000Z',
  };
  mock.timers.tick(15_000);
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(log.at(-1), ['restored', { sent: 1, maybe: false, takenAt: shipped.taken_at }]);
  stop.abort();
});

test('an open page without a session leads to the sign-in if it keeps saves, and else stays', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  shipped = HERE;
  const { outbox, log, stop } = build([saved('10:00:01')]);
  await outbox.recover();
  shipped = new ApiError('sign_in', 'no', { status: 401 });
  await outbox.sent.look();
  assert.deepEqual(log, []);
  await outbox.add({ ...ENTRY });
  mock.timers.tick(15_000);
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(log.at(-1), ['signed out']);
  assert.equal(unshipped().length, 1);
  stop.abort();
});

test('what another screen kept is sent again from here, and a refusal is left to that screen', async () => {
  await loseServer();
  const { outbox, log, stop } = build([saved('10:06:00'), new ApiError('stale', 'no', { status: 409 })], {
    box: 'scrutiny',
  });
  await outbox.recover();
  assert.deepEqual(log.at(-1), ['restored', { sent: 1, maybe: false, takenAt: shipped.taken_at }]);
  assert.equal(unshipped().length, 2); // one is kept until it is shipped, one for its own screen
  stop.abort();
});
