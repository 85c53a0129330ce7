/** The keys of the scrutiny screen. */

import { tr } from '../core/words.js';
import { tableCommands } from '../table/table_keys.js';

/** Commands for a workbench; the order is that of the page of keys. @param {import('./workbench.js').Workbench} bench */
export function workbenchCommands(bench) {
  return [
    {
      id: 'confirm',
      combos: ['Ctrl+Enter', 'Meta+Enter'],
      label: tr('Confirm and go on'),
      inText: true,
      remappable: true,
      run: () => bench.editor.confirm(),
    },
    ...tableCommands(() => bench.table)
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
      label: tr('Into the text: arrows move by words, Shift selects'),
      run: () => bench.frame.reading.output.body.focus(),
    },
    {
      id: 'rest',
      combos: ['Shift+A'],
      label: tr('Approve the rest, once every line was seen'),
      run: () => bench.approveRest(),
    },
    { id: 'next', combos: ['J'], label: tr('Next instance'), run: () => bench.move('next_instance') },
    {
      id: 'previous',
      combos: ['K'],
      label: tr('Instance before'),
      run: () => bench.move('previous_instance'),
    },
    { id: 'step-on', combos: [']'], label: tr('Next criterion'), run: () => bench.stepBy(1) },
    { id: 'step-back', combos: ['['], label: tr('Criterion before'), run: () => bench.stepBy(-1) },
    { id: 'back', combos: ['B'], label: tr('Back to where you were'), run: () => bench.back() },
    {
      id: 'jump',
      combos: ['/'],
      label: tr('Go to an instance by its number'),
      run: () => bench.frame.head.focusJump(),
    },
    { id: 'flag', combos: ['F'], label: tr('Flag the instance'), run: () => bench.marks.flag() },
    { id: 'comment', combos: ['C'], label: tr('Comment on the instance'), run: () => bench.comment() },
    { id: 'skip', combos: ['S'], label: tr('Skip the instance'), run: () => bench.skip() },
    {
      id: 'history',
      combos: ['H'],
      label: tr('What you saved here before'),
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
