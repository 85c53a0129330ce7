/** Unsaved work, kept in the browser per person, task, instance and criterion, until the server has it. */

import { dropStored, readStored, storedKeys, writeStored } from './storage.js';

const OLD_MS = 30 * 24 * 3600 * 1000;

export class Kept {
  /** `onbroken` is called once when the browser keeps nothing (storage full or switched off). */
  constructor(person, task, onbroken = () => {}) {
    this.prefix = `coeval:kept:${person}:${task}:`;
    this.onbroken = onbroken;
    this.broken = false;
    this.prune();
  }

  keyOf(instance, part) {
    return `${this.prefix}${instance}:${part}`;
  }

  /** What was kept for one step ({revision, draft, state, edited, at, opened_at, active_ms, bulk}), or null. */
  get(instance, part) {
    const kept = readStored(this.keyOf(instance, part));
    return kept && typeof kept === 'object' ? kept : null;
  }

  put(instance, part, value) {
    const done = writeStored(this.keyOf(instance, part), { ...value, at: new Date().toISOString() });
    if (!done && !this.broken) this.onbroken();
    this.broken = !done;
  }

  drop(instance, part) {
    dropStored(this.keyOf(instance, part));
  }

  /** Forgets what holds only times and is a month old; words are never dropped. */
  prune() {
    for (const key of storedKeys(this.prefix)) {
      const kept = readStored(key);
      if (!kept || (!kept.edited && Date.now() - Date.parse(kept.at) > OLD_MS)) dropStored(key);
    }
  }
}

const words = (text) => (text ?? '').trim();

/** Only what counts: words hidden behind an approval are not a difference. */
function essence({ score, rows, added }) {
  const lines = rows.map((row) => {
    const worded = row.action === 'revise' || row.action === 'delete';
    return [
      row.id,
      row.action,
      worded ? words(row.reason) : '',
      row.action === 'revise' ? words(row.new_text) : '',
    ];
  });
  const more = added
    .filter((row) => words(row.new_text))
    .map((row) => [row.kind, words(row.new_text), words(row.reason)]);
  return JSON.stringify([score ?? null, lines, more]);
}

/** Whether two states say the same. */
export function sameState(a, b) {
  return essence(a) === essence(b);
}

/** The state that a sheet from the server stands for. */
export function stateOf(sheet) {
  return { score: sheet.score ?? null, rows: sheet.rows, added: sheet.added ?? [] };
}

/**
 * A sheet with somebody's kept state laid over it. Words written for a line that is no longer there come back
 * as added lines, so that none is lost.
 */
export function withState(sheet, state) {
  const kept = new Map(state.rows.map((row) => [row.id, row]));
  const rows = sheet.rows.map((row) => {
    const mine = kept.get(row.id);
    kept.delete(row.id);
    return mine ? { ...row, action: mine.action, reason: mine.reason, new_text: mine.new_text } : row;
  });
  const orphans = [...kept.values()].filter((row) => row.action === 'revise' && words(row.new_text));
  const added = [
    ...state.added,
    ...orphans.map(({ kind, reason, new_text: text }) => ({ kind, reason, new_text: text })),
  ];
  return { ...sheet, score: state.score, rows, added };
}
