/** Flag, comment and skip: what a person notes on an instance beside the evaluation. */

import { request } from '../core/api.js';
import { button, el } from '../core/dom.js';
import { comboOf } from '../core/keys.js';
import { tr } from '../core/words.js';

const placeOf = (instance) => `${instance.id}:comment`;

/** Why a mark was not saved. @param {import('../core/api.js').ApiError} error */
function refusal(error) {
  return error.kind === 'offline'
    ? tr('Not saved: the server cannot be reached. Try again when the connection is back.')
    : error.message;
}

export class Marks {
  /** `current()` gives the step on screen; `onmarked(instance)` after a mark was saved or taken back. */
  constructor({ kept, notices, current, onmarked, confirms }) {
    /** @type {import('../core/drafts_kept.js').Kept} */
    this.kept = kept;
    /** @type {import('../core/notices.js').Notices} */
    this.notices = notices;
    this.current = current;
    this.onmarked = onmarked;
    this.confirms = confirms;
  }

  /** Shows the mark at once and takes it back when the server refuses it. */
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

  /** Skipping resolves true when the instance is now skipped, so that the caller can go on. */
  async skip() {
    const { instance } = this.current();
    return Boolean(instance) && (await this.send({ skipped: !instance.skipped })) && instance.skipped;
  }

  /** A box for a comment; what is typed is kept until the server has it. */
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
    const save = () => this.saveComment(dialog, instance, box.value.trim());
    const suggest = () => this.suggest(dialog, instance, box.value.trim());
    const dialog = el(
      'dialog',
      { class: 'coeval ce-dialog', 'aria-label': tr('Comment') },
      el('h2', {}, tr('Comment on this instance')),
      box,
      el(
        'p',
        { class: 'ce-note' },
        tr('Seen by the people who run the study, not by other annotators.'),
        ' ',
        tr('Words that state a criterion you miss can be suggested for the next version of the criteria.'),
      ),
      el(
        'div',
        { class: 'ce-dialog-foot' },
        button(tr('Cancel'), { class: 'ce-btn', onclick: () => this.close(dialog, instance) }),
        button(tr('Suggest as a criterion'), { class: 'ce-btn', onclick: suggest }),
        button(tr('Save comment'), { class: 'ce-btn is-primary', onclick: save }),
      ),
    );
    dialog.addEventListener('keydown', (event) => this.confirms(comboOf(event)) && save());
    dialog.addEventListener('close', () => dialog.remove());
    root.append(dialog);
    dialog.showModal();
    box.focus();
  }

  /** Cancelling says so: the words typed go. Esc only closes; they are there again when the box is opened. */
  close(dialog, instance) {
    this.kept.drop(placeOf(instance));
    dialog.close();
  }

  /** Saves the comment, and puts its words forward as a criterion; they are kept until both are there. */
  async suggest(dialog, instance, text) {
    const { task } = this.current();
    dialog.close();
    try {
      const path = `api/scrutiny/${encodeURIComponent(task.slug)}/suggestions`;
      await request('POST', path, { instance: instance.id, text });
    } catch (error) {
      this.notices.warn(refusal(error));
      return;
    }
    if (await this.saveComment(dialog, instance, text))
      this.notices.say(tr('Suggested for the next version of the criteria.'));
  }

  async saveComment(dialog, instance, text) {
    dialog.close();
    const saved = text === (instance.comment ?? '') || (await this.send({ comment: text }));
    if (saved) this.kept.drop(placeOf(instance));
    return saved;
  }
}
