/** The review table as a spreadsheet: cells, undo, several lines at once, the clipboard. */

import { isTextBox } from '../core/dom.js';
import { digitOf, isPrintable } from '../core/keys.js';
import { tr } from '../core/words.js';
import { DraftedRow } from '../rows/review_row.js';
import { ScoreRow } from '../rows/score_row.js';
import { copyCells, pasteCells } from './clipboard.js';
import { ReviewTable } from './review_table.js';
import { Selection, cellInUse, cellOf, stepAside, stepTo, wordsBeside } from './selection.js';
import { Edits } from './sheet_work.js';

export class SheetTable extends ReviewTable {
  /** @param {HTMLElement} root @param {import('./review_table.js').TableEvents & {name?: string}} events */
  constructor(root, events = {}) {
    super(root, events);
    this.edits = new Edits();
    /** The line that is being edited, and its state before. @type {{row: any, before: LineState, typed?: boolean} | null} */
    this.editing = null;
    this.selection = new Selection({
      ondecide: (action) => this.decideMany(action),
      onreason: (reason) => this.explainMany(reason),
      onclear: () => this.clearSelection(),
    });
    /** The cell that the mouse chose and that holds no words: letters that are typed there are no commands. */
    this.pointed = null;
    /** The column in which the person moves up and down. @type {string | undefined} */
    this.column = undefined;
    /** Whether the person moves from cell to cell, as in a spreadsheet, or from line to line. */
    this.inCells = false;
    this.list.after(this.selection.node);
    this.list.addEventListener('focusin', (event) => this.onfocus(event));
    this.list.addEventListener('copy', (event) => copyCells(this, event));
    this.list.addEventListener('paste', (event) => pasteCells(this, event));
    this.list.addEventListener('pointerdown', (event) => this.onpress(event));
    this.list.addEventListener('click', (event) => this.onclick(event));
    this.list.addEventListener('input', (event) => this.oninput(event), { capture: true });
  }

  /** @param {Sheet} sheet */
  load(sheet) {
    super.load(sheet);
    this.selection.clear();
    this.edits.begin(this.state());
  }

  /** Typing in one box in one go is one change to undo. */
  changed(where = '') {
    this.edits.note(this.state(), where);
    super.changed(where);
  }

  // ---- cells ---------------------------------------------------------------------------------------

  /** Words that are typed into a selected cell: the arrow keys then leave it, as in a spreadsheet. */
  oninput({ target }) {
    if (this.editing && target.matches('.is-ready')) this.editing.typed = true;
  }

  /** Ends the typing in a cell, unless the cell was opened for edits. */
  leaveTyped(by) {
    if (!this.editing?.typed) return false;
    const cell = cellOf(this.all, document.activeElement);
    this.endWords();
    return this.moveIn(cell?.[1], by);
  }

  /** A line in use is reached by keyboard unless `onclick` says otherwise. */
  onfocus({ target }) {
    if (target !== this.pointed) this.pointed = null;
    const cell = cellInUse(this.all);
    if (cell && !isTextBox(target) && cell[0].takesWords(cell[1])) {
      cell[0].focusCell(cell[1], false);
      return;
    }
    if (target.matches('.rt-row') || target.tagName === 'BUTTON') this.inCells = false;
    else if (!isTextBox(target) || target.matches('.is-ready')) this.inCells = true;
  }

  goTo(row) {
    this.selection.clear();
    this.column = undefined;
    row?.focus();
  }

  /** Moves up or down: in the column of the selected cell, or from line to line. */
  move(step) {
    const { all } = this;
    const cell = cellInUse(all);
    // the score has one cell for two columns: the column is the one the person came from
    const isShared = cell?.[0] instanceof ScoreRow && cell[1] === 'draft' && this.column === 'version';
    this.moveIn(isShared ? this.column : cell?.[1], step);
  }

