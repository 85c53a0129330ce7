/**
 * The common parts of all editable tables of a study. The browser keeps typed text, confirmed work goes through the
 * outbox, and the person chooses between two versions.
 */

import { request, withQuery } from '../core/api.js';
import { button, clockTime } from '../core/dom.js';
import { showHistory } from '../core/history.js';
import { Kept, Outbox, newUid } from '../core/kept.js';
import { tr, trn } from '../core/words.js';
import { chooseVersion } from './conflict.js';
import { SheetTable } from './sheet_table.js';
import { sameState, savedText, withState } from './sheet_work.js';

/** @typedef {import('./sheet_work.js').SheetWork} SheetWork */
/** @typedef {import('../core/api.js').ApiError} ApiError */

const SLOW_MS = 400;

/**
 * The callbacks of the screen around the table.
 * @typedef {object} EditorEvents
 * @property {() => void} onload the table shows something else
 * @property {() => void} onchange a decision or a word changed
 * @property {() => void} oncount the open decisions must be counted again
 * @property {(answer: SaveAnswer<any>) => void} onsaved the work on screen was saved
 * @property {(now: any, mine: TableState, why: string) => void} onstale the work on screen was refused;
 * `now` is the current state
 * @property {() => void} onagreed two versions turned out to be equal
 * @property {() => boolean} [onleave] the save is on its way; shows the next work at once if it is here
 * @property {(answer: SaveAnswer<any>) => void} [onfollowed] the save behind the shown work was accepted
 * @property {() => void} [onreturn] it was not: shows its work again
 */

export class SheetEditor {
  /**
   * @param {{place: HTMLElement, host: HTMLElement, foot: import('./sheet_work.js').SheetFoot,
   *   notices: import('../core/dom.js').Notices}} view `place` takes the table, `host` the dialogs
   * @param {{task: string, person: string, box: string, signal: AbortSignal}} whose
   * @param {EditorEvents} on
   * @param {object} tableEvents further events of the table, see TableEvents
   * @param {typeof SheetTable} Table the table of an extension, which builds lines of its own
   */
  constructor(
    { place, host, foot, notices },
    { task, person, box, signal },
    on,
    tableEvents = {},
    Table = SheetTable,
  ) {
    this.host = host;
    this.foot = foot;
    this.notices = notices;
    this.task = task;
    this.person = person;
    this.box = box;
    this.on = on;
    /** @type {SheetWork | null} */
    this.work = null;
    this.isFlying = false;
    /**
     * The save that is on its way while the next work is already shown.
     * @type {{uid: string, answered: Promise<void>} | null}
     */
    this.behind = null;
    /** @type {string[]} */
    this.caughtUp = [];
    this.kept = new Kept(person, task, () =>
      notices.warn(
        tr(
          'This browser cannot keep unsaved work (its storage is full or off): save before you leave the page.',
        ),
      ),
    );
    this.table = new Table(place, {
      onchange: () => this.onchange(),
      oncomplete: () => !foot.node.hidden && foot.confirm.focus({ preventScroll: true }),
      onsay: (text, undo) => notices.say(text, undo),
      ...tableEvents,
    });
    this.outbox = new Outbox(person, box, {
      signal,
      onsaved: (entry, answer) => this.onsaved(entry, answer),
      onwaiting: (entry, error, seconds) => this.onwaiting(entry, error, seconds),
      onrefused: (entry, error) => this.onrefused(entry, error),
      onrestored: (what) => this.onrestored(what),
      onlost: (entry, error) => this.onlost(entry, error),
    });
  }

  /** Sends the saves of an earlier page; returns the places of this task that were saved. */
  async recover() {
    await this.outbox.recover();
    return this.caughtUp;
  }

  // ---- what is shown -------------------------------------------------------------------------------

  get waiting() {
    return this.work ? this.outbox.waitingFor(this.work.path, this.work.place) : undefined;
  }

  /**
   * Shows work: its saved state, or over it a waiting save or unsaved text.
   * @param {SheetWork} work
   * @param {TableState | null} mine a state that the server refused, to compare next
   */
  open(work, mine = null) {
    this.work = work;
    const { waiting } = this;
    const typed = work.hasUnsaved && !work.isStale && !mine ? work.unsent : null;
    const state = waiting?.state ?? typed?.state;
    this.load(state ? withState(work.sheet, state) : work.sheet);
    if (waiting) this.showWaiting(waiting);
    else if (typed) this.sayRestored(typed.at);
  }

  /** Empties the screen. */
  close() {
    this.work = null;
  }

