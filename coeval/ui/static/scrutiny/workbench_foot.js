/** Under the work: what is left to decide, marks, the way back and the way on. */

import { button, el, icon, kbd } from '../core/dom.js';
import { tr, trn } from '../core/words.js';
import { SheetFoot } from '../table/sheet_foot.js';

/** Beside a table's own: bulk approval, marks and the way back. */
export class Foot extends SheetFoot {
  constructor({ onrest, onflag, oncomment, onskip, onhistory, onback, onconfirm }) {
    super({ onhistory, onconfirm });
    this.confirmLabel.textContent = tr('Confirm and next');
    this.rest = button(
      tr('Approve the rest'),
      { class: 'ce-btn wb-rest', onclick: onrest, 'aria-keyshortcuts': 'Shift+A' },
      kbd('⇧ A'),
    );
    this.flag = button(
      icon('flag'),
      { class: 'ce-btn', onclick: onflag, 'aria-keyshortcuts': 'F', 'aria-label': tr('Flag') },
      el('span', { class: 'wb-word' }, tr('Flag')),
      kbd('F'),
    );
    this.comment = button(
      icon('comment'),
      { class: 'ce-btn', onclick: oncomment, 'aria-keyshortcuts': 'C', 'aria-label': tr('Comment') },
      el('span', { class: 'wb-word' }, tr('Comment')),
      kbd('C'),
    );
    this.skip = button(
      icon('skip'),
      { class: 'ce-btn', onclick: onskip, 'aria-keyshortcuts': 'S', 'aria-label': tr('Skip') },
      el('span', { class: 'wb-word' }, tr('Skip')),
      kbd('S'),
    );
    this.back = button(
      icon('left'),
      { class: 'ce-btn', onclick: onback, 'aria-keyshortcuts': 'B', 'aria-label': tr('Back') },
      el('span', { class: 'wb-word' }, tr('Back')),
      kbd('B'),
    );
    this.marks = el('div', { class: 'wb-marks' }, this.flag, this.comment, this.skip);
    this.build(this.rest, this.marks);
    this.confirm.before(this.back);
  }

  loadMarks({ flagged, comment, skipped }) {
    this.flag.setAttribute('aria-pressed', String(Boolean(flagged)));
    this.comment.classList.toggle('is-on', Boolean(comment));
    this.comment.title = comment || `${tr('Add a comment')} (C)`;
    this.skip.setAttribute('aria-pressed', String(Boolean(skipped)));
    this.flag.title = `${flagged ? tr('Take the flag off') : tr('Flag this instance')} (F)`;
    this.skip.title = `${skipped ? tr('No longer skip this instance') : tr('Skip this instance and go on')} (S)`;
  }

  /** `unseen` lines have not been on screen yet: what nobody saw is not approved in bulk. */
  loadCount(text, open, unseen, canApprove) {
    this.showCount(text, open);
    const ready = canApprove && unseen === 0;
    this.rest.setAttribute('aria-disabled', String(!ready));
    this.rest.title = ready
      ? tr('Approve every line without a decision')
      : canApprove
        ? trn(
            'First look at every line: {n} is further down',
            'First look at every line: {n} are further down',
            unseen,
          )
        : tr('There is no line left to approve');
  }
}
