/** All versions that a person saved of one place, in their own words. */

import { button, clockTime, el } from './dom.js';
import { dayText, tr, trn } from './words.js';

/** The word for an action on a line. @param {string} action */
export function doneText(action) {
  const said = { approve: tr('approved'), delete: tr('deleted'), revise: tr('revised') };
  return said[action] ?? '';
}

export function timesText(times) {
  return trn('Saved {n} time', 'Saved {n} times', times);
}

function line({ label, action, text, reason }) {
  const words = [doneText(action), text, reason && `(${reason})`].filter(Boolean).join(' ');
  return [el('dt', {}, label), el('dd', { dir: 'auto' }, words)];
}

const scoreLine = (score) => [el('dt', {}, tr('Score')), el('dd', {}, String(score ?? tr('none')))];

/** @param {HistoryVersion} version */
function versionCard({ revision, saved_at: at, score, first, lines }) {
  const name = first ? tr('Before the draft') : tr('Version {version}', { version: revision });
  const time = at ? `${dayText(new Date(at))} ${clockTime(at)}` : tr('time unknown');
  return el(
    'section',
    { class: 'ce-version' },
    el('h3', {}, `${name} · ${time}`),
    el('dl', {}, ...(score === undefined ? [] : scoreLine(score)), ...lines.flatMap(line)),
  );
}

/**
 * Shows all versions, the newest first, a page at a time.
 * @param {HTMLElement} root
 * @param {HistoryPage} page
 * @param {(before: number) => Promise<HistoryPage>} load gets the page before a version
 * @param {(error: Error) => void} onfailed
 */
export function showHistory(root, page, load, onfailed) {
  const cards = ({ versions }) => [...versions].reverse().map(versionCard);
  let oldest = page.versions[0]?.revision;
  const older = button(tr('Show older versions'), {
    class: 'ce-btn',
    onclick: async () => {
      try {
        const next = await load(oldest);
        list.append(...cards(next));
        oldest = next.versions[0]?.revision;
        older.hidden = !next.more;
      } catch (error) {
        onfailed(error);
      }
    },
  });
  older.hidden = !page.more;
  const list = el(
    'div',
    { class: 'ce-versions', tabindex: '0', role: 'region', 'aria-label': tr('Versions') },
    ...cards(page),
  );
  const close = button(tr('Close'), { class: 'ce-btn', onclick: () => dialog.close() });
  const dialog = el(
    'dialog',
    { class: 'coeval ce-dialog ce-wide', 'aria-label': tr('Saved versions') },
    el('h2', {}, tr('Your saved versions')),
    list,
    el('div', { class: 'ce-dialog-foot' }, older, close),
  );
  dialog.addEventListener('close', () => dialog.remove());
  root.append(dialog);
  dialog.showModal();
  close.focus();
}
