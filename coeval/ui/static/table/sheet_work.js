/** The work on one sheet, and the foot below it. */

import { button, clockTime, el, fill, kbd } from '../core/dom.js';
import { timesText } from '../core/history.js';
import { sameState, stateOf } from '../core/kept.js';
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
