/** How the scrutiny screen is put together, and how it shows what the workbench decides. */

import { markdownNodes } from '../texts/display.js';
import { button, clockTime, el, fill, inSentence, kbd } from '../core/dom.js';
import { savedTimes } from '../core/history.js';
import { Notices } from '../core/notices.js';
import { Reading } from '../texts/reading.js';
import { ReviewTable } from '../table/review_table.js';
import { Layout } from './splitter.js';
import { endScreen, failureScreen } from './end_screen.js';
import { Foot, savedText } from './workbench_foot.js';
import { Head, Steps } from './workbench_head.js';

const ARM_NOTES = {
  blind: 'You judge this one by yourself: no draft is shown.',
  none: 'There is no draft for this criterion yet: give your own score.',
  unscored: 'The model’s answer held no readable score: give your own.',
};

export class Frame {
  constructor(root, bench) {
    this.bench = bench;
    this.notices = new Notices();
    this.buildHead();
    this.buildWork();
    this.buildFoot();
    this.two = el('div', { class: 'wb-two' });
    this.layout = new Layout(this.two, () => this.nameLayout());
    this.reading = this.buildReading();
    fill(this.two, this.reading.node, this.layout.bar, this.work);
    this.end = el('div', { class: 'wb-place-end' });
    this.node = el(
      'div',
      { class: 'coeval wb', 'aria-busy': 'true' },
      this.head.node,
      this.notices.banner,
      el('p', { class: 'wb-loading ce-note' }, 'Loading…'),
      this.two,
      this.end,
      this.foot.node,
      this.notices.live,
      this.notices.corner,
    );
    this.node.dataset.state = 'loading';
    fill(root, this.node);
    this.nameLayout();
  }

  get parts() {
    const { head, steps, foot, reading, table, layout, notices } = this;
    return { head, steps, foot, reading, table, layout, notices };
  }

  buildHead() {
    const { bench } = this;
    this.head = new Head({
      onjump: (text) => bench.jump(text),
      onfilter: (filter) => bench.setFilter(filter),
      onmove: (way) => bench.move(`${way}_instance`),
    });
  }

  buildFoot() {
    const { bench } = this;
    this.foot = new Foot({
      onrest: () => bench.approveRest(),
      onflag: () => bench.marks.flag(),
      oncomment: () => bench.comment(),
      onskip: () => bench.skip(),
      onhistory: () => bench.showHistory(),
      onback: () => bench.back(),
      onconfirm: () => bench.confirm(),
    });
  }

  buildWork() {
    const { bench } = this;
    this.steps = new Steps((criterion) => bench.pickCriterion(criterion));
    this.title = el('h2', { class: 'wb-title', dir: 'auto' });
    this.anchor = el('p', { class: 'wb-anchor', dir: 'auto' });
    this.note = el('p', { class: 'wb-arm' });
    const place = el('div');
    this.card = el(
      'section',
      { class: 'ce-card', 'aria-label': 'Evaluation' },
      this.title,
      this.anchor,
      this.note,
      place,
    );
    this.work = el('div', { class: 'wb-work' }, this.steps.node, this.card);
    this.table = new ReviewTable(place, {
      name: 'Lines of the evaluation',
      onchange: () => bench.onchange(),
      oncurrent: (key) => this.reading.light(key, { scroll: true }),
      oncomplete: () => this.foot.confirm.focus({ preventScroll: true }),
      onsay: (text, undo) => this.notices.say(text, undo),
      wordsFor: (kind) => bench.wordsFor(kind),
    });
  }

  buildReading() {
    const { bench } = this;
    this.layoutButton = button('', {
      class: 'ce-link wb-layout',
      'aria-keyshortcuts': 'L',
      onclick: () => this.layout.toggle(),
    });
    this.guidelinesButton = button('Guidelines', {
      class: 'ce-link',
      'aria-keyshortcuts': 'G',
      onclick: () => bench.showGuidelines(),
    });
    const tools = [
      button(
        'All keys',
        { class: 'ce-link', 'aria-keyshortcuts': '?', onclick: () => bench.keys.show() },
        kbd('?'),
      ),
      this.guidelinesButton,
      this.layoutButton,
    ];
    return new Reading({
      tools,
      onpick: (row) => this.table.pick(row),
      onhover: (rows) => this.table.hover(rows),
    });
  }

  nameLayout() {
    fill(this.layoutButton, this.layout.sideBySide ? 'Texts stacked' : 'Texts side by side', kbd('L'));
    fill(this.guidelinesButton, 'Guidelines', kbd('G'));
  }

