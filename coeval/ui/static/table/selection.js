/** Several lines at once: which are chosen, and the bar that decides on all of them and gives one reason. */

import { button, el, fill, kbd } from '../core/dom.js';
import { tr, trn } from '../core/words.js';

/** @typedef {import('../rows/row.js').Row} Row */

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
      'aria-label': tr('One reason for the lines chosen'),
      placeholder: tr('one reason for all'),
      oninput: () => onreason(this.reason.value),
      onkeydown: (event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onclear();
      },
    });
    const act = (action, label, key) =>
      button(label, { class: 'ce-btn', onclick: () => ondecide(action) }, kbd(key));
    this.node = el('div', { class: 'rt-bulk', role: 'group', 'aria-label': tr('Lines chosen') });
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

  /** Every line from the one where choosing began to this one. @param {Row[]} all @param {Row} row */
  stretch(all, row) {
    this.anchor ??= row;
    const [from, to] = [all.indexOf(this.anchor), all.indexOf(row)].sort((a, b) => a - b);
    this.show(new Set(all.slice(Math.max(0, from), to + 1)));
  }

  /** One line more, or one less. @param {Row} row */
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
    this.count.textContent = this.isMany ? trn('{n} line chosen', '{n} lines chosen', rows.size) : '';
  }
}
