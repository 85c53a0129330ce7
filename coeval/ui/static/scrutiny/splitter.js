/** The bar between texts and work: drag it, or move it with the arrow keys; the browser remembers. */

import { el } from '../core/dom.js';
import { tr } from '../core/words.js';
import { readStored, writeStored } from '../core/storage.js';

const STORED = 'coeval:layout';
const [LEAST, MOST, USUAL] = [25, 75, 46];

/** Share of the texts in percent and whether input and output stand side by side. */
export class Layout {
  constructor(container, onchange = () => {}) {
    this.container = container;
    this.onchange = onchange;
    this.bar = el('div', {
      class: 'wb-split',
      role: 'separator',
      tabindex: '0',
      'aria-orientation': 'vertical',
      'aria-label': tr('Width of the texts'),
      'aria-valuemin': LEAST,
      'aria-valuemax': MOST,
      title: tr('Drag, or press ← and →'),
    });
    const { share = USUAL, sideBySide = false } = readStored(STORED) ?? {};
    this.sideBySide = Boolean(sideBySide);
    this.setShare(Number.isFinite(share) ? share : USUAL);
    this.listen();
  }

  setShare(share) {
    this.share = Math.max(LEAST, Math.min(MOST, share));
    this.container.style.setProperty('--wb-share', `${this.share}%`);
    this.container.classList.toggle('is-side-by-side', this.sideBySide);
    this.bar.setAttribute('aria-valuenow', String(Math.round(this.share)));
  }

  /** Leaves the texts as much height as the window has under what stands over them. */
  fit() {
    const { top } = this.container.getBoundingClientRect();
    this.container.style.setProperty('--wb-top', `${Math.max(16, Math.min(top, window.innerHeight / 3))}px`);
  }

  store() {
    writeStored(STORED, { share: this.share, sideBySide: this.sideBySide });
  }

  toggle() {
    this.sideBySide = !this.sideBySide;
    this.setShare(this.share);
    this.store();
    this.onchange();
  }

  listen() {
    const { bar } = this;
    bar.addEventListener('pointerdown', (event) => {
      bar.setPointerCapture(event.pointerId);
      event.preventDefault();
      bar.focus();
    });
    bar.addEventListener(
      'pointermove',
      (event) => bar.hasPointerCapture(event.pointerId) && this.drag(event.clientX),
    );
    bar.addEventListener('pointerup', () => this.store());
    bar.addEventListener('dblclick', () => this.setShare(USUAL) ?? this.store());
    bar.addEventListener('keydown', (event) => this.key(event));
  }

  /** Whether the texts stand at the right, as on a page that runs from right to left. */
  get isTurned() {
    return getComputedStyle(this.container).direction === 'rtl';
  }

  drag(x) {
    const box = this.container.getBoundingClientRect();
    const way = this.isTurned ? box.right - x : x - box.left;
    this.setShare((way / box.width) * 100);
  }

  key(event) {
    const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    this.setShare(this.share + (this.isTurned ? -step : step));
    this.store();
  }
}