  busy(on) {
    this.node.setAttribute('aria-busy', String(on));
  }

  // ---- a step --------------------------------------------------------------------------------------

  load(step, before) {
    const { bench } = this;
    const criterion = step.criteria.find(({ id }) => id === step.criterion);
    this.node.dataset.state = 'step';
    this.node.dataset.total = step.total;
    fill(this.end);
    this.steps.load(step, (id) => this.isKept(step.instance.id, id));
    this.title.textContent = criterion.name || criterion.text;
    this.anchor.textContent = criterion.name && criterion.text !== criterion.name ? criterion.text : '';
    this.loadNote(step.evaluation);
    this.guidelinesButton.hidden = !step.task.guidelines;
    if (before?.instance?.id !== step.instance.id || before.task.slug !== step.task.slug)
      this.reading.load(step.task, step.instance);
    this.foot.loadMarks(step.instance);
    bench.notices.announce(
      `Instance ${step.position} of ${step.total}, ` +
        `criterion ${criterion.number} of ${step.criteria.length}: ${criterion.name || criterion.text}`,
    );
  }

  isKept(instance, criterion) {
    return Boolean(this.bench.kept.get(instance, criterion)?.edited);
  }

  /** Why there is no draft or no score, in the server's words where it gave any. */
  loadNote({ arm, status, note }) {
    const kind = arm === 'blind' ? 'blind' : status;
    const plain = ARM_NOTES[kind] ?? '';
    this.note.textContent = kind === 'unscored' ? `${plain} ${note}`.trim() : note || plain;
    this.note.dataset.kind = kind;
  }

  loadSaved(evaluation) {
    this.foot.loadStatus(savedText(evaluation.saved_at, evaluation.revision));
    this.foot.loadVersions(savedTimes(evaluation));
  }

  /** The chip of a quote that the text does not hold. */
  missing(task) {
    return `not in the ${inSentence(task.output_field)}`;
  }

  /** Eyes and focus go where the next decision is. */
  arrive(step, before) {
    const same = before?.instance?.id === step.instance.id;
    const goal = same ? this.work : this.node;
    const { top } = goal.getBoundingClientRect();
    if (before && (top < 0 || top > window.innerHeight / 2)) goal.scrollIntoView({ block: 'start' });
    this.layout.fit();
    this.reading.fit();
    const elsewhere =
      document.activeElement &&
      document.activeElement !== document.body &&
      !this.node.contains(document.activeElement);
    if (!elsewhere && !this.bench.waiting) this.table.focusNext(null, { scroll: same });
  }

  sayRestored(at, discard) {
    this.notices.stay(
      'restored',
      `What you typed here at ${clockTime(at)} is back; it is not saved yet.`,
      button('Discard it', { class: 'ce-btn', onclick: discard }),
    );
  }

  showEnd(step) {
    this.node.dataset.state = 'end';
    this.node.dataset.total = step.total;
    fill(
      this.end,
      endScreen(step, (filter) => this.bench.setFilter(filter)),
    );
    this.end.querySelector('h2').focus({ preventScroll: true });
    this.node.scrollIntoView({ block: 'nearest' });
  }

  // ---- what can go wrong ---------------------------------------------------------------------------

  /** Over the work where there is some; in its place where nothing could be shown yet. */
  showFailure(error, again) {
    const reload = () => window.location.reload();
    const remedy =
      error.kind === 'sign_in'
        ? button('Sign in', { class: 'ce-btn', onclick: reload })
        : button('Try again', { class: 'ce-btn', onclick: again });
    if (this.bench.step) {
      this.notices.stay('error', error.message, remedy);
      return;
    }
    this.node.dataset.state = 'failed';
    fill(this.end, failureScreen(error, remedy));
  }

  showGuidelines(task) {
    if (!task?.guidelines) return;
    const close = button('Close', { class: 'ce-btn', onclick: () => dialog.close() });
    const dialog = el(
      'dialog',
      { class: 'coeval ce-dialog', 'aria-label': 'Guidelines' },
      el('h2', {}, 'Guidelines'),
      el('div', { class: 'ce-markdown', dir: 'auto', tabindex: '0' }, ...markdownNodes(task.guidelines)),
      el('div', { class: 'ce-dialog-foot' }, close),
    );
    dialog.addEventListener('close', () => dialog.remove());
    this.node.append(dialog);
    dialog.showModal();
    close.focus();
  }
}
