/** The keyboard: one listener, a list of commands, and a page of keys that can change the key for confirming. */

import { button, el, fill, isShown, isTextBox, kbd } from './dom.js';
import { readStored, writeStored } from './kept.js';
import { tr } from './words.js';

const STORED = 'coeval:keys';
const IS_MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');
const NAMES = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  Enter: '⏎',
  Ctrl: IS_MAC ? '⌃' : 'Ctrl',
  Meta: IS_MAC ? '⌘' : 'Meta',
  ' ': 'Space',
  Escape: 'Esc',
};

/** The keys of a Latin keyboard that bear a sign, by their place: alone, and with Shift. */
const SIGNS = { Slash: '/?', BracketLeft: '[{', BracketRight: ']}' };

/** The digit that a key event stands for, in any script, or null. */
export function digitOf({ key, code = '', shiftKey = false }) {
  // where the digits need Shift, as on a French keyboard, the place of the key counts
  if (!/^\p{Nd}$/u.test(key)) return (!shiftKey && /^Digit(\d)$/.exec(code)?.[1]) || null;
  const at = /** @type {number} */ (key.codePointAt(0));
  let zero = at;
  // the digits of a script are ten neighbours, from zero to nine
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((at - zero) % 10);
}

/** The name of the key on a Latin keyboard, whatever keyboard layout is active. */
function keyName(event) {
  const { key, code, shiftKey } = event;
  if (/^([\x20-\x7e]|[A-Z][A-Za-z0-9]+)$/.test(key)) return key.length > 1 ? key : key.toUpperCase();
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  // one key of an Arabic keyboard writes two letters, so that `key` is longer than a letter
  return letter ?? SIGNS[code]?.[shiftKey ? 1 : 0] ?? key.toUpperCase();
}

/** Whether a key writes something: it is no named key such as Enter, and no shortcut. @param {KeyboardEvent} event */
export function isPrintable(event) {
  const { key, ctrlKey, metaKey, altKey } = event;
  if (/^[A-Z][A-Za-z0-9]+$/.test(key)) return false;
  return event.getModifierState('AltGraph') || !(ctrlKey || metaKey || altKey);
}

/** Whether an input method composes text with this key; its Enter chooses a word. @param {KeyboardEvent} event */
export function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}

/** "Ctrl+Enter", "A", "?", "Shift+A": Shift is named only if the key itself does not show it. */
export function comboOf(event) {
  const name = keyName(event);
  const shift = event.shiftKey && (name.length > 1 || /^[A-Z]$/.test(name));
  // some systems report AltGr, which writes signs such as [, as Ctrl and Alt
  const writes = name.length === 1 && Boolean(event.getModifierState?.('AltGraph'));
  const parts = [
    event.ctrlKey && !writes && 'Ctrl',
    event.metaKey && 'Meta',
    event.altKey && !writes && 'Alt',
    shift && 'Shift',
    name,
  ];
  return parts.filter(Boolean).join('+');
}

/** The combination as printed on a button. */
export function printed(combo) {
  return combo
    .split(/\+(?=.)/)
    .map((part) => NAMES[part] ?? part)
    .join(' ');
}

const storedCombos = () => readStored(STORED) ?? {};

/** Whether typing never produces this combination, so that it may work inside a text box. */
function isSafeInText(combo) {
  return /^(Ctrl|Meta|Alt)\+/.test(combo) || /^(Shift\+)?F\d{1,2}$/.test(combo);
}

/** What a key event is made of; a copy of it can be sent to another place. @param {KeyboardEvent} event */
function keyInit({ key, code, ctrlKey, shiftKey, altKey, metaKey, repeat }) {
  return { key, code, ctrlKey, shiftKey, altKey, metaKey, repeat, bubbles: true, cancelable: true };
}

/** Keys that waited longer were pressed because nothing happened. They would decide about work that nobody has read. */
const EARLY_MS = 2000;

/** The screen that last had the focus; if several are shown, it gets keys without modifiers. */
let inUse = null;

const MODIFIERS = new Set(['Control', 'Shift', 'Alt', 'Meta']);

/** Refuses two commands for one key; a text box has its own keys. */
export function refuseTwins(commands) {
  const taken = new Map();
  for (const { id, combos, inText } of commands) {
    for (const combo of combos) {
      const place = `${combo}${inText ? ' in a text box' : ''}`;
      if (taken.has(place)) throw new Error(`The key ${place} belongs to ${taken.get(place)} and to ${id}.`);
      taken.set(place, id);
    }
  }
}

/**
 * @typedef {object} Command
 * @property {string} id
 * @property {string[]} combos
 * @property {(event: any) => any} run
 * @property {string} [label]
 * @property {string[]} [shown] the keys that the page of keys prints
 * @property {boolean} [inText]
 * @property {boolean} [again]
 * @property {boolean} [anyKey]
 * @property {boolean} [shownOnly]
 * @property {boolean} [remappable]
 */

