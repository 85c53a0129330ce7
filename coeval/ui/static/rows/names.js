/** What lines are called. */

import { tr } from '../core/words.js';

/** A line of an evaluation by its kind; evidence by its number too. @param {string} kind @param {number} number */
export function lineName(kind, number) {
  const names = { conclusion: tr('Conclusion'), score: tr('Score'), criterion: tr('Criterion') };
  return kind === 'evidence' ? tr('Evidence {number}', { number }) : names[kind];
}

/** A line that the person added. @param {string} kind */
export function addedName(kind) {
  const names = {
    conclusion: tr('Added conclusion'),
    evidence: tr('Added evidence'),
    criterion: tr('Added criterion'),
  };
  return names[kind];
}
