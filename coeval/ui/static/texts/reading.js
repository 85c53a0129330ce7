/** The texts to judge: input and output with the quotes of every row marked, linked both ways. */

import { button, el, fill, inSentence, kbd } from '../core/dom.js';
import { tr, trParts } from '../core/words.js';
import { imageNodes, parseText, renderText, selectedSource, unfold } from './display.js';
import { cutSpans, viewOf, walkText, wholeWords } from './text.js';

/** One text with a title. `dir=auto` sets the direction of each paragraph. */
class Pane {
  constructor(name) {
    this.title = el('h2', { class: 'wb-h' });
    this.body = el('div', { class: 'wb-text', dir: 'auto', tabindex: '0', role: 'region' });
    this.node = el('section', { class: `ce-card wb-pane wb-pane-${name}` }, this.title, this.body);
    this.text = '';
    this.name = '';
    this.body.addEventListener('keydown', (event) => walkText(event, this.body));
  }

  load(title, text, display, tag = null) {
    fill(this.title, title, tag ? el('span', { class: 'ce-tag' }, tag) : null);
    this.name = title;
    this.body.setAttribute('aria-label', title);
    this.body.classList.toggle('is-plain', display !== 'markdown');
    this.text = text;
    this.tree = parseText(text, display);
    fill(this.body);
    this.mark([]);
  }

  /** Lays marks over the text. Spans: [{start, end, row, label}], UTF-16 offsets. */
  mark(spans) {
    this.marked = JSON.stringify(spans);
    const folds = () => [...this.body.querySelectorAll('details')];
    const open = folds().map((one) => one.open);
    fill(this.body, ...renderText(this.tree, cutSpans(spans)));
    for (const [n, one] of folds().entries()) one.open = open[n] ?? false; // what somebody opened stays open
    if (!this.text) fill(this.body, el('span', { class: 'ce-note' }, tr('This text is empty.')));
  }
}

function details(summary, ...content) {
  return el('details', { class: 'ce-card wb-more' }, el('summary', {}, summary), ...content);
}

/** A further column with more characters than this is shown as a text of its own. */
const SHORT = 100;

/** The further columns that the study shows: long ones as texts, short ones as one list. */
function contextNodes(pairs) {
  const isText = ([, value]) => String(value).length > SHORT || String(value).includes('\n');
  const short = pairs.filter((pair) => !isText(pair));
  const list = short.length ? details(tr('More about this instance'), contextList(short)) : null;
  if (list) list.open = true;
  return [...pairs.filter(isText).map(([key, value]) => contextText(String(key), String(value))), list];
}

function contextText(title, text) {
  const body = el('div', { class: 'wb-text is-plain', dir: 'auto', tabindex: '0', role: 'region' }, text);
  body.setAttribute('aria-label', title);
  return el('section', { class: 'ce-card wb-pane' }, el('h2', { class: 'wb-h', dir: 'auto' }, title), body);
}

function contextList(pairs) {
  return el(
    'dl',
    {},
    ...pairs.flatMap(([key, value]) => [
      el('dt', { dir: 'auto' }, String(key)),
      el('dd', { dir: 'auto' }, String(value)),
    ]),
  );
}

const textName = (task) => el('b', { dir: 'auto' }, inSentence(task.output_field));

/** An output that leaves this share of the room to the input stays in view as a whole. */
const MOST_OF_ROOM = 0.6;
const GAP_PX = 14;

/**
 * Both texts and their context in one scroll area. The output is what is judged: where both texts do not fit, it
 * stands first. A short one stays in view; of a long one, a bar shows its name and the passage in question.
 * `onpick(row)` is called when a mark is clicked.
 */
export class Reading {
  constructor({ onpick, onhover, tools }) {
    this.input = new Pane('input');
    this.output = new Pane('output');
    this.images = el('div', { class: 'wb-images' });
    this.extras = el('div', { class: 'wb-extras' });
    this.bar = button('', { class: 'wb-passage', onclick: () => this.showOutput(), hidden: true });
    this.scroller = el('div', { class: 'wb-read' });
    this.help = el('div', { class: 'wb-help ce-note' });
    this.node = el('div', { class: 'wb-texts' }, this.scroller, this.help);
    this.tools = tools;
    this.inputFirst = false;
    /** How far the input was read; the next output of the same input does not change it. */
    this.readTo = 0;
    this.order(false);
    this.scroller.addEventListener('scroll', () => this.showPassage(), { passive: true });
    new ResizeObserver(() => this.arrange()).observe(this.scroller);
    this.listen(onpick, onhover);
  }

  listen(onpick, onhover) {
    const rowsOf = (event) => event.target.closest('mark')?.dataset.rows.split(' ') ?? [];
    for (const { body } of [this.input, this.output]) {
      body.addEventListener('click', (event) => {
        const [row] = rowsOf(event);
        if (row && window.getSelection()?.isCollapsed) onpick(row);
      });
      body.addEventListener('mouseover', (event) => onhover(rowsOf(event)));
      body.addEventListener('mouseleave', () => onhover([]));
    }
  }

  load(task, instance) {
    const isSame = this.input.text === instance.input;
    const place = isSame ? this.place : 0;
    this.inputFirst = Boolean(task.input_first);
    this.input.load(task.input_field, instance.input, task.display);
    this.output.load(task.output_field, instance.output, task.display, instance.system);
    fill(this.images, ...imageNodes(instance.images));
    fill(
      this.extras,
      instance.reference
        ? details(tr('Reference'), el('div', { class: 'is-plain wb-text', dir: 'auto' }, instance.reference))
        : null,
      ...contextNodes(instance.context),
    );
    fill(
      this.help,
      el('span', { class: 'wb-fine' }, ...this.howFine(task)),
      el('span', { class: 'wb-coarse' }, ...this.howCoarse(task)),
      ...this.tools,
    );
    this.arrange();
    this.readTo = place;
    this.scroller.scrollTop = this.isPinned ? this.top + place : 0;
    this.showPassage();
  }

