/** A table as a sheet: cells that the arrow keys walk through, and edits that begin and end as in a spreadsheet. */

/** @typedef {import('../rows/row.js').Row} Row */

export const COLUMNS = ['line', 'draft', 'version', 'action', 'reason'];

/** The cell that holds the focus itself, not a control inside it: [row, name], or null. */
export function cellInUse(rows) {
  const at = document.activeElement;
  for (const row of rows) {
    const name = COLUMNS.find((column) => row.cells[column] === at);
    if (name) return /** @type {[Row, string]} */ ([row, name]);
  }
  return null;
}

/** Into the cell beside; false where there is none, or none in use. */
export function stepAside(rows, by) {
  const cell = cellInUse(rows);
  if (!cell) return false;
  const [row, name] = cell;
  const there = COLUMNS.filter((column) => row.cells[column]);
  const next = there[there.indexOf(name) + by];
  if (next) row.focusCell(next);
  return true;
}

/** Into the same column of another line; the line itself where that has no such cell. */
export function stepTo(rows, row) {
  const [, name] = cellInUse(rows) ?? [];
  if (name && name !== 'line' && row?.cells[name]) row.focusCell(name);
  else row?.focus();
}
