/** What stands in place of the work when there is none. */

import { button, el, icon } from '../core/dom.js';

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
      'Nothing here for you yet',
      empty.text,
      empty.link ? el('a', { class: 'ce-btn is-primary', href: empty.link }, empty.label) : null,
      look('unfinished', 'Look again'),
    ];
  if (filter === 'flagged')
    return ['No flags', 'You have flagged no instance.', look('unfinished', 'Go on with the unfinished')];
  const more = [
    flagged ? look('flagged', `Look at the ${flagged} flagged`) : null,
    look('all', 'Look through all'),
  ];
  if (done < total && waits)
    return [
      'Nothing to judge right now',
      `${done} of ${total} are done. The others wait for the model’s drafts, or were skipped: come back later.`,
      ...more,
    ];
  if (done < total)
    return [
      'Nothing is left here',
      `${done} of ${total} are done; what remains was skipped or is not open to you.`,
      ...more,
    ];
  return [
    'That was the last one. Thank you.',
    `You have gone through ${total === 1 ? 'it' : `all ${total}`}. Everything is saved; you can still change your mind.`,
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
      error.kind === 'not_found' ? 'Nothing to judge yet' : 'This could not be opened',
    ),
    el('p', {}, error.message),
    el('div', { class: 'wb-end-foot' }, remedy),
  );
}
