/** The table as a Gradio component: the server pushes a sheet, edits go back as a payload. */

import { chooseVersion } from '../core/conflict.js';
import { button, clockTime, el, fill, isTextBox, kbd } from '../core/dom.js';
import { sameState, stateOf, withState } from '../core/drafts_kept.js';
import { Keys, printed, tableCommands } from '../core/keys.js';
import { Notices } from '../core/notices.js';
import { ReviewTable } from './review_table.js';
import { dropStored, readStored, writeStored } from '../core/storage.js';

const QUIET_MS = 250;
const KEEPS_NOTHING =
  'This browser keeps no unsaved work (its storage is full or switched off): save before you leave the page.';

/** Gradio keeps what the table last sent as its value; only a sheet from the server can be shown. */
function isSheet(value) {
  return Boolean(value) && Array.isArray(value.rows) && 'key' in value;
}

/** The last sheet by the id of its component, for one that Gradio takes down and builds again when hidden. */
const shown = new Map();

class GradioTable {
  constructor(element, props, trigger) {
    this.props = props;
    this.trigger = trigger;
    this.notices = new Notices();
    const place = el('div');
    this.buildFoot();
    this.node = el(
      'div',
      { class: 'coeval' },
      this.notices.banner,
      place,
      this.foot,
      this.notices.live,
      this.notices.corner,
    );
    this.table = new ReviewTable(place, {
      onchange: () => this.onchange(),
      oncomplete: () => !this.foot.hidden && this.confirmButton.focus({ preventScroll: true }),
      onsay: (text, undo) => this.notices.say(text, undo),
    });
    fill(element, this.node);
    this.place = element.closest('.block')?.id ?? '';
    this.keys = new Keys(this.node, this.commands());
    this.keys.onchange(() => (this.confirmKey.textContent = printed(this.keys.comboFor('confirm'))));
    this.node.addEventListener('focusout', () => this.flush());
  }

  buildFoot() {
    this.count = el('span', { class: 'wb-count', role: 'status' });
    this.confirmKey = kbd('');
    this.confirmLabel = el('span');
    this.confirmButton = button(
      '',
      { class: 'ce-btn is-primary', onclick: () => this.confirm() },
      this.confirmLabel,
      this.confirmKey,
    );
    const help = button('Keys', { class: 'ce-btn', onclick: () => this.keys.show() }, kbd('?'));
    this.foot = el(
      'div',
      { class: 'wb-foot' },
      this.count,
      el('span', { class: 'wb-space' }),
      help,
      this.confirmButton,
    );
    this.foot.hidden = true;
  }

  commands() {
    return [
      {
        id: 'confirm',
        combos: ['Ctrl+Enter', 'Meta+Enter'],
        label: 'Save ',
        inText: true,
        remappable: true,
        run: () => this.confirm(),
      },
      ...tableCommands(() => this.table),
      { id: 'help', combos: ['?'], label: 'This page', run: () => this.keys.show() },
    ];
  }

  // ---- in ------------------------------------------------------------------------------------------

  load(value) {
    const sheet = isSheet(value) ? value : shown.get(this.place);
    if (!sheet) return;
    shown.set(this.place, sheet);
    this.sheet = sheet;
    this.saved = stateOf(sheet);
    this.notices.stay('', '');
    this.foot.hidden = !sheet.confirm || sheet.readonly;
    this.confirmLabel.textContent = sheet.confirm?.label ?? '';
    this.showTable(sheet);
    this.takeUpKept();
  }

  showTable(sheet) {
    this.table.load(sheet, { missing: 'not in the text' });
    this.recount();
  }

  takeUpKept() {
    const kept = this.kept;
    if (!kept?.state || this.sheet.readonly) return;
    if (sameState(kept.state, this.saved)) this.forget();
    else if (kept.rev === this.sheet.rev) this.restore(kept);
    else this.choose(kept);
  }

  restore(kept) {
    this.showTable(withState(this.sheet, kept.state));
    this.flush(true);
    this.notices.stay(
      'restored',
      `What you typed here at ${clockTime(kept.at)} is back; it is not saved yet.`,
      button('Discard it', { class: 'ce-btn', onclick: () => this.discard() }),
    );
  }

  async choose(kept) {
    const { sheet } = this;
    const choice = await chooseVersion(this.node, {
      sheet,
      mine: kept.state,
      saved: this.saved,
      savedAt: '',
      why: 'This was saved from another tab or device after you began here.',
    });
    if (this.sheet !== sheet) return;
    if (choice === 'saved') this.discard();
    else {
      this.showTable(withState(sheet, kept.state));
      this.onchange();
    }
  }

  discard() {
    this.forget();
    this.notices.stay('', '');
    this.showTable(this.sheet);
    this.flush(true);
  }

  // ---- out -----------------------------------------------------------------------------------------

  onchange() {
    this.keep();
    this.recount();
    clearTimeout(this.timer);
    this.pending = true;
    if (isTextBox(document.activeElement)) this.timer = setTimeout(() => this.flush(), QUIET_MS);
    else this.flush();
  }

  /**
   * Hands the table to Gradio: a decision at once, typing in its pauses and on leaving the box, because
   * Gradio redraws the template for every value it is given.
   */
  flush(force = this.pending) {
    clearTimeout(this.timer);
    this.pending = false;
    if (force && this.sheet) this.props.value = { rev: this.sheet.rev, ...this.table.payload() };
  }

  confirm() {
    if (!this.sheet || this.table.locked) return;
    const problem = this.table.showProblem();
    if (problem) {
      this.notices.say(problem);
      return;
    }
    this.flush(true);
    this.trigger('submit');
  }

  recount() {
    this.count.textContent = this.table.countText(...(this.sheet.counted ?? []));
  }

  // ---- kept in the browser -------------------------------------------------------------------------

  get storageKey() {
    return `coeval:table:${this.sheet.key}`;
  }

  get kept() {
    return readStored(this.storageKey);
  }

  keep() {
    if (!this.sheet.key) return;
    const kept = { rev: this.sheet.rev, state: this.table.state(), at: new Date().toISOString() };
    if (!writeStored(this.storageKey, kept)) this.notices.warn(KEEPS_NOTHING);
  }

  forget() {
    dropStored(this.storageKey);
  }
}

/** Called by the component's bootstrap. */
export function reviewTable(element, props, watch, trigger) {
  const table = new GradioTable(element, props, trigger);
  table.load(props.value);
  watch('value', () => table.load(props.value));
  return table;
}
