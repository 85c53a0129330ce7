/** Lines with text: drafted lines to decide on, and lines that the person adds. */

import { button, el, fill, icon, kbd, uniqueId } from '../core/dom.js';
import { doneText } from '../core/history.js';
import { tr } from '../core/words.js';
import { Row, addedName, checkOne } from './row.js';
import { diffNodes, quoteFlags } from '../texts/diff.js';

/** @typedef {HTMLTextAreaElement & {grow: () => void, enter: () => void}} GrowingBox */

/** A text box that grows with its text. @returns {GrowingBox} */
export function growingBox(attributes, oninput) {
  const box = el('textarea', { rows: '1', dir: 'auto', ...attributes });
  const grow = () => {
    if (CSS.supports('field-sizing', 'content')) return;
    box.style.height = 'auto';
    box.style.height = `${box.scrollHeight + 2}px`;
  };
  // a selected box waits for words that replace its own; these, a click or another focus end that
  const end = () => box.classList.remove('is-ready');
  box.addEventListener('input', () => {
    end();
    grow();
    oninput(box.value);
  });
  box.addEventListener('pointerdown', end);
  box.addEventListener('blur', end);
  // moves into the box, after its text
  const enter = () => {
    end();
    box.focus({ preventScroll: true });
    box.setSelectionRange(box.value.length, box.value.length);
    box.closest('.rt-row')?.scrollIntoView({ block: 'nearest' });
  };
  return Object.assign(box, { grow, enter });
}

/** Sizes the boxes once they are on the page. @param {GrowingBox[]} boxes */
export function growAll(...boxes) {
  requestAnimationFrame(() => {
    for (const box of boxes) box.grow();
  });
}

/** The placeholder of an added line of a kind, and the names of its reason box and its button. @param {string} kind */
function addedWords(kind) {
  const words = {
    conclusion: [
      tr('your conclusion'),
      tr('Reason for the added conclusion'),
      tr('Remove the added conclusion'),
    ],
    evidence: [
      tr('“quoted words” and your remark'),
      tr('Reason for the added evidence'),
      tr('Remove the added evidence'),
    ],
    criterion: [tr('your criterion'), tr('Reason for the added criterion'), tr('Remove the added criterion')],
  };
  const [ask, why, remove] = words[kind];
  return { ask, why, remove };
}

/** A drafted conclusion, piece of evidence or criterion. */
export class DraftedRow extends Row {
  constructor(table, row) {
    super(table, row);
    const textId = uniqueId('text');
    this.text = el('div', { id: textId, class: 'rt-text', dir: 'auto' }, row.text);
    this.flags = el('div', { class: 'rt-flags' }, ...quoteFlags(row.quotes, table.sheet));
    this.body.append(this.text, this.flags);
    if (row.note) this.body.append(el('div', { class: 'ce-note rt-note', dir: 'auto' }, row.note));
    this.buildActions(['approve', 'revise', 'delete']);
    this.nameBy(textId);
    this.update();
  }

  setAction(action) {
    if (action === 'revise' && !this.row.new_text) this.row.new_text = this.row.text;
    this.row.action = action;
    this.update();
  }

  update() {
    const { action } = this.row;
    checkOne(this.buttons, this.names.indexOf(action));
    this.node.dataset.action = action ?? 'none';
    const worded = action === 'revise' || action === 'delete';
    const boxes = worded ? this.buildBoxes() : this.boxes;
    if (boxes) this.showBoxes(boxes);
    this.describe();
  }

  /** Boxes are built when first needed, because most lines are approved as they are. */
  buildBoxes() {
    if (this.boxes) return this.boxes;
    const { table, row } = this;
    const why = table.sheet.reason_required ? tr('why?') : tr('why? (optional)');
    const limit = { maxlength: String(table.sheet.limits.remark) };
    const box = (name, attributes) =>
      growingBox({ ...attributes, ...limit }, (value) => {
        row[name] = value;
        // words that are typed into an empty cell revise the line
        if (name === 'new_text' && value && row.action !== 'revise') this.setAction('revise');
        this.changed(`${name}:${row.id}`);
      });
    const newText = box('new_text', {
      class: 'ce-in',
      placeholder: tr('your version'),
      'aria-label': tr('New wording of {line}', { line: row.label }),
    });
    const reason = box('reason', {
      class: 'ce-in ce-small',
      'aria-label': tr('Reason for {line}', { line: row.label }),
      placeholder: why,
    });
    this.version.append(newText);
    this.why.append(reason);
    newText.addEventListener('blur', () => this.update());
    this.boxes = { newText, reason };
    return this.boxes;
  }

  showBoxes({ newText, reason }) {
    const { action } = this.row;
    const isEmpty = action !== 'revise' && newText.classList.contains('is-ready');
    const words = isEmpty ? '' : this.row.new_text;
    reason.hidden = action === null || action === 'approve';
    newText.hidden = action !== 'revise' && !isEmpty;
    if (newText.value !== words) newText.value = words;
    if (reason.value !== this.row.reason) reason.value = this.row.reason;
    growAll(newText, reason);
  }

  changed(where = '') {
    this.describe();
    this.table.changed(where);
  }

  takesWords(column) {
    return column === 'version' || (column === 'reason' && ['revise', 'delete'].includes(this.row.action));
  }

  boxOf(column) {
    const { newText, reason } = this.buildBoxes();
    if (column === 'reason') return reason;
    if (this.row.action !== 'revise') {
      newText.value = '';
      newText.hidden = false;
    }
    return newText;
  }

