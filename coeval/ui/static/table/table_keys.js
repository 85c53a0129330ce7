/** The commands of a table and of the workbench, with their keys. */

import { isTextBox } from '../core/dom.js';
import { digitOf } from '../core/keys.js';
import { tr } from '../core/words.js';

/* The keys of every table; the screens add their own. */

/**
 * The commands of every table; the workbench adds its own.
 * @param {() => any} table
 * @param {() => boolean} close what Esc closes first; returns whether something was open
 * @returns {import('../core/keys.js').Command[]}
 */
export function tableCommands(table, close = () => false) {
  const act = (action) => () => table().decideInUse(action);
  const digits = Array.from('0123456789');
  return [
    { id: 'type', combos: [], anyKey: true, run: (event) => table().type(event) },
    { id: 'down', combos: ['ArrowDown'], label: tr('Next line'), again: true, run: () => table().move(1) },
    { id: 'up', combos: ['ArrowUp'], label: tr('Previous line'), again: true, run: () => table().move(-1) },
    { id: 'approve', combos: ['A'], label: tr('Approve the line'), run: act('approve') },
    { id: 'revise', combos: ['R'], label: tr('Revise the line'), run: act('revise') },
    { id: 'delete', combos: ['D'], label: tr('Delete the line, or remove an added one'), run: act('delete') },
    {
      id: 'aside',
      combos: ['ArrowRight', 'ArrowLeft'],
      label: tr('Move through the cells of the line'),
      shown: ['ArrowLeft', 'ArrowRight'],
      again: true,
      run: ({ key, target }) => table().stepAside(onward(key, target) ? 1 : -1),
    },
    {
      id: 'edit',
      combos: ['F2'],
      label: tr('Edit your version or the reason (or double-click the cell, or type in it)'),
      run: () => table().edit(),
    },
    {
      id: 'enter',
      combos: ['Enter', 'Shift+Enter'],
      label: tr('On a line: edit your version. In a cell: go down'),
      shown: ['Enter'],
      run: ({ target, shiftKey }) => table().enter(target, shiftKey ? -1 : 1),
    },
    {
      id: 'tab',
      combos: ['Tab', 'Shift+Tab'],
      label: tr('Go to the next words that you can write'),
      shown: ['Tab'],
      again: true,
      run: ({ shiftKey }) => table().tab(shiftKey ? -1 : 1),
    },
    {
      id: 'tab-on',
      combos: ['Tab', 'Shift+Tab'],
      inText: true,
      run: ({ target, shiftKey }) => (isBoxOf(table(), target) ? table().tab(shiftKey ? -1 : 1) : false),
    },
    {
      id: 'typed',
      combos: ['ArrowDown', 'ArrowUp'],
      inText: true,
      run: ({ key, target }) =>
        isBoxOf(table(), target) ? table().leaveTyped(key === 'ArrowDown' ? 1 : -1) : false,
    },
    {
      id: 'commit',
      combos: ['Enter'],
      label: tr('In a text box: keep the text and go to the next line (⇧ ⏎ breaks the line)'),
      inText: true,
      run: ({ target }) => (isBoxOf(table(), target) ? table().commit() : false),
    },
    {
      id: 'leave',
      combos: ['Escape'],
      label: tr('In a text box: leave it and discard the change'),
      inText: true,
      run: ({ target }) => leaveBox(table(), target),
    },
    {
      id: 'stretch',
      combos: ['Shift+ArrowDown', 'Shift+ArrowUp'],
      label: tr('Select several lines; A then approves them, and D deletes them'),
      shown: ['Shift+ArrowDown', 'Shift+ArrowUp'],
      again: true,
      run: ({ key }) => table().stretch(key === 'ArrowDown' ? 1 : -1),
    },
    { id: 'clear', combos: ['Escape'], run: () => close() || table().clearSelection() },
    {
      id: 'undo',
      combos: ['Ctrl+Z', 'Meta+Z'],
      label: tr('Undo the last change'),
      run: () => table().undo(),
    },
    {
      id: 'redo',
      combos: ['Ctrl+Shift+Z', 'Meta+Shift+Z', 'Ctrl+Y'],
      label: tr('Redo the change'),
      run: () => table().redo(),
    },
    {
      id: 'score',
      combos: digits,
      shown: ['1', '…', '5'],
      label: tr('On the score line: choose the score'),
      run: (event) => table().pressDigit(digitOf(event) ?? event.key),
    },
    { id: 'new', combos: ['N'], label: tr('Add a line'), run: () => table().addByKey('N') },
  ];
}

