/** The frame of the scrutiny screen: progress over it, steps beside the texts, the foot bar under it. */

import { button, clockTime, el, fill, icon, kbd, plural } from './dom.js';

const FILTERS = [['all', 'All'], ['unfinished', 'Unfinished'], ['flagged', 'Flagged']];

/** Minutes a person takes for one instance, in words. */
function pace(seconds) {
  if (!seconds) return '';
  return seconds < 90 ? ` · about ${Math.max(5, Math.round(seconds / 5) * 5)} s each` : ` · about ${Math.round(seconds / 60)} min each`;
}

/** Progress, jump, filter, next and previous instance. */
export class Head {
  constructor({ onjump, onfilter, onmove }) {
    this.jump = el('input', { class: 'wb-jump', inputmode: 'numeric', autocomplete: 'off', 'aria-label': 'Go to instance number', title: 'Type a number and press Enter (/)', maxlength: '7' });
    this.of = el('span');
    this.fillBar = el('i');
    this.track = el('div', { class: 'wb-track', role: 'progressbar', 'aria-label': 'Instances done', 'aria-valuemin': '0' }, this.fillBar);
    this.note = el('span', { class: 'wb-pace' });
    this.filters = FILTERS.map(([name, label]) => button(label, { 'data-filter': name, onclick: () => onfilter(name) }));
    const form = el('form', { class: 'wb-jump-form' }, this.jump, this.of);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      onjump(this.jump.value);
    });
    this.jump.addEventListener('blur', () => (this.jump.value = this.position));
    this.moves = [this.moveButton('previous', 'K', 'Previous instance', onmove), this.moveButton('next', 'J', 'Next instance', onmove)];
    this.node = el('div', { class: 'wb-prog' }, form, this.track, this.note,
      el('div', { class: 'ce-seg wb-filters', role: 'group', 'aria-label': 'Instances to show' }, ...this.filters),
      el('div', { class: 'ce-seg wb-moves', role: 'group', 'aria-label': 'Move between instances' }, ...this.moves));
  }

  moveButton(direction, key, label, onmove) {
    const sign = icon(direction === 'next' ? 'right' : 'left');
    const parts = direction === 'next' ? [kbd(key), sign] : [sign, kbd(key)];
    return button('', { 'aria-label': label, title: `${label} (${key})`, 'aria-keyshortcuts': key, onclick: () => onmove(direction) }, ...parts);
  }

  focusJump() {
    this.jump.focus();
    this.jump.select();
  }

  load(step) {
    this.position = step.position ? String(step.position) : '';
    this.jump.value = this.position;
    this.jump.style.width = `${String(step.total).length + 2.5}ch`;
    this.of.textContent = `of ${step.total}`;
    this.track.setAttribute('aria-valuemax', String(step.total));
    this.track.setAttribute('aria-valuenow', String(step.done));
    this.fillBar.style.width = `${step.total ? (100 * step.done) / step.total : 0}%`;
    this.note.textContent = `${step.done} done${pace(step.seconds_each)}`;
    for (const node of this.filters) {
      const on = node.dataset.filter === step.filter;
      node.setAttribute('aria-pressed', String(on));
      if (node.dataset.filter === 'flagged') node.textContent = step.flagged ? `Flagged ${step.flagged}` : 'Flagged';
    }
  }
}

/** The criteria of the instance as numbered steps. */
export class Steps {
  constructor(onpick) {
    this.onpick = onpick;
    this.node = el('nav', { class: 'wb-steps', 'aria-label': 'Criteria' });
  }

  /** `isKept(id)` tells which criteria hold words not saved yet. */
  load(step, isKept) {
    fill(this.node, ...step.criteria.map((criterion) => this.chip(criterion, criterion.id === step.criterion, isKept(criterion.id))));
  }

  chip({ id, number, name, text, done, reopened }, current, kept) {
    const [sign, state] = reopened ? ['↻', ', open again: its wording changed'] : done ? ['✓', ', done'] : kept ? ['•', ', not saved yet'] : ['', ''];
    const kind = reopened ? 'is-reopened' : done ? 'is-done' : '';
    return button(String(number), {
      class: `wb-chip ${kind}`, 'aria-current': current ? 'step' : null, title: (name || text) + state,
      'aria-label': `Criterion ${number}: ${name || text}${state}`, onclick: () => this.onpick(id),
    }, sign ? el('span', { 'aria-hidden': 'true' }, sign) : null);
  }
}

