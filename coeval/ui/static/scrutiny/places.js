/** Where this tab has been: the step it shows, for a reload, and the way it came, for going back. */

import { readStored, writeStored } from '../core/storage.js';

export class Places {
  constructor(person, task) {
    this.key = `coeval:place:${person}:${task}`;
    this.trail = [];
  }

  /** What this tab showed before a reload; empty in a new tab, where the server says where to go on. */
  left() {
    return readStored(this.key, () => sessionStorage) ?? {};
  }

  /** What a link asked for, once: by the number in one's queue, or by the name of the instance. */
  linked() {
    const address = new URL(window.location.href);
    const { searchParams } = address;
    const [at, item] = [searchParams.get('at'), searchParams.get('item')];
    if (!at && !item) return null;
    searchParams.delete('at');
    searchParams.delete('item');
    window.history.replaceState(window.history.state, '', address);
    return { filter: 'all', ...(item ? { item } : { at }) };
  }

  remember(place) {
    writeStored(this.key, place, () => sessionStorage);
  }

  /** Adds a step to the way; standing still adds nothing. */
  arrive({ filter, instance, criterion }) {
    this.remember({ filter, instance, criterion });
    const last = this.last;
    if (last?.instance !== instance || last?.criterion !== criterion)
      this.trail.push({ instance, criterion });
  }

  get last() {
    return this.trail.at(-1);
  }

  /** The step before the one on screen (`here`), taken off the way; undefined at its beginning. */
  back(here) {
    if (here) this.trail.pop();
    return this.trail.pop();
  }
}
