/** Converts lines of a table to text for a spreadsheet and back, with tabs between cells. */

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
