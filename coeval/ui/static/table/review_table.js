/**
 * The editable table of both screens. It holds rows and decisions, and knows nothing of servers or storage.
 * Its sheets are those of `contract.d.ts`.
 */

import { button, el, fill, kbd, plural } from '../core/dom.js';
import { AddedRow, DraftedRow } from './review_row.js';
import { ScoreRow } from './score_row.js';
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
 * @property {(key: string | null) => void} [oncurrent] another line is the one in use
 * @property {() => void} [oncomplete] nothing is left to decide
 * @property {(sentence: string, undo?: () => void) => void} [onsay]
 * @property {(kind: string) => string} [wordsFor] what an added line starts with
 * @property {(lines: any[]) => string} [onbulk] several are about to be approved at once: why they may not be, or ''
 */

export class ReviewTable {
  /** @param {HTMLElement} root @param {TableEvents & {name?: string}} events */
  constructor(root, { name = 'Lines', ...events } = {}) {
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
    this.list = el('div', { class: 'rt-list', role: 'group', 'aria-label': name });
    this.adders = el('div', { class: 'rt-adders' });
    /** @type {Sheet} */
    this.sheet = NO_SHEET;
    /** @type {any[]} */
    this.rows = [];
    /** @type {AddedRow[]} */
    this.added = [];
    /** @type {number | null} */
    this.score = null;
    this.locked = false;
    fill(root, el('div', { class: 'rt' }, this.list, this.adders));
  }

  // ---- what is shown -------------------------------------------------------------------------------

  /** @param {Sheet} sheet */
  load(sheet) {
    this.sheet = sheet;
    this.score = sheet.score ?? null;
    const counts = {};
    this.rows = sheet.rows.map((row) =>
      this.buildRow({ ...row, label: row.label || this.nameOf(row.kind, counts) }),
    );
    this.counts = counts;
    this.added = sheet.added.map((row) => this.buildAdded(row));
    fill(this.list, this.buildHead(), ...this.all.map((row) => row.node));
    this.buildAdders();
    this.renumber();
    this.current = null;
    this.select(this.undecided()[0] ?? this.all[0]);
    this.lock(false);
  }

  /** The headings; what each cell is, its own label says to a screen reader. */
  buildHead() {
    const names = ['Line', 'Draft', 'Your version', 'Action', 'Reason'];
    return el(
      'div',
      { class: 'rt-head', 'aria-hidden': 'true' },
      ...names.map((name) => el('span', {}, name)),
    );
  }

  nameOf(kind, counts) {
    if (kind !== 'evidence') return kind[0].toUpperCase() + kind.slice(1);
    counts.evidence = (counts.evidence ?? 0) + 1;
    return `Evidence ${counts.evidence}`;
  }

  buildRow(row) {
    const filled = { action: null, reason: '', new_text: '', note: '', quotes: [], ...row };
    const scored = row.kind === 'score' && this.sheet.scale;
    return scored ? new ScoreRow(this, filled) : new DraftedRow(this, filled);
  }

  buildAdded(row) {
    return new AddedRow(this, { label: '', reason: '', new_text: '', ...row });
  }

  /** Evidence keeps its number across drafted and added lines: the marks in the text carry it. */
  renumber() {
    const counts = { ...this.counts };
    for (const row of this.added) {
      row.rename(row.row.kind === 'criterion' ? '' : this.nameOf(row.row.kind, counts));
    }
  }

  get all() {
    return [...this.rows, ...this.added];
  }

  buildAdders() {
    const offers = [this.sheet.add].flat();
    fill(
      this.adders,
      ...offers.map((offer) =>
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
      ),
    );
  }

  lock(on) {
    this.locked = on;
    for (const row of this.all) row.lock(on);
    this.adders.hidden = on;
  }

  // ---- what the person does ------------------------------------------------------------------------

  select(row) {
    if (!row || this.current === row) return;
    for (const other of this.all) other.setCurrent(other === row);
    this.current = row;
    this.on.oncurrent(this.keyOf(row));
  }

