/**
 * Keeps a page with the state of its study: one small request every few seconds, while the page is in view. If the
 * revision is not the one that the page shows, the page's and the open tab's hidden buttons fetch what changed.
 */

import { appRoot } from './api.js';

const EVERY_MS = 2000;

/** The event on `window` for screens that wait for something. */
export const CHANGED = 'coeval-changed';

function press(id) {
  document.getElementById(id)?.click();
}

/** The revision that the page shows, and the task that it belongs to. */
function shown() {
  const mark = /** @type {HTMLElement | null} */ (document.querySelector('#me [data-revision]'));
  const task = new URL(location.href).searchParams.get('task');
  return mark?.dataset.revision && task ? { task, revision: mark.dataset.revision } : null;
}

async function look() {
  const before = shown();
  if (document.hidden || !before || !document.getElementById('follow-page')) return;
  const path = `api/revision/${encodeURIComponent(before.task)}`;
  const options = /** @type {RequestInit} */ ({ redirect: 'manual', cache: 'no-store' });
  const answer = await fetch(new URL(path, appRoot()), options).catch(() => null); // the next look tries again
  if (!answer?.ok) return;
  const { revision } = await answer.json();
  if (revision === shown()?.revision || before.task !== shown()?.task) return;
  refresh();
}

/** Fetches what the page and its open tab show. */
export function refresh() {
  const tab = /** @type {HTMLElement | null} */ (
    document.querySelector('#tabs [role=tab][aria-selected=true]')
  );
  press('follow-page');
  press(`follow-${tab?.dataset.tabId}`);
  window.dispatchEvent(new Event(CHANGED));
}

export function follow() {
  setInterval(look, EVERY_MS);
  document.addEventListener('visibilitychange', look);
}
