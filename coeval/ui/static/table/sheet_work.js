/** The work on one sheet, and the foot below it. */

import { button, clockTime, el, fill, kbd } from '../core/dom.js';
import { timesText } from '../core/history.js';
import { sameState, stateOf } from '../core/kept.js';
import { tr } from '../core/words.js';

/* Under a table: what is left to decide, when it was saved, its versions, and the button that saves. */

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

  /** Puts the parts in a row; what stands over the table's own is given. @param {Node[]} tools */
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

  /** In full where there is room, short on a phone. @param {string} text @param {number} open */
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

  /** `times` what is on screen was saved before; its versions can be looked at once there are two. */
  loadVersions(times) {
    this.versions.hidden = times < 2;
    this.versions.textContent = timesText(times);
  }

  loadStatus(text) {
    this.status.textContent = text;
  }
}

/** "Saved 14:32:07", with which version it is once there are several. */
export function savedText(at, revision) {
  const time = clockTime(at);
  if (!time) return '';
  const version = tr('version {version}', { version: revision });
  return tr('Saved {time}', { time }) + (revision > 1 ? ` · ${version}` : '');
}

/* One sheet on screen: what the server says, what is typed over it, and the save it becomes. */

export class SheetWork {
  /**
   * What the browser kept for this place is taken up.
   * @param {Sheet} sheet
   * @param {{place: string, path: string, kept: import('../core/kept.js').Kept}} where `path` is the route
   *   that takes a save, `place` what the save is of.
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

  /** Somebody's words wait here that the server does not have. */
  get hasUnsaved() {
    return Boolean(this.unsent?.edited && this.unsent.state && !sameState(this.unsent.state, this.saved));
  }

  /** The waiting words were written over another version, or over another draft. */
  get isStale() {
    const { revision, draft = null } = this.sheet;
    return this.unsent?.revision !== revision || (this.unsent?.draft ?? null) !== draft;
  }

  /** How often this was saved before. */
  get timesSaved() {
    return this.sheet.revision;
  }

  /** Where its versions are, if anywhere. @returns {string} */
  get historyPath() {
    return '';
  }

  /** What is kept beside the words. */
  extras() {
    return {};
  }

  /** Writes down the state of the table. @param {TableState} state */
  keep(state) {
    if (this.settled || this.choosing) return;
    const { revision, draft = null } = this.sheet;
    const edited = !sameState(state, this.saved);
    this.kept.put(this.place, { revision, draft, state, edited, ...this.extras() });
  }

  /** What was typed here goes. */
  forget() {
    this.kept.drop(this.place);
  }

  /** The server has it, or the person gave it up: nothing is kept any more. */
  settle() {
    this.settled = true;
    this.forget();
  }

  /** Whether there is anything to save. @param {TableState} _state */
  says(_state) {
    return true;
  }

  /** What is kept in parts, of a state that is sent. @param {TableState} state @returns {KeptPart[]} */
  parts(state) {
    return [{ place: this.place, state }];
  }

  /**
   * What is sent; the uid is the key of the save, and stays through every retry.
   * @param {{score: number | null, rows: object[], added: object[]}} payload
   * @param {string} _uid
   * @returns {Record<string, unknown>}
   */
  body({ rows, added }, _uid) {
    return { revision: this.sheet.revision, rows, added };
  }
}
