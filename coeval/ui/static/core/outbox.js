/** Saves on their way to the server, and those that it may have lost. */

import { request } from './api.js';
import { dropStored, readStored, storedKeys, writeStored } from './kept.js';

/*
 * Saves that the server has and its snapshots may not have yet. They are kept here until they are shipped, and sent
 * again after the server came back from a snapshot: what it still has is answered as before, what it lost is saved.
 */

const LOOK_MS = 15_000;

/**
 * @typedef {object} Shipped
 * @property {string} term which server this is; empty where nothing is shipped, the file being on lasting storage
 * @property {string} until saves of before are in the snapshots
 * @property {string} restored_at when the server came back from a snapshot, if ever
 * @property {string} taken_at when that snapshot was taken
 */

/** @typedef {Entry & {saved_at: string, term: string | null}} SentEntry */

export class SentSaves {
  /**
   * `onrestored` is told once for each coming back of the server; `onrefused` of what it would not take again.
   * @param {string} person
   * @param {string} box
   * @param {{signal: AbortSignal, send: (entry: Entry) => Promise<any>, ask?: () => Promise<Shipped>,
   *   onrefused: (entry: Entry, error: import('./api.js').ApiError) => void,
   *   onrestored: (what: {sent: number, maybe: boolean, takenAt: string}) => void}} options
   */
  constructor(person, box, { signal, send, ask = askShipped, onrefused, onrestored }) {
    this.prefix = `coeval:sent:${person}:`;
    this.lastKey = `coeval:saved:${person}`;
    this.toldKey = `coeval:told:${person}`;
    this.box = box;
    this.send = send;
    this.ask = ask;
    this.onrefused = onrefused;
    this.onrestored = onrestored;
    /** @type {Shipped | null} */
    this.shipped = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    signal.addEventListener('abort', () => clearTimeout(this.timer));
  }

  /** Keeps a save that was just acknowledged. @param {Entry} entry @param {string} savedAt */
  keep(entry, savedAt) {
    writeStored(this.lastKey, savedAt);
    if (this.shipped?.term === '') return;
    const { flying: _, ...kept } = entry;
    writeStored(this.prefix + entry.uid, { ...kept, saved_at: savedAt, term: this.shipped?.term ?? null });
    this.lookLater();
  }

  /** What is kept, in the order in which it was saved. @returns {SentEntry[]} */
  list() {
    return storedKeys(this.prefix)
      .map((key) => readStored(key))
      .filter((entry) => entry?.box === this.box)
      .sort((a, b) => (a.saved_at < b.saved_at ? -1 : 1));
  }

  /** Sends again what another server took, since that may be lost; forgets what is shipped. */
  async recover() {
    const before = readStored(this.lastKey);
    await this.look();
    if (!this.shipped) return;
    const { term, restored_at: restoredAt, taken_at: takenAt } = this.shipped;
    const others = this.list().filter((entry) => entry.term !== term);
    let sent = 0;
    for (const entry of others) sent += await this.sendAgain(entry);
    const isNews = restoredAt && readStored(this.toldKey) !== restoredAt;
    const maybe = !others.length && before > takenAt && before < restoredAt;
    if (isNews && (sent || maybe)) this.onrestored({ sent, maybe, takenAt });
    if (isNews) writeStored(this.toldKey, restoredAt);
  }

  /** 1 where the server had lost the save and took it again. @param {SentEntry} entry */
  async sendAgain(entry) {
    try {
      const { saved } = await this.send(entry);
      this.forget(entry.uid);
      this.keep(entry, saved.submitted_at);
      return saved.submitted_at === entry.saved_at ? 0 : 1;
    } catch (error) {
      if (error.isPassing) {
        this.lookLater();
        return 0;
      }
      this.forget(entry.uid);
      this.onrefused(entry, error);
      return 0;
    }
  }

  /** Forgets what is shipped by now. */
  async look() {
    try {
      this.shipped = await this.ask();
    } catch {
      this.lookLater();
      return;
    }
    const { term, until } = this.shipped;
    const left = this.list();
    for (const entry of left) if (entry.term === term && entry.saved_at < until) this.forget(entry.uid);
    if (left.some((entry) => entry.saved_at >= until)) this.lookLater();
  }

  lookLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), LOOK_MS);
  }

  forget(uid) {
    dropStored(this.prefix + uid);
  }
}

/** @returns {Promise<Shipped>} */
function askShipped() {
  return request('GET', 'api/shipped');
}

/*
 * Saves on their way. Each is written down before it is sent and struck off when the server has answered, so a
 * cut line, a closed tab or a sign-out loses none; what is sent stays the same however often it is sent. What was
 * taken is kept until it is in the server's snapshots (`sent_saves.js`).
 */

