/** Marks of an instance, visited places, and lines that were on screen. */

import { request } from '../core/api.js';
import { button, el } from '../core/dom.js';
import { readStored, writeStored } from '../core/kept.js';
import { comboOf } from '../core/keys.js';
import { tr } from '../core/words.js';

/* The path of this tab: its current step, for a reload, and its earlier steps, for going back. */

export class Places {
  constructor(person, task) {
    this.key = `coeval:place:${person}:${task}`;
    this.trail = [];
  }

  /** The step before a reload; empty in a new tab, where the server chooses the step. */
  left() {
    return readStored(this.key, () => sessionStorage) ?? {};
  }

  /** The instance that a link asked for, by its number in the queue or by its name; it is used once. */
  linked() {
    const address = new URL(window.location.href);
    const { searchParams } = address;
    const [at, item] = [searchParams.get('at'), searchParams.get('item')];
    if (!at && !item) return null;
    searchParams.delete('at');
    searchParams.delete('item');
    window.history.replaceState(window.history.state, '', address);
    return { filter: 'all', ...(item ? { item } : { at }) };
  }

  remember(place) {
    writeStored(this.key, place, () => sessionStorage);
  }

  /** Adds a step to the path, unless it is the current one. */
  arrive({ filter, instance, criterion }) {
    this.remember({ filter, instance, criterion });
    const last = this.last;
    if (last?.instance !== instance || last?.criterion !== criterion)
      this.trail.push({ instance, criterion });
  }

  get last() {
    return this.trail.at(-1);
  }

  /** Removes and returns the step before the one on screen (`here`); undefined at the beginning of the path. */
  back(here) {
    if (here) this.trail.pop();
    return this.trail.pop();
  }
}

/* The lines that were on screen; bulk approval waits until all lines were. */

const FOOT_PX = 64;
const ENOUGH = 0.6;

export class Seen {
  constructor(onchange) {
    this.waiting = new Set();
    this.onchange = onchange;
    this.observer = new IntersectionObserver((entries) => this.note(entries), {
      rootMargin: `0px 0px -${FOOT_PX}px 0px`,
      threshold: [0, 0.25, ENOUGH, 1],
    });
  }

  /** Starts over with the lines of a new step. */
  watch(nodes) {
    this.observer.disconnect();
    this.waiting = new Set(nodes);
    for (const node of nodes) this.observer.observe(node);
  }

  /** A line counts as seen if most of it, or half a screen of a long line, was visible. */
  note(entries) {
    for (const { target, intersectionRatio, intersectionRect, rootBounds } of entries) {
      const seen =
        intersectionRatio >= ENOUGH || intersectionRect.height >= (rootBounds?.height ?? Infinity) / 2;
      if (!seen) continue;
      this.waiting.delete(target);
      this.observer.unobserve(target);
    }
    this.onchange();
  }

  get unseen() {
    return this.waiting.size;
  }

  stop() {
    this.observer.disconnect();
  }
}

/* Flag, comment and skip: a person's marks on an instance, apart from the evaluation. */

const placeOf = (instance) => `${instance.id}:comment`;

/** The reason that a mark was not saved. @param {import('../core/api.js').ApiError} error */
function refusal(error) {
  return error.kind === 'offline'
    ? tr('Not saved: the server cannot be reached. Try again when the connection is back.')
    : error.message;
}

export class Marks {
  /** `current()` returns the step on screen; `onmarked(instance)` is called after a mark was saved or removed. */
  constructor({ kept, notices, current, onmarked, confirms }) {
    /** @type {import('../core/kept.js').Kept} */
    this.kept = kept;
    /** @type {import('../core/dom.js').Notices} */
    this.notices = notices;
    this.current = current;
    this.onmarked = onmarked;
    this.confirms = confirms;
  }

  /** Shows the mark at once, and removes it if the server refuses it. */
  async send(change) {
    const { task, instance } = this.current();
    if (!instance) return false;
    const before = { flagged: instance.flagged, comment: instance.comment, skipped: instance.skipped };
    Object.assign(instance, change);
    this.onmarked(instance);
    const body = { instance: instance.id, flagged: null, comment: null, skipped: null, ...change };
    try {
      Object.assign(
        instance,
        await request('POST', `api/scrutiny/${encodeURIComponent(task.slug)}/marks`, body),
      );
      return true;
    } catch (error) {
      Object.assign(instance, before);
      this.notices.warn(refusal(error));
      return false;
    } finally {
      this.onmarked(instance);
    }
  }

  flag() {
    const { instance } = this.current();
    return instance && this.send({ flagged: !instance.flagged });
  }

  /** Resolves true if the instance is now skipped, so that the caller can continue. */
  async skip() {
    const { instance } = this.current();
    return Boolean(instance) && (await this.send({ skipped: !instance.skipped })) && instance.skipped;
  }

  /** A box for a comment; typed text is kept until the server has it. */
  comment(root) {
    const { instance, limits } = this.current();
    if (!instance) return;
    const place = placeOf(instance);
    const kept = this.kept.get(place);
    const box = el('textarea', {
      class: 'ce-in',
      rows: '4',
      dir: 'auto',
      maxlength: String(limits.remark),
      'aria-label': tr('Comment on this instance'),
    });
    box.value = kept?.text ?? instance.comment ?? '';
    box.addEventListener('input', () => this.kept.put(place, { text: box.value, edited: true }));
    const save = async () => {
      const text = box.value.trim();
      const isNew = text && text !== instance.comment;
      if ((await this.saveComment(dialog, instance, text)) && isNew) this.notices.say(tr('Comment saved.'));
    };
    const dialog = el(
      'dialog',
      { class: 'coeval ce-dialog', 'aria-label': tr('Comment') },
      el('h2', {}, tr('Comment on this instance')),
      box,
      el('p', { class: 'ce-note' }, tr('Seen by the people who run the study, not by other annotators.')),
      el(
        'div',
        { class: 'ce-dialog-foot' },
        button(tr('Cancel'), { class: 'ce-btn', onclick: () => this.close(dialog, instance) }),
        button(tr('Save comment'), { class: 'ce-btn is-primary', onclick: save }),
      ),
    );
    dialog.addEventListener('keydown', (event) => {
      if (!this.confirms(comboOf(event))) return;
      event.preventDefault(); // the dialog closes at once, and the key would confirm the work behind it
      save();
    });
    dialog.addEventListener('close', () => dialog.remove());
    root.append(dialog);
    dialog.showModal();
    box.focus();
  }

  /** Cancel discards the typed text. Esc only closes the box, and the text is there again next time. */
  close(dialog, instance) {
    this.kept.drop(placeOf(instance));
    dialog.close();
  }

  async saveComment(dialog, instance, text) {
    dialog.close();
    const saved = text === (instance.comment ?? '') || (await this.send({ comment: text }));
    if (saved) this.kept.drop(placeOf(instance));
    return saved;
  }
}
