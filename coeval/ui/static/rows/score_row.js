/** The score: buttons for the scale, the draft's score marked. Nobody types a score. */

import { button, el, fill, icon, kbd } from '../core/dom.js';
import { tr, trParts } from '../core/words.js';
import { Row, checkOne, rovingGroup } from './row.js';

export class ScoreRow extends Row {
  constructor(table, row) {
    super(table, row);
    const { scale, draft_score: drafted } = row.scale ? row : table.sheet;
    this.scale = scale;
    this.drafted = drafted ?? null;
    this.keepable = scale.includes(this.drafted);
    this.note = el('div', { class: 'ce-note' });
    this.steps = scale.map((step) => this.buildStep(step));
    const group = el(
      'div',
      { class: 'rt-score', role: 'radiogroup', 'aria-label': tr('Score') },
      ...this.steps,
    );
    rovingGroup(group, this.steps);
    this.anchors = (row.anchors ?? table.sheet.anchors ?? []).map(([step, meaning]) =>
      el('li', { 'data-step': step }, el('b', {}, String(step)), ` ${meaning}`),
    );
    const meanings = el('ul', { class: 'rt-anchors', 'aria-label': tr('What the scores mean'), dir: 'auto' });
    this.body.append(group, this.note, this.anchors.length ? fill(meanings, ...this.anchors) : '');
    const { line, draft, action } = this.cells;
    // one cell holds the draft's score and the person's
    this.cells = { line, draft, version: draft, action };
    if (this.keepable) this.buildKeep();
    this.nameBy();
    this.update();
  }

  buildStep(step) {
    const was = step === this.drafted;
    return button(String(step), {
      class: was ? 'rt-step is-drafted' : 'rt-step',
      role: 'radio',
      'aria-keyshortcuts': this.keyOf(step),
      'aria-label': was ? tr("{score}, the draft's score", { score: step }) : String(step),
      onclick: () => this.table.setScore(this, step),
    });
  }

  /** The digit that chooses a step: itself, or 0 for 10 on a scale without 0. */
  keyOf(step) {
    if (step >= 0 && step <= 9) return String(step);
    return step === 10 && !this.scale.includes(0) ? '0' : null;
  }

  /** The message for a digit that matches no step. */
  offScale(digit) {
    const [low, high] = [this.scale[0], this.scale.at(-1)];
    return tr('{digit} is not on the scale: choose {low} to {high}.', { digit, low, high });
  }

  /** The step for a digit, or null. */
  stepOf(digit) {
    return this.scale.find((step) => this.keyOf(step) === digit) ?? null;
  }

  buildKeep() {
    this.keep = button(
      icon('approve'),
      {
        class: 'rt-act rt-approve',
        'aria-label': tr("Keep the draft's score, {score}", { score: this.drafted }),
        'aria-keyshortcuts': 'A',
        title: `${tr('Approve')} (A)`,
        onclick: () => this.table.decide(this, 'approve'),
      },
      kbd('A'),
    );
    this.change = button(
      icon('revise'),
      {
        class: 'rt-act rt-revise',
        'aria-label': tr('Choose another score'),
        'aria-keyshortcuts': 'R',
        title: `${tr('Choose another score')} (R)`,
        onclick: () => this.table.decide(this, 'revise'),
      },
      kbd('R'),
    );
    this.actions.append(el('div', { class: 'rt-group' }, this.keep, this.change));
  }

  set(score) {
    this.row.score = score;
    const drafted = this.drafted !== null && this.row.id !== null;
    if (drafted) this.row.action = score === this.drafted ? 'approve' : 'revise';
    this.update();
  }

  cellTexts() {
    const { score } = this.row;
    return [this.row.label, String(this.drafted ?? ''), String(score ?? ''), this.row.action ?? '', ''];
  }

  /** Applies another state of the line. @param {LineState} state */
  take({ action, score, own }) {
    this.row.action = action;
    if (own !== undefined) this.row.own = { ...own };
    if (score !== undefined) this.row.score = score;
    this.update();
  }

  edit() {
    this.focusWords();
    return true;
  }

  /** Approve keeps the draft's score; revise only leads to the buttons, since a score is chosen, not typed. */
  setAction(action) {
    if (action === 'approve' && this.keepable) this.set(this.drafted);
  }

  get isDecided() {
    return (
      this.row.score !== null && (this.drafted === null || this.row.id === null || Boolean(this.row.action))
    );
  }

  update() {
    const { score } = this.row;
    const decided = this.isDecided;
    const chosen = decided ? this.scale.indexOf(score) : -1;
    const drafted = this.scale.indexOf(this.drafted);
    checkOne(this.steps, chosen, this.steps[Math.max(0, drafted)]);
    for (const anchor of this.anchors)
      anchor.classList.toggle('is-on', decided && anchor.dataset.step === String(score));
    this.keep?.setAttribute('aria-pressed', String(decided && score === this.drafted));
    this.change?.setAttribute('aria-pressed', String(decided && score !== this.drafted));
    this.node.dataset.action = decided ? (this.row.action ?? 'given') : 'none';
    fill(this.note, this.sentence(decided, score));
    this.state.textContent = this.note.textContent || `${score}`;
  }

  sentence(decided, score) {
    if (this.drafted === null) return decided ? '' : tr('Choose a score.');
    if (!decided && this.keepable)
      return trParts('The draft says {score}: keep it with {key}, or choose another.', {
        score: String(this.drafted),
        key: el('span', {}, kbd('A'), el('span', { class: 'wb-coarse' }, icon('approve'))),
      });
    if (!decided)
      return tr('The draft says {score}, which is not on the scale: choose a score.', {
        score: this.drafted,
      });
    return score === this.drafted
      ? tr("Your score is {score}, like the draft's.", { score })
      : tr("The draft's score is {drafted}. Your score is {score}.", { drafted: this.drafted, score });
  }

  problem() {
    return this.isDecided ? '' : tr('choose a score');
  }

  focusWords() {
    this.steps.find((step) => step.getAttribute('tabindex') === '0').focus();
  }

  /** A score row of the draft has an id; without a draft, the score alone is enough. */
  payload() {
    return { id: this.row.id, action: this.row.action, reason: this.row.reason, new_text: '' };
  }
}
