/** The step on screen: its sheet, what is typed over it, and the submission it becomes. */

import { serverNow } from '../core/api.js';
import { sameState, stateOf } from '../core/drafts_kept.js';

/** What the table shows of an evaluation. */
export function sheetOf({ evaluation }) {
  const { rows, added, scale, draft_score: drafted, score, revision } = evaluation;
  const evidence = { label: 'Add evidence', key: 'E', kind: 'evidence' };
  const conclusion = { label: 'Add a conclusion', key: 'N', kind: 'conclusion', once: true };
  const concluded = rows.some((row) => row.kind === 'conclusion');
  return {
    rev: revision,
    readonly: false,
    reason_required: false,
    scale,
    draft_score: drafted,
    score,
    rows,
    added,
    // before the draft is shown only the score is asked for
    add: evaluation.asks_first ? [] : concluded ? [evidence] : [conclusion, evidence],
  };
}

/** A random version-4 UUID, also where the page is not served over https. */
export function newUid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export class StepWork {
  /** `kept` is the store of unsaved work; what it holds for this step is taken up. */
  constructor(step, kept) {
    this.step = step;
    this.kept = kept;
    this.instance = step.instance.id;
    this.criterion = step.criterion;
    this.revision = step.evaluation.revision;
    this.sheet = sheetOf(step);
    this.saved = stateOf(this.sheet);
    this.settled = false;
    this.choosing = false;
    this.takeUp(kept.get(this.instance, this.criterion));
  }

  takeUp(found) {
    this.found = found;
    const goesOn = found && (found.revision === this.revision || this.hasUnsaved);
    this.openedAt = (goesOn && found.opened_at) || serverNow();
    this.activeBefore = (goesOn && found.active_ms) || 0;
    this.bulk = Boolean(goesOn && found.bulk);
  }

  /** Somebody's words wait here that the server does not have. */
  get hasUnsaved() {
    return Boolean(this.found?.edited && this.found.state && !sameState(this.found.state, this.saved));
  }

  /** The waiting words were written over another version, or over another draft. */
  get isStale() {
    return this.found.revision !== this.revision || this.found.draft !== this.step.evaluation.draft;
  }

  /** Writes down the state of the table; also the time, so that a reload does not lose it. */
  keep(state, activeMs) {
    if (this.settled || this.choosing) return;
    this.kept.put(this.instance, this.criterion, {
      revision: this.revision,
      draft: this.step.evaluation.draft,
      state,
      edited: !sameState(state, this.saved),
      opened_at: this.openedAt,
      active_ms: activeMs,
      bulk: this.bulk,
    });
  }

  /** The server has it, or the person gave it up: nothing is kept any more. */
  settle() {
    this.settled = true;
    this.kept.drop(this.instance, this.criterion);
  }

  /** The body of the submission. The uid is made here, once, and stays through every retry. */
  body(payload, activeMs, filter) {
    return {
      uid: newUid(),
      instance: this.instance,
      criterion: this.criterion,
      draft: this.step.evaluation.draft,
      revision: this.revision,
      opened_at: this.openedAt,
      active_ms: activeMs,
      bulk: this.bulk,
      filter,
      ...payload,
      ...(this.step.evaluation.asks_first ? { first: true } : {}),
    };
  }
}
