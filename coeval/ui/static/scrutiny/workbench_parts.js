/** Head, steps and foot of the workbench, and the bar that splits it. */

import { button, el, fill, icon, kbd } from '../core/dom.js';
import { readStored, writeStored } from '../core/kept.js';
import { tr, trn } from '../core/words.js';
import { SheetFoot } from '../table/sheet_work.js';

/* The foot: open decisions, marks, back and confirm. */

/** Adds bulk approval, marks and the way back to a table's foot. */
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
    this.flag.title = `${flagged ? tr('Remove the flag') : tr('Flag this instance')} (F)`;
    this.skip.title = `${skipped ? tr('Stop skipping this instance') : tr('Skip to the next instance')} (S)`;
  }

  /** `unseen` lines were not on screen yet; bulk approval is off until they were. */
  loadCount(text, open, unseen, canApprove) {
    this.showCount(text, open);
    const ready = canApprove && unseen === 0;
    this.rest.setAttribute('aria-disabled', String(!ready));
    this.rest.title = ready
      ? tr('Approve every line without a decision')
      : canApprove
        ? trn(
            'Read every line first: {n} is further down',
            'Read every line first: {n} are further down',
            unseen,
          )
        : tr('There is no line left to approve');
  }
}

/* The head: progress, jump, filter, and the criteria of the instance as steps. */

const filters = () => [
  ['all', tr('All')],
  ['unfinished', tr('Unfinished')],
  ['flagged', tr('Flagged')],
];

/** A person's time for one instance, in words. */
function pace(seconds) {
  const minutes = Math.round(seconds / 60);
  if (seconds >= 90) return tr('about {n} min each', { n: minutes });
  return tr('about {n} s each', { n: Math.max(5, Math.round(seconds / 5) * 5) });
}

/** Progress, jump, filter, next and previous instance. */
export class Head {
  constructor({ onjump, onfilter, onmove }) {
    this.position = '';
    this.jump = el('input', {
      class: 'wb-jump',
      inputmode: 'numeric',
      autocomplete: 'off',
      placeholder: '–', // the end screen is no instance
      'aria-label': tr('Go to a number of your queue'),
      title: `${tr('Type a number and press Enter')} (/)`,
      maxlength: '7',
    });
    this.of = el('span');
    /** Whether the person has judged the instance. */
    this.state = el('span', { class: 'wb-state' });
    this.fillBar = el('i');
    this.track = el(
      'div',
      { class: 'wb-track', role: 'progressbar', 'aria-label': tr('Instances done'), 'aria-valuemin': '0' },
      this.fillBar,
    );
    this.note = el('span', { class: 'wb-pace' });
    this.filters = filters().map(([name, label]) =>
      button(label, { 'data-filter': name, onclick: () => onfilter(name) }),
    );
    const form = el('form', { class: 'wb-jump-form' }, this.jump, this.of, this.state);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      onjump(this.jump.value);
    });
    this.jump.addEventListener('blur', () => (this.jump.value = this.position));
    this.moves = [this.moveButton('previous', 'K', onmove), this.moveButton('next', 'J', onmove)];
    this.node = el(
      'div',
      { class: 'wb-prog' },
      form,
      this.track,
      this.note,
      el(
        'div',
        { class: 'ce-seg wb-filters', role: 'group', 'aria-label': tr('Instances to show') },
        ...this.filters,
      ),
      el(
        'div',
        { class: 'ce-seg wb-moves', role: 'group', 'aria-label': tr('Move between instances') },
        ...this.moves,
      ),
    );
  }

  moveButton(direction, key, onmove) {
    const sign = icon(direction === 'next' ? 'right' : 'left');
    const parts = direction === 'next' ? [kbd(key), sign] : [sign, kbd(key)];
    return button('', { 'aria-keyshortcuts': key, onclick: () => onmove(direction) }, ...parts);
  }

  /** Moves stay within the filter, and their labels say so. @param {string} filter */
  nameMoves(filter) {
    const names = {
      all: [tr('Previous instance'), tr('Next instance')],
      unfinished: [tr('Previous unjudged instance'), tr('Next unjudged instance')],
      flagged: [tr('Previous flagged instance'), tr('Next flagged instance')],
    };
    for (const [at, node] of this.moves.entries()) {
      const name = names[filter][at];
      node.setAttribute('aria-label', name);
      node.title = `${name} (${node.getAttribute('aria-keyshortcuts')})`;
    }
  }

  focusJump() {
    this.jump.focus();
    this.jump.select();
  }

  load(step) {
    this.position = step.position ? String(step.position) : '';
    this.jump.value = this.position;
    this.jump.style.width = `${String(step.total).length + 2.5}ch`;
    this.of.textContent = tr('of {total}', step);
    this.track.setAttribute('aria-valuemax', String(step.total));
    this.track.setAttribute('aria-valuenow', String(step.done));
    const here = step.criteria.filter(({ done }) => done).length;
    const started = step.instance && here < step.criteria.length ? here : 0;
    const done = step.done + (started ? started / step.criteria.length : 0);
    this.fillBar.style.width = `${step.total ? (100 * done) / step.total : 0}%`;
    const count = step.criteria.length;
    const whole = here === count ? tr('judged') : tr('not judged');
    const state = started ? tr('{started} of {count} criteria judged', { started, count }) : whole;
    this.state.textContent = step.instance ? state : '';
    this.state.classList.toggle('is-done', here === count);
    this.nameMoves(step.filter);
    const parts = [trn('{n} done', '{n} done', step.done), step.seconds_each ? pace(step.seconds_each) : ''];
    this.note.textContent = parts.filter(Boolean).join(' · ');
    for (const node of this.filters) {
      const on = node.dataset.filter === step.filter;
      node.setAttribute('aria-pressed', String(on));
      if (node.dataset.filter === 'flagged')
        node.textContent = [tr('Flagged'), step.flagged || ''].join(' ').trim();
    }
  }
}