/** Right means forward, unless the text runs from right to left. */
function onward(key, target) {
  return (key === 'ArrowRight') !== (getComputedStyle(target).direction === 'rtl');
}

/** Whether this is a text box of the table; the key applies only there. */
function isBoxOf(table, target) {
  return isTextBox(target) && table.list.contains(target);
}

function leaveBox(table, target) {
  if (!isTextBox(target)) return false;
  if (target.matches('.is-ready')) return table.clearSelection();
  if (table.list.contains(target)) return table.cancel();
  return target.blur();
}

/* The keys of the scrutiny screen. */

/** Commands for a workbench, in the order of the page of keys. @param {import('../scrutiny/workbench.js').Workbench} bench */
export function workbenchCommands(bench) {
  return [
    {
      id: 'confirm',
      combos: ['Ctrl+Enter', 'Meta+Enter'],
      label: tr('Confirm and continue'),
      inText: true,
      remappable: true,
      shownOnly: true,
      run: () => bench.editor.confirm(),
    },
    ...tableCommands(
      () => bench.table,
      () => bench.frame.closeGuidelines(),
    )
      .filter(({ id }) => id !== 'new')
      .map((command) => ({
        ...command,
        run: (event) => (bench.work || command.id === 'leave' ? command.run(event) : false),
      })),
    {
      id: 'evidence',
      combos: ['E'],
      label: tr('Add evidence, with the words selected in the text'),
      run: () => bench.addEvidence(),
    },
    {
      id: 'new',
      combos: ['N'],
      label: tr('Add a line'),
      run: () => (bench.work ? bench.table.addByKey('N') : false),
    },
    {
      id: 'output',
      combos: ['O'],
      label: tr('Move into the text; arrow keys move by word, Shift selects'),
      run: () => bench.frame.reading.output.body.focus(),
    },
    {
      id: 'input',
      combos: ['I'],
      label: tr('Move into the input, where you left it'),
      run: () => bench.frame.reading.showInput(),
    },
    {
      id: 'rest',
      combos: ['Shift+A'],
      label: tr('Approve the rest, after you have seen every line'),
      run: () => bench.approveRest(),
    },
    { id: 'next', combos: ['J'], label: tr('Next instance'), run: () => bench.move('next_instance') },
    {
      id: 'previous',
      combos: ['K'],
      label: tr('Previous instance'),
      run: () => bench.move('previous_instance'),
    },
    { id: 'step-on', combos: [']', 'Shift+J'], label: tr('Next criterion'), run: () => bench.stepBy(1) },
    {
      id: 'step-back',
      combos: ['[', 'Shift+K'],
      label: tr('Previous criterion'),
      run: () => bench.stepBy(-1),
    },
    { id: 'back', combos: ['B'], label: tr('Back to where you were'), run: () => bench.back() },
    {
      id: 'jump',
      combos: ['/'],
      label: tr('Go to an instance by its number'),
      run: () => bench.frame.head.focusJump(),
    },
    { id: 'flag', combos: ['F'], label: tr('Flag the instance'), run: () => bench.marks.flag() },
    { id: 'comment', combos: ['C'], label: tr('Comment on the instance'), run: () => bench.comment() },
    {
      id: 'skip',
      combos: ['S'],
      label: tr('Skip the instance'),
      shownOnly: true,
      run: () => bench.skip(),
    },
    {
      id: 'history',
      combos: ['H'],
      label: tr('Show your saved versions'),
      run: () => bench.editor.showHistory(),
    },
    { id: 'guidelines', combos: ['G'], label: tr('Guidelines'), run: () => bench.showGuidelines() },
    {
      id: 'layout',
      combos: ['L'],
      label: tr('Texts side by side or stacked'),
      run: () => bench.frame.layout.toggle(),
    },
    {
      id: 'view',
      combos: ['V'],
      label: tr('One criterion, or all criteria of the instance'),
      run: () => bench.changeView(),
    },
    { id: 'help', combos: ['?'], label: tr('This page'), run: () => bench.keys.show() },
  ];
}