  // ---- the order of the texts, and what stays in view ----------------------------------------------

  /** @param {boolean} outputFirst */
  order(outputFirst) {
    if (this.outputFirst === outputFirst) return;
    this.outputFirst = outputFirst;
    const texts = outputFirst
      ? [this.output.node, this.images, this.input.node]
      : [this.images, this.input.node, this.output.node];
    fill(this.scroller, el('div', { class: 'wb-over' }, this.bar), ...texts, this.extras);
  }

  /** Puts the texts in order by the room that they have. */
  arrange() {
    const { display, maxHeight } = getComputedStyle(this.scroller);
    const room = Number.parseFloat(maxHeight) || Number.POSITIVE_INFINITY;
    const isBeside = display === 'grid';
    const [input, output, images] = [this.input, this.output, this].map(
      (part) => (part instanceof Pane ? part.node : part.images).offsetHeight,
    );
    const fits = input + output + images + GAP_PX <= room;
    this.order(!fits && !isBeside && !this.inputFirst);
    const isKept = isBeside ? output <= room : this.outputFirst && output <= room * MOST_OF_ROOM;
    this.output.node.classList.toggle('is-pinned', isKept);
    this.showPassage();
  }

  /** Whether the output stays in view as a whole. */
  get isPinned() {
    return this.output.node.classList.contains('is-pinned');
  }

  /** The place of the scroll area where the input begins, below what covers it. */
  get top() {
    const covered = this.isPinned && this.outputFirst ? this.output.node.offsetHeight + GAP_PX : 0;
    return Math.max(0, this.input.node.offsetTop - covered);
  }

  /** How far the input has been read, in pixels. */
  get place() {
    const at = this.scroller.scrollTop - this.top;
    return this.isPinned || at > 0 ? Math.max(0, at) : this.readTo;
  }

  /** Shows the beginning of the output, if it is long; the place in the input is kept. */
  showOutput() {
    if (this.isPinned) return;
    this.readTo = this.place;
    this.scroller.scrollTop = this.outputFirst ? 0 : this.output.node.offsetTop;
  }

  /** Shows the input where the person left it. */
  showInput() {
    this.scroller.scrollTop = this.top + (this.isPinned ? this.place : this.readTo);
    this.input.body.focus({ preventScroll: true });
  }

  /** The bar shows the passage in question, or the first words, while the output is out of view. */
  showPassage() {
    const { output, scroller, bar } = this;
    const mark = output.body.querySelector('mark.is-on');
    const edge = scroller.getBoundingClientRect();
    const box = (mark ?? output.node).getBoundingClientRect();
    const least = Math.min(mark ? 8 : 100, box.height - 1); // pixels that are enough to see what is judged
    const isAway = box.bottom < edge.top + least || box.top > edge.bottom - least;
    bar.hidden = this.isPinned || !output.text || !isAway;
    if (bar.hidden) return;
    const marks = [...output.body.querySelectorAll('mark.is-on')].map((one) => one.firstChild?.textContent);
    const words = marks.length ? marks.join(' … ') : output.text.slice(0, 300);
    fill(bar, el('b', { dir: 'auto' }, output.name), el('span', { dir: 'auto' }, words));
  }

  /** The hints for adding evidence by keyboard and by touch. */
  howFine(task) {
    const nodes = { text: textName(task), key: kbd('E') };
    return trParts('Select words in the {text} and press {key} to add them as evidence.', nodes);
  }

  howCoarse(task) {
    return trParts('Select words in the {text} and tap “Add evidence”.', { text: textName(task) });
  }

  /** Draws the marks. Unchanged marks are not redrawn, so that no selection is lost. */
  mark(spans) {
    for (const place of ['input', 'output']) {
      const own = spans.filter((span) => span.place === place);
      if (JSON.stringify(own) !== this[place].marked) this[place].mark(own);
    }
    this.light(this.lit);
  }

  /** Highlights the marks of one row and, on request, brings the first one into view; those of the output come first. */
  light(row, { scroll = false } = {}) {
    this.lit = row;
    /** @type {HTMLElement | null} */
    let first = null;
    for (const { body } of [this.output, this.input]) {
      for (const mark of body.querySelectorAll('mark')) {
        const on = row !== null && (mark.dataset.rows ?? '').split(' ').includes(String(row));
        mark.classList.toggle('is-on', on);
        // an output that stays in view shows its own marks
        if (
          on &&
          (!first || (this.isPinned && this.output.body.contains(first) && body !== this.output.body))
        )
          first = mark;
      }
    }
    if (scroll && first) this.bringIntoView(first);
    this.showPassage();
  }

  bringIntoView(mark) {
    unfold(mark);
    const box = mark.getBoundingClientRect();
    const { scroller, top, bottom } = viewOf(mark);
    if (box.top < top || box.bottom > bottom) scroller.scrollTop += box.top - top - (bottom - top) / 3;
  }

  /** The selected words in the source of the output, whole ones; empty if nothing is selected there. */
  selectedText() {
    const span = selectedSource(this.output.body, window.getSelection());
    return span ? wholeWords(this.output.text, span).trim() : '';
  }
}
