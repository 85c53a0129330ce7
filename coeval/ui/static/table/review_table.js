/**
 * The editable table of both screens. It holds rows and decisions, and uses no server or storage. `contract.d.ts`
 * defines its sheets.
 */

import { button, el, fill, inSentence, kbd } from '../core/dom.js';
import { tr, trn } from '../core/words.js';
import { AddedRow, DraftedRow } from '../rows/review_row.js';
import { Group, headRow, lineName } from '../rows/row.js';
import { ScoreRow } from '../rows/score_row.js';
import { findQuoted, quotedSpans } from '../texts/text.js';

const NOTHING = () => {};

/** @type {Sheet} */
const NO_SHEET = {
  revision: 0,
  saved_at: '',
  limits: { added: 0, remark: 0 },
  reason_required: false,
  add: [],
  scale: null,
  draft_score: null,
  score: null,
  rows: [],
  added: [],
};

/**
 * @typedef {object} TableEvents
 * @property {() => void} [onchange] a decision or a word changed
 * @property {(key: string | null) => void} [oncurrent] another line is in use
 * @property {() => void} [oncomplete] nothing is left to decide
 * @property {(sentence: string, undo?: () => void) => void} [onsay]
 * @property {(kind: string) => string} [wordsFor] the initial text of an added line
 * @property {(lines: any[]) => string} [onbulk] called before a bulk approval; returns the reason against
 * it, or ''
 */

export class ReviewTable {
  /** @param {HTMLElement} root @param {TableEvents & {name?: string}} events */
  constructor(root, { name = tr('Lines'), ...events } = {}) {
    /** @type {Required<TableEvents>} */
    this.on = {
      onchange: NOTHING,
      oncurrent: NOTHING,
      oncomplete: NOTHING,
      onsay: NOTHING,
      wordsFor: () => '',
      onbulk: () => '',
      ...events,
    };
    this.list = el('div', { class: 'rt-list', role: 'grid', 'aria-label': name });
    this.adders = el('div', { class: 'rt-adders' });
    /** @type {Sheet} */
    this.sheet = NO_SHEET;
    /** @type {any[]} */
    this.rows = [];
    /** @type {AddedRow[]} */
    this.added = [];
    /** The criteria of a sheet with several, in order. @type {Map<number, Group>} */
    this.groups = new Map();
    this.locked = false;
    fill(root, el('div', { class: 'rt' }, this.list, this.adders));
  }

  // ---- what is shown -------------------------------------------------------------------------------

  /** @param {Sheet} sheet */
  load(sheet) {
    this.sheet = sheet;
    this.groups = new Map((sheet.groups ?? []).map((group) => [group.id, new Group(this, group)]));
    const counts = {};
    this.rows = sheet.rows.map((row) =>
      this.buildRow({ ...row, label: row.label || this.nameOf(row, counts) }),
    );
    this.counts = counts;
    this.added = sheet.added.map((row) => this.buildAdded(row));
    this.list.classList.toggle('is-grid', this.groups.size > 0);
    this.sorting = { column: -1, down: false };
    /** The places of the lines while a heading sorts them. @type {Map<any, number>} */
    this.order = new Map();
    const head = this.buildHead();
    this.head = head;
    // what the person gives then fills the place of the draft, and there is nothing to act on
    const idle = this.groups.size ? [] : [1, 3, 4].map((n) => head.children[n]);
    for (const heading of idle) heading?.toggleAttribute('hidden', this.isUndrafted);
    fill(this.list, head, ...[...this.groups.values()].map((group) => group.node));
    for (const row of this.all) this.put(row);
    this.buildAdders();
    this.renumber();
    this.current = null;
    this.select(this.undecided()[0] ?? this.all[0]);
    this.lock(false);
  }

  /** The headings. @returns {HTMLElement} */
  buildHead() {
    const sort = (column) => this.sort(column);
    const { groups } = this;
    return groups.size
      ? headRow(
          'rg-head',
          [tr('Criterion'), tr('Score'), tr('Conclusion'), tr('Evidence'), tr('Action')],
          sort,
        )
      : headRow('rt-head', this.headings(), sort);
  }

  headings() {
    return [tr('Line'), tr('Draft'), tr('Your version'), tr('Action'), tr('Reason')];
  }

