/** The door: what Gradio components and plain pages call. */

import { appRoot } from './core/api.js';
import { language, markLanguage, speak } from './core/words.js';
import { view } from './texts/view.js';
import { BallotScreen } from './criteria/ballot.js';
import { Workbench } from './scrutiny/workbench.js';

/** @typedef {Workbench | BallotScreen} AnyScreen */

/** The one of each kind that is on the page. @type {Map<string, AnyScreen>} */
const shown = new Map();

/** @returns {AnyScreen} */
function build(kind, element, value, onsaved) {
  if (kind === 'scrutiny') return new Workbench(element, value);
  return new BallotScreen(element, value, kind, onsaved);
}

/**
 * A part of the page that builds itself, see coeval/ui/components/screen.py: what a value stands for is shown
 * in `element`; the same once more changes nothing. `trigger('submit')` tells the page of a save.
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

/** Gradio's messages are about what was done last: the next action ends them. @param {MouseEvent} event */
function endMessages(event) {
  const target = /** @type {Element} */ (event.target);
  if (!target.closest('button, a, [role=tab], [role=option]') || target.closest('.toast-wrap')) return;
  for (const close of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.toast-close')))
    close.click();
}

document.addEventListener('click', endMessages, { capture: true });
window.coeval = { root: appRoot(), screen, view };
window.dispatchEvent(new Event('coeval-ready'));
