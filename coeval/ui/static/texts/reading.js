/** The texts to judge: input and output with the quotes of every row marked, linked both ways. */

import { el, fill, inSentence, kbd } from '../core/dom.js';
import { tr, trParts } from '../core/words.js';
import { imageNodes, parseText, renderText, selectedSource } from './display.js';
import { cutSpans, scrollerOf, walkText } from './text.js';

/** One text with a title. `dir=auto` sets the direction of each paragraph. */
export class Pane {
  constructor(name) {
    this.title = el('h2', { class: 'wb-h' });
    this.body = el('div', { class: 'wb-text', dir: 'auto', tabindex: '0', role: 'region' });
    this.node = el('section', { class: `ce-card wb-pane wb-pane-${name}` }, this.title, this.body);
    this.text = '';
    this.body.addEventListener('keydown', (event) => walkText(event, this.body));
  }

  load(title, text, display, tag = null) {
    fill(this.title, title, tag ? el('span', { class: 'ce-tag' }, tag) : null);
    this.body.setAttribute('aria-label', title);
    this.body.classList.toggle('is-plain', display !== 'markdown');
    this.text = text;
    this.tree = parseText(text, display);
    this.mark([]);
  }

  /** Lays marks over the text. Spans: [{start, end, row, label}], UTF-16 offsets. */
  mark(spans) {
    this.marked = JSON.stringify(spans);
    fill(this.body, ...renderText(this.tree, cutSpans(spans)));
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

/** Both texts and their context. `onpick(row)` is called when a mark is clicked. */
export class Reading {
  constructor({ onpick, onhover, tools }) {
    this.input = new Pane('input');
    this.output = new Pane('output');
    this.images = el('div', { class: 'wb-images' });
    this.extras = el('div', { class: 'wb-extras' });
    this.panes = el('div', { class: 'wb-panes' }, this.input.node, this.output.node);
    this.help = el('div', { class: 'wb-help ce-note' });
    this.node = el('div', { class: 'wb-read' }, this.images, this.panes, this.extras, this.help);
    this.tools = tools;
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
    this.node.scrollTop = 0;
    fill(
      this.help,
      el('span', { class: 'wb-fine' }, ...this.howFine(task)),
      el('span', { class: 'wb-coarse' }, ...this.howCoarse(task)),
      ...this.tools,
    );
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

  /** Highlights the marks of one row and, on request, scrolls to the first one in each text. */
  light(row, { scroll = false } = {}) {
    this.lit = row;
    for (const { body } of [this.input, this.output]) {
      /** @type {HTMLElement | null} */
      let first = null;
      for (const mark of body.querySelectorAll('mark')) {
        const on = row !== null && (mark.dataset.rows ?? '').split(' ').includes(String(row));
        mark.classList.toggle('is-on', on);
        first ??= on ? mark : null;
      }
      if (scroll && first) this.bringIntoView(first, body);
    }
  }

  bringIntoView(mark, pane) {
    const scroller = scrollerOf(pane);
    const [box, frame] = [mark.getBoundingClientRect(), scroller.getBoundingClientRect()];
    if (box.top < frame.top || box.bottom > frame.bottom)
      scroller.scrollTop += box.top - frame.top - frame.height / 3;
  }

  /** The selected words in the source of the output; empty if nothing is selected there. */
  selectedText() {
    const span = selectedSource(this.output.body, window.getSelection());
    return span ? this.output.text.slice(span.start, span.end).trim() : '';
  }
}