  /** @param {Sheet} sheet */
  load(sheet) {
    this.table.load(sheet);
    if (!this.work) return;
    this.foot.loadStatus(savedText(this.work.sheet.saved_at, this.work.sheet.revision));
    this.foot.loadVersions(this.work.timesSaved);
    this.on.onload();
  }

  sayRestored(at) {
    this.notices.stay(
      'restored',
      tr('Your text from {time} is restored but not saved yet.', { time: clockTime(at) }),
      button(tr('Discard it'), { class: 'ce-btn', onclick: () => this.takeSaved() }),
    );
  }

  takeSaved() {
    if (!this.work) return;
    this.work.forget();
    this.notices.stay('', '');
    this.load(this.work.sheet);
    this.table.focusNext();
  }

  /** Shows two different versions side by side; equal ones need no choice. Kept work stays until then. */
  async compare(
    /** @type {TableState | null} */ mine = null,
    why = tr('This was saved from another tab or device after you began here.'),
  ) {
    const { work } = this;
    const other = mine ?? (work?.hasUnsaved && work.isStale && !this.waiting ? work.unsent?.state : null);
    if (!work || !other) return;
    if (sameState(other, work.saved)) {
      work.settle();
      this.on.onagreed();
      return;
    }
    work.choosing = true;
    const choice = await chooseVersion(this.host, { work, mine: other, why });
    work.choosing = false;
    if (this.work !== work) return;
    if (choice === 'saved') {
      this.takeSaved();
      return;
    }
    this.load(withState(work.sheet, other));
    this.keep();
    this.table.focusNext();
  }

  /** Shows every version that this person saved of the work on screen. */
  async showHistory() {
    const path = this.work?.historyPath;
    if (!path || !this.work?.timesSaved) return;
    try {
      const load = (/** @type {number | null} */ before = null) =>
        request('GET', withQuery(path, { before }));
      showHistory(this.host, await load(), load, (error) => this.notices.say(error.message));
    } catch (error) {
      this.notices.say(error.message);
    }
  }

  // ---- what the person does ------------------------------------------------------------------------

  onchange() {
    this.keep();
    this.on.oncount();
    this.on.onchange();
  }

  keep() {
    if (this.work && !this.waiting) this.work.keep(this.table.state());
  }

  /** Sends the work on screen once every line is decided; confirming a waiting save sends it now. */
  async confirm() {
    const { work } = this;
    await this.behind?.answered;
    if (!this.work || this.work !== work) return;
    if (this.table.locked) {
      if (this.waiting) this.outbox.deliver(this.waiting.uid);
      return;
    }
    const problem = this.table.showProblem();
    if (problem) this.notices.say(problem);
    else if (this.work.says(this.table.state())) this.submit(this.work);
    else this.on.onagreed();
  }

  /** Locks the table until there is an answer. @param {SheetWork} work */
  async submit(work) {
    const state = this.table.state();
    work.keep(state);
    const uid = newUid();
    const body = work.body(this.table.payload(), uid);
    this.table.lock(true);
    this.isFlying = true;
    const slow = setTimeout(() => this.foot.loadStatus(tr('Saving…')), SLOW_MS);
    const answered = this.outbox.add({
      uid,
      box: this.box,
      task: this.task,
      place: work.place,
      path: work.path,
      body,
      state,
      parts: work.parts(state),
    });
    // the save is stored and sent by now
    if (this.on.onleave?.()) {
      this.isFlying = false;
      this.behind = { uid, answered };
    }
    await answered;
    clearTimeout(slow);
    this.isFlying = false;
  }

  /** Whether the entry is the save behind the shown work, which ends with this answer. @param {Entry} entry */
  endsBehind({ uid }) {
    if (this.behind?.uid !== uid) return false;
    this.behind = null;
    return true;
  }

  // ---- what becomes of a save ----------------------------------------------------------------------

  /** Whether an entry belongs to the work on screen. @param {Entry} entry */
  isHere({ path, place }) {
    return this.work?.path === path && this.work.place === place;
  }

  onsaved(entry, answer) {
    this.isFlying = false;
    this.dropKept(entry);
    const at = savedText(answer.saved.submitted_at, answer.saved.revision);
    this.foot.loadStatus(at);
    if (this.endsBehind(entry)) {
      this.notices.clearWarnings();
      this.on.onfollowed?.(answer);
      return;
    }
    if (!this.isHere(entry) || !this.work) {
      if (entry.task === this.task)
        this.caughtUp.push(entry.place, ...(entry.parts ?? []).map(({ place }) => place));
      this.notices.say(tr('{saved}: a waiting answer.', { saved: at }));
      return;
    }
    this.work.settled = true;
    this.notices.clearWarnings();
    this.on.onsaved(answer);
  }

