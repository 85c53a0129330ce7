/* Elements without markup, numbers as papers print them, and files to save. */

const words = {};

/** Set the words of the page, in the language of the study. */
export function setWords(known) {
  Object.assign(words, known);
}

/** A word of the page with its {names} filled in. */
export function say(name, values = {}) {
  return words[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

/** An element by its tag and classes, with children (null is left out); texts never become markup. */
export function el(tag, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(' ');
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A coefficient as papers print it: .74 rather than 0.74. */
export function short(value) {
  const text = Math.abs(value).toFixed(2).replace(/^0/, '');
  return value < 0 && text !== '.00' ? `−${text}` : text;
}

export function interval({ low, high }, print) {
  return Number.isNaN(low) ? '' : `[${print(low)}, ${print(high)}]`;
}

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 200;

/** A drawing of an interval between two ends of a scale, with lines at thresholds; the table has the numbers. */
export function drawInterval({ value, low, high }, [from, to], thresholds = []) {
  const svg = document.createElementNS(SVG, 'svg');
  const place = (at) => 6 + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (WIDTH - 12);
  const add = (name, x1, x2, reach) => {
    const line = document.createElementNS(SVG, 'line');
    const set = { class: name, x1: place(x1), x2: place(x2), y1: 10 - reach, y2: 10 + reach };
    for (const [key, content] of Object.entries(set)) line.setAttribute(key, content);
    svg.append(line);
  };
  svg.setAttribute('viewBox', `0 0 ${WIDTH} 20`);
  svg.setAttribute('aria-hidden', 'true');
  for (const at of thresholds) add('rule', at, at, 10);
  if (!Number.isNaN(low)) add('span', low, high, 0);
  if (!Number.isNaN(value)) add('dot', value, value, 0);
  return svg;
}

/** A table that scrolls sideways where the screen is narrow; the first cell of a row is its heading. */
export function table(name, heads, rows) {
  const scoped = (scope, content) => Object.assign(el('th', content), { scope });
  const head = el('tr', ...heads.map((text) => scoped('col', text)));
  const lines = rows.map(([first, ...cells]) =>
    el('tr', scoped('row', first), ...cells.map((each) => el('td', each))),
  );
  const place = el('div.scroll', el('table', el('thead', head), el('tbody', ...lines)));
  return Object.assign(place, { tabIndex: 0, role: 'group', ariaLabel: name });
}

/** A cell that a spreadsheet does not run, as coeval/safe_csv.py writes it. */
function cell(value) {
  let text = value === null || Number.isNaN(value) ? '' : String(value);
  const formula = /^[ \ufeff\u00a0\u200b\u2060]*[=+\-@\t\r\n＝＋－＠]/;
  if (typeof value === 'string' && (value.startsWith("'") || formula.test(value))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Let the browser save rows as a CSV file. */
export function saveCsv(name, rows) {
  const text = rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  Object.assign(el('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