  /** Sorts the lines, or the criteria, by a column: upwards, then downwards, then as they were. @param {number} column */
  sort(column) {
    const { sorting } = this;
    const isSame = sorting.column === column;
    const ends = isSame && sorting.down;
    this.sorting = { column: ends ? -1 : column, down: isSame && !ends };
    for (const [n, head] of [...(this.head?.children ?? [])].entries())
      head.setAttribute(
        'aria-sort',
        n !== this.sorting.column ? 'none' : this.sorting.down ? 'descending' : 'ascending',
      );
    const things = this.groups.size ? [...this.groups.values()] : [...this.rows, ...this.added];
    /** @type {[any, any][]} */
    const keyed = things.map((thing) => [thing, ends ? 0 : thing.sortKey(column)]);
    const compare = ([, a], [, b]) => String(a).localeCompare(String(b), undefined, { numeric: true });
    // a sort keeps the order of equal lines, so that no key gives the order of the sheet
    if (ends && this.groups.size) keyed.sort(([a], [b]) => a.number - b.number);
    else keyed.sort((a, b) => (this.sorting.down ? compare(b, a) : compare(a, b)));
    const sorted = keyed.map(([thing]) => thing);
    this.order = new Map(sorted.map((thing, n) => [thing, n]));
    if (this.groups.size) this.groups = new Map(sorted.map((group) => [group.id, group]));
    for (const { node } of sorted) this.list.append(node);
  }

  /** The name of a line; evidence has a number, counted per criterion. */
  nameOf({ kind, group = 0 }, counts) {
    if (kind === 'evidence') counts[group] = (counts[group] ?? 0) + 1;
    return lineName(kind, counts[group]);
  }

  /** The score of a sheet of one criterion; null while none is chosen. */
  get score() {
    return this.rows.find((row) => row instanceof ScoreRow)?.row.score ?? null;
  }

  /** Whether no line has a draft: there is a score to give, and nothing to approve. */
  get isUndrafted() {
    return this.rows.length > 0 && this.rows.every((row) => row instanceof ScoreRow && row.drafted === null);
  }

  /** The criterion of a line, in a sheet of several. @returns {Group | undefined} */
  groupOf(row) {
    return this.groups.get(row?.row.group);
  }

  /** The criterion in use. */
  get group() {
    return this.groupOf(this.current) ?? this.groups.values().next().value;
  }

  /** Puts a line on the page, before another if one is given. @param {any} row @param {any} before */
  put(row, before = null) {
    const group = this.groupOf(row);
    if (group) group.put(row, before);
    else this.list.insertBefore(row.node, before?.node ?? null);
  }

  buildRow(row) {
    const filled = { action: null, reason: '', new_text: '', note: '', quotes: [], ...row };
    if (row.kind === 'score') filled.score = row.score ?? this.sheet.score ?? null;
    const scored = row.kind === 'score' && (row.scale ?? this.sheet.scale);
    return scored ? new ScoreRow(this, filled) : new DraftedRow(this, filled);
  }

  buildAdded(row) {
    return new AddedRow(this, { label: '', reason: '', new_text: '', ...row });
  }

  /** Evidence is numbered across drafted and added lines, because the marks in the text show the number. */
  renumber() {
    const counts = { ...this.counts };
    for (const row of this.added) {
      row.rename(row.row.kind === 'criterion' ? '' : this.nameOf(row.row, counts));
    }
  }

  /** All lines as the sheet has them. @returns {any[]} */
  get lines() {
    return [...this.rows, ...this.added];
  }

  /** All lines in their order on the page. */
  get all() {
    const lines = this.lines;
    const place = (row) => this.order.get(row) ?? lines.length;
    if (!this.groups.size) return this.order.size ? lines.sort((a, b) => place(a) - place(b)) : lines;
    const places = ['score', 'conclusion', 'evidence'];
    const at = ({ row }) => places.indexOf(row.kind);
    return [...this.groups.keys()].flatMap((id) =>
      lines.filter(({ row }) => row.group === id).sort((a, b) => at(a) - at(b)),
    );
  }

  buildAdders() {
    fill(this.adders, ...this.adderButtons([this.sheet.add].flat()));
  }

  /** @param {Offer[]} offers @returns {Node[]} */
  adderButtons(offers) {
    return offers.map((offer) =>
      button(
        `+ ${offer.label}`,
        {
          class: 'rt-add',
          'aria-keyshortcuts': offer.key,
          onclick: () => this.offer(offer),
          onmousedown: (event) => event.preventDefault(),
        },
        kbd(offer.key),
      ),
    );
  }

  lock(on) {
    this.locked = on;
    for (const row of this.all) row.lock(on);
    this.adders.hidden = on;
    for (const group of this.groups.values()) group.lock(on);
  }

  // ---- what the person does ------------------------------------------------------------------------

