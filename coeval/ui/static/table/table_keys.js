/** The keys of every table; the screens around them add their own. */

import { isTextBox } from '../core/dom.js';
import { keyName } from '../core/keys.js';
import { tr } from '../core/words.js';

/** The commands of every table; the workbench adds its own. */
export function tableCommands(table) {
  const act = (action) => () => table().decideInUse(action);
  const digits = Array.from('0123456789');
  return [
    { id: 'type', combos: [], anyKey: true, run: (event) => typesInCell(table(), event) },
    { id: 'down', combos: ['ArrowDown'], label: tr('Next line'), again: true, run: () => table().move(1) },
    { id: 'up', combos: ['ArrowUp'], label: tr('Line before'), again: true, run: () => table().move(-1) },
    { id: 'approve', combos: ['A'], label: tr('Approve the line'), run: act('approve') },
    { id: 'revise', combos: ['R'], label: tr('Revise the line'), run: act('revise') },
    { id: 'delete', combos: ['D'], label: tr('Delete the line, or remove an added one'), run: act('delete') },
    {
      id: 'aside',
      combos: ['ArrowRight', 'ArrowLeft'],
      label: tr('Through the cells of the line'),
      shown: ['ArrowLeft', 'ArrowRight'],
      again: true,
      run: ({ key, target }) => table().stepAside(onward(key, target) ? 1 : -1),
    },
    {
      id: 'edit',
      combos: ['Enter', 'F2'],
      label: tr('Edit your version, or the reason; a double click and typing in the cell do too'),
      run: () => table().edit(),
    },
    {
      id: 'commit',
      combos: ['Enter'],
      label: tr('In a text box: done; the words stay (⇧ ⏎ is a new line)'),
      inText: true,
      run: ({ target }) => (isBoxOf(table(), target) ? table().commit() : false),
    },
    {
      id: 'leave',
      combos: ['Escape'],
      label: tr('In a text box: leave it, and take back what was typed'),
      inText: true,
      run: ({ target }) => leaveBox(table(), target),
    },
    {
      id: 'stretch',
      combos: ['Shift+ArrowDown', 'Shift+ArrowUp'],
      label: tr('Choose several lines; then A approves them, D deletes them'),
      shown: ['Shift+ArrowDown', 'Shift+ArrowUp'],
      again: true,
      run: ({ key }) => table().stretch(key === 'ArrowDown' ? 1 : -1),
    },
    { id: 'clear', combos: ['Escape'], run: () => table().clearSelection() },
    {
      id: 'undo',
      combos: ['Ctrl+Z', 'Meta+Z'],
      label: tr('Take the last change back'),
      run: () => table().undo(),
    },
    {
      id: 'redo',
      combos: ['Ctrl+Shift+Z', 'Meta+Shift+Z', 'Ctrl+Y'],
      label: tr('Do it again'),
      run: () => table().redo(),
    },
    {
      id: 'score',
      combos: digits,
      shown: ['1', '…', '5'],
      label: tr('On the score line: choose the score'),
      run: (event) => table().pressDigit(keyName(event)),
    },
    { id: 'new', combos: ['N'], label: tr('Add a line'), run: () => table().addByKey('N') },
  ];
}

/** Right is on, unless the text runs from right to left. */
function onward(key, target) {
  return (key === 'ArrowRight') !== (getComputedStyle(target).direction === 'rtl');
}

/** Whether this is a text box of the table; elsewhere the key is not for it. */
function isBoxOf(table, target) {
  return isTextBox(target) && table.list.contains(target);
}

function leaveBox(table, target) {
  if (!isTextBox(target)) return false;
  if (table.list.contains(target)) return table.cancel();
  return target.blur();
}

/** A letter typed in a text cell begins its edit, ahead of the letters that are commands. */
function typesInCell(table, event) {
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey || isTextBox(event.target))
    return false;
  return table.edit(null, event.key);
}
