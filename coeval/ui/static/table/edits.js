/** What was decided and typed in a table, change after change, so that it can be taken back and done again. */

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

  /** A table that was just filled has no past. @param {TableState} state */
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

  /** What is typed next is a change of its own, even in the same box. */
  close() {
    this.where = '';
  }

  /** The state before the last change, or null where there is none. */
  undo() {
    const last = this.past.pop();
    if (!last || !this.now) return null;
    this.future.push(this.now);
    this.where = '';
    this.now = last.state;
    return last.state;
  }

  /** The state that was taken back last, or null. */
  redo() {
    const next = this.future.pop();
    if (!next || !this.now) return null;
    this.past.push({ state: this.now, where: '' });
    this.where = '';
    this.now = next;
    return next;
  }
}
