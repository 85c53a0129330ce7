/**
 * Active time: a person's time on a step, without pauses. Time counts while the page is shown, this tab is in use,
 * and the last key, pointer or scroll event is recent: at most 60 seconds ago, or the task's pause.
 */

import { writeStored } from '../core/kept.js';

const IDLE_MS = 60_000;

/** The sum of active time; every method takes the current moment, in ms of any monotonic clock. */
export class ActiveTime {
  constructor(idle = IDLE_MS) {
    this.idle = idle;
    this.total = 0;
    this.running = false;
    this.since = 0;
    this.lastInput = 0;
  }

  /** Adds the time since the last call, up to the end of the idle allowance. */
  reckon(now) {
    if (this.running) this.total += Math.max(0, Math.min(now, this.lastInput + this.idle) - this.since);
    this.since = now;
    return this.total;
  }

  begin(now, total = 0) {
    this.total = total;
    this.running = false;
    this.input(now);
  }

  input(now) {
    this.reckon(now);
    this.lastInput = now;
    this.running = true;
  }

  pause(now) {
    this.reckon(now);
    this.running = false;
  }
}

const TAB = Math.random().toString(36).slice(2);

/** The tab of this person that is in use: the last one touched. It stops the clocks of the others. */
class Lease {
  constructor(person, onlost, signal) {
    this.key = `coeval:active:${person}`;
    this.mine = false;
    window.addEventListener(
      'storage',
      (event) => {
        if (event.key !== this.key || event.newValue === JSON.stringify(TAB)) return;
        this.mine = false;
        onlost();
      },
      { signal },
    );
  }

  take() {
    if (this.mine) return;
    this.mine = true;
    writeStored(this.key, TAB);
  }
}

const SIGNS_OF_LIFE = ['keydown', 'pointerdown', 'pointermove', 'wheel', 'scroll', 'touchstart', 'focus'];

/** Watches the page and keeps the active time of the current step. */
export class StepClock {
  /** `isShown` tells whether the timed screen is visible; `signal` ends the watching. */
  constructor(person, { isShown, signal, now = () => performance.now() }) {
    this.time = new ActiveTime();
    this.now = now;
    this.isShown = isShown;
    this.lease = new Lease(person, () => this.time.pause(this.now()), signal);
    const touch = () => this.touch();
    for (const name of SIGNS_OF_LIFE)
      window.addEventListener(name, touch, { capture: true, passive: true, signal });
    document.addEventListener('visibilitychange', touch, { signal });
    window.addEventListener('pagehide', () => this.time.pause(this.now()), { signal });
  }

  /** Starts a step that has `total` ms from before a reload; `idle` is the task's pause in seconds. */
  begin(total = 0, idle = IDLE_MS / 1000) {
    this.time.idle = idle * 1000;
    this.time.begin(this.now(), total);
    if (document.hidden) this.time.pause(this.now());
    else this.lease.take();
  }

  touch() {
    if (document.hidden || !this.isShown()) return this.time.pause(this.now());
    this.lease.take();
    return this.time.input(this.now());
  }

  get ms() {
    return Math.round(this.time.reckon(this.now()));
  }
}
