/** What stands in place of the work when there is none. */

import { button, el, icon } from '../core/dom.js';
import { tr, trn } from '../core/words.js';

/** The end of a filter, or of everything; `onfilter(name)` looks at others. */
export function endScreen(step, onfilter) {
  const look = (filter, label) => button(label, { class: 'ce-btn', onclick: () => onfilter(filter) });
  const [title, text, ...buttons] = endWords(step, look);
  const sign =
    step.total && step.done === step.total ? ['wb-end-sign', 'approve'] : ['wb-end-sign is-quiet', 'rows'];
  return el(
    'div',
    { class: 'ce-card wb-end' },
    el('div', { class: sign[0], 'aria-hidden': 'true' }, icon(sign[1])),
    el('h2', { tabindex: '-1' }, title),
    el('p', {}, text),
    el('div', { class: 'wb-end-foot' }, ...buttons),
  );
}

function endWords(step, look) {
  const { total, done, filter, flagged, waits, empty } = step;
  if (empty)
    return [
      tr('Nothing here for you yet'),
      empty.text,
      empty.link ? el('a', { class: 'ce-btn is-primary', href: empty.link }, empty.label) : null,
      look('unfinished', tr('Look again')),
    ];
  if (filter === 'flagged')
    return [
      tr('No flags'),
      tr('You have flagged no instance.'),
      look('unfinished', tr('Go on with the unfinished')),
    ];
  const more = [
    flagged ? look('flagged', trn('Look at the {n} flagged', 'Look at the {n} flagged', flagged)) : null,
    look('all', tr('Look through all')),
  ];
  if (done < total && waits)
    return [
      tr('Nothing to judge right now'),
      tr(
        '{done} of {total} are done. The others wait for the model’s drafts, or were skipped: come back later.',
        { done, total },
      ),
      ...more,
    ];
  if (done < total)
    return [
      tr('Nothing is left here'),
      tr('{done} of {total} are done; what remains was skipped or is not open to you.', { done, total }),
      ...more,
    ];
  return [
    tr('That was the last one. Thank you.'),
    trn(
      'You have gone through it. Everything is saved; you can still change your mind.',
      'You have gone through all {n}. Everything is saved; you can still change your mind.',
      total,
    ),
    ...more,
  ];
}

/** What is shown when not even a first step could be fetched. */
export function failureScreen(error, remedy) {
  return el(
    'div',
    { class: 'ce-card wb-end', role: 'alert' },
    el('div', { class: 'wb-end-sign is-quiet', 'aria-hidden': 'true' }, icon('rows')),
    el(
      'h2',
      { tabindex: '-1' },
      error.kind === 'not_found' ? tr('Nothing to judge yet') : tr('This could not be opened'),
    ),
    el('p', {}, error.message),
    el('div', { class: 'wb-end-foot' }, remedy),
  );
}
