/** The frame of the Scrutiny screen, and the screen at its end. */

import { appRoot } from '../core/api.js';
import { Notices, button, el, fill, icon, kbd } from '../core/dom.js';
import { tr, trn } from '../core/words.js';
import { Foot, Head, Layout, Steps } from './workbench_parts.js';
import { markdownNodes } from '../texts/display.js';
import { Reading } from '../texts/reading.js';

/* The card that replaces the work if there is none. */

/** The end of a filter or of all work; `onfilter(name)` shows other instances. */
function endScreen(step, onfilter) {
  const look = (filter, label) => button(label, { class: 'ce-btn', onclick: () => onfilter(filter) });
  const [title, text, ...buttons] = endWords(step, look);
  const sign =
    step.total && step.done === step.total ? ['wb-end-sign', 'approve'] : ['wb-end-sign is-quiet', 'rows'];
  return el(
    'div',
    { class: 'ce-card wb-end' },
    el('div', { class: sign[0], 'aria-hidden': 'true' }, icon(sign[1])),
    el('h2', { tabindex: '-1' }, title),
    el('p', {}, text),
    el('div', { class: 'wb-end-foot' }, ...buttons),
  );
}

function endWords(step, look) {
  const { total, done, filter, flagged, empty, agreement } = step;
  if (empty)
    return [
      tr('Nothing here for you yet'),
      empty.text,
      empty.link ? el('a', { class: 'ce-btn is-primary', href: empty.link }, empty.label) : null,
      look('unfinished', tr('Check again')),
    ];
  if (filter === 'flagged')
    return [
      tr('No flags'),
      tr('You have not flagged any instances.'),
      look('unfinished', tr('Continue with unfinished instances')),
    ];
  const more = [
    flagged
      ? look('flagged', trn('Review {n} flagged instance', 'Review {n} flagged instances', flagged))
      : null,
    look('all', tr('Review all')),
    agreement ? el('a', { class: 'ce-btn', href: agreement }, tr('Agreement')) : null,
  ];
  if (done < total)
    return [
      tr('Nothing is left here'),
      tr('{done} of {total} are done; you skipped the others, or they are not available to you.', {
        done,
        total,
      }),
      ...more,
    ];
  return [
    tr('That was the last one. Thank you.'),
    trn(
      'You have finished it. Everything is saved, and you can still make changes.',
      'You have finished all {n}. Everything is saved, and you can still make changes.',
      total,
    ),
    ...more,
  ];
}

/** The card for a first step that could not be fetched. */
function failureScreen(error, remedy) {
  return el(
    'div',
    { class: 'ce-card wb-end', role: 'alert' },
    el('div', { class: 'wb-end-sign is-quiet', 'aria-hidden': 'true' }, icon('rows')),
    el(
      'h2',
      { tabindex: '-1' },
      error.kind === 'not_found' ? tr('Nothing to judge yet') : tr('This could not be opened'),
    ),
    el('p', {}, error.message),
    el('div', { class: 'wb-end-foot' }, remedy),
  );
}

/** The link to the page with the work; without one, a button that looks again, or that a message names “Continue”. */
function wayOn(link, reload) {
  const href = link && new URL(link, appRoot()).href;
  if (href) return el('a', { class: 'ce-btn is-primary', href }, tr('To the study’s page →'));
  return button(link === '' ? tr('Check again') : tr('Continue'), { class: 'ce-btn', onclick: reload });
}

/* The layout of the scrutiny screen. It only shows its data, and depends on no other screen. */

/** The default reason for a missing draft or score. @param {string} kind */
function armNote(kind) {
  const notes = {
    blind: tr('You score this one without a draft.'),
    none: tr('There is no draft for this criterion yet: give your own score.'),
    unscored: tr('The model’s answer contained no readable score: give your own.'),
  };
  return notes[kind] ?? '';
}

/**
 * The callbacks for the parts of the screen.
 * @typedef {object} FrameActions
 * @property {(text: string) => void} jump
 * @property {(filter: string) => void} filter
 * @property {(way: 'next' | 'previous') => void} move
 * @property {(criterion: number) => void} criterion
 * @property {() => void} approveRest
 * @property {() => void} flag
 * @property {() => void} comment
 * @property {() => void} skip
 * @property {() => void} history
 * @property {() => void} back
 * @property {() => void} confirm
 * @property {() => void} keys
 * @property {() => void} guidelines
 * @property {() => void} view
 * @property {() => void} draft
 * @property {(row: string) => void} pickLine
 * @property {(rows: string[]) => void} hoverLines
 */