const WAITS_MS = [1000, 2000, 4000, 8000, 15_000, 30_000];

/** An entry as it is written now; submissions written down by an earlier version say less. */
function upgraded(entry) {
  if (entry?.uid) return entry;
  const { uid, instance, criterion } = entry?.body ?? {};
  if (!uid) return null;
  const path = `api/scrutiny/${encodeURIComponent(entry.task)}/submissions`;
  return { ...entry, uid, box: 'scrutiny', path, place: `${instance}:${criterion}` };
}

/**
 * @typedef {object} OutboxEvents
 * @property {(entry: Entry, answer: SaveAnswer<any>) => void} onsaved
 * @property {(entry: Entry, error: import('./api.js').ApiError, seconds: number) => void} onwaiting
 * @property {(entry: Entry, error: import('./api.js').ApiError) => void} onrefused
 * @property {(what: {sent: number, maybe: boolean, takenAt: string}) => void} onrestored the server came back from a
 *   snapshot; `sent` answers that it had lost were sent again, or some are `maybe` missing
 * @property {(entry: Entry, error: import('./api.js').ApiError) => void} onlost what it had lost and would not take
 */

export class Outbox {
  /**
   * `box` keeps the saves of different screens apart.
   * @param {string} person
   * @param {string} box
   * @param {OutboxEvents & {signal: AbortSignal, send?: (entry: Entry) => Promise<any>, ask?: () => Promise<any>}} options
   */
  constructor(person, box, { onsaved, onwaiting, onrefused, onrestored, onlost, signal, send = post, ask }) {
    this.events = { onsaved, onwaiting, onrefused };
    this.send = send;
    this.box = box;
    this.prefix = `coeval:outbox:${person}:`;
    this.sent = new SentSaves(person, box, {
      signal,
      ask,
      send: (entry) => this.send(entry),
      onrefused: onlost,
      onrestored,
    });
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
    /** @type {Map<string, ReturnType<typeof setTimeout>>} */
    this.timers = new Map();
    /** @type {Map<string, number>} */
    this.tries = new Map();
    window.addEventListener('online', () => this.retry(), { signal });
    document.addEventListener('visibilitychange', () => !document.hidden && this.retry(), { signal });
    signal.addEventListener('abort', () => this.stop());
  }

  /** What an earlier page of this person left unsent, after what the server may have lost. */
  async recover() {
    await this.sent.recover();
    for (const key of storedKeys(this.prefix)) {
      const entry = upgraded(readStored(key));
      if (!entry) dropStored(key);
      else if (entry.box === this.box) this.entries.set(entry.uid, entry);
    }
    await Promise.all([...this.entries.keys()].map((uid) => this.deliver(uid)));
  }

  /** Takes a save in and sends it. @param {Entry} entry */
  async add(entry) {
    this.entries.set(entry.uid, entry);
    writeStored(this.prefix + entry.uid, entry); // where it cannot be kept, it still waits in memory
    await this.deliver(entry.uid);
  }

  /** @param {string} uid */
  async deliver(uid) {
    const entry = this.entries.get(uid);
    if (!entry || entry.flying) return;
    clearTimeout(this.timers.get(uid));
    entry.flying = true;
    const [answer, error] = await this.send(entry).then(
      (value) => [value, null],
      (reason) => [null, reason],
    );
    entry.flying = false;
    if (!this.entries.has(uid)) return;
    if (error?.isPassing) this.wait(uid, entry, error);
    else {
      if (!error) this.sent.keep(entry, answer?.saved?.submitted_at ?? '');
      this.forget(uid);
      if (error) this.events.onrefused(entry, error);
      else this.events.onsaved(entry, answer);
    }
  }

  wait(uid, entry, error) {
    const tries = this.tries.get(uid) ?? 0;
    const wait = WAITS_MS[Math.min(tries, WAITS_MS.length - 1)];
    this.tries.set(uid, tries + 1);
    this.timers.set(
      uid,
      setTimeout(() => this.deliver(uid), wait),
    );
    this.events.onwaiting(entry, error, wait / 1000);
  }

  /** Strikes an entry off. @param {string} uid */
  forget(uid) {
    clearTimeout(this.timers.get(uid));
    this.tries.delete(uid);
    dropStored(this.prefix + uid);
    this.entries.delete(uid);
  }

  stop() {
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  retry() {
    for (const uid of this.entries.keys()) this.deliver(uid);
  }

  /** The save of one place that still waits. @param {string} path @param {string} place */
  waitingFor(path, place) {
    return [...this.entries.values()].find((entry) => entry.path === path && entry.place === place);
  }

  get size() {
    return this.entries.size;
  }
}

/** @param {Entry} entry */
function post({ path, body }) {
  return request('POST', path, body);
}