/** The criteria of the instance as numbered steps. */
export class Steps {
  constructor(onpick) {
    this.onpick = onpick;
    this.node = el('nav', { class: 'wb-steps', 'aria-label': tr('Criteria') });
  }

  /** `isKept(id)` tells whether a criterion has unsaved text. */
  load(step, isKept) {
    fill(
      this.node,
      ...step.criteria.map((criterion) =>
        this.chip(criterion, criterion.id === step.criterion, isKept(criterion.id)),
      ),
      step.instance?.name
        ? el(
            'span',
            { class: 'wb-name', dir: 'auto', title: step.instance.name },
            tr('Instance {name}', step.instance),
          )
        : null,
    );
  }

  /** Marks the criterion in use. @param {number} id */
  mark(id) {
    for (const node of this.node.querySelectorAll('.wb-chip')) {
      if (node.getAttribute('data-criterion') === String(id)) node.setAttribute('aria-current', 'step');
      else node.removeAttribute('aria-current');
    }
  }

  chip({ id, number, name, text, done, reopened }, current, kept) {
    const [sign, state] = reopened
      ? ['↻', tr(', open again: its wording changed')]
      : done
        ? ['✓', tr(', done')]
        : kept
          ? ['•', tr(', not saved yet')]
          : ['', ''];
    const kind = reopened ? 'is-reopened' : done ? 'is-done' : '';
    return button(
      String(number),
      {
        class: `wb-chip ${kind}`,
        'data-criterion': String(id),
        'aria-current': current ? 'step' : null,
        title: (name || text) + state,
        'aria-label': tr('Criterion {number}: {name}', { number, name: name || text }) + state,
        onclick: () => this.onpick(id),
      },
      sign ? el('span', { 'aria-hidden': 'true' }, sign) : null,
    );
  }
}

/* The bar between texts and work: drag it, or move it with the arrow keys. The browser remembers its place. */

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

  /** Whether the texts stand above the work, because the window is narrow. */
  get isStacked() {
    return window.innerWidth <= 980 && getComputedStyle(this.container).display === 'block';
  }

  /** Gives the texts the height of the window below the head. */
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

  /** Whether the texts are on the right, as on a right-to-left page. */
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