  select(row) {
    if (!row || this.current === row) return;
    for (const other of this.all) other.setCurrent(other === row);
    this.current = row;
    this.on.oncurrent(this.keyOf(row));
  }

  goTo(row) {
    row?.focus();
  }

  decide(row, action) {
    if (this.locked || !row) return;
    if (row instanceof AddedRow) return action === 'delete' ? this.remove(row) : row.focusWords();
    if (row instanceof ScoreRow && action !== 'approve') return row.focusWords();
    if (row instanceof ScoreRow && !row.keepable) return row.focusWords();
    row.setAction(action);
    this.changed();
    if (row.problem() || action === 'revise') return row.focusWords();
    return this.focusNext(row);
  }

  setScore(row, score) {
    if (this.locked) return;
    row.set(score);
    this.changed();
    this.focusNext(row);
  }

  /** A digit on the score row chooses that step; elsewhere, or off the scale, a message says why nothing happens. */
  pressDigit(digit) {
    const row = this.current;
    const step = row instanceof ScoreRow ? row.stepOf(digit) : null;
    if (step !== null) {
      this.setScore(row, step);
      return true;
    }
    const score = this.rows.find((one) => one instanceof ScoreRow);
    if (!score || this.locked) return false;
    const elsewhere = tr('Digits choose a score only on the score line: go there with the arrow keys.');
    this.on.onsay(row === score ? score.offScale(digit) : elsewhere);
    return true;
  }

  add(kind, words = '') {
    if (this.locked) return;
    const most = this.sheet.limits.added;
    if (this.addedTo(this.group).length >= most) {
      this.on.onsay(tr('You can add at most {n} lines here.', { n: most }));
      return;
    }
    const row = this.append(kind, words);
    this.changed();
    row.focusWords();
  }

  /** The lines added to a criterion; in a sheet of one, all of them. @param {Group | undefined} group */
  addedTo(group) {
    return this.added.filter(({ row }) => row.group === group?.id);
  }

  append(kind, words) {
    const row = this.buildAdded({ kind, new_text: words, reason: '', group: this.group?.id });
    this.added.push(row);
    this.put(row);
    this.renumber();
    return row;
  }

  replaceAdded(lines) {
    for (const row of this.added) row.node.remove();
    this.added = lines.map((row) => this.buildAdded(row));
    for (const row of this.added) this.put(row);
    this.renumber();
  }

  /** Overridden by tables with bulk decisions. @param {Group} _group */
  approveGroup(_group) {}

  /** The lines that can be added at the current place. @returns {Offer[]} */
  get offers() {
    return [this.group?.add ?? this.sheet.add].flat();
  }

  /** Adds a line by its key; N adds any line that can be added. */
  addByKey(key) {
    const { offers } = this;
    const offer = offers.find((one) => one.key === key) ?? (key === 'N' ? offers.at(-1) : null);
    if (!offer) return false;
    this.offer(offer);
    return true;
  }

  /** Adds a line; if it may exist only once and does, moves to it instead. */
  offer({ kind, once = false }) {
    const there = once && this.addedTo(this.group).find((row) => row.row.kind === kind);
    if (there) there.focusWords();
    else this.add(kind, this.on.wordsFor(kind));
  }

  remove(row) {
    if (this.locked) return;
    const at = this.added.indexOf(row);
    this.added.splice(at, 1);
    row.node.remove();
    this.renumber();
    this.changed();
    (this.added[at] ?? this.all.at(-1))?.focus();
    if (row.row.new_text.trim())
      this.on.onsay(tr('Removed: {text}', { text: row.row.new_text.trim().slice(0, 60) }), () =>
        this.putBack(row, at),
      );
  }

  putBack(row, at) {
    this.added.splice(at, 0, row);
    const next = this.added[at + 1];
    this.put(row, next?.row.group === row.row.group ? next : null);
    this.renumber();
    this.changed();
    row.focus();
  }

  /** @param {string} _where the box with the typing, if any */
  changed(_where = '') {
    this.on.onchange();
  }

  /** The undecided lines that can be approved as they are. */
  approvable() {
    return this.rows.filter(
      (row) => row.problem() && !row.row.action && !(row instanceof ScoreRow && !row.keepable),
    );
  }

  /** Approves all of them; returns their number. */
  approveRest() {
    const open = this.approvable();
    for (const row of open) row.setAction('approve');
    if (open.length) this.changed();
    this.focusNext(this.all.at(-1));
    return open.length;
  }

  // ---- what there is to do -------------------------------------------------------------------------

  undecided() {
    return this.rows.filter((row) => row.problem());
  }

