/**
 * Saves that the server has and its snapshots may not have yet. They are kept here until they are shipped, and sent
 * again after the server came back from a snapshot: what it still has is answered as before, what it lost is saved.
 */

import { request } from './api.js';
import { dropStored, readStored, storedKeys, writeStored } from './storage.js';

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
