/** The work on one criterion, and on all criteria of an instance. */

import { serverNow, withQuery } from '../core/api.js';
import { inSentence } from '../core/dom.js';
import { newUid } from '../core/kept.js';
import { tr } from '../core/words.js';
import { SheetWork, sameState } from '../table/sheet_work.js';

/* The evaluation on screen as a sheet, and the submission it becomes. */

/** The lines that can be added: none before the draft is shown, because only the score is needed then. */
function offersOf({ asks_first: asksFirst, rows }) {
  if (asksFirst) return [];
  const evidence = { label: tr('Add evidence'), key: 'E', kind: 'evidence' };
  const conclusion = { label: tr('Add a conclusion'), key: 'N', kind: 'conclusion', once: true };
  return rows.some((row) => row.kind === 'conclusion') ? [evidence] : [conclusion, evidence];
}

/** The sheet of an evaluation for the table. @param {OpenStep} step @returns {Sheet} */
function sheetOf({ evaluation, limits, task }) {
  const { revision, saved_at, draft, rows, added, scale, anchors, draft_score, score } = evaluation;
  const missing = tr('not in the {text}', { text: inSentence(task.output_field) });
  const fromInput = tr('quotes the {text}', { text: inSentence(task.input_field) });
  const nearly = tr('similar passage in the {text}:', { text: inSentence(task.output_field) });
  const add = offersOf(evaluation);
  // without a draft, the box for a reason is open beside the score; an empty one is not sent
  const isBare = rows.every(({ kind }) => kind === 'score');
  const asksWhy = add.length > 1 && isBare && !added.some(({ kind }) => kind === 'conclusion');
  const why = { kind: 'conclusion', new_text: '', reason: '' };
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
    added: asksWhy ? [why, ...added] : added,
  };
}

export class StepWork extends SheetWork {
  /**
   * @param {OpenStep} step
   * @param {import('../core/kept.js').Kept} kept
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

  /** The way the save was made (the server's `Conduct`), which is sent with it and survives a reload. */
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

/* All criteria of an instance as one sheet; each evaluation is kept and saved on its own. */

/** One criterion's part of the state of the whole table. @param {any} state @param {number} id @returns {TableState} */
function partOf(state, id) {
  const own = ({ group }) => group === id;
  const bare = ({ group: _group, score: _score, ...line }) => line;
  const score = state.rows.find((row) => own(row) && row.kind === 'score')?.score ?? null;
  return { score, rows: state.rows.filter(own).map(bare), added: state.added.filter(own).map(bare) };
}

/** The lines of one criterion as lines of the whole table. @param {number} id @param {any} state */
function linesOf(id, { score, rows, added }) {
  return {
    rows: rows.map((row) => ({ ...row, group: id, ...(row.kind === 'score' ? { score } : {}) })),
    added: added.map((row) => ({ ...row, group: id })),
  };
}

/** @param {Map<number, TableState>} states @returns {TableState} */
function joined(states) {
  const parts = [...states].map(([id, state]) => linesOf(id, state));
  return { score: null, rows: parts.flatMap(({ rows }) => rows), added: parts.flatMap(({ added }) => added) };
}

/** The sheet for the table: the rows of each criterion, with its scale. @param {Map<number, StepWork>} works */
function sheetOfAll(works, step) {
  const groups = step.criteria
    .filter(({ id }) => works.has(id))
    .map(({ id, number, name, text }) => {
      const { sheet, step: own } = /** @type {StepWork} */ (works.get(id));
      return { id, number, name, text, add: sheet.add, note: own.evaluation.note };
    });
  const parts = [...works].map(([id, { sheet }]) => {
    const { rows, added } = linesOf(id, sheet);
    const { scale, anchors, draft_score: drafted } = sheet;
    return {
      added,
      rows: rows.map((row) =>
        row.kind === 'score' ? { ...row, scale, anchors, draft_score: drafted } : row,
      ),
    };
  });
  const [first] = [...works.values()];
  const saved = [...works.values()].map(({ sheet }) => sheet.saved_at).filter(Boolean);
  return {
    ...first.sheet,
    revision: Math.min(...[...works.values()].map(({ sheet }) => sheet.revision)),
    saved_at: saved.sort().at(-1) ?? '',
    draft: null,
    scale: null,
    anchors: [],
    draft_score: null,
    score: null,
    add: [],
    groups,
    rows: parts.flatMap(({ rows }) => rows),
    added: parts.flatMap(({ added }) => added),
  };
}

export class InstanceWork extends SheetWork {
  /**
   * @param {SheetStep} step
   * @param {import('../core/kept.js').Kept} kept
   * @param {() => number} activeMs the active time on this screen so far
   */
  constructor(step, kept, activeMs) {
    /** @type {Map<number, number>} */
    const spent = new Map();
    const works = new Map(
      step.evaluations.map((evaluation) => [
        evaluation.criterion,
        new StepWork({ ...step, criterion: evaluation.criterion, evaluation }, kept, () =>
          this.msOf(evaluation.criterion),
        ),
      ]),
    );
    const api = `api/scrutiny/${encodeURIComponent(step.task.slug)}`;
    super(sheetOfAll(works, step), { place: `${step.instance.id}:all`, path: `${api}/sheets`, kept });
    this.step = step;
    this.works = works;
    this.instance = step.instance.id;
    /** The criterion in use, whose time is running. */
    this.criterion = step.criterion;
    this.spent = spent;
    for (const [id, work] of works) spent.set(id, work.activeBefore);
    this.activeMs = activeMs;
    this.since = 0;
    this.activeBefore = 0;
    this.unsent = this.findUnsent();
  }

