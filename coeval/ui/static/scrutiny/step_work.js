/** The evaluation on screen as a sheet, and the submission it becomes. */

import { serverNow, withQuery } from '../core/api.js';
import { inSentence } from '../core/dom.js';
import { tr } from '../core/words.js';
import { SheetWork } from '../table/sheet_work.js';

/** What can be added: before the draft is shown only the score is asked for. */
function offersOf({ asks_first: asksFirst, status, rows }) {
  if (asksFirst || status === 'waiting') return [];
  const evidence = { label: tr('Add evidence'), key: 'E', kind: 'evidence' };
  const conclusion = { label: tr('Add a conclusion'), key: 'N', kind: 'conclusion', once: true };
  return rows.some((row) => row.kind === 'conclusion') ? [evidence] : [conclusion, evidence];
}

/** What the table shows of an evaluation. @param {OpenStep} step @returns {Sheet} */
export function sheetOf({ evaluation, limits, task }) {
  const { revision, saved_at, draft, rows, added, scale, anchors, draft_score, score } = evaluation;
  const missing = tr('not in the {text}', { text: inSentence(task.output_field) });
  const fromInput = tr('quotes the {text}', { text: inSentence(task.input_field) });
  const nearly = tr('nearly in the {text}:', { text: inSentence(task.output_field) });
  const add = offersOf(evaluation);
  return {
    revision,
    saved_at,
    draft,
    limits,
    reason_required: false,
    add,
    missing,
    from_input: fromInput,
    nearly,
    scale,
    anchors,
    draft_score,
    score,
    rows,
    added,
  };
}

export class StepWork extends SheetWork {
  /**
   * @param {OpenStep} step
   * @param {import('../core/drafts_kept.js').Kept} kept
   * @param {() => number} activeMs the active time on this step so far
   */
  constructor(step, kept, activeMs) {
    const api = `api/scrutiny/${encodeURIComponent(step.task.slug)}`;
    super(sheetOf(step), {
      place: `${step.instance.id}:${step.criterion}`,
      path: `${api}/submissions`,
      kept,
    });
    this.api = api;
    this.step = step;
    this.instance = step.instance.id;
    this.criterion = step.criterion;
    this.activeMs = activeMs;
    const goesOn = this.unsent && (this.unsent.revision === this.sheet.revision || this.hasUnsaved);
    const before = goesOn ? this.unsent : null;
    this.openedAt = before?.opened_at || serverNow();
    this.activeBefore = before?.active_ms || 0;
    this.bulk = Boolean(before?.bulk);
  }

  /** A score given before the draft was shown counts too. */
  get timesSaved() {
    return this.sheet.revision + (typeof this.step.evaluation.first_score === 'number' ? 1 : 0);
  }

  get historyPath() {
    return withQuery(`${this.api}/history`, { instance: this.instance, criterion: this.criterion });
  }

  /** How the save was made (the server's `Conduct`): sent with it, and kept so that a reload does not lose it. */
  extras() {
    return { opened_at: this.openedAt, active_ms: this.activeMs(), bulk: this.bulk };
  }

  body(payload, uid) {
    return {
      ...super.body(payload, uid),
      uid,
      instance: this.instance,
      criterion: this.criterion,
      draft: this.step.evaluation.draft,
      score: payload.score,
      ...this.extras(),
      filter: this.step.filter,
      ...(this.step.evaluation.asks_first ? { first: true } : {}),
    };
  }
}
