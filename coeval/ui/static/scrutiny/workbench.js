/** The scrutiny screen: fetches steps, shows them, keeps what is typed, and sends what is confirmed. */

import { request, withQuery } from '../core/api.js';
import { Frame } from './frame.js';
import { isShown } from '../core/dom.js';
import { savedTimes, showHistory } from '../core/history.js';
import { Kept, sameState, withState } from '../core/drafts_kept.js';
import { chooseVersion } from '../core/conflict.js';
import { Keys, printed } from '../core/keys.js';
import { Marks } from './marks.js';
import { Places } from './places.js';
import { Delivery } from '../core/delivery.js';
import { Seen } from '../table/seen.js';
import { StepWork } from './step_work.js';
import { StepClock } from './timing.js';
import { utf16Index } from '../texts/text.js';
import { workbenchCommands } from './workbench_keys.js';
import { savedText } from './workbench_foot.js';

const MARK_DELAY_MS = 150;
const KEEPS_NOTHING =
  'This browser keeps no unsaved work (its storage is full or switched off): confirm before you leave the page.';

export class Workbench {
  /** `task` is a slug; `person` only separates what the browser keeps for different people. */
  constructor(root, { task, person }) {
    this.slug = task;
    this.person = person;
    this.filter = 'unfinished';
    this.turn = 0;
    this.places = new Places(person, task);
    this.work = null;
    this.stop = new AbortController();
    this.frame = new Frame(root, this);
    Object.assign(this, this.frame.parts);
    this.kept = new Kept(person, task, () => this.notices.warn(KEEPS_NOTHING));
    this.clock = new StepClock(person, { isShown: () => isShown(this.frame.node), signal: this.stop.signal });
    this.seen = new Seen(() => this.recount());
    this.delivery = new Delivery(this);
    this.marks = new Marks({
      kept: this.kept,
      notices: this.notices,
      current: () => ({ task: this.step?.task, instance: this.step?.instance }),
      onmarked: (instance) => this.onmarked(instance),
      onmissing: () => (this.foot.marks.hidden = true),
      confirms: (combo) => this.confirmCombos.includes(combo),
    });
    this.keys = new Keys(this.frame.node, workbenchCommands(this));
    this.keys.onchange(() => this.printConfirmKey());
    this.listen();
  }

  get confirmCombos() {
    return this.keys.commands.find(({ id }) => id === 'confirm').combos;
  }

  printConfirmKey() {
    this.foot.confirmKey.textContent = printed(this.confirmCombos[0]);
  }

  listen() {
    const { signal } = this.stop;
    const keep = () => this.keepWork();
    window.addEventListener('pagehide', keep, { signal });
    window.addEventListener('resize', () => this.layout.fit(), { signal });
    document.addEventListener('visibilitychange', keep, { signal });
    window.addEventListener('online', () => this.failed && this.open(this.failed), { signal });
    this.watchReturn();
  }

