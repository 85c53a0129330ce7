/** The entry point for Gradio components and plain pages. */

import * as api from './core/api.js';
import * as dom from './core/dom.js';
import { follow, follower } from './core/follow.js';
import * as kept from './core/kept.js';
import * as keys from './core/keys.js';
import * as words from './core/words.js';
import { BallotScreen } from './criteria/ballot.js';
import * as reviewRows from './rows/review_row.js';
import * as rows from './rows/row.js';
import * as timing from './scrutiny/timing.js';
import { Workbench } from './scrutiny/workbench.js';
import * as editor from './table/sheet_editor.js';
import * as table from './table/sheet_table.js';
import * as work from './table/sheet_work.js';
import * as tableKeys from './table/table_keys.js';
import * as display from './texts/display.js';
import * as reading from './texts/reading.js';
import * as text from './texts/text.js';
import { roles, view } from './texts/view.js';

const { language, markLanguage, speak } = words;

/** The building blocks for the screens of extensions; `coeval/extending.py` says how their scripts are loaded. */
const parts = {
  ...api,
  ...dom,
  ...kept,
  ...keys,
  ...words,
  ...timing,
  ...rows,
  ...reviewRows,
  ...editor,
  ...table,
  ...work,
  ...tableKeys,
  ...display,
  ...reading,
  ...text,
};

/**
 * The methods of every screen. `make(element, value, onsaved)` builds the screen of an extension.
 * @typedef {{start: () => void, destroy: () => void, shows: (value: ScreenValue) => boolean}} AnyScreen
 * @typedef {(element: HTMLElement, value: ScreenValue, onsaved: () => void) => AnyScreen} Make
 */

/** The builders of extensions' screens by kind, and the places that wait for a script to load. */
const makers = /** @type {Map<string, Make>} */ (new Map());
const waiting = /** @type {Map<string, () => void>} */ (new Map());

/** @param {string} kind @param {Make} make */
function addScreen(kind, make) {
  makers.set(kind, make);
  waiting.get(kind)?.();
}

/** The screen of each kind that is on the page. @type {Map<string, AnyScreen>} */
const shown = new Map();

const OWN = ['scrutiny', 'ballot', 'decisions'];

/** @returns {AnyScreen} */
function build(kind, element, value, onsaved) {
  const make = makers.get(kind);
  if (make) return make(element, value, onsaved);
  if (kind === 'scrutiny') return new Workbench(element, value);
  return new BallotScreen(element, value, kind, onsaved);
}

/**
 * Shows the screen for a value in `element`, see coeval/ui/components/view.py; the same value again changes
 * nothing. `trigger('submit')` reports a save to the page.
 * @param {string} kind
 * @param {HTMLElement} element
 * @param {{value: ScreenValue | null}} props
 * @param {(name: string, run: () => void) => void} watch
 * @param {(event: string) => void} trigger
 */
function screen(kind, element, props, watch = () => {}, trigger = () => {}) {
  const show = async () => {
    const wanted = props.value?.language ?? 'en';
    if (wanted !== language()) await speak(wanted);
    if (!OWN.includes(kind) && !makers.has(kind)) {
      waiting.set(kind, show);
      const later = /** @type {HTMLTemplateElement | null} */ (document.querySelector('#extensions'));
      if (later) document.head.append(later.content);
      return;
    }
    const { value } = props;
    if (!value?.task || shown.get(kind)?.shows(value)) return;
    shown.get(kind)?.destroy();
    markLanguage(element);
    const made = build(kind, element, value, () => trigger('submit'));
    shown.set(kind, made);
    made.start();
  };
  watch('value', show);
  show();
}

const notices = new dom.Notices();
/** The messages of the server on the page. @type {HTMLElement[]} */
const messages = [];

/** Shows Gradio's messages as the notices of all screens, and closes its own. */
function takeMessages() {
  for (const body of document.querySelectorAll('[data-testid=toast-body]')) {
    const kind = ['error', 'warning'].find((name) => body.classList.contains(name));
    for (const text of body.querySelectorAll('[data-testid=toast-text]:not(:empty)')) {
      const words = text.textContent ?? '';
      text.replaceChildren(); // it stays for a moment, and nobody reads the same message twice
      messages.push(kind ? notices.warn(words, kind) : notices.say(words));
    }
    /** @type {HTMLElement | null} */ (body.querySelector('[data-testid=toast-close]'))?.click();
  }
}

/** A message of the server is about the last action, so the next action closes it. @param {MouseEvent} event */
function endMessages(event) {
  const target = /** @type {Element} */ (event.target);
  if (!target.closest('button, a, [role=tab], [role=option]') || target.closest('.ce-corner, .toast-wrap'))
    return;
  for (const message of messages.splice(0)) message.remove();
}

/** The task when the picker gets the focus, because Gradio reports an input even if only the focus moves. */
function noteTask({ target }) {
  if (target instanceof Element && target.closest('#task-picker'))
    window.coevalBefore = new URL(location.href).searchParams.get('task');
}

document.addEventListener('click', endMessages, { capture: true });
new MutationObserver(takeMessages).observe(document.body, { childList: true, subtree: true });
document.addEventListener('focusin', noteTask);
/** The message that another person is signed in. @type {HTMLElement | null} */
let other = null;
follow((message) => {
  if (!other?.isConnected) other = notices.warn(message);
});
window.coeval = { root: api.appRoot(), screen, view, roles, follower, parts, addScreen };
window.dispatchEvent(new Event('coeval-ready'));
