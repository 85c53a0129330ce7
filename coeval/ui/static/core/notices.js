/** What the page says by itself: a quiet line for a screen reader, notices that pass, one that stays. */

import { button, el, fill, icon } from './dom.js';
import { tr } from './words.js';

const PASS_MS = 7000;

export class Notices {
  constructor() {
    this.live = el('div', { class: 'ce-sr', role: 'status', 'aria-live': 'polite' });
    this.alerts = el('div', { class: 'ce-toasts', role: 'alert' });
    this.toasts = el('div', { class: 'ce-toasts', role: 'status' });
    this.banner = el('div', { class: 'wb-banner', role: 'status' });
    this.corner = el('div', { class: 'ce-corner' }, this.alerts, this.toasts);
  }

  /** Said, not shown. */
  announce(text) {
    this.live.textContent = text;
  }

  /** Shown for a few seconds; `undo` adds a button. @param {string} text @param {(() => void) | null} undo */
  say(text, undo = null) {
    const toast = el('div', { class: 'ce-toast' }, el('span', { dir: 'auto' }, text));
    if (undo) {
      toast.append(
        button(tr('Undo'), {
          class: 'ce-link',
          onclick: () => {
            toast.remove();
            undo();
          },
        }),
      );
    }
    this.toasts.append(toast);
    setTimeout(() => toast.remove(), PASS_MS);
  }

  /** An error stays until it is closed. The same error is shown once. */
  warn(text) {
    if (Array.from(this.alerts.querySelectorAll('div')).some((node) => node.dataset.text === text)) return;
    const toast = el(
      'div',
      { class: 'ce-toast is-error', 'data-text': text },
      el('span', { dir: 'auto' }, text),
    );
    toast.append(
      button(icon('delete'), { class: 'ce-close', 'aria-label': tr('Close'), onclick: () => toast.remove() }),
    );
    this.alerts.append(toast);
  }

  clearWarnings() {
    fill(this.alerts);
  }

  /** The strip over the work that stays while its reason stays; without text it goes. */
  stay(kind, text, ...buttons) {
    this.banner.dataset.kind = kind;
    fill(this.banner, ...(text ? [el('span', { dir: 'auto' }, text), ...buttons] : []));
  }
}
