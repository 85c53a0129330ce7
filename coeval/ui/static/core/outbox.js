/**
 * Submissions on their way. Each is written down before it is sent and struck off when the server has answered,
 * so a cut line, a closed tab or a sign-out loses none; the uid stays the same however often it is sent.
 */

import { dropStored, readStored, storedKeys, writeStored } from './storage.js';

const WAITS_MS = [1000, 2000, 4000, 8000, 15_000, 30_000];

export class Outbox {
  /**
   * `send(entry)` posts and resolves with the answer or throws ApiError.
   * Calls back: onsaved(entry, answer), onwaiting(entry, error, seconds), onrefused(entry, error).
   */
  constructor(person, { send, onsaved, onwaiting, onrefused, signal }) {
    Object.assign(this, { send, onsaved, onwaiting, onrefused });
    this.prefix = `coeval:outbox:${person}:`;
    this.entries = new Map();
    this.timers = new Map();
    this.tries = new Map();
    window.addEventListener('online', () => this.retry(), { signal });
    document.addEventListener('visibilitychange', () => !document.hidden && this.retry(), { signal });
    signal?.addEventListener('abort', () => this.timers.forEach(clearTimeout));
  }

  /** What an earlier page of this person left unsent. */
  recover() {
    for (const key of storedKeys(this.prefix)) {
      const entry = readStored(key);
      if (entry?.body?.uid) this.entries.set(entry.body.uid, entry);
      else dropStored(key);
    }
    return Promise.all([...this.entries.keys()].map((uid) => this.deliver(uid)));
  }

  /** Takes a submission in and sends it. */
  async add(entry) {
    this.entries.set(entry.body.uid, entry);
    writeStored(this.prefix + entry.body.uid, entry); // where it cannot be kept, it still waits in memory
    await this.deliver(entry.body.uid);
  }

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
      this.forget(uid);
      if (error) this.onrefused(entry, error);
      else this.onsaved(entry, answer);
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
    this.onwaiting(entry, error, wait / 1000);
  }

  /** Strikes an entry off. */
  forget(uid) {
    clearTimeout(this.timers.get(uid));
    this.tries.delete(uid);
    dropStored(this.prefix + uid);
    this.entries.delete(uid);
  }

  retry() {
    for (const uid of this.entries.keys()) this.deliver(uid);
  }

  /** The submission of one step that still waits, or undefined. */
  waitingFor(task, instance, criterion) {
    return [...this.entries.values()].find(
      (entry) =>
        entry.task === task && entry.body.instance === instance && entry.body.criterion === criterion,
    );
  }

  get size() {
    return this.entries.size;
  }
}
