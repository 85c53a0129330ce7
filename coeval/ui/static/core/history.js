/** What one person saved in one place, version after version, in their own words. */

import { button, clockTime, el, plural } from './dom.js';

const SAID = { approve: 'approved', delete: 'deleted', revise: 'revised', add: '' };

export function timesText(times) {
  return `Saved ${plural(times, 'time', 'times')}`;
}

function line({ label, action, text, reason }) {
  const words = [SAID[action], text, reason && `(${reason})`].filter(Boolean).join(' ');
  return [el('dt', {}, label), el('dd', { dir: 'auto' }, words)];
}

const scoreLine = (score) => [el('dt', {}, 'Score'), el('dd', {}, String(score ?? 'none'))];

/** @param {HistoryVersion} version */
function versionCard({ revision, saved_at: at, score, first, lines }) {
  const name = first ? 'Before the draft' : `Version ${revision}`;
  return el(
    'section',
    { class: 'ce-version' },
    el('h3', {}, `${name} · ${new Date(at).toLocaleDateString()} ${clockTime(at)}`),
    el('dl', {}, ...(score === undefined ? [] : scoreLine(score)), ...lines.flatMap(line)),
  );
}

/** Shows all versions, the newest first. @param {HTMLElement} root @param {HistoryVersion[]} versions */
export function showHistory(root, versions) {
  const close = button('Close', { class: 'ce-btn', onclick: () => dialog.close() });
  const dialog = el(
    'dialog',
    { class: 'coeval ce-dialog ce-wide', 'aria-label': 'What you saved' },
    el('h2', {}, 'What you saved here'),
    el(
      'div',
      { class: 'ce-versions', tabindex: '0', role: 'region', 'aria-label': 'Versions' },
      ...[...versions].reverse().map(versionCard),
    ),
    el('div', { class: 'ce-dialog-foot' }, close),
  );
  dialog.addEventListener('close', () => dialog.remove());
  root.append(dialog);
  dialog.showModal();
  close.focus();
}
