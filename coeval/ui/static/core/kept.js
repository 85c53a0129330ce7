/** What the browser keeps until the server has it for good: unsaved work, and saves on their way. */

import { request } from './api.js';

/* Stored values as JSON. If the browser stores nothing (full, switched off), work continues. */

/** The value under `key`, or null when there is none or it cannot be read. */
export function readStored(key, storage = () => localStorage) {
  try {
    return JSON.parse(storage().getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

/** Keeps a value; false when the browser refused. */
export function writeStored(key, value, storage = () => localStorage) {
  try {
    storage().setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

function dropStored(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // Without storage, there is nothing to remove.
  }
}

/** Every key with this prefix. */
function storedKeys(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

/* Keys of saves. */

/** A random version-4 UUID, also where the page is not served over https. */
export function newUid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/* Unsaved work, kept in the browser by person, task and place until the server has it. */

const OLD_MS = 30 * 24 * 3600 * 1000;

export class Kept {
  /**
   * `onbroken` is called once if the browser cannot store anything (storage full or switched off).
   * @param {string} person
   * @param {string} task
   */
  constructor(person, task, onbroken = () => {}) {
    this.prefix = `coeval:kept:${person}:${task}:`;
    this.onbroken = onbroken;
    this.broken = false;
    this.prune();
  }

  /** The kept work of one place, such as an evaluation "12:3" or a "ballot:4". @returns {KeptWork | null} */
  get(place) {
    const kept = readStored(this.prefix + place);
    return kept && typeof kept === 'object' ? kept : null;
  }

  put(place, value) {
    const done = writeStored(this.prefix + place, { ...value, at: new Date().toISOString() });
    if (!done && !this.broken) this.onbroken();
    this.broken = !done;
  }

  drop(place) {
    dropStored(this.prefix + place);
  }

  /** The places of kept work that begin with these letters. @param {string} start */
  places(start) {
    return storedKeys(this.prefix + start).map((key) => key.slice(this.prefix.length));
  }

  /** Removes entries that hold only times and are a month old; text is never removed. */
  prune() {
    for (const key of storedKeys(this.prefix)) {
      const kept = readStored(key);
      if (!kept || (!kept.edited && Date.now() - Date.parse(kept.at) > OLD_MS)) dropStored(key);
    }
  }
}

/*
 * Saves that the server has but its snapshots may not have yet. They are kept here until they are in a
 * snapshot, and sent again after the server was restored from one: it answers saves that it still has as before, and
 * stores the others.
 */

const LOOK_MS = 15_000;

/**
 * @typedef {object} Shipped
 * @property {string} term the id of this server; empty if the file is on persistent storage, without
 * snapshots
 * @property {string} until saves before this time are in the snapshots
 * @property {string} restored_at when the server was restored from a snapshot, if ever
 * @property {string} taken_at when that snapshot was taken
 */

/** @typedef {Entry & {saved_at: string, term: string | null}} SentEntry */

class SentSaves {
  /**
   * `onrestored` is called once per restoration of the server, `onrefused` for saves that it then refused.
   * @param {string} person
   * @param {string} box
   * @param {{signal: AbortSignal, send: (entry: Entry) => Promise<any>, ask?: () => Promise<Shipped>,
   *   onrefused: (entry: Entry, error: import('./api.js').ApiError) => void, onsignedout?: () => void,
   *   onrestored: (what: {sent: number, maybe: boolean, takenAt: string}) => void}} options
   */
  constructor(person, box, { signal, send, ask = askShipped, onrefused, onrestored, onsignedout = reload }) {
    this.prefix = `coeval:sent:${person}:`;
    this.lastKey = `coeval:saved:${person}`;
    this.toldKey = `coeval:told:${person}`;
    this.box = box;
    this.send = send;
    this.ask = ask;
    this.onrefused = onrefused;
    this.onrestored = onrestored;
    this.onsignedout = onsignedout;
    /** @type {Shipped | null} */
    this.shipped = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.looking = false;
    this.signal = signal;
    signal.addEventListener('abort', () => clearTimeout(this.timer));
  }

  /** Keeps a save that was just acknowledged. @param {Entry} entry @param {string} savedAt */
  keep(entry, savedAt) {
    writeStored(this.lastKey, savedAt);
    if (this.shipped?.term === '') {
      this.forget(entry.uid);
      return;
    }
    const { flying: _, ...kept } = entry;
    writeStored(this.prefix + entry.uid, { ...kept, saved_at: savedAt, term: this.shipped?.term ?? null });
    this.lookLater();
  }

  /** The person's kept saves of all screens, in the order of saving. @returns {SentEntry[]} */
  list() {
    return storedKeys(this.prefix)
      .map((key) => readStored(key))
      .filter((entry) => entry?.uid)
      .sort((a, b) => (a.saved_at < b.saved_at ? -1 : 1));
  }

  /**
   * Sends saves again that this server may not have, because another one took them; removes those that are in a
   * snapshot by now. Without a session, the page leads to the sign-in; it is never reloaded for another person.
   */
  async look() {
    if (this.looking) return;
    this.looking = true;
    clearTimeout(this.timer);
    this.timer = undefined;
    try {
      this.shipped = await this.ask();
      await this.compare(this.shipped);
    } catch (error) {
      if (error.kind === 'sign_in' && !error.isOtherPerson && this.list().length) this.onsignedout();
      this.lookLater();
    }
    this.looking = false;
  }

  /** @param {Shipped} shipped */
  async compare({ term, until, restored_at: restoredAt, taken_at: takenAt }) {
    const before = readStored(this.lastKey);
    const others = this.list().filter((entry) => entry.term !== term);
    let sent = 0;
    for (const entry of others) sent += await this.sendAgain(entry);
    const isNews = restoredAt && readStored(this.toldKey) !== restoredAt;
    const maybe = !others.length && before > takenAt && before < restoredAt;
    if (isNews && (sent || maybe)) this.onrestored({ sent, maybe, takenAt });
    if (isNews) writeStored(this.toldKey, restoredAt);
    for (const entry of this.list())
      if (entry.term === term && entry.saved_at < until) this.forget(entry.uid);
    if (this.list().length) this.lookLater();
  }

  /** 1 if the server had lost the save and accepted it again. @param {SentEntry} entry */
  async sendAgain(entry) {
    try {
      const { saved } = await this.send(entry);
      this.keep(entry, saved.submitted_at);
      return saved.submitted_at === entry.saved_at ? 0 : 1;
    } catch (error) {
      if (error.kind === 'sign_in') throw error;
      if (error.isPassing || entry.box !== this.box) return 0; // another screen shows what was refused there
      this.forget(entry.uid);
      this.onrefused(entry, error);
      return 0;
    }
  }

  /** The timer is not restarted: a person who saves without a pause would never get there. */
  lookLater() {
    if (!this.signal.aborted) this.timer ??= setTimeout(() => this.look(), LOOK_MS);
  }

  forget(uid) {
    dropStored(this.prefix + uid);
  }
}

/** The server leads a page without a session to the sign-in, and back. What is typed is kept. */
function reload() {
  window.location.reload();
}

/** Returns the page's value once, then the server's. @returns {Promise<Shipped>} */
async function askShipped() {
  const { shipped, ...others } = window.coevalOpened ?? {};
  window.coevalOpened = others;
  return shipped ?? request('GET', 'api/shipped');
}

/*
 * Saves on their way. Each is stored before it is sent and removed when the server has answered, so a lost
 * connection, a closed tab or a sign-out loses none. Every retry sends the same content. Accepted saves are kept until
 * they are in the server's snapshots.
 */

const WAITS_MS = [1000, 2000, 4000, 8000, 15_000, 30_000];

/**
 * @typedef {object} OutboxEvents
 * @property {(entry: Entry, answer: SaveAnswer<any>) => void} onsaved
 * @property {(entry: Entry, error: import('./api.js').ApiError, seconds: number) => void} onwaiting
 * @property {(entry: Entry, error: import('./api.js').ApiError) => void} onrefused
 * @property {(what: {sent: number, maybe: boolean, takenAt: string}) => void} onrestored the server was restored from a
 *   snapshot; `sent` lost answers were sent again, or some are `maybe` missing
 * @property {(entry: Entry, error: import('./api.js').ApiError) => void} onlost a save that it had lost and
 * then refused
 */

export class Outbox {
  /**
   * `box` keeps the saves of different screens apart.
   * @param {string} person the person's uid
   * @param {string} box
   * @param {OutboxEvents & {signal: AbortSignal, send?: (entry: Entry) => Promise<any>, ask?: () => Promise<any>}} options
   */
  constructor(person, box, { onsaved, onwaiting, onrefused, onrestored, onlost, signal, send, ask }) {
    this.events = { onsaved, onwaiting, onrefused };
    this.send = send ?? (({ path, body }) => request('POST', path, body));
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
    window.addEventListener('online', () => this.sent.timer && this.sent.look(), { signal });
    signal.addEventListener('abort', () => this.stop());
  }

  /** Sends saves that the server may have lost, then those that an earlier page left unsent. */
  async recover() {
    await this.sent.look();
    for (const key of storedKeys(this.prefix)) {
      const entry = readStored(key);
      if (!entry?.uid) dropStored(key);
      else if (entry.box === this.box) this.entries.set(entry.uid, entry);
    }
    await Promise.all([...this.entries.keys()].map((uid) => this.deliver(uid)));
  }

  /** Stores a save and sends it. @param {Entry} entry */
  async add(entry) {
    this.entries.set(entry.uid, entry);
    writeStored(this.prefix + entry.uid, entry); // if it cannot be stored, it still waits in memory
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

  /** Removes an entry. @param {string} uid */
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

  /** The waiting save of one place. @param {string} path @param {string} place */
  waitingFor(path, place) {
    return [...this.entries.values()].find((entry) => entry.path === path && entry.place === place);
  }

  get size() {
    return this.entries.size;
  }
}
