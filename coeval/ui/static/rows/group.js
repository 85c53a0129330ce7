/** One criterion in a sheet of several: a row of a grid, its lines in the cells. */

import { button, el, fill, icon } from '../core/dom.js';
import { tr } from '../core/words.js';

/** The headings of the grid; what each cell is, its own label says to a screen reader. */
export function groupHead() {
  const names = [tr('Criterion'), tr('Score'), tr('Conclusion'), tr('Evidence'), tr('Action')];
  return el('div', { class: 'rg-head', 'aria-hidden': 'true' }, ...names.map((name) => el('span', {}, name)));
}

export class Group {
  /** @param {any} table @param {SheetGroup} group */
  constructor(table, { id, number, name, text, note, add }) {
    this.table = table;
    this.id = id;
    this.number = number;
    this.add = add;
    this.score = el('div', { class: 'rg-score' });
    this.conclusion = el('div', { class: 'rg-conclusion' });
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
        role: 'group',
        'aria-label': tr('Criterion {number}: {name}', { number, name: name || text }),
      },
      el(
        'div',
        { class: 'rg-criterion' },
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
      el('div', { class: 'rg-lines' }, this.evidence, this.adders),
      el('div', { class: 'rg-action' }, this.rest, this.state),
    );
    fill(this.adders, ...table.adderButtons([add].flat()).map((node) => this.leading(node)));
  }

  /** Adds to this criterion, also where another is in use. @param {Node} node */
  leading(node) {
    node.addEventListener('click', () => this.table.select(this.lines[0]), { capture: true });
    return node;
  }

  get lines() {
    return this.table.all.filter(({ row }) => row.group === this.id);
  }

  /** Puts a line into its cell, ahead of another where one is given. @param {any} row @param {any} before */
  put(row, before = null) {
    const cell = { score: this.score, conclusion: this.conclusion }[row.row.kind] ?? this.evidence;
    cell.insertBefore(row.node, before?.node.parentNode === cell ? before.node : null);
  }

  lock(on) {
    this.adders.hidden = on;
    this.rest.disabled = on;
  }

  /** How far it is, and whether there is anything to approve. @param {number} open @param {boolean} approvable */
  show(open, approvable) {
    this.rest.hidden = !approvable;
    this.state.textContent = open ? tr('{n} to decide', { n: open }) : tr('decided');
    this.node.classList.toggle('is-decided', !open);
  }
}
