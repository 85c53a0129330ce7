/** The work on one sheet: its foot, its state with undo, and its save. */

import { button, clockTime, el, fill, kbd } from '../core/dom.js';
import { timesText } from '../core/history.js';
import { tr } from '../core/words.js';

/* The foot of a table: open decisions, the time of the last save, its versions, and the save button. */

export class SheetFoot {
  /** @param {{onhistory: () => void, onconfirm: () => void}} events */
  constructor({ onhistory, onconfirm }) {
    this.count = el('span', { class: 'wb-count' });
    this.status = el('span', { class: 'wb-status', role: 'status' });
    this.versions = button('', {
      class: 'ce-link wb-versions',
      'aria-keyshortcuts': 'H',
      title: `${tr('Your saved versions')} (H)`,
      onclick: onhistory,
      hidden: true,
    });
    this.confirmLabel = el('span');
    this.confirmKey = kbd('');
    this.confirm = button(
      '',
      { class: 'ce-btn is-primary', onclick: onconfirm },
      this.confirmLabel,
      this.confirmKey,
    );
    this.node = el('div', { class: 'wb-foot' });
  }

  /** Puts the parts in a row, with `tools` before the table's own. @param {Node[]} tools */
  build(...tools) {
    fill(
      this.node,
      this.count,
      ...tools,
      el('span', { class: 'wb-space' }),
      this.status,
      this.versions,
      this.confirm,
    );
  }

  /** Shows the full text, or a short one on a phone. @param {string} text @param {number} open */
  showCount(text, open) {
    fill(
      this.count,
      el('span', { class: 'wb-long' }, text),
      el(
        'span',
        { class: 'wb-short', 'aria-hidden': 'true' },
        open ? tr('{n} to decide', { n: open }) : text,
      ),
    );
  }

  /** `times` is the number of earlier saves; the versions are offered if there are at least two. */
  loadVersions(times) {
    this.versions.hidden = times < 2;
    this.versions.textContent = timesText(times);
  }

  loadStatus(text) {
    this.status.textContent = text;
  }
}

/** "Saved 14:32:07", with the version if there are several. */
export function savedText(at, revision) {
  const time = clockTime(at);
  if (!time) return '';
  const version = tr('version {version}', { version: revision });
  return tr('Saved {time}', { time }) + (revision > 1 ? ` · ${version}` : '');
}

/* The state of a sheet: what was typed and chosen, compared and applied. */

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

/* The changes of a table, so that they can be undone and redone. */

const MOST = 200;

/** @typedef {{state: TableState, where: string}} Change the state before a change, and where the change was made */

export class Edits {
  constructor() {
    /** @type {Change[]} */
    this.past = [];
    /** @type {TableState[]} */
    this.future = [];
    this.where = '';
  }

  /** A table that was just filled has no history. @param {TableState} state */
  begin(state) {
    this.past = [];
    this.future = [];
    this.where = '';
    this.now = state;
  }

  /**
   * Notes that the table changed to `state`. Letters typed one after the other in one box (`where`) are one change.
   * @param {TableState} state
   * @param {string} where
   */
  note(state, where = '') {
    if (!this.now || JSON.stringify(state) === JSON.stringify(this.now)) return;
    if (!where || where !== this.where) this.past.push({ state: this.now, where });
    if (this.past.length > MOST) this.past.shift();
    this.where = where;
    this.future = [];
    this.now = state;
  }

  /** Starts a new change, even in the same box. */
  close() {
    this.where = '';
  }

  /** The state before the last change, or null if there is none. */
  undo() {
    const last = this.past.pop();
    if (!last || !this.now) return null;
    this.future.push(this.now);
    this.where = '';
    this.now = last.state;
    return last.state;
  }

  /** The state that was undone last, or null. */
  redo() {
    const next = this.future.pop();
    if (!next || !this.now) return null;
    this.past.push({ state: this.now, where: '' });
    this.where = '';
    this.now = next;
    return next;
  }
}

/* One sheet on screen: the server's state, the changes typed here, and the save. */

export class SheetWork {
  /**
   * Loads the work that the browser kept for this place.
   * @param {Sheet} sheet
   * @param {{place: string, path: string, kept: import('../core/kept.js').Kept}} where `path` is the route
   *   for a save, `place` its subject.
   */
  constructor(sheet, { place, path, kept }) {
    this.sheet = sheet;
    this.place = place;
    this.path = path;
    this.kept = kept;
    this.saved = stateOf(sheet);
    this.settled = false;
    this.choosing = false;
    this.unsent = kept.get(place);
  }

  /** Whether text waits here that the server does not have. */
  get hasUnsaved() {
    return Boolean(this.unsent?.edited && this.unsent.state && !sameState(this.unsent.state, this.saved));
  }

  /** Whether the waiting text was written for another version or another draft. */
  get isStale() {
    const { revision, draft = null } = this.sheet;
    return this.unsent?.revision !== revision || (this.unsent?.draft ?? null) !== draft;
  }

  /** The number of earlier saves. */
  get timesSaved() {
    return this.sheet.revision;
  }

  /** The route of its versions, if any. @returns {string} */
  get historyPath() {
    return '';
  }

  /** The words for the version beside the unsaved one. */
  get otherVersion() {
    const time = clockTime(this.sheet.saved_at);
    return {
      name: time ? tr('Saved at {time}', { time }) : tr('Saved'),
      use: tr('Use the saved version'),
      note: tr(
        'Continuing with your version saves nothing yet: check it and confirm. The saved version stays in the history.',
      ),
    };
  }

  /** Further data to keep. */
  extras() {
    return {};
  }

  /** Stores the state of the table. @param {TableState} state */
  keep(state) {
    if (this.settled || this.choosing) return;
    const { revision, draft = null } = this.sheet;
    const edited = !sameState(state, this.saved);
    this.kept.put(this.place, { revision, draft, state, edited, ...this.extras() });
  }

  /** Discards the typed text. */
  forget() {
    this.kept.drop(this.place);
  }

  /** Removes all kept work, because the server has it or the person gave it up. */
  settle() {
    this.settled = true;
    this.forget();
  }

  /** Whether there is anything to save. @param {TableState} _state */
  says(_state) {
    return true;
  }

  /** The kept parts of a state that is sent. @param {TableState} state @returns {KeptPart[]} */
  parts(state) {
    return [{ place: this.place, state }];
  }

  /**
   * The data to send; the uid is the key of the save, and is the same in every retry.
   * @param {{score: number | null, rows: object[], added: object[]}} payload
   * @param {string} _uid
   * @returns {Record<string, unknown>}
   */
  body({ rows, added }, _uid) {
    return { revision: this.sheet.revision, rows, added };
  }
}
