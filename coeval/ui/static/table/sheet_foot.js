/** Under a table: what is left to decide, when it was saved, its versions, and the button that saves. */

import { button, clockTime, el, fill, kbd } from '../core/dom.js';
import { timesText } from '../core/history.js';
import { tr } from '../core/words.js';

export class SheetFoot {
  /** @param {{onhistory: () => void, onconfirm: () => void}} events */
  constructor({ onhistory, onconfirm }) {
    this.count = el('span', { class: 'wb-count' });
    this.status = el('span', { class: 'wb-status', role: 'status' });
    this.versions = button('', {
      class: 'ce-link wb-versions',
      'aria-keyshortcuts': 'H',
      title: `${tr('What you saved here')} (H)`,
      onclick: onhistory,
      hidden: true,
    });
    this.confirmLabel = el('span');
    this.confirmKey = kbd('');
    this.confirm = button(
      '',
      { class: 'ce-btn is-primary', onclick: onconfirm },
      this.confirmLabel,
      this.confirmKey,
    );
    this.node = el('div', { class: 'wb-foot' });
  }

  /** Puts the parts in a row; what stands over the table's own is given. @param {Node[]} tools */
  build(...tools) {
    fill(
      this.node,
      this.count,
      ...tools,
      el('span', { class: 'wb-space' }),
      this.status,
      this.versions,
      this.confirm,
    );
  }

  /** In full where there is room, short on a phone. @param {string} text @param {number} open */
  showCount(text, open) {
    fill(
      this.count,
      el('span', { class: 'wb-long' }, text),
      el(
        'span',
        { class: 'wb-short', 'aria-hidden': 'true' },
        open ? tr('{n} to decide', { n: open }) : text,
      ),
    );
  }

  /** `times` what is on screen was saved before; its versions can be looked at once there are two. */
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
  if (!time) return '';
  const version = tr('version {version}', { version: revision });
  return tr('Saved {time}', { time }) + (revision > 1 ? ` · ${version}` : '');
}
