/** One sheet on screen: what the server says, what is typed over it, and the save it becomes. */

import { sameState, stateOf } from '../core/drafts_kept.js';

export class SheetWork {
  /**
   * What the browser kept for this place is taken up.
   * @param {Sheet} sheet
   * @param {{place: string, path: string, kept: import('../core/drafts_kept.js').Kept}} where `path` is the route
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
