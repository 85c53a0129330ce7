/** The scrutiny screen: fetches steps, shows them in an editor, and continues after each save. */

import { request, withQuery } from '../core/api.js';
import { button, isShown } from '../core/dom.js';
import { CHANGED } from '../core/follow.js';
import { readStored, writeStored } from '../core/kept.js';
import { Keys, printed } from '../core/keys.js';
import { tr, trn } from '../core/words.js';
import { Frame } from './frame.js';
import { Marks, Places, Seen } from './marks.js';
import { StepClock } from './timing.js';
import { InstanceWork, StepWork } from './work.js';
import { SheetEditor } from '../table/sheet_editor.js';
import { sameState, savedText } from '../table/sheet_work.js';
import { workbenchCommands } from '../table/table_keys.js';
import { evidenceSpans, utf16Index } from '../texts/text.js';

const MARK_DELAY_MS = 150;
const VIEW = 'coeval:all-criteria';

export class Workbench {
  /**
   * `task` is a slug; `person` only separates the stored data of different people.
   * @param {HTMLElement} root
   * @param {ScreenValue} value
   */
  constructor(root, { task, person }) {
    this.slug = task;
    this.person = person;
    this.filter = 'unfinished';
    this.turn = 0;
    /** Whether another step is on its way to the screen. */
    this.opening = false;
    this.places = new Places(person, task);
    /** Whether to ask for all criteria of an instance at once; until the person switches, the study decides. */
    this.wantsAll = readStored(VIEW);
    /** @type {Step | null} */
    this.step = null;
    /** @type {Place | null} */
    this.failed = null;
    /** The step that follows a save of the work on screen, fetched ahead. @type {{work: any, step: OpenStep} | null} */
    this.ahead = null;
    /** The work for which a new draft is offered. @type {StepWork | InstanceWork | null} */
    this.offered = null;
    /** The step whose save is on its way. @type {Step | null} */
    this.left = null;
    this.toUtf16 = { input: utf16Index(''), output: utf16Index('') };
    this.stop = new AbortController();
    this.frame = new Frame(root, this.actions());
    this.editor = this.buildEditor();
    this.clock = new StepClock(person, { isShown: () => isShown(this.frame.node), signal: this.stop.signal });
    this.seen = new Seen(() => this.recount());
    this.marks = new Marks({
      kept: this.editor.kept,
      notices: this.frame.notices,
      current: () => this.step ?? {},
      onmarked: (instance) => this.onmarked(instance),
      confirms: (combo) => this.confirmCombos.includes(combo),
    });
    this.keys = new Keys(
      this.frame.node,
      workbenchCommands(this),
      () => this.opening || this.editor.isFlying,
    );
    this.keys.onchange(() => this.printConfirmKey());
    this.listen();
  }

  /** The actions of the frame's buttons. @returns {import('./frame.js').FrameActions} */
  actions() {
    return {
      jump: (text) => this.jump(text),
      filter: (filter) => this.setFilter(filter),
      move: (way) => this.move(`${way}_instance`),
      criterion: (criterion) => this.pickCriterion(criterion),
      approveRest: () => this.approveRest(),
      flag: () => this.marks.flag(),
      comment: () => this.comment(),
      skip: () => this.skip(),
      history: () => this.editor.showHistory(),
      back: () => this.back(),
      confirm: () => this.editor.confirm(),
      keys: () => this.keys.show(),
      guidelines: () => this.showGuidelines(),
      view: () => this.changeView(),
      draft: () => this.draftThis(),
      pickLine: (row) => this.table.pick(row),
      hoverLines: (rows) => this.table.hover(rows),
    };
  }

