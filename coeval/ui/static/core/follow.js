/**
 * Keeps a page with the state of its study: one small request every few seconds, while the page is in view. If the
 * revision is not the one that the page shows, the page's and the open tab's followers fetch what changed.
 */

import { appRoot, OTHER_PERSON } from './api.js';

const EVERY_MS = 2000;

/** The event on `window` for screens that wait for something. */
export const CHANGED = 'coeval-changed';

/** Functions that fetch changes of the page (`follow-page`) and tabs. @type {Map<string, () => void>} */
const followers = new Map();

/** Adds a follower, see coeval/ui/components/view.py. @param {HTMLElement} element @param {(event: string) => void} trigger */
export function follower(element, trigger) {
  followers.set(element.closest('[id^=follow-]')?.id ?? '', () => trigger('submit'));
}

/** The revision that the page shows, and the task that it belongs to. */
function shown() {
  const mark = /** @type {HTMLElement | null} */ (document.querySelector('#me [data-revision]'));
  const task = new URL(location.href).searchParams.get('task');
  return mark?.dataset.revision && task ? { task, revision: mark.dataset.revision } : null;
}

/** @param {(message: string) => void} onother */
async function look(onother) {
  const before = shown();
  if (document.hidden || !before || !followers.has('follow-page')) return;
  const path = `api/revision/${encodeURIComponent(before.task)}`;
  const options = /** @type {RequestInit} */ ({ redirect: 'manual', cache: 'no-store' });
  const answer = await fetch(new URL(path, appRoot()), options).catch(() => null); // the next look tries again
  const said = await answer?.json().catch(() => null);
  if (said?.error === OTHER_PERSON) onother(said.message);
  if (!answer?.ok) return;
  const { revision } = said;
  if (revision === shown()?.revision || before.task !== shown()?.task) return;
  refresh();
}

/** Fetches what the page and its open tab show. */
export function refresh() {
  const tab = /** @type {HTMLElement | null} */ (
    document.querySelector('#tabs [role=tab][aria-selected=true]')
  );
  followers.get('follow-page')?.();
  followers.get(`follow-${tab?.dataset.tabId}`)?.();
  window.dispatchEvent(new Event(CHANGED));
}

/** `onother` is called while another person is signed in. @param {(message: string) => void} onother */
export function follow(onother) {
  setInterval(look, EVERY_MS, onother);
  document.addEventListener('visibilitychange', () => look(onother));
}
