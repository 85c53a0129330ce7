/** Data kept in the browser: stored values, keys of saves, and unsaved work. */

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

export function dropStored(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // Without storage, there is nothing to remove.
  }
}

/** Every key with this prefix. */
export function storedKeys(prefix) {
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

const words = (text) => (text ?? '').trim();

/** The further data of an extension's line, as a list of one; an empty list for other lines. */
function ownOf({ own }) {
  return own === undefined ? [] : [own];
}

/** The parts that count in a comparison: text hidden by an approval is not a difference. */
function essence({ score, rows, added }) {
  const lines = rows.map((row) => {
    const worded = row.action === 'revise' || row.action === 'delete';
    return [
      row.id,
      row.action,
      worded ? words(row.reason) : '',
      row.action === 'revise' ? words(row.new_text) : '',
      ...(row.group === undefined ? [] : [row.group, row.score ?? null]),
      ...ownOf(row),
    ];
  });
  const more = added
    .filter((row) => words(row.new_text))
    .map((row) => [row.kind, words(row.new_text), words(row.reason), row.group ?? null, ...ownOf(row)]);
  return JSON.stringify([score ?? null, lines, more]);
}

/** The key of a line within its sheet; a score without a draft has no id. */
export function lineKey({ group = 0, id, kind }) {
  return `${group}:${id ?? kind}`;
}

/** Whether two states are equal in content. @param {TableState} a @param {TableState} b */
export function sameState(a, b) {
  return essence(a) === essence(b);
}

/** The state of a sheet from the server. @param {Sheet} sheet @returns {TableState} */
export function stateOf(sheet) {
  return { score: sheet.score ?? null, rows: sheet.rows, added: sheet.added };
}

/**
 * A sheet with a kept state applied to it. Text written for a line that no longer exists returns as an added
 * line, so that no text is lost.
 * @param {Sheet} sheet
 * @param {TableState} state
 * @returns {Sheet}
 */
export function withState(sheet, state) {
  const kept = new Map(state.rows.map((row) => [lineKey(row), row]));
  const rows = sheet.rows.map((row) => {
    const mine = kept.get(lineKey(row));
    kept.delete(lineKey(row));
    if (!mine) return row;
    const { action, reason, new_text: newText, score = row.score, own = row.own } = mine;
    return {
      ...row,
      action,
      reason,
      new_text: newText,
      ...(row.group === undefined ? {} : { score }),
      ...(own === undefined ? {} : { own }),
    };
  });
  const orphans = [...kept.values()].filter((row) => row.action === 'revise' && words(row.new_text));
  const added = [
    ...state.added,
    ...orphans.map(({ kind, reason, new_text: text, group }) => ({ kind, reason, new_text: text, group })),
  ];
  return { ...sheet, score: state.score, rows, added };
}