  /** An edit of the version counts as "revise"; only a revision or a deletion has a reason. */
  edit(column) {
    if (column === 'reason') {
      if (!this.takesWords(column)) return false;
      this.update();
      this.buildBoxes().reason.enter();
      return true;
    }
    this.setAction('revise');
    this.changed();
    this.buildBoxes().newText.enter();
    return true;
  }

  /** Applies another state of the line. @param {LineState} state */
  take({ action, reason, new_text: newText }) {
    Object.assign(this.row, { action, reason, new_text: newText });
    this.update();
  }

  /** Shows the drafted text with deleted words struck out; screen readers hear the decision. */
  describe() {
    const { action, text, new_text: newText } = this.row;
    const differs = action === 'revise' && newText.trim() && newText !== text;
    this.widen(action === 'revise', text, newText);
    fill(this.text, ...(differs ? diffNodes(text, newText) : [text]));
    this.state.textContent = `${action ? doneText(action) : tr('to decide')}:`;
    this.boxes?.newText.setAttribute('aria-invalid', String(Boolean(this.problem()) && !newText.trim()));
  }

  /** The open action as part of a sentence; empty if the line is decided. */
  problem() {
    return this.wordsProblem() || (this.lacksOnlyReason ? tr('say why') : '');
  }

  /** What is open besides the reason. */
  wordsProblem() {
    const { action, new_text: newText, text } = this.row;
    if (!action) return tr('approve, revise or delete it');
    if (action === 'revise' && !newText.trim()) return tr('write the new wording, or approve or delete it');
    if (action === 'revise' && newText.trim() === text.trim())
      return tr('the wording is unchanged: change it or approve it');
    return '';
  }

  /** Whether the line is decided, and only its reason is missing. */
  get lacksOnlyReason() {
    const { action, reason } = this.row;
    const needsReason = this.table.sheet.reason_required && action !== 'approve';
    return needsReason && !reason.trim() && !this.wordsProblem();
  }

  /** The box to type in next, or the row itself if nothing has to be typed. */
  focusWords() {
    const { action } = this.row;
    if (action === 'revise') this.buildBoxes().newText.enter();
    else if (action === 'delete') this.buildBoxes().reason.enter();
    else this.focus();
  }

  payload() {
    const { id, action, reason, new_text: newText } = this.row;
    const worded = action === 'revise' || action === 'delete';
    return {
      id,
      action,
      reason: worded ? reason.trim() : '',
      new_text: action === 'revise' ? newText.trim() : '',
    };
  }
}

/** A line that the person added, edited in place. */
export class AddedRow extends Row {
  constructor(table, row) {
    super(table, row);
    const limit = { maxlength: String(table.sheet.limits.remark) };
    const words = addedWords(row.kind);
    this.tag = el('span', { class: 'ce-tag' }, tr('added'));
    this.side.append(this.tag);
    this.newText = growingBox(
      { class: 'ce-in', 'aria-label': addedName(row.kind), placeholder: words.ask, ...limit },
      (value) => this.set('new_text', value),
    );
    this.reason = growingBox(
      {
        class: 'ce-in ce-small',
        'aria-label': words.why,
        placeholder: tr('why? (optional)'),
        ...limit,
      },
      (value) => this.set('reason', value),
    );
    this.newText.value = row.new_text;
    this.reason.value = row.reason;
    this.version.append(this.newText);
    this.why.append(this.reason);
    const { line, version, action, reason: why } = this.cells;
    this.cells = { line, version, action, reason: why };
    this.buildRemove();
    this.nameBy();
    this.describe();
    growAll(this.newText, this.reason);
  }

  buildRemove() {
    this.actions.append(
      button(
        icon('delete'),
        {
          class: 'rt-act rt-remove',
          'aria-label': addedWords(this.row.kind).remove,
          title: `${tr('Remove')} (D)`,
          'aria-keyshortcuts': 'D',
          onclick: () => this.table.remove(this),
        },
        kbd('D'),
      ),
    );
  }

  set(name, value) {
    this.row[name] = value;
    this.describe();
    this.table.changed(`${name}:${this.labelId}`);
  }

  takesWords(column) {
    return column === 'version' || column === 'reason';
  }

  boxOf(column) {
    return column === 'reason' ? this.reason : this.newText;
  }

  edit(column) {
    this.boxOf(column).enter();
    return true;
  }

  describe() {
    this.node.dataset.action = 'add';
    const { new_text: words } = this.row;
    this.widen(true, words);
    this.tag.hidden = !words.trim();
    this.state.textContent = words.trim() && `${tr('added')}: ${words}`;
  }

  /** Applies another state of the line. @param {AddedLine} state */
  take({ reason, new_text: newText }) {
    Object.assign(this.row, { reason, new_text: newText });
    this.newText.value = newText;
    this.reason.value = reason;
    this.describe();
  }

  cellTexts() {
    const { label, new_text: version, reason } = this.row;
    return [label, '', version, 'add', reason];
  }

  rename(label) {
    this.row.label = label;
    this.nameLabel(label);
  }

  /** An added line without text is not saved, so it never blocks a save. */
  problem() {
    return '';
  }

  focusWords() {
    this.newText.enter();
  }

  payload() {
    const { kind, new_text: newText, reason } = this.row;
    return { kind, new_text: newText.trim(), reason: reason.trim() };
  }
}