  buildEditor() {
    const { node, place, foot, notices } = this.frame;
    const whose = { task: this.slug, person: this.person, box: 'scrutiny', signal: this.stop.signal };
    const on = {
      onload: () => this.onload(),
      onchange: () => this.onchange(),
      oncount: () => this.recount(),
      onsaved: (answer) => this.onsaved(answer),
      onstale: (now, mine, why) => this.show(now, { mine, asked: true, why }),
      onagreed: () => this.open({ move: 'next', ...this.place }),
      onleave: () => this.onleave(),
      onfollowed: (answer) => this.onfollowed(answer),
      onreturn: () => this.onreturn(),
    };
    return new SheetEditor({ place, host: node, foot, notices }, whose, on, {
      name: tr('Lines of the evaluation'),
      oncurrent: (key) => this.oncurrent(key),
      wordsFor: (kind) => this.wordsFor(kind),
      onbulk: (lines) => this.onbulk(lines),
    });
  }

  get table() {
    return this.editor.table;
  }

  /** The work on screen, if any: one evaluation, or all of an instance. @returns {StepWork | InstanceWork | null} */
  get work() {
    return /** @type {StepWork | InstanceWork | null} */ (this.editor.work);
  }

  get confirmCombos() {
    return this.keys.combosOf('confirm');
  }

  printConfirmKey() {
    this.frame.foot.confirmKey.textContent = printed(this.confirmCombos[0]);
  }

  listen() {
    const { signal } = this.stop;
    const keep = () => this.editor.keep();
    window.addEventListener('pagehide', keep, { signal });
    window.addEventListener('resize', () => this.frame.layout.fit(), { signal });
    document.addEventListener('visibilitychange', keep, { signal });
    window.addEventListener('online', () => this.failed && this.open(this.failed), { signal });
    const again = () => (this.work ? this.fetchNews() : this.started && this.open({}));
    window.addEventListener(CHANGED, again, { signal });
    this.watchReturn();
  }

  /** Shows a new answer to the person's flag or comment on the instance on screen, and a draft that it waits for. */
  async fetchNews() {
    const { work } = this;
    const { instance, criterion, evaluations, evaluation } = /** @type {OpenStep} */ (this.step);
    const awaits = (evaluations ?? [evaluation]).some(
      ({ status, arm }) => status === 'none' && arm !== 'blind',
    );
    if (!instance.flagged && !instance.comment && !awaits) return;
    const query = { instance: instance.id, criterion, sheet: Boolean(evaluations) };
    const step = await this.fetchStep(query).catch(() => null); // the next change tries again
    if (!work || this.work !== work || instance.id !== step?.instance?.id) return;
    instance.answer = step.instance.answer;
    this.frame.answer.textContent = step.instance.answer;
    if (awaits && !this.opening && !this.editor.isFlying && !this.editor.waiting) this.loadDraft(step);
  }

  /** Shows a new draft of the work on screen, or offers it to a person who has begun to write. @param {OpenStep} step */
  loadDraft(step) {
    const { work } = this;
    const statuses = (/** @type {OpenStep} */ { evaluations, evaluation }) =>
      (evaluations ?? [evaluation]).map(({ status }) => status).join();
    if (!work || !this.step || this.offered === work) return;
    if (statuses(step) === statuses(/** @type {OpenStep} */ (this.step))) {
      if (!step.evaluations) this.frame.loadNote(step.evaluation, Boolean(step.offers_draft));
      return;
    }
    if (sameState(this.table.state(), work.saved)) {
      this.showDraft(step);
      return;
    }
    this.offered = work;
    const look = button(tr('Show the draft'), { class: 'ce-btn', onclick: () => this.showDraft(step) });
    this.frame.notices.stay('drafted', tr('There is a draft for this one now.'), look);
  }

  /** Shows the work on screen with its new draft; what was typed before stays to be compared. @param {OpenStep} step */
  showDraft(step) {
    this.editor.keep();
    this.show(step, { asked: true, why: tr('The draft was written after you began here.') });
  }

  /** A screen without work checks again when its tab is opened again. */
  watchReturn() {
    let away = false;
    const watch = new IntersectionObserver(([entry]) => {
      const shown = entry.boundingClientRect.height > 0;
      if (shown && away && !this.work && this.started) this.open({});
      away = !shown;
    });
    watch.observe(this.frame.node);
    this.stop.signal.addEventListener('abort', () => watch.disconnect());
  }

