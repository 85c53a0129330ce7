/** What the scripts under test ask of a browser, as far as they ask it: storage, and events that can be fired. */

class Storage {
  constructor() {
    this.full = false;
  }

  getItem(key) {
    return Object.hasOwn(this, `:${key}`) ? this[`:${key}`] : null;
  }

  setItem(key, value) {
    if (this.full) throw new Error('full');
    Object.defineProperty(this, `:${key}`, { value: String(value), configurable: true, writable: true });
    Object.defineProperty(this, key, { value: String(value), configurable: true, enumerable: true });
  }

  removeItem(key) {
    delete this[`:${key}`];
    delete this[key];
  }
}

/** A fresh page; gives back its storage. */
export function openPage() {
  const storage = new Storage();
  Object.defineProperty(storage, 'full', { enumerable: false, writable: true, value: false });
  globalThis.localStorage = storage;
  globalThis.window = new EventTarget();
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  return storage;
}
