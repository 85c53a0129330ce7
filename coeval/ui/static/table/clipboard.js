/** The clipboard of a table: cells as a spreadsheet copies them, with tabs between the cells of a line. */

import { isTextBox } from '../core/dom.js';
import { AddedRow, DraftedRow } from '../rows/review_row.js';
import { ScoreRow } from '../rows/score_row.js';
import { COLUMNS, cellInUse } from './selection.js';

/** @typedef {import('./sheet_table.js').SheetTable} SheetTable */

const ACTIONS = new Set(['approve', 'revise', 'delete']);
const NEEDS_QUOTES = /[\t\n\r"]/;

/** @param {string[][]} rows */
export function writeCells(rows) {
  const cell = (text) => (NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => row.map(cell).join('\t')).join('\n');
}

/**
 * Parses cells that a spreadsheet copied: a cell with a tab, a line break or a quote is in quotes.
 * @param {string} text
 * @returns {string[][]}
 */
export function readCells(text) {
  /** @type {string[][]} */
  const rows = [[]];
  const source = text.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  let at = 0;
  while (at <= source.length) {
    const quoted = source[at] === '"' ? /^"((?:[^"]|"")*)"(?=[\t\n]|$)/.exec(source.slice(at)) : null;
    const [whole] = quoted ?? /^[^\t\n]*/.exec(source.slice(at)) ?? [''];
    rows[rows.length - 1].push(quoted ? quoted[1].replaceAll('""', '"') : whole);
    at += whole.length;
    if (source[at] === '\n') rows.push([]);
    at += 1;
  }
  return rows;
}

/** Copies the selected lines or the line in use as cells, or the text of the cell in use. @param {SheetTable} table @param {any} event */
export function copyCells(table, event) {
  const cell = cellInUse(table.all);
  if (!cell || (!table.selection.isMany && isTextBox(event.target))) return;
  if (!isTextBox(event.target) && !window.getSelection()?.isCollapsed) return;
  const [row, name] = cell;
  const lines = table.selection.isMany ? table.all.filter((one) => table.selection.rows.has(one)) : [row];
  const cells = lines.map((one) => one.cellTexts());
  const whole = table.selection.isMany || name === 'line';
  const shown = whole ? cells : cells.map((texts) => [texts[COLUMNS.indexOf(name)]]);
  event.clipboardData.setData('text/plain', writeCells(shown));
  event.preventDefault();
}

/**
 * Pastes cells from a spreadsheet, from the selected cell on to the right and down; on a line, whole lines or a
 * column of versions. Versions beyond the last line become added lines.
 * @param {SheetTable} table
 * @param {any} event
 */
export function pasteCells(table, event) {
  const cell = cellInUse(table.all);
  if (!cell || table.locked) return;
  const cells = readCells(event.clipboardData.getData('text/plain'));
  // one cell goes into the selected box, as typed words do
  if (isTextBox(event.target) && cells.length === 1 && cells[0].length === 1) return;
  event.preventDefault();
  const whole = cells.every((texts) => texts.length === COLUMNS.length);
  const isFixed = cell[1] === 'draft' || (cell[1] === 'line' && table.pointed && !whole);
  if (isFixed && !(cell[0] instanceof ScoreRow)) {
    table.sayNotEdited();
    return;
  }
  const first = cell[1] === 'line' || cell[1] === 'draft' ? 'version' : cell[1];
  const lines = table.all.slice(table.all.indexOf(cell[0]));
  const left = cells.length > lines.length ? cells.slice(lines.length) : [];
  for (const [n, texts] of cells.slice(0, lines.length).entries()) {
    if (whole) pasteLine(lines[n], texts);
    else pasteBeside(lines[n], first, texts);
  }
  const [offer] = table.offers.slice(-1);
  const more = whole || first !== 'version' ? [] : left.map(([text]) => text).filter((text) => text.trim());
  const room = table.sheet.limits.added - table.addedTo(table.group).length;
  if (offer) for (const text of more.slice(0, room)) table.append(offer.kind, text);
  table.changed();
  cell[0].focusCell(cell[1]);
}

/** @param {any} row @param {string[]} texts */
function pasteLine(row, texts) {
  const [, , version, action, reason] = texts;
  if (row instanceof AddedRow) row.take({ kind: row.row.kind, new_text: version, reason });
  else if (row instanceof DraftedRow && ACTIONS.has(action))
    row.take({ ...row.row, action, reason, new_text: action === 'revise' ? version : row.row.new_text });
}

/** Cells of one line, from a column on to the right. @param {any} row @param {string} first @param {string[]} texts */
function pasteBeside(row, first, texts) {
  const columns = COLUMNS.slice(COLUMNS.indexOf(first));
  for (const [n, text] of texts.slice(0, columns.length).entries()) {
    const column = columns[n];
    if (row instanceof ScoreRow) {
      const step = column === 'version' ? row.scale.find((one) => String(one) === text.trim()) : undefined;
      if (step !== undefined) row.set(step);
    } else if (column === 'reason') row.take({ ...row.row, reason: text });
    else if (column === 'action' && row instanceof DraftedRow && ACTIONS.has(text.trim()))
      row.setAction(text.trim());
    else if (column === 'version' && text.trim() && text !== row.row.text)
      row.take({ ...row.row, action: 'revise', new_text: text });
  }
}
