/** Elements and notices of the page. */

import { tr } from './words.js';

/* Only this file makes nodes, with createElement and text, so that no text ever becomes markup. */

const SVG = 'http://www.w3.org/2000/svg';
const ICONS = {
  approve: 'M3 8.6l3.4 3.4L13 4.6',
  revise: 'M3 13l.7-2.9L10.6 3.2l2.2 2.2-6.9 6.9L3 13zM9.3 4.5l2.2 2.2',
  delete: 'M4 4l8 8M12 4l-8 8',
  left: 'M10 3.5L5.5 8l4.5 4.5',
  right: 'M6 3.5L10.5 8 6 12.5',
  flag: 'M4 14V2.5M4 3h7.5l-1.7 2.7L11.5 8.5H4',
  comment: 'M2.5 3.5h11v7.5H7.5L4.8 13.4V11H2.5z',
  skip: 'M3 4l5 4-5 4zM12 4v8',
  columns: 'M2.5 3.5h11v9h-11zM8 3.5v9',
  rows: 'M2.5 3.5h11v9h-11zM2.5 8h11',
};

/**
 * A new element. Attributes set to null, undefined or false are left out; `onclick: f` listens.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} attributes
 * @param {any[]} children nodes, texts, lists of them, or nothing
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A small icon; it is decoration, so screen readers skip it. */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute(
    'class',
    name === 'left' || name === 'right' || name === 'skip' ? 'ce-icon is-way' : 'ce-icon',
  );
  svg.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/** A key printed on a button or in a sentence. */
export function kbd(text) {
  return el('kbd', { 'aria-hidden': 'true' }, text);
}

/** @param {any} label @param {Record<string, any>} attributes @param {any[]} extra */
export function button(label, attributes, ...extra) {
  return el('button', { type: 'button', ...attributes }, label, ...extra);
}

/**
 * Replaces the content of a node, but keeps the node.
 * @template {Element} Parent
 * @param {Parent} node
 * @param {any[]} children
 */
export function fill(node, ...children) {
  node.replaceChildren(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}

/** Whether a node is on the page and not inside a hidden tab. */
export function isShown(node) {
  return node.isConnected && node.getClientRects().length > 0;
}

const NOT_TEXT = new Set(['button', 'checkbox', 'radio', 'range', 'submit', 'reset', 'color', 'file']);

/** Whether keys pressed here are text (or a choice in a native control), not commands. */
export function isTextBox(node) {
  if (!(node instanceof HTMLElement)) return false;
  if (node instanceof HTMLInputElement) return !NOT_TEXT.has(node.type);
  return node.tagName === 'TEXTAREA' || node.tagName === 'SELECT' || node.isContentEditable;
}

let counter = 0;

/** A unique id, for labels that refer to another node. */
export function uniqueId(stem) {
  counter += 1;
  return `ce-${stem}-${counter}`;
}

/** Local wall time as HH:MM:SS; empty for an empty or unreadable time. */
export function clockTime(iso) {
  const time = new Date(iso);
  if (!iso || Number.isNaN(time.getTime())) return '';
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((n) => String(n).padStart(2, '0'))
    .join(':');
}

/** A name for use inside a sentence: "Answer" becomes "answer", "LLM output" stays. */
export function inSentence(name) {
  return /^\p{Lu}\p{Ll}/u.test(name) ? name[0].toLowerCase() + name.slice(1) : name;
}

/* Messages of the page: a line for screen readers, notices that pass, and one that stays. */

const PASS_MS = 7000;

/** The corner of the page that all screens and the server share. @type {HTMLElement | null} */
let corner = null;

export class Notices {
  constructor() {
    this.live = el('div', { class: 'ce-sr', role: 'status', 'aria-live': 'polite' });
    this.banner = el('div', { class: 'wb-banner', role: 'status' });
    corner ??= el(
      'div',
      { class: 'coeval ce-corner' },
      el('div', { class: 'ce-toasts', role: 'alert' }),
      el('div', { class: 'ce-toasts', role: 'status' }),
    );
    if (!corner.isConnected) document.body.append(corner);
    const [alerts, toasts] = corner.children;
    this.alerts = alerts;
    this.toasts = toasts;
  }

  /** Announces a text to screen readers only. */
  announce(text) {
    this.live.textContent = text;
  }

  /** Shows a notice for a few seconds; `undo` adds a button. @param {string} text @param {(() => void) | null} undo */
  say(text, undo = null) {
    // the same hint for every key is one hint
    if (!undo) this.toasts.querySelector(`[data-text="${CSS.escape(text)}"]`)?.remove();
    const toast = el(
      'div',
      { class: 'ce-toast', 'data-text': undo ? null : text },
      el('span', { dir: 'auto' }, text),
    );
    if (undo) {
      toast.append(
        button(tr('Undo'), {
          class: 'ce-link',
          onclick: () => {
            toast.remove();
            undo();
          },
        }),
      );
    }
    this.toasts.append(toast);
    setTimeout(() => toast.remove(), PASS_MS);
    return toast;
  }

  /** Removes the passing notices, except those that offer to undo something. */
  clearSaid() {
    for (const toast of [...this.toasts.children]) if (!toast.querySelector('button')) toast.remove();
  }

  /** Shows an error or a warning until it is closed. The same text is shown once. */
  warn(text, kind = 'error') {
    this.alerts.querySelector(`[data-text="${CSS.escape(text)}"]`)?.remove();
    const toast = el(
      'div',
      { class: `ce-toast is-${kind}`, 'data-text': text },
      el('span', { dir: 'auto' }, text),
    );
    toast.append(
      button(icon('delete'), { class: 'ce-close', 'aria-label': tr('Close'), onclick: () => toast.remove() }),
    );
    this.alerts.append(toast);
    return toast;
  }

  clearWarnings() {
    fill(this.alerts);
  }

  /** The strip over the work, which stays while its reason lasts; an empty text removes it. */
  stay(kind, text, ...buttons) {
    this.banner.dataset.kind = kind;
    fill(this.banner, ...(text ? [el('span', { dir: 'auto' }, text), ...buttons] : []));
  }
}