  /** @param {string | undefined} column @param {number} step */
  moveIn(column, step) {
    const rows = this.all;
    const at = rows.indexOf(this.current);
    const row = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))];
    this.selection.clear();
    this.column = column;
    stepTo(rows, row, column);
    // in a column of words, letters are no commands where a line has no words
    const isWords = column === 'version' || column === 'reason';
    if (isWords && !isTextBox(document.activeElement)) this.pointed = document.activeElement;
  }

  stepAside(by) {
    return stepAside(this.all, by);
  }

  /** Enter moves down (`by` 1) or up, as in a spreadsheet; on a line that the keyboard reached, it edits the line. */
  enter(target, by) {
    if (target.closest('button, a, summary, select, input')) return false;
    const cell = cellInUse(this.all);
    if (!cell) return false;
    if (cell[1] === 'line' && !this.pointed) return by > 0 && this.edit();
    return by > 0 && this.current === this.all.at(-1) ? this.leaveCells() : this.move(by);
  }

  /** Tab moves to the next words of the person, or, if there are none, where the browser moves. */
  tab(by) {
    const cell = cellOf(this.all, document.activeElement);
    if (!cell || !['draft', 'version', 'reason'].includes(cell[1])) return false;
    const [row, column] = cell;
    // an extension has further fields in its cells
    const isBox = row.takesWords(column) && document.activeElement === row.boxOf(column);
    const fields = row.cells[column].querySelectorAll('input:not([hidden]), textarea:not([hidden])').length;
    if (fields > 1 || (isTextBox(document.activeElement) && !isBox)) return false;
    const next = wordsBeside(this.all, cell, by);
    // an edit that a command began goes on from the version to its reason; a deletion has no version to go back to
    if (!next || (!this.inCells && (next[0] !== row || row.row.action === 'delete'))) return false;
    this.endWords();
    if (this.inCells) next[0].focusCell(next[1]);
    else next[0].edit(next[1]);
    return true;
  }

  /** Letters go into the selected cell; where it cannot take them, a sentence says so. @param {KeyboardEvent} event */
  type(event) {
    if (!isPrintable(event) || isTextBox(event.target) || this.selection.isMany) return false;
    const [row, column] = cellInUse(this.all) ?? [];
    if (!row) return false;
    const isPointed = document.activeElement === this.pointed;
    if (row instanceof ScoreRow && digitOf(event) !== null) return false;
    if (column !== 'reason' && !isPointed) return false;
    if (column === 'reason') this.sayNoReason();
    else this.sayNotEdited();
    return true;
  }

  /** The mouse chose a cell that holds no commands, wherever the focus went since. */
  refusesKeys() {
    const refuses = Boolean(this.pointed) && !this.selection.isMany;
    if (refuses) this.sayNotEdited();
    return refuses;
  }

  sayNoReason() {
    this.on.onsay(tr('Only a revision or a deletion needs a reason: choose an action first.'));
  }

  sayNotEdited() {
    if (this.locked) return;
    this.on.onsay(
      tr(
        'This cell cannot be edited: press F2 for your version. For commands, press Esc first or click the action.',
      ),
    );
  }

  /** Begins an edit in the cell in use, or in a column of the line in use. @param {string | null} column */
  edit(column = null) {
    const cell = cellInUse(this.all);
    const row = this.current;
    if (this.locked || !row || !cell) return false;
    const before = { ...row.row };
    const { inCells } = this;
    if (row.edit(column ?? (cell[1] === 'reason' ? 'reason' : 'version'))) this.editing = { row, before };
    else this.sayNoReason();
    this.inCells = inCells;
    return true;
  }

  decide(row, action) {
    if (!this.locked && row) this.editing = { row, before: { ...row.row } };
    return super.decide(row, action);
  }

  /** Notes the state of a line before an edit, unless a decision noted it first. */
  beginWords(row) {
    if (this.editing?.row !== row) this.editing = { row, before: { ...row.row } };
  }

  endWords() {
    this.editing = null;
    this.edits.close();
  }

  /** Ends typing, keeps the text, and moves down in a cell, else to a missing reason or the next line. */
  commit() {
    const { current } = this;
    const cell = cellOf(this.all, document.activeElement);
    const next = this.all[this.all.indexOf(current) + 1];
    const inReason = current?.why.contains(document.activeElement);
    this.endWords();
    // a new wording that lacks its reason gets it next, however the cell was reached
    if (current instanceof DraftedRow && current.lacksOnlyReason && !inReason) this.inCells = false;
    if (this.inCells && cell && next) return this.moveIn(cell[1], 1);
    if (!this.inCells && current instanceof DraftedRow) {
      if (current.lacksOnlyReason && !inReason) return void current.edit('reason');
      if (current.problem()) return current.focus();
      if (next && this.undecided().length) return next.focus();
    }
    this.leaveCells();
  }

  /** Leaves the words for the next open line, or for the confirm button: keys are commands again. */
  leaveCells() {
    this.goTo(this.current);
    this.focusNext(this.current);
  }

  /** Ends typing and restores the line; undo brings the text back. */
  cancel() {
    const { editing } = this;
    const cell = cellOf(this.all, document.activeElement);
    if (editing) {
      const { before, row } = editing;
      const { new_text: words, reason, text } = row.row;
      // a revision begins with the drafted words, which nobody typed
      const typed = [words !== before.new_text && words !== text && words, reason !== before.reason && reason]
        .filter(Boolean)
        .join(' · ');
      this.edits.close();
      row.take(before);
      this.changed();
      if (typed) this.on.onsay(tr('Discarded: {text}', { text: typed.slice(0, 60) }), () => this.undo());
    }
    this.endWords();
    if (this.inCells && cell) cell[0].focusCell(cell[1]);
    else this.current?.focus();
  }

  // ---- back and forth ------------------------------------------------------------------------------

  undo() {
    return this.travel(this.edits.undo(), tr('There is nothing to undo.'));
  }

  redo() {
    return this.travel(this.edits.redo(), tr('There is nothing to redo.'));
  }

  /** @param {TableState | null} state @param {string} nothing the message if there is none */
  travel(state, nothing) {
    if (this.locked) return;
    if (!state) {
      this.on.onsay(nothing);
      return;
    }
    this.selection.clear();
    const at = this.all.indexOf(this.current);
    this.rows.forEach((row, n) => {
      row.take({ score: state.score, ...state.rows[n] });
    });
    this.replaceAdded(state.added);
    const there = this.all[at] ?? this.all.at(-1);
    there?.focus();
    this.select(there);
    this.on.onchange();
  }

  // ---- several lines -------------------------------------------------------------------------------

  /** Selects one more line, above or below the one in use. */
  stretch(step) {
    const rows = this.all;
    const at = rows.indexOf(this.current);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (!next || at < 0) return;
    if (!this.selection.rows.size) this.selection.stretch(rows, rows[at]);
    this.selection.stretch(rows, next);
    next.focus();
  }

  /** A selection starts at the line in use before the click moves the focus. */
  onpress(event) {
    if (!event.shiftKey && !event.ctrlKey && !event.metaKey) this.selection.clear();
    this.selection.anchor ??= this.current;
  }

  /** Shift and a click select up to that line; Ctrl and a click add that line. */
  onclick(event) {
    const row = this.all.find(({ node }) => node.contains(event.target));
    if (!row) return;
    if (event.target.closest('button, textarea, a, input, select')) {
      this.inCells = event.target.matches('textarea');
      return;
    }
    if (event.shiftKey) {
      this.selection.stretch(this.all, row);
      window.getSelection()?.removeAllRanges();
    } else if (event.ctrlKey || event.metaKey) this.selection.toggle(row);
    else {
      this.selection.anchor = row;
      const [, column] = cellOf(this.all, event.target) ?? [row, 'line'];
      this.column = column;
      row.focusCell(column, false);
      if (column !== 'action' && !isTextBox(document.activeElement)) this.pointed = document.activeElement;
    }
  }

  clearSelection() {
    const goes = this.selection.isMany || Boolean(cellInUse(this.all)) || this.pointed;
    this.selection.clear();
    this.pointed = null;
    if (goes) this.current?.focus();
    return Boolean(goes);
  }

  /** A key decides on all selected lines, or on the line in use. */
  decideInUse(action) {
    if (!this.current) return false;
    if (this.refusesKeys()) return true;
    if (!this.selection.isMany) return this.decide(this.current, action);
    if (action === 'revise')
      return this.on.onsay(tr('Lines are revised one at a time: press Esc, and then R.'));
    return this.decideMany(action);
  }

  /** The drafted lines of the selection; the score can be kept, and added lines stay unchanged. */
  decideMany(action) {
    if (this.locked) return;
    const lines = [...this.selection.rows].filter(
      (row) => row instanceof DraftedRow || (row instanceof ScoreRow && row.keepable && action === 'approve'),
    );
    const refusal = action === 'approve' ? this.on.onbulk(lines) : '';
    if (refusal) {
      this.on.onsay(refusal);
      return;
    }
    for (const row of lines) /** @type {any} */ (row).setAction(action);
    this.changed();
    if (action === 'delete') this.selection.reason.focus();
  }

  /** Approves the open lines of one criterion, in a sheet of several. @param {import('../rows/row.js').Group} group */
  approveGroup(group) {
    if (this.locked) return;
    const lines = this.approvable().filter((row) => this.groupOf(row) === group);
    const refusal = this.on.onbulk(lines);
    if (refusal) {
      this.on.onsay(refusal);
      return;
    }
    for (const row of lines) row.setAction('approve');
    this.changed();
    this.focusNext(group.lines.at(-1));
  }

  /** Shows the progress of each criterion, in a sheet of several. */
  showGroups() {
    const approvable = new Set(this.approvable());
    for (const group of this.groups.values()) {
      const open = group.lines.filter((row) => row.problem());
      group.show(open.length, open.some((row) => approvable.has(row)) && !this.locked);
    }
  }

  /** Moves to the criterion before or after the one in use, in a sheet of several. @param {number} by */
  stepGroup(by) {
    const ids = [...this.groups.keys()];
    const there = this.groups.get(ids[ids.indexOf(this.group?.id ?? -1) + by]);
    this.goTo(there?.lines.find((row) => row.problem()) ?? there?.lines[0]);
  }

  /** Gives one reason to every selected line that takes one. */
  explainMany(reason) {
    for (const row of this.selection.rows) {
      if (!(row instanceof DraftedRow) || !['delete', 'revise'].includes(row.row.action)) continue;
      row.row.reason = reason;
      row.update();
    }
    this.changed('reason:many');
  }
}