  async start() {
    const place = this.places.linked() ?? this.places.left();
    const sent = await this.editor.recover();
    const went = sent.includes(`${place.instance}:${place.criterion}`);
    await this.open(went ? { move: 'next', ...place } : place);
    this.started = true;
  }

  /** Whether this value is already shown. @param {ScreenValue} value */
  shows({ task, person }) {
    return this.frame.node.isConnected && this.slug === task && this.person === person;
  }

  /** Ends listening, because the page shows another task or person. */
  destroy() {
    this.editor.keep();
    this.stop.abort();
    this.seen.stop();
    this.frame.node.remove();
  }

  // ---- where we are --------------------------------------------------------------------------------

  /** Fetches a step and shows it; of several open requests, only the last counts. */
  async open(query = {}) {
    if (this.editor.isFlying) return;
    await this.editor.behind?.answered;
    this.editor.keep();
    this.turn += 1;
    const { turn } = this;
    this.wait(true);
    try {
      const step = await this.fetchStep({ sheet: this.wantsAll, ...query });
      if (turn !== this.turn) return;
      this.wait(false);
      this.show(step, { asked: Object.keys(query).length > 0 });
      this.keys.playEarly();
    } catch (error) {
      if (turn !== this.turn) return;
      this.wait(false);
      this.onfailed(error, query);
    }
  }

  /** @returns {Promise<any>} */
  fetchStep(query) {
    const path = `api/scrutiny/${encodeURIComponent(this.slug)}/step`;
    return request('POST', withQuery(path, { filter: this.filter, ...query }));
  }

  /**
   * Fetches the step that follows a save, so that nobody waits for it on a slow line. The server reserves it: it is
   * opened by the save. What a first score reveals cannot be fetched before the score is saved.
   */
  async lookAhead() {
    const { work, step } = this;
    this.ahead = null;
    if (!work || !step || this.left) return;
    const evaluations = step.evaluations ?? [step.evaluation];
    if (evaluations.some((each) => each?.asks_first)) return;
    const sheet = Boolean(step.evaluations);
    const move = sheet ? 'next_sheet' : 'next';
    const next = await this.fetchStep({ sheet, move, ...this.place, ahead: true }).catch(() => null);
    if (next?.instance && this.work === work) this.ahead = { work, step: next };
  }

  /** Shows the next step while the save of this one is on its way. */
  onleave() {
    const { ahead, step, work } = this;
    this.ahead = null;
    if (!ahead || ahead.work !== work) return false;
    this.left = step;
    this.frame.node.dataset.saving = 'yes';
    this.show(ahead.step);
    return true;
  }

  /** The save behind the shown step was accepted: the server opened what is shown, or names another step. */
  onfollowed(answer) {
    const { next } = answer;
    const content = (/** @type {any} */ { instance, criterion, evaluation, evaluations }) =>
      JSON.stringify([instance?.id, criterion, evaluations ?? evaluation]);
    this.endLeft();
    if (!this.step || !next?.instance || content(next) !== content(this.step)) {
      this.onsaved(answer);
      return;
    }
    this.step = { ...next, instance: this.step.instance };
    this.frame.head.load(next);
    this.loadSteps(next);
    this.lookAhead();
  }

  endLeft() {
    this.left = null;
    delete this.frame.node.dataset.saving;
  }

  /** The save was refused or is waiting: shows its work again. What was typed meanwhile is kept. */
  onreturn() {
    const { left } = this;
    this.endLeft();
    this.editor.keep();
    if (left) this.show(left, { asked: true });
  }

  /** @param {boolean} on */
  wait(on) {
    this.opening = on;
    this.frame.busy(on);
  }

  onfailed(error, query) {
    if (error.kind === 'not_found' && query.instance && !this.step) {
      this.places.remember({});
      this.open({});
      return;
    }
    this.failed = error.isPassing ? query : null;
    this.frame.showFailure(error, () => this.open(query), Boolean(this.step));
  }