export class Frame {
  /** @param {HTMLElement} root @param {FrameActions} actions */
  constructor(root, actions) {
    this.actions = actions;
    this.notices = new Notices();
    this.head = new Head({ onjump: actions.jump, onfilter: actions.filter, onmove: actions.move });
    this.steps = new Steps(actions.criterion);
    this.title = el('h2', { class: 'wb-title', dir: 'auto' });
    this.anchor = el('p', { class: 'wb-anchor', dir: 'auto' });
    this.definition = el('p', { class: 'wb-anchor', dir: 'auto' });
    this.examples = el('div', { class: 'ce-markdown', dir: 'auto' });
    this.moreExamples = el(
      'details',
      { class: 'wb-examples' },
      el('summary', {}, tr('Examples')),
      this.examples,
    );
    this.note = el('p', { class: 'wb-arm' });
    /** The answer to the person's own flag or comment. */
    this.answer = el('p', { class: 'wb-arm wb-answer', dir: 'auto' });
    /** The place of the evaluation's table. */
    this.place = el('div');
    this.work = this.buildWork();
    this.layoutButton = button('', { class: 'ce-link wb-layout', 'aria-keyshortcuts': 'L' });
    this.guidelinesButton = button(tr('Guidelines'), {
      class: 'ce-link',
      'aria-keyshortcuts': 'G',
      onclick: actions.guidelines,
    });
    this.viewButton = button('', { class: 'ce-link', 'aria-keyshortcuts': 'V', onclick: actions.view });
    this.foot = new Foot({
      onrest: actions.approveRest,
      onflag: actions.flag,
      oncomment: actions.comment,
      onskip: actions.skip,
      onhistory: actions.history,
      onback: actions.back,
      onconfirm: actions.confirm,
    });
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
      el('p', { class: 'wb-loading ce-note' }, tr('Loading…')),
      this.two,
      this.end,
      this.foot.node,
      this.notices.live,
    );
    this.node.dataset.state = 'loading';
    fill(root, this.node);
    this.nameLayout();
  }

  buildWork() {
    const card = el(
      'section',
      { class: 'ce-card', 'aria-label': tr('Evaluation') },
      this.title,
      this.anchor,
      this.definition,
      this.moreExamples,
      this.note,
      this.place,
    );
    return el('div', { class: 'wb-work' }, this.steps.node, this.answer, card);
  }

  buildReading() {
    const { actions } = this;
    this.layoutButton.addEventListener('click', () => this.layout.toggle());
    const tools = [
      button(
        tr('All keys'),
        { class: 'ce-link wb-fine', 'aria-keyshortcuts': '?', onclick: actions.keys },
        kbd('?'),
      ),
      this.guidelinesButton,
      this.layoutButton,
      this.viewButton,
    ];
    return new Reading({ tools, onpick: actions.pickLine, onhover: actions.hoverLines });
  }

  nameLayout() {
    fill(
      this.layoutButton,
      this.layout.sideBySide ? tr('Texts stacked') : tr('Texts side by side'),
      kbd('L'),
    );
    fill(this.guidelinesButton, tr('Guidelines'), kbd('G'));
  }

  busy(on) {
    this.node.setAttribute('aria-busy', String(on));
  }

  // ---- a step --------------------------------------------------------------------------------------

  /**
   * @param {OpenStep} step
   * @param {Step | null} before the step shown before
   */
  load(step, before) {
    const criterion = step.criteria.find(({ id }) => id === step.criterion);
    if (!criterion) throw new Error('a step names a criterion that is not its own');
    this.node.dataset.state = 'step';
    this.node.dataset.total = String(step.total);
    fill(this.end);
    const all = Boolean(step.evaluations);
    this.node.classList.toggle('is-all', all);
    this.title.textContent = all ? '' : criterion.name || criterion.text;
    this.anchor.textContent =
      !all && criterion.name && criterion.text !== criterion.name ? criterion.text : '';
    if (all) this.note.textContent = '';
    else this.loadNote(step.evaluation, Boolean(step.offers_draft));
    this.viewButton.hidden = step.criteria.length < 2;
    fill(this.viewButton, all ? tr('One criterion at a time') : tr('All criteria'), kbd('V'));
    this.definition.textContent = all ? '' : criterion.definition;
    fill(this.examples, ...(all ? [] : markdownNodes(criterion.examples)));
    this.moreExamples.hidden = all || !criterion.examples;
    this.guidelinesButton.hidden = !step.task.guidelines && !step.task.description;
    if (before?.instance?.id !== step.instance.id || before?.task.slug !== step.task.slug)
      this.reading.load(step.task, step.instance);
    else this.reading.showOutput();
    this.foot.loadMarks(step.instance);
    this.answer.textContent = step.instance.answer;
    this.notices.announce(
      all
        ? tr('{position} of {total}, all criteria', step)
        : tr('{position} of {total}, criterion {number} of {count}: {name}', {
            position: step.position,
            total: step.total,
            number: criterion.number,
            count: step.criteria.length,
            name: criterion.name || criterion.text,
          }),
    );
  }

  /** The reason for a missing draft or score, in the server's words if it gave any. */
  loadNote({ arm, status, note, revision }, offersDraft) {
    const kind = arm === 'blind' ? 'blind' : status;
    const plain = armNote(kind);
    this.note.textContent = kind === 'unscored' ? `${plain} ${note}`.trim() : note || plain;
    if (offersDraft && kind === 'none' && !revision)
      this.note.append(' ', button(tr('Draft it now'), { class: 'ce-link', onclick: this.actions.draft }));
    this.note.dataset.kind = kind;
  }

  /**
   * Scrolls to the next decision, and moves the focus there unless it is in use elsewhere.
   * @param {OpenStep} step
   * @param {Step | null} before
   */
  arrive(step, before) {
    const same = before?.instance?.id === step.instance.id;
    const isPhone = this.layout.isStacked;
    const goal = isPhone ? this.two : same ? this.work : this.node;
    const { top } = goal.getBoundingClientRect();
    const bar = Number.parseFloat(getComputedStyle(goal).scrollMarginTop);
    // on a phone the texts stay above the work, so that both have to begin at the top
    if (isPhone) window.scrollBy(0, top - bar);
    else if (before && (Math.ceil(top) < bar || top > window.innerHeight / 2))
      goal.scrollIntoView({ block: 'start' });
    this.layout.fit();
    const elsewhere =
      document.activeElement &&
      document.activeElement !== document.body &&
      !this.node.contains(document.activeElement);
    return { focus: !elsewhere, scroll: same };
  }

  showEnd(step) {
    this.node.dataset.state = 'end';
    this.node.dataset.filter = step.filter;
    this.node.dataset.total = String(step.total);
    fill(this.end, endScreen(step, this.actions.filter));
    this.end.querySelector('h2')?.focus({ preventScroll: true });
    this.node.scrollIntoView({ block: 'nearest' });
  }

  // ---- what can go wrong ---------------------------------------------------------------------------

  /** Shows a problem over the work (`over`), or in its place if nothing could be shown yet. */
  showFailure(error, again, over) {
    const reload = () => window.location.reload();
    const remedy =
      error.kind === 'sign_in'
        ? button(error.isOtherPerson ? tr('Reload') : tr('Sign in'), { class: 'ce-btn', onclick: reload })
        : error.kind === 'not_allowed'
          ? wayOn(error.body.link, reload)
          : button(tr('Try again'), { class: 'ce-btn', onclick: again });
    if (over) {
      this.notices.stay('error', error.message, remedy);
      return;
    }
    this.node.dataset.state = 'failed';
    fill(this.end, failureScreen(error, remedy));
  }

  /** Shows the task and its guidelines above the texts until they are closed; a second call closes them too. */
  showGuidelines(task) {
    if (this.closeGuidelines() || !(task?.guidelines || task?.description)) return;
    const close = button(tr('Close'), { class: 'ce-btn', onclick: () => panel.remove() }, kbd('Esc'));
    const words = el('div', { class: 'ce-markdown', dir: 'auto', tabindex: '0', role: 'region' });
    words.setAttribute('aria-label', tr('Guidelines'));
    const about = task.description && [
      el('p', { class: 'ce-note' }, tr('You judge texts that were written for this task:')),
      el('p', { class: 'wb-task' }, task.description),
    ];
    fill(words, about, ...markdownNodes(task.guidelines));
    const head = el(
      'div',
      { class: 'wb-guidelines-head' },
      el('h2', { class: 'wb-h' }, tr('Guidelines')),
      close,
    );
    const panel = el('section', { class: 'ce-card wb-guidelines' }, head, words);
    this.reading.scroller.prepend(panel);
    panel.scrollIntoView({ block: 'nearest' });
  }

  /** Closes the guidelines; returns whether they were open. */
  closeGuidelines() {
    const open = this.node.querySelector('.wb-guidelines');
    open?.remove();
    return Boolean(open);
  }
}