export class Keys {
  /**
   * Commands: [{id, combos, label, run(event), inText, again, anyKey, shownOnly}]. `again` lets a key repeat while it
   * is down. `anyKey` makes a command receive every key. `shownOnly` is for the work on screen, never for the next.
   * `run` returns false if it does not handle the key. Nothing happens while `root` is hidden or a dialog is open.
   * While `isWaiting`, other work is on its way to the screen. A key that is pressed then is early: it waits until
   * `playEarly`, so that it does not change the work that is still shown.
   */
  constructor(root, commands, isWaiting = () => false) {
    refuseTwins(commands);
    this.root = root;
    this.commands = commands;
    this.isWaiting = isWaiting;
    /** @type {KeyboardEvent[]} */
    this.early = [];
    this.listeners = [];
    for (const [id, combo] of Object.entries(storedCombos())) {
      const command = commands.find((one) => one.id === id && one.remappable);
      if (command && typeof combo === 'string' && isSafeInText(combo)) command.combos = [combo];
    }
    this.listen = (event) => this.press(event);
    root.setAttribute('data-keys', '');
    root.addEventListener('focusin', () => (inUse = root));
    document.addEventListener('keydown', this.listen);
  }

  /** Ends listening when the component leaves the page; a table that is shown again has its own keys. */
  isOver() {
    if (this.root.isConnected) return false;
    document.removeEventListener('keydown', this.listen);
    return true;
  }

  /** Whether a key pressed in `target` is for this screen and not for another on the same page. */
  isMine(target) {
    const owner = target.closest?.('[data-keys]');
    if (owner) return owner === this.root;
    return inUse === this.root || !inUse || !isShown(inUse);
  }

  press(event) {
    if (
      this.isOver() ||
      event.defaultPrevented ||
      isComposing(event) ||
      !event.key ||
      MODIFIERS.has(event.key)
    )
      return;
    if (!isShown(this.root) || document.querySelector('dialog[open]') || !this.isMine(event.target)) return;
    if (!this.isWaiting()) {
      this.early = []; // these were for work that never came
      if (this.commandsFor(event).some((command) => command.run(event) !== false)) event.preventDefault();
      return;
    }
    const command = this.commandsFor(event).find(({ anyKey }) => !anyKey);
    // Enter and Tab on a button, a link or the jump box are the browser's own
    const own = /^(Enter|(Shift\+)?Tab)$/.test(comboOf(event)) && event.target.closest?.('button, a, input');
    if (!command || own) return;
    event.preventDefault();
    if (!command.shownOnly) this.early.push(event);
  }

  /** The commands that a key may start, in their order. */
  commandsFor(event) {
    const digit = digitOf(event);
    const has = (combo) => this.commands.some(({ combos }) => combos.includes(combo));
    const combo = digit === null || has(comboOf(event)) ? comboOf(event) : digit;
    const target = event.composedPath()[0];
    // in a selected cell of a table, letters are text and the other keys are commands
    const typing = isTextBox(target) && (isPrintable(event) || !target.matches('.is-ready'));
    return this.commands.filter(
      ({ anyKey, combos, inText, again }) =>
        (anyKey || combos.includes(combo)) && (!typing || inText) && (!event.repeat || again),
    );
  }

  /** Presses the early keys again, on the work that is shown now, unless the person had to wait long for it. */
  playEarly() {
    const { early } = this;
    this.early = [];
    if (early.length && performance.now() - early[0].timeStamp > EARLY_MS) return;
    for (const event of early)
      document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', keyInit(event)));
  }

  combosOf(id) {
    return this.commands.find((command) => command.id === id)?.combos ?? [];
  }

  onchange(listener) {
    this.listeners.push(listener);
    listener();
  }

  remap(id, combo) {
    this.commands.find((command) => command.id === id).combos = [combo];
    writeStored(STORED, { ...storedCombos(), [id]: combo });
    for (const listener of this.listeners) listener();
  }

  // ---- the page of keys ----------------------------------------------------------------------------

  show() {
    const close = button(tr('Close'), { class: 'ce-btn', onclick: () => dialog.close() });
    const list = el('dl', { class: 'ce-keys' });
    const dialog = el(
      'dialog',
      { class: 'coeval ce-dialog ce-wide', 'aria-label': tr('Keys') },
      el('h2', {}, tr('Keys')),
      list,
      el('p', { class: 'ce-note' }, tr('In a text box, only Esc and the key that confirms are shortcuts.')),
      el('div', { class: 'ce-dialog-foot' }, close),
    );
    this.fillList(list);
    dialog.addEventListener('close', () => dialog.remove());
    this.root.append(dialog);
    dialog.showModal();
    close.focus({ preventScroll: true });
    dialog.scrollTop = 0;
  }

  fillList(list) {
    fill(
      list,
      ...this.commands
        .filter((command) => command.label)
        .map((command) =>
          el(
            'div',
            {},
            el(
              'dt',
              {},
              ...(command.shown ?? command.combos.slice(0, 1)).map((combo) => kbd(printed(combo))),
            ),
            el(
              'dd',
              {},
              command.label,
              ...(command.remappable ? [' ', this.changeButton(command, list)] : []),
            ),
          ),
        ),
    );
  }

  changeButton(command, list) {
    const change = button(tr('change this key'), {
      class: 'ce-link',
      onclick: () => this.listenFor(command, change, list),
    });
    return change;
  }

  /** The next combination becomes the command's key; a single letter is refused, because it is also text. */
  listenFor(command, change, list) {
    change.textContent = tr('press a key with Ctrl, Alt or ⌘, or F1 to F12…');
    const take = (event) => {
      if (MODIFIERS.has(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      const combo = comboOf(event);
      if (combo !== 'Escape' && !isSafeInText(combo)) return;
      document.removeEventListener('keydown', take, true);
      if (combo !== 'Escape') this.remap(command.id, combo);
      this.fillList(list);
      list.querySelector('button')?.focus();
    };
    document.addEventListener('keydown', take, true);
  }
}