  /**
   * Shows a step. `mine` is the state of a refused stale save; `asked` is true if the person chose the step.
   * @param {Step} step
   * @param {{mine?: TableState | null, asked?: boolean, why?: string}} how
   */
  show(step, { mine = null, asked = false, why } = {}) {
    const before = this.step;
    this.failed = null;
    this.step = step;
    this.filter = step.filter;
    this.frame.notices.stay('', '');
    this.frame.head.load(step);
    if (!step.instance || (step.finished && !asked)) {
      this.showEnd(step);
      return;
    }
    this.showWork(/** @type {OpenStep} */ (step), before, mine);
    this.editor.compare(mine, why);
  }

  /** @param {OpenStep} step @param {Step | null} before @param {TableState | null} mine */
  showWork(step, before, mine) {
    const kept = this.editor.kept;
    const ms = () => this.clock.ms;
    const work = step.evaluations
      ? new InstanceWork(/** @type {SheetStep} */ (step), kept, ms)
      : new StepWork(step, kept, ms);
    if (before?.instance && before.instance.id !== work.instance) this.frame.notices.clearSaid();
    this.places.arrive({ filter: step.filter, instance: work.instance, criterion: work.criterion });
    this.clock.begin(work.activeBefore, step.task.idle_seconds);
    this.frame.load(step, before);
    this.loadSteps(step);
    const { input, output } = step.instance;
    this.toUtf16 = { input: utf16Index(input), output: utf16Index(output) };
    this.editor.open(work, mine);
    const { focus, scroll } = this.frame.arrive(step, before);
    if (focus && !this.editor.waiting) this.table.focusNext(null, { scroll });
    this.lookAhead();
  }

  /** Shows the criteria of the instance: which are saved, and which have unsaved text. @param {OpenStep} step */
  loadSteps(step) {
    const { kept } = this.editor;
    this.frame.steps.load(step, (id) => Boolean(kept.get(`${step.instance.id}:${id}`)?.edited));
  }

  showEnd(step) {
    this.editor.close();
    this.places.remember({ filter: step.filter });
    this.frame.showEnd(step);
  }

  // ---- the table -----------------------------------------------------------------------------------

  onload() {
    this.seen.watch(this.table.rows.map((row) => row.node));
    this.remark();
    this.recount();
  }

  onchange() {
    this.frame.notices.clearSaid();
    clearTimeout(this.markTimer);
    this.markTimer = setTimeout(() => this.remark(), MARK_DELAY_MS);
  }

  remark() {
    const texts = this.step?.instance;
    if (!this.step || !this.work || !texts) return;
    const spans = this.table.spans(texts, this.toUtf16);
    this.frame.reading.mark([...spans, ...evidenceSpans(this.step, this.work, this.toUtf16)]);
  }

  /** Another line is in use, and in a sheet of all criteria perhaps another criterion. @param {string | null} key */
  oncurrent(key) {
    const { work } = this;
    const group = this.table?.group;
    if (work instanceof InstanceWork && group && work.criterion !== group.id) {
      work.turnTo(group.id);
      this.places.arrive({ filter: this.filter, instance: work.instance, criterion: group.id });
      this.frame.foot.loadVersions(work.timesSaved);
      this.frame.steps.mark(group.id);
      this.remark();
    }
    this.frame.reading.light(key, { scroll: true });
  }

  recount() {
    if (!this.work) return;
    this.table.showGroups();
    this.frame.foot.rest.hidden = this.table.isUndrafted;
    const approvable = this.table.approvable().length > 0 && !this.table.locked;
    const open = this.table.undecided().length;
    this.frame.foot.loadCount(this.table.countText(), open, this.seen.unseen, approvable);
  }

  /** @param {SaveAnswer<Step>} answer */
  onsaved({ saved, next, message }) {
    if (next) {
      this.show(next);
      this.frame.foot.loadStatus(savedText(saved.submitted_at, saved.revision));
      this.keys.playEarly();
      return;
    }
    // no more work here: the page itself leads on
    this.table.lock(true);
    const goOn = button(tr('Continue'), { class: 'ce-btn', onclick: () => window.location.reload() });
    this.frame.notices.stay('ended', message, goOn);
  }

  // ---- what the person does ------------------------------------------------------------------------

