/** The keys of every table; the screens around them add their own. */

import { isTextBox } from '../core/dom.js';
import { keyName } from '../core/keys.js';

/** The commands of every table; the workbench adds its own. */
export function tableCommands(table) {
  const act = (action) => () => (table().current ? table().decide(table().current, action) : false);
  const digits = Array.from('0123456789');
  return [
    { id: 'down', combos: ['ArrowDown'], label: 'Next line', again: true, run: () => table().move(1) },
    { id: 'up', combos: ['ArrowUp'], label: 'Line before', again: true, run: () => table().move(-1) },
    { id: 'approve', combos: ['A'], label: 'Approve the line', run: act('approve') },
    { id: 'revise', combos: ['R'], label: 'Revise the line', run: act('revise') },
    { id: 'delete', combos: ['D'], label: 'Delete the line, or remove an added one', run: act('delete') },
    {
      id: 'leave',
      combos: ['Escape'],
      label: 'Leave a text box; the words stay',
      inText: true,
      run: (event) => leaveBox(table(), event),
    },
    {
      id: 'score',
      combos: digits,
      shown: ['1', '…', '5'],
      label: 'On the score line: choose the score',
      run: (event) => table().pressDigit(keyName(event)),
    },
    { id: 'new', combos: ['N'], label: 'Add a line', run: () => table().addByKey('N') },
  ];
}

function leaveBox(table, event) {
  if (!isTextBox(event.target)) return false;
  if (table.list.contains(event.target)) return table.current?.focus();
  return event.target.blur();
}