  move(step) {
    const rows = this.all;
    const at = rows.indexOf(this.current);
    this.goTo(rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))]);
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

  /** A digit on the score row chooses that step. */
  pressDigit(digit) {
    const row = this.current;
    const step = row instanceof ScoreRow ? row.stepOf(digit) : null;
    if (step === null) return false;
    this.setScore(row, step);
    return true;
  }

  add(kind, words = '') {
    if (this.locked) return;
    const most = this.sheet.limits.added;
    if (this.added.length >= most) {
      this.on.onsay(`${most} lines can be added here, and that many are.`);
      return;
    }
    const row = this.append(kind, words);
    this.changed();
    row.focusWords();
  }

  append(kind, words) {
    const row = this.buildAdded({ kind, new_text: words, reason: '' });
    this.added.push(row);
    this.list.append(row.node);
    this.renumber();
    return row;
  }

  replaceAdded(lines) {
    for (const row of this.added) row.node.remove();
    this.added = lines.map((row) => this.buildAdded(row));
    this.list.append(...this.added.map((row) => row.node));
    this.renumber();
  }

  /** Adds by key: what the key is printed on; N adds whatever can be added. */
  addByKey(key) {
    const offers = [this.sheet.add].flat();
    const offer = offers.find((one) => one.key === key) ?? (key === 'N' ? offers.at(-1) : null);
    if (!offer) return false;
    this.offer(offer);
    return true;
  }

  /** Adds what is offered; what can stand only once is led to instead of added twice. */
  offer({ kind, once = false }) {
    const there = once && this.added.find((row) => row.row.kind === kind);
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
      this.on.onsay(`Removed: ${row.row.new_text.trim().slice(0, 60)}`, () => this.putBack(row, at));
  }

  putBack(row, at) {
    this.added.splice(at, 0, row);
    this.list.insertBefore(row.node, this.added[at + 1]?.node ?? null);
    this.renumber();
    this.changed();
    row.focus();
  }

  /** @param {string} _where the box that is typed in, if any */
  changed(_where = '') {
    this.on.onchange();
  }

  /** The undecided lines that can be approved as they are. */
  approvable() {
    return this.rows.filter(
      (row) => row.problem() && !row.row.action && !(row instanceof ScoreRow && !row.keepable),
    );
  }

  /** Approves every one of them; how many that were. */
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

  /** Leads to the first open line; a sentence that says what it needs, or '' when all is decided. */
  showProblem() {
    const [row] = this.undecided();
    if (!row) return '';
    if (row.row.action) row.focusWords();
    else row.focus();
    return `${row.row.label || 'This line'}: ${row.problem()}.`;
  }

  // ---- in and out ----------------------------------------------------------------------------------

  keyOf(row) {
    const at = this.all.indexOf(row);
    return at < 0 ? null : String(at);
  }

  /** Lights the lines that a mark in the text belongs to. */
  hover(keys) {
    for (const row of this.all) row.node.classList.toggle('is-linked', keys.includes(this.keyOf(row)));
  }

  pick(key) {
    this.all[Number(key)]?.focus();
  }

  /**
   * Where the words of each line stand: [{place, start, end, row, label}] for the marks.
   * @param {import('../texts/text.js').Texts} texts
   * @param {Record<'output' | 'input', (offset: number) => number>} toUtf16
   */
  spans(texts, toUtf16) {
    return this.all.flatMap((row) => {
      const { action, quotes = [], new_text: words, kind, label } = row.row;
      if (action === 'delete' || kind === 'score') return [];
      const own = row instanceof AddedRow || action === 'revise';
      const found = own ? findQuoted(words, texts) : quotedSpans(quotes, toUtf16);
      return found.map((span) => ({
        ...span,
        row: this.keyOf(row),
        label: label.replace(/^Evidence /, '').replace('Conclusion', 'C'),
      }));
    });
  }

  /** Everything typed and chosen, also what a changed mind has hidden: for keeping, not for sending. */
  state() {
    const rows = this.rows.map(({ row: { id, kind, action, reason, new_text: words } }) => ({
      id,
      kind,
      action,
      reason,
      new_text: words,
    }));
    const added = this.added.map(({ row: { kind, new_text: words, reason } }) => ({
      kind,
      new_text: words,
      reason,
    }));
    return { score: this.score, rows, added };
  }

  /** What leaves the page: ids, actions, reasons, new words and the score; never a drafted word. */
  payload() {
    const rows = this.rows.map((row) => row.payload()).filter((row) => row.id !== null);
    const added = this.added.map((row) => row.payload()).filter((row) => row.new_text);
    return { score: this.score, rows, added };
  }

  countText(one = 'line', many = 'lines') {
    const open = this.undecided().length;
    if (!open) return this.rows.length ? 'Everything is decided' : '';
    return `${plural(open, one, many)} still ${open === 1 ? 'needs' : 'need'} a decision`;
  }
}
