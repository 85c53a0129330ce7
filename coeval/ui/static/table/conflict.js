/** Two versions of one step, one typed here and one saved elsewhere, for the person to choose. */

import { button, el } from '../core/dom.js';
import { doneText } from '../core/history.js';
import { tr } from '../core/words.js';
import { addedName, lineName } from '../rows/row.js';
import { diffNodes } from '../texts/diff.js';
import { lineKey } from './sheet_work.js';

function decision(row, whole) {
  const score = row.score ?? whole;
  if (row.kind === 'score') {
    return score === null || score === undefined ? tr('no score') : tr('score {score}', { score });
  }
  const words = row.action === 'revise' ? `: ${row.new_text}` : '';
  const reason = row.reason && row.action !== 'approve' ? ` (${row.reason})` : '';
  const own = Object.values(row.own ?? {}).filter((value) => value !== null && value !== '');
  return [`${doneText(row.action) || tr('not decided')}${words}${reason}`, ...own].join(' · ');
}

/** The names of a sheet's lines: criteria by their text, lines of an evaluation by their kind. @param {Sheet} sheet */
function namesOf({ rows, groups }) {
  const numbers = new Map((groups ?? []).map(({ id, number }) => [id, `${number} · `]));
  const evidence = {};
  return rows.map(({ kind, text, group = 0 }) => {
    if (kind === 'criterion') return text;
    const before = numbers.get(group) ?? '';
    if (kind === 'evidence') evidence[group] = (evidence[group] ?? 0) + 1;
    return before + lineName(kind, evidence[group]);
  });
}

/**
 * [[name, words]...] of one version, in the order of the table.
 * @param {Sheet} sheet
 * @param {TableState} state
 * @returns {[string, string][]}
 */
export function versionLines(sheet, state) {
  const names = namesOf(sheet);
  const mine = new Map(state.rows.map((row) => [lineKey(row), row]));
  const drafted = sheet.rows.map((row, at) => [
    names[at],
    decision({ ...row, action: null, ...mine.get(lineKey(row)) }, state.score),
  ]);
  const added = state.added
    .filter((row) => row.new_text.trim())
    .map((row) => [addedName(row.kind), row.new_text]);
  return /** @type {[string, string][]} */ ([...drafted, ...added]);
}

function column(title, lines, other) {
  return el(
    'section',
    { class: 'ce-version' },
    el('h3', {}, title),
    el(
      'dl',
      {},
      ...lines.flatMap(([label, words], at) => {
        const same = other[at]?.[1] === words;
        const shown =
          same || !other[at]
            ? [words]
            : diffNodes(other[at][1], words).filter(
                (node) => typeof node === 'string' || node.tagName !== 'DEL',
              );
        return [
          el('dt', {}, label),
          el('dd', { dir: 'auto', class: same ? null : 'is-different' }, ...shown),
        ];
      }),
    ),
  );
}

/**
 * Shows both versions; resolves with 'mine' or 'saved'. Esc does not close it, so nothing is lost.
 * @param {HTMLElement} root
 * @param {{work: import('./sheet_work.js').SheetWork, mine: TableState, why: string}} versions
 * @returns {Promise<'mine' | 'saved'>}
 */
export function chooseVersion(root, { work, mine, why }) {
  const [left, right] = [versionLines(work.sheet, mine), versionLines(work.sheet, work.saved)];
  const { name, use, note } = work.otherVersion;
  return new Promise((resolve) => {
    const choose = (choice) => () => {
      dialog.remove();
      resolve(choice);
    };
    const keepMine = button(tr('Continue with mine'), {
      class: 'ce-btn is-primary',
      onclick: choose('mine'),
    });
    const dialog = el(
      'dialog',
      { class: 'coeval ce-dialog ce-wide', 'aria-label': tr('Two versions') },
      el('h2', {}, tr('There are two versions')),
      el('p', { class: 'ce-note' }, why),
      el(
        'div',
        { class: 'ce-versions' },
        column(tr('Unsaved version here'), left, right),
        column(name, right, left),
      ),
      el('p', { class: 'ce-note' }, note),
      el(
        'div',
        { class: 'ce-dialog-foot' },
        button(use, { class: 'ce-btn', onclick: choose('saved') }),
        keepMine,
      ),
    );
    dialog.addEventListener('cancel', (event) => event.preventDefault());
    root.append(dialog);
    dialog.showModal();
    keepMine.focus();
  });
}