  /** Removes kept work once the server has it, unless more was typed since. */
  dropKept({ task, place, state, parts = [{ place, state }] }) {
    if (task !== this.task) return;
    for (const part of parts) {
      const kept = this.kept.get(part.place);
      if (kept?.state && sameState(kept.state, part.state)) this.kept.drop(part.place);
    }
  }

  onwaiting(entry, error, seconds) {
    this.isFlying = false;
    if (this.endsBehind(entry)) this.on.onreturn?.();
    if (this.isHere(entry)) this.showWaiting(entry, error, seconds);
    else {
      const { size } = this.outbox;
      this.foot.loadStatus(
        trn('{n} answer is waiting to be sent', '{n} answers are waiting to be sent', size),
      );
    }
  }

  /**
   * The strip that says that the answer is safe here, why it was not sent yet, and what can be done.
   * @param {Entry} entry
   * @param {ApiError | null} error
   */
  showWaiting(entry, error = null, seconds = 0) {
    this.table.lock(true);
    this.on.oncount();
    this.foot.loadStatus(tr('Not saved yet'));
    const signedOut = error?.kind === 'sign_in';
    const told = error && ['storage', 'quota'].includes(error.kind ?? '') ? error.message : '';
    const said = error?.isOtherPerson ? error.message : signedOut ? tr('You are signed out.') : told;
    const values = { said, seconds };
    const kept = said
      ? seconds
        ? tr('{said} Your answer is kept here: trying again in {seconds} s.', values)
        : tr('{said} Your answer is kept here: waiting to be sent.', values)
      : seconds
        ? tr('Offline: kept here, trying again in {seconds} s.', values)
        : tr('Offline: kept here until it can be sent.');
    const way = error?.isOtherPerson ? tr('Reload') : tr('Sign in');
    const signIn = button(way, { class: 'ce-btn', onclick: () => window.location.reload() });
    this.notices.stay(
      'offline',
      kept,
      ...(signedOut ? [signIn] : []),
      button(tr('Try now'), { class: 'ce-btn', onclick: () => this.outbox.deliver(entry.uid) }),
      button(tr('Edit again'), { class: 'ce-btn', onclick: () => this.takeBack(entry) }),
    );
  }

  /** Returns to editing. If it was saved after all, the next save is refused and both versions are shown. */
  takeBack(entry) {
    this.outbox.forget(entry.uid);
    this.table.lock(false);
    this.notices.stay('', '');
    this.foot.loadStatus('');
    this.keep();
    this.on.oncount();
    this.table.current?.focus();
  }

  /** Refused for good: the typed text stays for copying, and the page shows the next step. */
  showRefused(message) {
    const reload = () => window.location.reload();
    this.notices.stay('ended', message, button(tr('Continue'), { class: 'ce-btn', onclick: reload }));
  }

  onrefused(entry, error) {
    this.isFlying = false;
    if (this.endsBehind(entry)) this.on.onreturn?.();
    const here = this.isHere(entry);
    if (here && this.work && error.kind === 'stale' && error.body.now) {
      this.work.settled = true;
      this.on.onstale(error.body.now, entry.state, error.message);
      return;
    }
    if (here) this.takeBack(entry);
    if (here && error.kind === 'not_allowed') {
      this.showRefused(error.message);
      return;
    }
    const said = { reason: error.message };
    this.notices.warn(
      here
        ? tr('{reason} Nothing you typed is lost.', said)
        : tr('A waiting answer was refused: {reason} Nothing you typed is lost.', said),
    );
  }

  /** The server was restored from a snapshot without some of this person's saves. */
  onrestored({ sent, maybe, takenAt }) {
    const since = tr('The server was restored from a copy made at {time}.', {
      time: clockTime(takenAt),
    });
    const lost = trn(
      '{n} answer was missing, and this browser sent it again.',
      '{n} answers were missing, and this browser sent them again.',
      sent,
    );
    const check = tr('Work that you saved after that may be missing: check your last answers.');
    if (sent) this.notices.warn(`${since} ${lost}`);
    else if (maybe) this.notices.warn(`${since} ${check}`);
  }

  /** Keeps a save that the server lost and then refused as unsaved text. */
  onlost({ task, place, state, parts = [{ place, state }], body }, error) {
    const kept = new Kept(this.person, task);
    for (const part of parts)
      kept.put(part.place, {
        revision: body.revision,
        draft: body.draft ?? null,
        state: part.state,
        edited: true,
      });
    this.notices.warn(
      tr(
        'The server lost one of your answers and refused it the second time: {reason} This browser keeps it.',
        {
          reason: error.message,
        },
      ),
    );
  }
}