/** Count, bulk approval, marks, back and confirm. */
export class Foot {
  constructor({ onrest, onflag, oncomment, onskip, onback, onconfirm }) {
    this.count = el('span', { class: 'wb-count' });
    this.status = el('span', { class: 'wb-status', role: 'status' });
    this.rest = button('Approve the rest', { class: 'ce-btn wb-rest', onclick: onrest, 'aria-keyshortcuts': 'Shift+A' }, kbd('⇧ A'));
    this.flag = button(icon('flag'), { class: 'ce-btn', onclick: onflag, 'aria-keyshortcuts': 'F', 'aria-label': 'Flag' }, el('span', { class: 'wb-word' }, 'Flag'), kbd('F'));
    this.comment = button(icon('comment'), { class: 'ce-btn', onclick: oncomment, 'aria-keyshortcuts': 'C', 'aria-label': 'Comment' }, el('span', { class: 'wb-word' }, 'Comment'), kbd('C'));
    this.skip = button(icon('skip'), { class: 'ce-btn', onclick: onskip, 'aria-keyshortcuts': 'S', 'aria-label': 'Skip' }, el('span', { class: 'wb-word' }, 'Skip'), kbd('S'));
    this.back = button(icon('left'), { class: 'ce-btn', onclick: onback, 'aria-keyshortcuts': 'B', 'aria-label': 'Back' }, el('span', { class: 'wb-word' }, 'Back'), kbd('B'));
    this.confirmKey = kbd('');
    this.confirm = button('Confirm and next', { class: 'ce-btn is-primary', onclick: onconfirm }, this.confirmKey);
    this.marks = el('div', { class: 'wb-marks' }, this.flag, this.comment, this.skip);
    this.node = el('div', { class: 'wb-foot' },
      this.count, this.rest, this.marks, el('span', { class: 'wb-space' }), this.status, this.back, this.confirm);
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
    fill(this.count, el('span', { class: 'wb-long' }, text), el('span', { class: 'wb-short', 'aria-hidden': 'true' }, open ? `${open} to decide` : text));
    const ready = canApprove && unseen === 0;
    this.rest.setAttribute('aria-disabled', String(!ready));
    this.rest.title = ready ? 'Approve every line without a decision'
      : canApprove ? `First look at every line: ${plural(unseen, 'is', 'are')} further down` : 'There is no line left to approve';
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

/** What stands in place of the work when there is none. */
export function endScreen(step, onfilter) {
  const look = (filter, label) => button(label, { class: 'ce-btn', onclick: () => onfilter(filter) });
  const [title, text, ...buttons] = endWords(step, look);
  const sign = step.total && step.done === step.total ? ['wb-end-sign', 'approve'] : ['wb-end-sign is-quiet', 'rows'];
  return el('div', { class: 'ce-card wb-end' }, el('div', { class: sign[0], 'aria-hidden': 'true' }, icon(sign[1])),
    el('h2', { tabindex: '-1' }, title), el('p', {}, text), el('div', { class: 'wb-end-foot' }, ...buttons));
}

function endWords(step, look) {
  const { total, done, filter, flagged } = step;
  if (!total) return ['Nothing here yet', 'No instance is assigned to you in this task. Ask the people who run the study, then reload this page.'];
  if (filter === 'flagged') return ['No flags', 'You have flagged no instance.', look('unfinished', 'Go on with the unfinished')];
  const more = [flagged ? look('flagged', `Look at the ${flagged} flagged`) : null, look('all', 'Look through all')];
  if (done < total) return ['Nothing is left here', `${done} of ${total} are done; what remains was skipped or is not open to you.`, ...more];
  return ['That was the last one. Thank you.', `${total === 1 ? 'You have gone through it' : `You have gone through all ${total}`}. Everything is saved, and you can still look back and change your mind.`, ...more];
}
