/** The review table as a spreadsheet: cells, undo, several lines at once, the clipboard. */

import { isTextBox } from '../core/dom.js';
import { tr } from '../core/words.js';
import { AddedRow, DraftedRow } from '../rows/review_row.js';
import { ScoreRow } from '../rows/score_row.js';
import { readCells, writeCells } from './clipboard.js';
import { ReviewTable } from './review_table.js';
import { COLUMNS, Edits, Selection, cellInUse, stepAside, stepTo } from './selection.js';

const ACTIONS = new Set(['approve', 'revise', 'delete']);

export class SheetTable extends ReviewTable {
  /** @param {HTMLElement} root @param {import('./review_table.js').TableEvents & {name?: string}} events */
  constructor(root, events = {}) {
    super(root, events);
    this.edits = new Edits();
    /** The line that is being edited, and its state before. @type {{row: any, before: LineState} | null} */
    this.editing = null;
    this.selection = new Selection({
      ondecide: (action) => this.decideMany(action),
      onreason: (reason) => this.explainMany(reason),
      onclear: () => this.clearSelection(),
    });
    this.list.after(this.selection.node);
    this.list.addEventListener('copy', (event) => this.copy(event));
    this.list.addEventListener('paste', (event) => this.paste(event));
    this.list.addEventListener('pointerdown', (event) => this.onpress(event));
    this.list.addEventListener('click', (event) => this.onclick(event));
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

  goTo(row) {
    this.selection.clear();
    stepTo(this.all, row);
  }

  stepAside(by) {
    return stepAside(this.all, by);
  }

  /**
   * Begins an edit in the cell in use, or in a column of the line in use; `words` replace its text.
   * @param {string | null} column
   * @param {string | null} words
   */
  edit(column = null, words = null) {
    const cell = cellInUse(this.all);
    const row = this.current;
    if (this.locked || !row || !cell) return false;
    if (words !== null && cell[1] !== 'version' && cell[1] !== 'reason') return false;
    const before = { ...row.row };
    if (row.edit(column ?? (cell[1] === 'reason' ? 'reason' : 'version'), words))
      this.editing = { row, before };
    else this.on.onsay(tr('Only a revision or a deletion needs a reason: choose an action first.'));
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

  /** Ends typing and keeps the text. Moves to a missing reason, or to the next line if this one is decided. */
  commit() {
    const { current } = this;
    const inReason = current?.why.contains(document.activeElement);
    this.endWords();
    if (current instanceof DraftedRow && current.lacksOnlyReason && !inReason)
      return void current.edit('reason');
    const isDone = current instanceof DraftedRow && !current.problem();
    const next = isDone ? this.all[this.all.indexOf(current) + 1] : null;
    (next ?? current)?.focus();
  }

  /** Ends typing and restores the line; undo brings the text back. */
  cancel() {
    const { editing } = this;
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
    this.current?.focus();
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
    if (!row || event.target.closest('button, textarea, a')) return;
    if (event.shiftKey) {
      this.selection.stretch(this.all, row);
      window.getSelection()?.removeAllRanges();
    } else if (event.ctrlKey || event.metaKey) this.selection.toggle(row);
    else {
      this.selection.anchor = row;
      row.focus(false);
    }
  }

  clearSelection() {
    const many = this.selection.isMany;
    this.selection.clear();
    if (many) this.current?.focus();
    return many;
  }

  /** A key decides on all selected lines, or on the line in use. */
  decideInUse(action) {
    if (!this.current) return false;
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

  // ---- the clipboard -------------------------------------------------------------------------------

  /** The selected lines or the line in use as cells, or the text of the cell in use. */
  copy(event) {
    const cell = cellInUse(this.all);
    if (!cell || isTextBox(event.target) || !window.getSelection()?.isCollapsed) return;
    const [row, name] = cell;
    const lines = this.selection.isMany ? this.all.filter((one) => this.selection.rows.has(one)) : [row];
    const cells = lines.map((one) => one.cellTexts());
    const whole = this.selection.isMany || name === 'line';
    const shown = whole ? cells : cells.map((texts) => [texts[COLUMNS.indexOf(name)]]);
    event.clipboardData.setData('text/plain', writeCells(shown));
    event.preventDefault();
  }

  /**
   * Pastes cells from a spreadsheet, from the cell in use on: whole lines, or a column of versions or reasons.
   * Versions beyond the last line become added lines.
   */
  paste(event) {
    const cell = cellInUse(this.all);
    if (!cell || isTextBox(event.target) || this.locked) return;
    event.preventDefault();
    const cells = readCells(event.clipboardData.getData('text/plain'));
    const lines = this.all.slice(this.all.indexOf(cell[0]));
    const left = cells.length > lines.length ? cells.slice(lines.length) : [];
    const whole = cells.every((texts) => texts.length === COLUMNS.length);
    for (const [n, texts] of cells.slice(0, lines.length).entries()) {
      if (whole) this.pasteLine(lines[n], texts);
      else this.pasteCell(lines[n], cell[1], texts[0]);
    }
    const [offer] = this.offers.slice(-1);
    const more = whole ? [] : left.map(([text]) => text).filter((text) => text.trim());
    const room = this.sheet.limits.added - this.addedTo(this.group).length;
    if (offer) for (const text of more.slice(0, room)) this.append(offer.kind, text);
    this.changed();
    cell[0].focusCell(cell[1]);
  }

  /** @param {any} row @param {string[]} texts */
  pasteLine(row, texts) {
    const [, , version, action, reason] = texts;
    if (row instanceof AddedRow) row.take({ kind: row.row.kind, new_text: version, reason });
    else if (row instanceof DraftedRow && ACTIONS.has(action))
      row.take({ ...row.row, action, reason, new_text: action === 'revise' ? version : row.row.new_text });
  }

  pasteCell(row, name, text) {
    if (row instanceof ScoreRow) return;
    if (name === 'reason') row.take({ ...row.row, reason: text });
    else if (text.trim() && text !== row.row.text) row.take({ ...row.row, action: 'revise', new_text: text });
  }
}
