/** What the browser keeps, as JSON. A browser that keeps nothing (full, switched off) is no reason to stop. */

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

export function dropStored(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // Where nothing is kept there is nothing to drop.
  }
}

/** Every key that begins so. */
export function storedKeys(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}
