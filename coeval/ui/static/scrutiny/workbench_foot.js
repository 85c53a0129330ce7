/** Under the work: what is left to decide, marks, the way back and the way on. */

import { button, clockTime, el, fill, icon, kbd, plural } from '../core/dom.js';
import { timesText } from '../core/history.js';

/** Count, bulk approval, marks, back and confirm. */
export class Foot {
  constructor({ onrest, onflag, oncomment, onskip, onhistory, onback, onconfirm }) {
    this.count = el('span', { class: 'wb-count' });
    this.status = el('span', { class: 'wb-status', role: 'status' });
    this.versions = button('', {
      class: 'ce-link wb-versions',
      'aria-keyshortcuts': 'H',
      title: 'What you saved here (H)',
      onclick: onhistory,
      hidden: true,
    });
    this.rest = button(
      'Approve the rest',
      { class: 'ce-btn wb-rest', onclick: onrest, 'aria-keyshortcuts': 'Shift+A' },
      kbd('⇧ A'),
    );
    this.flag = button(
      icon('flag'),
      { class: 'ce-btn', onclick: onflag, 'aria-keyshortcuts': 'F', 'aria-label': 'Flag' },
      el('span', { class: 'wb-word' }, 'Flag'),
      kbd('F'),
    );
    this.comment = button(
      icon('comment'),
      { class: 'ce-btn', onclick: oncomment, 'aria-keyshortcuts': 'C', 'aria-label': 'Comment' },
      el('span', { class: 'wb-word' }, 'Comment'),
      kbd('C'),
    );
    this.skip = button(
      icon('skip'),
      { class: 'ce-btn', onclick: onskip, 'aria-keyshortcuts': 'S', 'aria-label': 'Skip' },
      el('span', { class: 'wb-word' }, 'Skip'),
      kbd('S'),
    );
    this.back = button(
      icon('left'),
      { class: 'ce-btn', onclick: onback, 'aria-keyshortcuts': 'B', 'aria-label': 'Back' },
      el('span', { class: 'wb-word' }, 'Back'),
      kbd('B'),
    );
    this.confirmKey = kbd('');
    this.confirm = button(
      'Confirm and next',
      { class: 'ce-btn is-primary', onclick: onconfirm },
      this.confirmKey,
    );
    this.marks = el('div', { class: 'wb-marks' }, this.flag, this.comment, this.skip);
    this.node = el(
      'div',
      { class: 'wb-foot' },
      this.count,
      this.rest,
      this.marks,
      el('span', { class: 'wb-space' }),
      this.status,
      this.versions,
      this.back,
      this.confirm,
    );
  }

  loadMarks({ flagged, comment, skipped }) {
    this.flag.setAttribute('aria-pressed', String(Boolean(flagged)));
    this.comment.classList.toggle('is-on', Boolean(comment));
    this.comment.title = comment || 'Add a comment (C)';
    this.skip.setAttribute('aria-pressed', String(Boolean(skipped)));
    this.flag.title = flagged ? 'Take the flag off (F)' : 'Flag this instance (F)';
    this.skip.title = skipped ? 'No longer skip this instance (S)' : 'Skip this instance and go on (S)';
  }

  /** `unseen` lines have not been on screen yet: what nobody saw is not approved in bulk. */
  loadCount(text, open, unseen, canApprove) {
    fill(
      this.count,
      el('span', { class: 'wb-long' }, text),
      el('span', { class: 'wb-short', 'aria-hidden': 'true' }, open ? `${open} to decide` : text),
    );
    const ready = canApprove && unseen === 0;
    this.rest.setAttribute('aria-disabled', String(!ready));
    this.rest.title = ready
      ? 'Approve every line without a decision'
      : canApprove
        ? `First look at every line: ${plural(unseen, 'is', 'are')} further down`
        : 'There is no line left to approve';
  }

  /** `times` the step on screen was saved before; its versions can be looked at once there are two. */
  loadVersions(times) {
    this.versions.hidden = times < 2;
    this.versions.textContent = timesText(times);
  }

  loadStatus(text) {
    this.status.textContent = text;
  }
}

/** "Saved 14:32:07", with which version it is once there are several. */
export function savedText(at, revision) {
  const time = clockTime(at);
  return time ? `Saved ${time}${revision > 1 ? ` · version ${revision}` : ''}` : '';
}
