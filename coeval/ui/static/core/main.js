/** The door: what Gradio components and test pages call. */

import { appRoot } from './api.js';
import { reviewTable } from '../table/gradio_table.js';
import { view } from './view.js';
import { Workbench } from '../scrutiny/workbench.js';

let bench = null;

/** Shows {task, person} in `element`; the same pair again changes nothing. */
function show(element, value) {
  if (!value?.task) return;
  const same =
    bench && bench.frame.node.isConnected && bench.slug === value.task && bench.person === value.person;
  if (same) return;
  bench?.destroy();
  bench = new Workbench(element, value);
  bench.start();
}

function workbench(element, props, watch) {
  show(element, props.value);
  watch('value', () => show(element, props.value));
}

window.coeval = { root: appRoot(), reviewTable, view, workbench };
window.dispatchEvent(new Event('coeval-ready'));