  focusNext(from = null, { scroll = true } = {}) {
    const rows = this.all;
    const at = rows.indexOf(from);
    const open = [...rows.slice(at + 1), ...rows.slice(0, at + 1)].find((row) => row.problem());
    if (open) open.focus(scroll);
    else this.on.oncomplete();
  }

  /** Moves to the first open line; returns a sentence on what it needs, or '' if all is decided. */
  showProblem() {
    const [row] = this.undecided();
    if (!row) return '';
    if (row instanceof DraftedRow && row.lacksOnlyReason) row.edit('reason');
    else if (row.row.action) row.focusWords();
    else row.focus();
    const said = { line: row.row.label || tr('This line'), problem: row.problem() };
    const { number } = this.groupOf(row) ?? {};
    return number
      ? tr('Criterion {number}, {line}: {problem}.', { ...said, number, line: inSentence(said.line) })
      : tr('{line}: {problem}.', said);
  }

  // ---- in and out ----------------------------------------------------------------------------------

  keyOf(row) {
    const at = this.lines.indexOf(row);
    return at < 0 ? null : String(at);
  }

  /** Highlights the lines of a mark in the text. */
  hover(keys) {
    for (const row of this.lines) row.node.classList.toggle('is-linked', keys.includes(this.keyOf(row)));
  }

  pick(key) {
    this.lines[Number(key)]?.focus();
  }

  /**
   * The places of each line's quotes, [{place, start, end, row, label}], for the marks.
   * @param {import('../texts/text.js').Texts} texts
   * @param {Record<'output' | 'input', (offset: number) => number>} toUtf16
   */
  spans(texts, toUtf16) {
    const inUse = this.all.filter((row) => this.groupOf(row) === this.group);
    return inUse.flatMap((row) => {
      const { action, quotes = [], new_text: words, kind, label } = row.row;
      if (action === 'delete' || kind === 'score') return [];
      const own = row instanceof AddedRow || action === 'revise';
      const found = own ? findQuoted(words, texts, kind) : quotedSpans(quotes, toUtf16);
      return found.map((span) => ({
        ...span,
        row: this.keyOf(row),
        label: kind === 'conclusion' ? tr('C') : (/\d+$/.exec(label)?.[0] ?? label),
      }));
    });
  }

  /** Everything typed and chosen, including text that a later decision hides; to keep, not to send. */
  state() {
    const rows = this.rows.map(
      ({ row: { id, kind, action, reason, new_text: words, group, score, own } }) => ({
        id,
        kind,
        action,
        reason,
        new_text: words,
        ...(group === undefined ? {} : { group, ...(kind === 'score' ? { score } : {}) }),
        ...(own === undefined ? {} : { own: { ...own } }),
      }),
    );
    const added = this.added.map(({ row: { kind, new_text: words, reason, group, own } }) => ({
      kind,
      new_text: words,
      reason,
      ...(group === undefined ? {} : { group }),
      ...(own === undefined ? {} : { own: { ...own } }),
    }));
    return { score: this.groups.size ? null : this.score, rows, added };
  }

  /** The data to send: ids, actions, reasons, new text and the score, but never drafted text. */
  payload() {
    if (!this.groups.size) return this.payloadOf(() => true);
    const groups = [...this.groups.keys()].map((id) => ({
      id,
      ...this.payloadOf(({ row }) => row.group === id),
    }));
    return { score: null, rows: [], added: [], groups };
  }

  /** @param {(line: any) => boolean} isOf which lines */
  payloadOf(isOf) {
    const lines = this.rows.filter(isOf);
    const rows = lines.map((row) => row.payload()).filter((row) => row.id !== null);
    const added = this.added
      .filter(isOf)
      .map((row) => row.payload())
      .filter((row) => row.new_text);
    const scored = lines.find((row) => row instanceof ScoreRow);
    return { score: scored?.row.score ?? null, rows, added };
  }

  /** @param {string} [counted] the kind of lines that are not lines of an evaluation: "criterion" */
  countText(counted) {
    const lines = this.undecided();
    const open = lines.length;
    if (!open) return this.rows.length ? tr('Everything is decided') : '';
    if (lines.every((line) => line instanceof DraftedRow && line.lacksOnlyReason))
      return trn('{n} reason is missing', '{n} reasons are missing', open);
    if (counted === 'criterion')
      return trn('{n} criterion still needs a decision', '{n} criteria still need a decision', open);
    if (this.isUndrafted) return tr('Choose a score.');
    return trn('{n} line still needs a decision', '{n} lines still need a decision', open);
  }
}