  /** The step on screen, or the last one at the end screen. @returns {Place} */
  get place() {
    const { work } = this;
    return work ? { instance: work.instance, criterion: work.criterion } : (this.places.last ?? {});
  }

  move(move) {
    if (this.step) this.open({ move, ...this.place });
  }

  jump(text) {
    const at = Number.parseInt(text, 10);
    const total = this.step?.total ?? 0;
    if (at >= 1 && at <= total) this.open({ at });
    else
      this.frame.notices.say(
        tr('There is no instance {number}: type a number from 1 to {total}.', {
          number: text.trim() || '“”',
          total,
        }),
      );
  }

  setFilter(filter) {
    this.filter = filter;
    this.open({ filter });
  }

  pickCriterion(criterion) {
    const group = this.table.groups.get(criterion);
    if (this.work && group) {
      this.table.goTo(group.lines.find((row) => row.problem()) ?? group.lines[0]);
      return;
    }
    this.open({ instance: this.place.instance, criterion });
  }

  /** Switches between one criterion at a time and all criteria of an instance. */
  changeView() {
    if (!this.step || this.step.criteria.length < 2) return;
    this.wantsAll = !this.step.evaluations;
    writeStored(VIEW, this.wantsAll);
    this.open(this.place);
  }

  /** Lets the model draft the evaluation on screen, which has no draft. What is typed is kept. */
  async draftThis() {
    if (this.opening || this.editor.isFlying) return;
    const { work, place } = this;
    this.editor.keep();
    this.wait(true);
    this.frame.foot.loadStatus(tr('Drafting…'));
    try {
      const step = await request('POST', `api/scrutiny/${encodeURIComponent(this.slug)}/draft`, place);
      this.wait(false);
      if (this.work === work) this.showDraft({ ...step, filter: this.filter });
    } catch (error) {
      this.wait(false);
      this.frame.foot.loadStatus('');
      this.frame.notices.warn(error.message);
    }
    this.keys.playEarly();
  }

  stepBy(by) {
    if (this.table.groups.size) {
      this.table.stepGroup(by);
      return;
    }
    const { criteria = [], criterion = null } = this.step ?? {};
    const there = criteria[criteria.findIndex(({ id }) => id === criterion) + by];
    if (there) this.pickCriterion(there.id);
  }

  /** Goes back along the path of this tab, or from its beginning to the previous step in order. */
  back() {
    const there = this.places.back(this.work);
    if (there) this.open(there);
    else this.move('previous');
  }

  addEvidence() {
    if (this.work) this.table.addByKey('E');
  }

  /** The initial text of an added line: evidence quotes the words selected in the text. */
  wordsFor(kind) {
    const words = kind === 'evidence' ? this.frame.reading.selectedText() : '';
    if (!words) return '';
    window.getSelection()?.removeAllRanges();
    return `“${words}” `;
  }

  approveRest() {
    const { foot, notices } = this.frame;
    if (!this.work) return;
    if (foot.rest.getAttribute('aria-disabled') === 'true') {
      notices.say(`${foot.rest.title}.`);
      return;
    }
    const count = this.table.approvable().length;
    this.work.bulk = true;
    this.table.approveRest();
    notices.announce(trn('{n} line approved.', '{n} lines approved.', count));
  }

  /** Refuses bulk approval of unseen lines; the save records a bulk approval. */
  onbulk(lines) {
    if (lines.some(({ node }) => this.seen.waiting.has(node)))
      return tr('Read every line first: some are further down.');
    if (this.work) this.work.bulk = true;
    return '';
  }

  comment() {
    this.marks.comment(this.frame.node);
  }

  async skip() {
    if (this.opening) return;
    const { place } = this;
    this.wait(true);
    const skipped = await this.marks.skip();
    this.wait(false);
    if (skipped) this.open({ move: 'next_instance', ...place });
    else this.keys.playEarly();
  }

  showGuidelines() {
    this.frame.showGuidelines(this.step?.task);
  }

  onmarked(instance) {
    if (this.step?.instance?.id === instance.id) this.frame.foot.loadMarks(instance);
  }
}
