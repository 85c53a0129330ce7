/** Over the work: progress, jump, filter, and the criteria of the instance as steps. */

import { button, el, fill, icon, kbd } from '../core/dom.js';
import { tr, trn } from '../core/words.js';

const filters = () => [
  ['all', tr('All')],
  ['unfinished', tr('Unfinished')],
  ['flagged', tr('Flagged')],
];

/** How long a person takes for one instance, in words. */
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
      'aria-label': tr('Go to instance number'),
      title: `${tr('Type a number and press Enter')} (/)`,
      maxlength: '7',
    });
    this.of = el('span');
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
    const form = el('form', { class: 'wb-jump-form' }, this.jump, this.of);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      onjump(this.jump.value);
    });
    this.jump.addEventListener('blur', () => (this.jump.value = this.position));
    this.moves = [
      this.moveButton('previous', 'K', tr('Previous instance'), onmove),
      this.moveButton('next', 'J', tr('Next instance'), onmove),
    ];
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

  moveButton(direction, key, label, onmove) {
    const sign = icon(direction === 'next' ? 'right' : 'left');
    const parts = direction === 'next' ? [kbd(key), sign] : [sign, kbd(key)];
    return button(
      '',
      {
        'aria-label': label,
        title: `${label} (${key})`,
        'aria-keyshortcuts': key,
        onclick: () => onmove(direction),
      },
      ...parts,
    );
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
    const parts = [
      trn('{n} done', '{n} done', step.done),
      started ? tr('{started} of {count} criteria here', { started, count }) : '',
      step.seconds_each ? pace(step.seconds_each) : '',
    ];
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

  /** `isKept(id)` tells which criteria hold words not saved yet. */
  load(step, isKept) {
    fill(
      this.node,
      ...step.criteria.map((criterion) =>
        this.chip(criterion, criterion.id === step.criterion, isKept(criterion.id)),
      ),
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
