/** Cells of the table: their places and their selection. */

import { button, el, fill, kbd } from '../core/dom.js';
import { isComposing } from '../core/keys.js';
import { tr, trn } from '../core/words.js';

/* A table as a sheet: one cell is selected, the keys move through the cells, and what is typed goes into it. */

/** @typedef {import('../rows/row.js').Row} Row */

export const COLUMNS = ['line', 'draft', 'version', 'action', 'reason'];

/** The columns that hold words of the person. */
const WORDS = ['version', 'reason'];

/** The line that holds a node, and the column of its cell. @returns {[Row, string] | null} */
export function cellOf(rows, node) {
  const row = rows.find((line) => line.node.contains(node));
  if (!row) return null;
  return [row, COLUMNS.slice(1).find((column) => row.cells[column]?.contains(node)) ?? 'line'];
}

/** The selected cell: the focus is on it, and not on a control or on words that are edited. @returns {[Row, string] | null} */
export function cellInUse(rows) {
  const at = document.activeElement;
  const cell = cellOf(rows, at);
  const isSelected = cell && (at === cell[0].cells[cell[1]] || at?.classList.contains('is-ready'));
  return isSelected ? cell : null;
}

/** Moves to the next cell; returns false if there is none, or none in use. */
export function stepAside(rows, by) {
  const cell = cellInUse(rows);
  if (!cell) return false;
  const [row, name] = cell;
  const places = COLUMNS.filter((column, n) => {
    const place = row.cells[column];
    return place && COLUMNS.findIndex((other) => row.cells[other] === place) === n;
  });
  const at = places.findIndex((column) => row.cells[column] === row.cells[name]);
  const next = places[at + by];
  if (next) row.focusCell(next);
  return true;
}

/** Moves to a column of a line, or to the line itself if it has no such cell. */
export function stepTo(rows, row, column = cellInUse(rows)?.[1]) {
  if (column && column !== 'line' && row?.cells[column]) row.focusCell(column);
  else row?.focus();
}

/** The cell with words before or after a cell, over the lines; undefined at the end. @returns {[Row, string] | undefined} */
export function wordsBeside(rows, [row, name], by) {
  const stops = rows.flatMap((line) =>
    WORDS.filter((column) => line.takesWords(column)).map(
      (column) => /** @type {[Row, string]} */ ([line, column]),
    ),
  );
  const at = stops.findIndex(([line, column]) => line === row && column === name);
  if (at >= 0) return stops[at + by];
  // from the draft of a line, its version is the next cell
  const own = stops.findIndex(([line]) => line === row);
  return own < 0 ? undefined : stops[by > 0 ? own : own - 1];
}

/* Several lines at once: the selected ones, and the bar to decide on all of them with one reason. */

export class Selection {
  /**
   * @param {{ondecide: (action: 'approve' | 'delete') => void, onreason: (reason: string) => void,
   *   onclear: () => void}} events
   */
  constructor({ ondecide, onreason, onclear }) {
    /** @type {Set<Row>} */
    this.rows = new Set();
    /** @type {Row | null} */
    this.anchor = null;
    this.count = el('span', { class: 'rt-bulk-count', role: 'status' });
    this.reason = el('input', {
      class: 'ce-in ce-small',
      'aria-label': tr('One reason for the selected lines'),
      placeholder: tr('one reason for all'),
      oninput: () => onreason(this.reason.value),
      onkeydown: (event) => {
        if (isComposing(event) || (event.key !== 'Enter' && event.key !== 'Escape')) return;
        event.preventDefault();
        event.stopPropagation();
        onclear();
      },
    });
    const act = (action, label, key) =>
      button(label, { class: 'ce-btn', onclick: () => ondecide(action) }, kbd(key));
    this.node = el('div', { class: 'rt-bulk', role: 'group', 'aria-label': tr('Selected lines') });
    this.node.hidden = true;
    fill(
      this.node,
      this.count,
      act('approve', tr('Approve'), 'A'),
      act('delete', tr('Delete'), 'D'),
      this.reason,
      button(tr('Clear'), { class: 'ce-link', onclick: onclear }, kbd('Esc')),
    );
  }

  get isMany() {
    return this.rows.size > 1;
  }

  /** Selects every line from the start of the selection to this one. @param {Row[]} all @param {Row} row */
  stretch(all, row) {
    this.anchor ??= row;
    const [from, to] = [all.indexOf(this.anchor), all.indexOf(row)].sort((a, b) => a - b);
    this.show(new Set(all.slice(Math.max(0, from), to + 1)));
  }

  /** Adds a line to the selection, or removes it. @param {Row} row */
  toggle(row) {
    const rows = new Set(this.rows.size ? this.rows : [this.anchor ?? row]);
    if (this.rows.size && rows.has(row)) rows.delete(row);
    else rows.add(row);
    this.anchor = row;
    this.show(rows);
  }

  clear() {
    this.anchor = null;
    this.reason.value = '';
    this.show(new Set());
  }

  /** @param {Set<Row>} rows */
  show(rows) {
    for (const row of this.rows) row.setChosen(false);
    this.rows = rows;
    for (const row of rows) row.setChosen(this.isMany);
    this.node.hidden = !this.isMany;
    this.count.textContent = this.isMany ? trn('{n} line selected', '{n} lines selected', rows.size) : '';
  }
}