  /** The unsaved state of some criteria, and the saved state of the others. */
  findUnsent() {
    const typed = [...this.works.values()].filter((work) => work.hasUnsaved);
    if (!typed.length) return null;
    const states = [...this.works].map(([id, work]) => [
      id,
      work.hasUnsaved ? /** @type {TableState} */ (work.unsent?.state) : work.saved,
    ]);
    const at =
      typed
        .map(({ unsent }) => unsent?.at ?? '')
        .sort()
        .at(-1) ?? '';
    return {
      revision: 0,
      draft: null,
      state: joined(new Map(/** @type {any} */ (states))),
      edited: true,
      at,
    };
  }

  get isStale() {
    return [...this.works.values()].some((work) => work.hasUnsaved && work.isStale);
  }

  /** The work of the criterion in use. @returns {StepWork} */
  get current() {
    return /** @type {StepWork} */ (this.works.get(this.criterion) ?? [...this.works.values()][0]);
  }

  get timesSaved() {
    return this.current.timesSaved;
  }

  get historyPath() {
    return this.current.historyPath;
  }

  /** Times one criterion at a time: the one in use until now gets the elapsed time. */
  turnTo(criterion) {
    this.spent.set(this.criterion, this.msOf(this.criterion));
    this.since = this.activeMs();
    this.criterion = criterion;
  }

  msOf(criterion) {
    const running = criterion === this.criterion ? this.activeMs() - this.since : 0;
    return (this.spent.get(criterion) ?? 0) + running;
  }

  set bulk(on) {
    for (const work of this.works?.values() ?? []) work.bulk = on;
  }

  /** @param {TableState} state */
  keep(state) {
    if (this.settled || this.choosing) return;
    for (const [id, work] of this.works) {
      const own = partOf(state, id);
      if (!sameState(own, work.saved) || work.unsent) work.keep(own);
    }
  }

  forget() {
    for (const work of this.works.values()) work.forget();
  }

  /** The criteria to save: those never saved, and those that have changed. */
  changed(state) {
    return [...this.works].filter(([id, { step, timesSaved, saved }]) => {
      return timesSaved === 0 || step.evaluation.asks_first || !sameState(partOf(state, id), saved);
    });
  }

  says(state) {
    this.sending = this.changed(state).map(([id]) => id);
    return this.sending.length > 0;
  }

  parts(state) {
    return (this.sending ?? []).map((id) => ({
      place: /** @type {StepWork} */ (this.works.get(id)).place,
      state: partOf(state, id),
    }));
  }

  /** @param {any} payload of the table @param {string} uid @returns {Record<string, unknown>} */
  body(payload, uid) {
    const bodies = payload.groups
      .filter(({ id }) => this.sending?.includes(id))
      .map(({ id, ...own }) => /** @type {StepWork} */ (this.works.get(id)).body(own, newUid()));
    return { uid, filter: this.step.filter, evaluations: bodies };
  }
}
