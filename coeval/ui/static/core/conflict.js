/** Two versions of one step: what is typed here and what was saved elsewhere. The person chooses. */

import { button, clockTime, el } from './dom.js';
import { diffNodes } from '../texts/diff.js';

const SAID = { approve: 'approved', delete: 'deleted', revise: 'revised' };

function decision(row, sheet, score) {
  if (row.kind === 'score') return score === null || score === undefined ? 'no score' : `score ${score}`;
  const words = row.action === 'revise' ? `: ${row.new_text}` : '';
  const reason = row.reason && row.action !== 'approve' ? ` (${row.reason})` : '';
  return `${SAID[row.action] ?? 'not decided'}${words}${reason}`;
}

/** [[label, words]...] of one version, in the order of the table. */
export function versionLines(sheet, state) {
  let evidence = 0;
  const label = (row) => {
    if (row.kind === 'score') return 'Score';
    return row.kind === 'evidence'
      ? `Evidence ${(evidence += 1)}`
      : row.label || row.kind[0].toUpperCase() + row.kind.slice(1);
  };
  const mine = new Map(state.rows.map((row) => [row.id, row]));
  const drafted = sheet.rows.map((row) => [
    label(row),
    decision({ ...row, action: null, ...mine.get(row.id) }, sheet, state.score),
  ]);
  const added = state.added
    .filter((row) => row.new_text.trim())
    .map((row) => [`Added ${row.kind}`, row.new_text]);
  return [...drafted, ...added];
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
            : diffNodes(other[at][1], words).filter((node) => node.tagName !== 'DEL');
        return [
          el('dt', {}, label),
          el('dd', { dir: 'auto', class: same ? null : 'is-different' }, ...shown),
        ];
      }),
    ),
  );
}

/** Shows both versions; resolves with 'mine' or 'saved'. There is no third way out, so nothing is lost by Esc. */
export function chooseVersion(root, { sheet, mine, saved, savedAt, why }) {
  const [left, right] = [versionLines(sheet, mine), versionLines(sheet, saved)];
  const time = clockTime(savedAt);
  return new Promise((resolve) => {
    const choose = (choice) => () => {
      dialog.remove();
      resolve(choice);
    };
    const keepMine = button('Go on with mine', { class: 'ce-btn is-primary', onclick: choose('mine') });
    const dialog = el(
      'dialog',
      { class: 'coeval ce-dialog ce-wide', 'aria-label': 'Two versions' },
      el('h2', {}, 'There are two versions'),
      el('p', { class: 'ce-note' }, why),
      el(
        'div',
        { class: 'ce-versions' },
        column('Here, not saved', left, right),
        column(time ? `Saved at ${time}` : 'Saved', right, left),
      ),
      el(
        'p',
        { class: 'ce-note' },
        'Going on with yours saves nothing yet: look it over and confirm. The saved one stays in the history.',
      ),
      el(
        'div',
        { class: 'ce-dialog-foot' },
        button('Take the saved one', { class: 'ce-btn', onclick: choose('saved') }),
        keepMine,
      ),
    );
    dialog.addEventListener('cancel', (event) => event.preventDefault());
    root.append(dialog);
    dialog.showModal();
    keepMine.focus();
  });
}