  /** A screen without work looks again when its tab is opened again: there may be some by now. */
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
    const place = this.places.left();
    const saved = await this.delivery.recover(place);
    await this.open(saved ? { move: 'next', ...place } : place);
    this.started = true;
  }

  /** Ends listening; the page shows another task or another person. */
  destroy() {
    this.keepWork();
    this.stop.abort();
    this.seen.stop();
    this.frame.node.remove();
  }

  // ---- where we are --------------------------------------------------------------------------------

  /** Fetches a step and shows it; of several requests under way only the last counts. */
  async open(query = {}) {
    if (this.delivery.isFlying) return;
    this.keepWork();
    const turn = (this.turn += 1);
    this.frame.busy(true);
    const path = `api/scrutiny/${encodeURIComponent(this.slug)}/step`;
    try {
      const step = await request('POST', withQuery(path, { filter: this.filter, ...query }));
      if (turn === this.turn) this.show(step, { asked: Object.keys(query).length > 0 });
    } catch (error) {
      if (turn === this.turn) this.onfailed(error, query);
    } finally {
      if (turn === this.turn) this.frame.busy(false);
    }
  }

  onfailed(error, query) {
    if (error.kind === 'not_found' && query.instance && !this.step) {
      this.places.remember({});
      this.open({});
      return;
    }
    this.failed = error.isPassing ? query : null;
    this.frame.showFailure(error, () => this.open(query));
  }

  /** Shows a step. `mine` is a state that a stale save was refused for; `asked`: the person went there. */
  show(step, { mine = null, asked = false, why = '' } = {}) {
    const before = this.step;
    this.failed = null;
    this.step = step;
    this.filter = step.filter;
    this.notices.stay('', '');
    this.head.load(step);
    if (!step.instance || (step.finished && !asked)) return this.showEnd(step);
    this.work = new StepWork(step, this.kept);
    this.places.arrive({ filter: step.filter, ...this.place });
    this.frame.load(step, before);
    this.toUtf16 = utf16Index(step.instance.output);
    this.fillTable(mine);
    this.clock.begin(this.work.activeBefore, step.task.idle_seconds);
    this.frame.arrive(step, before);
    if (mine || (this.work.hasUnsaved && this.work.isStale && !this.waiting))
      return this.resolve(mine ?? this.work.found.state, why);
    return undefined;
  }

  showEnd(step) {
    this.work = null;
    this.places.remember({ filter: step.filter });
    this.frame.showEnd(step);
  }

  // ---- the table -----------------------------------------------------------------------------------

  get waiting() {
    return this.work ? this.delivery.waitingFor(this.work) : undefined;
  }

  /** The saved state, or over it what waits to be sent, or what was typed and not confirmed. */
  fillTable(mine) {
    const { work, waiting } = this;
    const fresh = work.hasUnsaved && !work.isStale;
    const state = waiting?.state ?? (fresh && !mine ? work.found.state : null);
    this.loadTable(state ? withState(work.sheet, state) : work.sheet);
    if (waiting) this.delivery.showWaiting(waiting);
    else if (fresh && !mine) this.frame.sayRestored(work.found.at, () => this.takeSaved());
  }

  loadTable(sheet) {
    this.table.load(sheet, { missing: this.frame.missing(this.step.task) });
    this.seen.watch(this.table.rows.map((row) => row.node));
    this.remark();
    this.recount();
    this.frame.loadSaved(this.step.evaluation);
  }

  takeSaved() {
    this.kept.drop(this.work.instance, this.work.criterion);
    this.work.bulk = false;
    this.notices.stay('', '');
    this.loadTable(this.work.sheet);
    this.table.focusNext();
  }

  /** Two versions: the person chooses; equal ones need no choice. What was kept stays until then. */
  async resolve(mine, why) {
    const { work, step } = this;
    if (sameState(mine, work.saved)) {
      work.settle();
      return this.open({ move: 'next', ...this.place });
    }
    const { saved_at: savedAt } = step.evaluation;
    work.choosing = true;
    const choice = await chooseVersion(this.frame.node, {
      sheet: work.sheet,
      mine,
      saved: work.saved,
      savedAt,
      why: why || 'This was saved from another tab or device after you began here.',
    });
    work.choosing = false;
    if (this.work !== work) return undefined;
    if (choice === 'saved') return this.takeSaved();
    this.loadTable(withState(work.sheet, mine));
    this.keepWork();
    return this.table.focusNext();
  }

  onchange() {
    this.keepWork();
    this.recount();
    clearTimeout(this.markTimer);
    this.markTimer = setTimeout(() => this.remark(), MARK_DELAY_MS);
  }

  keepWork() {
    if (this.work && !this.waiting) this.work.keep(this.table.state(), this.clock.ms);
  }

  remark() {
    if (this.work) this.reading.mark(this.table.spans(this.step.instance.output, this.toUtf16));
  }

  recount() {
    if (this.work)
      this.foot.loadCount(
        this.table.countText(),
        this.table.undecided().length,
        this.seen.unseen,
        this.table.approvable().length > 0 && !this.table.locked,
      );
  }

  // ---- what the person does ------------------------------------------------------------------------

  /** The step on screen; at the end screen, the last one there was. */
  get place() {
    const { work } = this;
    return work ? { instance: work.instance, criterion: work.criterion } : (this.places.last ?? {});
  }

  move(move) {
    if (this.step) this.open({ move, ...this.place });
  }

  jump(text) {
    const at = Number.parseInt(text, 10);
    const { total } = this.step;
    if (at >= 1 && at <= total) return this.open({ at });
    return this.notices.say(`There is no instance ${text.trim() || '“”'}: type a number from 1 to ${total}.`);
  }

  setFilter(filter) {
    this.filter = filter;
    this.open({ filter });
  }

  pickCriterion(criterion) {
    this.open({ instance: this.place.instance, criterion });
  }

  stepBy(by) {
    const { criteria = [], criterion } = this.step ?? {};
    const there = criteria[criteria.findIndex(({ id }) => id === criterion) + by];
    if (there) this.pickCriterion(there.id);
  }

  /** Back along the way this tab came; at its beginning, to the step before in order. */
  back() {
    const there = this.places.back(this.work);
    if (there) this.open(there);
    else this.move('previous');
  }

  addEvidence() {
    if (this.work) this.table.addByKey('E');
  }

  /** What an added line starts with: evidence quotes the words selected in the text. */
  wordsFor(kind) {
    const words = kind === 'evidence' ? this.reading.selectedText() : '';
    if (!words) return '';
    window.getSelection().removeAllRanges();
    return `“${words}” `;
  }

  approveRest() {
    if (this.foot.rest.getAttribute('aria-disabled') === 'true')
      return this.notices.say(`${this.foot.rest.title}.`);
    const count = this.table.approvable().length;
    this.work.bulk = true;
    this.table.approveRest();
    return this.notices.announce(`${count} approved.`);
  }

  confirm() {
    if (!this.work) return;
    if (this.table.locked) {
      this.delivery.retry();
      return;
    }
    const problem = this.table.showProblem();
    if (problem) {
      this.notices.say(problem);
      return;
    }
    this.delivery.submit(this.work, this.table, this.clock.ms);
  }

  comment() {
    this.marks.comment(this.frame.node);
  }

  async skip() {
    const { place } = this;
    if (await this.marks.skip()) this.open({ move: 'next_instance', ...place });
  }

  /** Every version this person saved of the step on screen. */
  async showHistory() {
    if (!this.work || savedTimes(this.step.evaluation) < 1) return;
    const path = `api/scrutiny/${encodeURIComponent(this.slug)}/history`;
    try {
      const { versions } = await request('GET', withQuery(path, this.place));
      showHistory(this.frame.node, versions);
    } catch (error) {
      this.notices.say(error.message);
    }
  }

  showGuidelines() {
    this.frame.showGuidelines(this.step?.task);
  }

  onmarked(instance) {
    if (this.step?.instance?.id === instance.id) this.foot.loadMarks(instance);
  }

  onsaved(saved) {
    this.foot.loadStatus(savedText(saved.submitted_at, saved.revision));
  }
}
