/** The common parts of a table's rows, and groups of rows. */

import { button, el, fill, icon, kbd, uniqueId } from '../core/dom.js';
import { tr } from '../core/words.js';

/* Names of lines. */

/** The name of a line by its kind; evidence has a number too. @param {string} kind @param {number} number */
export function lineName(kind, number) {
  const names = { conclusion: tr('Conclusion'), score: tr('Score'), criterion: tr('Criterion') };
  return kind === 'evidence' ? tr('Evidence {number}', { number }) : names[kind];
}

/** The name of a line that the person added. @param {string} kind */
export function addedName(kind) {
  const names = {
    conclusion: tr('Added conclusion'),
    evidence: tr('Added evidence'),
    criterion: tr('Added criterion'),
  };
  return names[kind];
}

/* The parts of a review's lines: boxes that grow, groups of buttons, and the line itself. */

/** The number of characters from which a text is long for a cell. */
const LONG = 48;

const KEYS = { approve: 'A', revise: 'R', delete: 'D' };

/** The name of an action's button. @param {string} action */
function signOf(action) {
  return { approve: tr('Approve'), revise: tr('Revise'), delete: tr('Delete') }[action];
}

/** Left and right move between the buttons of a group without choosing one; the group is one Tab stop. */
export function rovingGroup(group, buttons) {
  group.addEventListener('keydown', (event) => {
    const turned = getComputedStyle(group).direction === 'rtl';
    const step = { ArrowRight: turned ? -1 : 1, ArrowLeft: turned ? 1 : -1 }[event.key];
    const shown = buttons.filter((node) => node.getClientRects().length);
    const at = shown.indexOf(event.target);
    if (!step || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    shown[(at + step + shown.length) % shown.length].focus();
  });
}

/** Marks the chosen button of a radio group, or none, and leaves one Tab stop. */
export function checkOne(buttons, chosen, fallback = buttons[0]) {
  for (const [index, node] of buttons.entries()) {
    const on = index === chosen;
    node.setAttribute('aria-checked', String(on));
    node.setAttribute('tabindex', on || (chosen < 0 && node === fallback) ? '0' : '-1');
  }
}

/** The base of every line: a focusable group with a label, a body and its buttons. */
export class Row {
  constructor(table, row) {
    this.table = table;
    this.row = row;
    this.labelId = uniqueId('label');
    this.stateId = uniqueId('state');
    this.label = el('span', { id: this.labelId });
    this.nameLabel(row.label);
    this.state = el('span', { id: this.stateId, class: 'ce-sr' });
    // in the grid of all criteria, a line is a part of a cell
    this.isPart = row.group !== undefined;
    const cell = (name, column) =>
      el('div', { class: `rt-${name}`, tabindex: '-1', ...this.role('gridcell', column) });
    this.body = cell('body', 2);
    this.version = cell('version', 3);
    this.actions = cell('actions', 4);
    this.why = cell('why', 5);
    const side = el('div', { class: 'rt-label', ...this.role('rowheader', 1) }, this.label, this.state);
    this.node = el(
      'div',
      { class: 'rt-row', role: this.isPart ? 'group' : 'row', tabindex: '-1', 'data-kind': row.kind },
      side,
      this.body,
      this.version,
      // ahead of the buttons beside it, so that Tab leads from the words to their reason
      this.why,
      this.actions,
    );
    /** The cells for the arrow keys by column; a kind of line may lack some. @type {Record<string, HTMLElement>} */
    this.cells = {
      line: this.node,
      draft: this.body,
      version: this.version,
      action: this.actions,
      reason: this.why,
    };
    this.side = side;
    this.node.addEventListener('focusin', (event) => this.onfocus(event));
    this.node.addEventListener('dblclick', (event) => this.ondouble(event));
  }

  /** The role of a cell of the table. @param {string} role @param {number} column */
  role(role, column) {
    return this.isPart ? {} : { role, 'aria-colindex': String(column) };
  }

  /** In a sheet of several criteria, the column shows the kind of a line, so its number is enough. */
  nameLabel(label) {
    const [, kind, number] = /^(.*) (\d+)$/.exec(label) ?? [];
    const short = this.row.group !== undefined && number;
    fill(this.label, ...(short ? [el('span', { class: 'ce-sr' }, `${kind} `), number] : [label]));
  }

  /** Names the line for a screen reader: label, state, then the words. */
  nameBy(...ids) {
    this.node.setAttribute('aria-labelledby', [this.labelId, this.stateId, ...ids].join(' '));
  }

  onfocus({ target }) {
    this.table.select(this);
    if (target.tagName === 'TEXTAREA') this.table.beginWords(this);
    else this.table.endWords();
  }

  /** A double click on text edits it; beside the buttons, it changes nothing. */
  ondouble({ target }) {
    const isText = target !== this.node && !this.actions.contains(target);
    if (!isText || target.closest('button, textarea, a')) return;
    this.node.focus({ preventScroll: true });
    this.table.edit(this.why.contains(target) ? 'reason' : 'version');
  }

  focus(scroll = true) {
    this.node.focus({ preventScroll: true });
    if (scroll) this.node.scrollIntoView({ block: 'nearest' });
  }

  /** Selects a cell. A cell with words is selected by its box, so that every way to type goes into it. */
  focusCell(name, scroll = true) {
    const box = this.takesWords(name) ? this.boxOf(name) : null;
    box?.classList.add('is-ready');
    (box ?? this.cells[name]).focus({ preventScroll: true });
    box?.select();
    if (scroll) this.node.scrollIntoView({ block: 'nearest' });
  }

  /** Whether the person can write in a cell. @param {string} _column */
  takesWords(_column) {
    return false;
  }

  /** The box of a cell with words; if the cell is not in use, it may be hidden. @param {string} _column @returns {HTMLTextAreaElement | null} */
  boxOf(_column) {
    return null;
  }

  /** The words by which a heading sorts the lines. @param {number} column */
  sortKey(column) {
    return this.cellTexts()[column];
  }

  /** Begins an edit in a column. */
  edit(_column) {
    return false;
  }

  /** A long text is edited across the whole table. @param {boolean} isEdited @param {string[]} texts */
  widen(isEdited, ...texts) {
    this.node.classList.toggle('is-wide', isEdited && texts.some(({ length }) => length > LONG));
  }

  /** Whether the line is among the selected lines. */
  setChosen(on) {
    this.node.classList.toggle('is-chosen', on);
  }

  /** The texts of the five cells, for a spreadsheet. @returns {string[]} */
  cellTexts() {
    const { label, text = '', action, reason, new_text: version } = this.row;
    const worded = action === 'revise' || action === 'delete';
    return [label, text, action === 'revise' ? version : '', action ?? '', worded ? reason : ''];
  }

  setCurrent(on) {
    this.node.classList.toggle('is-current', on);
    this.node.setAttribute('tabindex', on ? '0' : '-1');
  }

  /** Buttons for actions as one radio group. */
  buildActions(names) {
    this.names = names;
    this.buttons = names.map((name) =>
      button(
        icon(name),
        {
          class: `rt-act rt-${name}`,
          role: 'radio',
          'aria-label': signOf(name),
          'aria-keyshortcuts': KEYS[name],
          title: `${signOf(name)} (${KEYS[name]})`,
          onclick: () => this.table.decide(this, name),
        },
        kbd(KEYS[name]),
      ),
    );
    const group = el(
      'div',
      {
        class: 'rt-group',
        role: 'radiogroup',
        'aria-label': tr('Decision on {line}', { line: this.row.label }),
      },
      ...this.buttons,
    );
    rovingGroup(group, this.buttons);
    this.actions.append(group);
  }

  lock(on) {
    for (const node of this.node.querySelectorAll('button')) node.disabled = on;
    for (const node of this.node.querySelectorAll('textarea')) node.readOnly = on;
  }
}

/**
 * The headings of a table; each sorts the lines, and a third press restores their order. One of them is a Tab stop.
 * @param {string} name the class @param {string[]} titles @param {(column: number) => void} onsort
 */
export function headRow(name, titles, onsort) {
  const buttons = titles.map((title, column) =>
    button(title, {
      class: 'rt-sort',
      tabindex: column ? '-1' : '0',
      title: tr('Sort by {column}', { column: title }),
      onclick: () => onsort(column),
    }),
  );
  const heads = buttons.map((node, n) =>
    el('span', { role: 'columnheader', 'aria-colindex': String(n + 1), 'aria-sort': 'none' }, node),
  );
  const head = el('div', { class: name, role: 'row' }, ...heads);
  rovingGroup(head, buttons);
  return head;
}

/* One criterion in a sheet of several: a row of a grid with its lines in the cells. */

export class Group {
  /** @param {any} table @param {SheetGroup} group */
  constructor(table, { id, number, name, text, note, add }) {
    this.table = table;
    this.id = id;
    this.number = number;
    this.add = add;
    this.score = el('div', { class: 'rg-score', role: 'gridcell' });
    this.conclusion = el('div', { class: 'rg-conclusion', role: 'gridcell' });
    this.evidence = el('div', { class: 'rg-evidence' });
    this.adders = el('div', { class: 'rg-adders' });
    this.rest = button(
      icon('approve'),
      { class: 'ce-btn rg-rest', onclick: () => table.approveGroup(this) },
      el('span', {}, tr('Approve rest')),
    );
    this.state = el('span', { class: 'rg-state' });
    this.node = el(
      'div',
      {
        class: 'rg-row',
        role: 'row',
        'aria-label': tr('Criterion {number}: {name}', { number, name: name || text }),
      },
      el(
        'div',
        { class: 'rg-criterion', role: 'rowheader' },
        el('span', { class: 'rg-number' }, String(number)),
        el(
          'div',
          { dir: 'auto' },
          el('div', { class: 'rg-name' }, name || text),
          name && text !== name ? el('div', { class: 'ce-note' }, text) : null,
          note ? el('div', { class: 'ce-note rg-note' }, note) : null,
        ),
      ),
      this.score,
      this.conclusion,
      el('div', { class: 'rg-lines', role: 'gridcell' }, this.evidence, this.adders),
      el('div', { class: 'rg-action', role: 'gridcell' }, this.rest, this.state),
    );
    fill(this.adders, ...table.adderButtons([add].flat()).map((node) => this.leading(node)));
  }

  /** Adds a node to this criterion, even while another is in use. @param {Node} node */
  leading(node) {
    node.addEventListener('click', () => this.table.select(this.lines[0]), { capture: true });
    return node;
  }

  get lines() {
    return this.table.all.filter(({ row }) => row.group === this.id);
  }

  /** Puts a line into its cell, before another if one is given. @param {any} row @param {any} before */
  put(row, before = null) {
    const cell = { score: this.score, conclusion: this.conclusion }[row.row.kind] ?? this.evidence;
    cell.insertBefore(row.node, before?.node.parentNode === cell ? before.node : null);
  }

  lock(on) {
    this.adders.hidden = on;
    this.rest.disabled = on;
  }

  /** The value by which a heading sorts the criteria. @param {number} column */
  sortKey(column) {
    const { lines } = this;
    const of = (kind) => lines.find(({ row }) => row.kind === kind)?.row;
    const evidence = lines.filter(({ row }) => row.kind === 'evidence').length;
    const open = lines.filter((row) => row.problem()).length;
    return [this.number, of('score')?.score ?? '', of('conclusion')?.text ?? '', evidence, -open][column];
  }

  /** Shows the number of open lines, and whether any can be approved. @param {number} open @param {boolean} approvable */
  show(open, approvable) {
    this.rest.hidden = !approvable;
    this.state.textContent = open ? tr('{n} to decide', { n: open }) : tr('decided');
    this.node.classList.toggle('is-decided', !open);
  }
}
