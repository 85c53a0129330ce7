/** The table of the Criteria tab: a person's ballot, or the owner's decisions. */

import { request } from '../core/api.js';
import { Notices, button, el, fill, kbd } from '../core/dom.js';
import { Keys, printed } from '../core/keys.js';
import { tr } from '../core/words.js';
import { SheetEditor } from '../table/sheet_editor.js';
import { sameState, SheetFoot, SheetWork } from '../table/sheet_work.js';
import { tableCommands } from '../table/table_keys.js';

class BallotWork extends SheetWork {
  /**
   * @param {Sheet} sheet
   * @param {'ballot' | 'decisions'} part
   * @param {string} path
   * @param {import('../core/kept.js').Kept} kept
   */
  constructor(sheet, part, path, kept) {
    super(sheet, { place: `${part}:${sheet.round}`, path, kept });
    this.hasHistory = part === 'ballot';
  }

  /** Decisions are saved once; their revision counts votes, not saves. */
  get timesSaved() {
    return this.hasHistory ? this.sheet.revision : 0;
  }

  get historyPath() {
    return this.hasHistory ? `${this.path}/history` : '';
  }

  get otherVersion() {
    if (this.hasHistory) return super.otherVersion;
    return {
      name: tr('Count with the new votes'),
      use: tr('Use the new count'),
      note: tr('Nothing is saved yet: check the criteria, then finalise them.'),
    };
  }

  extras() {
    return { texts: Object.fromEntries(this.sheet.rows.map(({ id, text }) => [id, text])) };
  }

  body(payload, uid) {
    return { ...super.body(payload, uid), round: this.sheet.round };
  }
}

export class BallotScreen {
  /**
   * @param {HTMLElement} root
   * @param {ScreenValue} value
   * @param {'ballot' | 'decisions'} part
   * @param {() => void} onsaved updates the rest of the page
   */
  constructor(root, { task, person }, part, onsaved) {
    this.slug = task;
    this.person = person;
    this.part = part;
    this.onsaved = onsaved;
    this.path = `api/criteria/${encodeURIComponent(task)}/${part}`;
    this.stop = new AbortController();
    this.notices = new Notices();
    this.foot = new SheetFoot({
      onhistory: () => this.editor.showHistory(),
      onconfirm: () => (this.part === 'decisions' ? this.ask() : this.editor.confirm()),
    });
    this.leftOut = el('div');
    this.foot.node.hidden = true;
    this.foot.build(
      button(tr('Keys'), { class: 'ce-btn wb-fine', onclick: () => this.keys.show() }, kbd('?')),
    );
    const place = el('div');
    const { banner, live } = this.notices;
    this.node = el('div', { class: 'coeval' }, banner, place, this.leftOut, this.foot.node, live);
    fill(root, this.node);
    this.editor = this.buildEditor(place);
    this.keys = new Keys(this.node, this.commands());
    this.keys.onchange(() => this.printConfirmKey());
    window.addEventListener('pagehide', () => this.editor.keep(), { signal: this.stop.signal });
  }

  buildEditor(place) {
    const { node, foot, notices } = this;
    const whose = { task: this.slug, person: this.person, box: this.part, signal: this.stop.signal };
    return new SheetEditor({ place, host: node, foot, notices }, whose, {
      onload: () => this.recount(),
      onchange: () => {},
      oncount: () => this.recount(),
      onsaved: (answer) => this.onanswer(answer),
      onstale: (now, mine, why) => {
        this.show(now, mine, why);
        this.onsaved();
      },
      onagreed: () => this.open(),
    });
  }

  commands() {
    const confirm = {
      id: 'confirm',
      combos: ['Ctrl+Enter', 'Meta+Enter'],
      label: tr('Save'),
      inText: true,
      remappable: true,
      run: () => this.editor.confirm(),
    };
    return [
      ...(this.part === 'ballot' ? [confirm] : []),
      ...tableCommands(() => this.editor.table),
      {
        id: 'history',
        combos: ['H'],
        label: tr('Show your saved versions'),
        run: () => this.editor.showHistory(),
      },
      { id: 'help', combos: ['?'], label: tr('This page'), run: () => this.keys.show() },
    ];
  }

  printConfirmKey() {
    const [combo] = this.keys.combosOf('confirm');
    this.foot.confirmKey.textContent = combo ? printed(combo) : '';
    this.foot.confirmKey.hidden = !combo;
  }

  async start() {
    await this.editor.recover();
    await this.open();
  }

  /** Whether this value is already shown. @param {ScreenValue} value */
  shows({ task, person, round, revision }) {
    const sheet = this.editor.work?.sheet;
    const deciding = this.part === 'decisions' && Boolean(this.editor.work?.hasUnsaved);
    const same = sheet?.round === round && (deciding || sheet?.revision === revision);
    return this.node.isConnected && this.slug === task && this.person === person && same;
  }

  destroy() {
    this.editor.keep();
    this.stop.abort();
    this.node.remove();
  }

  async open() {
    try {
      this.show(await request('GET', this.path));
    } catch (error) {
      const again = button(tr('Try again'), { class: 'ce-btn', onclick: () => this.open() });
      this.notices.stay('error', error.message, again);
    }
  }

  /**
   * @param {Sheet} sheet
   * @param {TableState | null} mine the state of a refused stale save
   * @param {string} [why]
   */
  show(sheet, mine = null, why) {
    if (this.moveEarlier(sheet)) {
      mine = null;
      why = tr('A new vote began while you voted. Your choices are kept for the criteria that stayed.');
    }
    this.notices.stay('', '');
    this.foot.node.hidden = false;
    this.foot.confirmLabel.textContent = sheet.confirm?.label ?? '';
    this.editor.open(new BallotWork(sheet, this.part, this.path, this.editor.kept), mine);
    const taken = this.editor.table.added.map(({ row }) => row.new_text);
    this.showLeftOut((sheet.left_out ?? []).filter(({ text }) => !taken.includes(text)));
    this.editor.compare(mine, why);
  }

  /**
   * Moves the unsaved ballot of an earlier round to this round's lines with the same texts, so that the person
   * compares both; returns whether there was one.
   * @param {Sheet} sheet
   */
  moveEarlier({ round, rows }) {
    const { kept } = this.editor;
    const place = `ballot:${round}`;
    const earlier = kept.places('ballot:').find((other) => other !== place && kept.get(other)?.edited);
    if (!earlier || this.part !== 'ballot' || kept.get(place)?.edited) return false;
    const work = kept.get(earlier);
    if (!work?.texts) return false;
    const ids = new Map(rows.map(({ id, text }) => [text, id]));
    const texts = work.texts;
    const moved = work.state.rows.map((row) => ({ ...row, id: ids.get(texts[row.id ?? '']) ?? row.id }));
    kept.put(place, { ...work, revision: -1, state: { ...work.state, rows: moved } });
    kept.drop(earlier);
    return true;
  }

  /** Criteria that few people added are left out unless the owner keeps them. @param {LeftOut[]} left */
  showLeftOut(left) {
    const keep = (/** @type {LeftOut} */ one) => {
      this.editor.table.append('criterion', one.text);
      this.editor.table.changed();
      this.showLeftOut(left.filter((other) => other !== one));
    };
    const line = (/** @type {LeftOut} */ one) =>
      el(
        'li',
        {},
        el('span', { dir: 'auto' }, one.text),
        el('span', { class: 'ce-note' }, ` (${one.by}) `),
        button(tr('Keep it'), {
          class: 'ce-btn',
          'aria-label': `Keep: ${one.text}`,
          onclick: () => keep(one),
        }),
      );
    fill(
      this.leftOut,
      left.length > 0 &&
        el(
          'section',
          { class: 'left-out', 'aria-label': tr('Left out') },
          el('p', {}, tr('Added by at most half of the voters. Left out unless you keep it:')),
          el('ul', {}, left.map(line)),
        ),
    );
  }

  /** Shows the count with the votes that came in since; returns whether there were any. @param {SheetWork} work */
  async showNewVotes({ sheet }) {
    const now = await request('GET', this.path).catch(() => null); // the save itself says what is wrong
    if (!now || (now.revision === sheet.revision && now.round === sheet.round)) return false;
    const told = tr(
      'New votes arrived since you opened this count: look at it again, then finalise the criteria.',
    );
    this.show(now, null, told);
    this.notices.say(told);
    this.onsaved();
    return true;
  }

  /** Asks before a step that cannot be undone: shows the set, and who has not voted. */
  async ask() {
    const { table, work } = this.editor;
    if (work && !table.locked && (await this.showNewVotes(work))) return;
    if (this.node.querySelector('dialog')) return; // asked twice
    const problem = table.showProblem();
    if (problem || table.locked || !work) {
      this.editor.confirm();
      return;
    }
    const { rows, added } = table.state();
    const texts = new Map(work.sheet.rows.map((row) => [row.id, row.text]));
    const set = [
      ...rows
        .filter(({ action }) => action !== 'delete')
        .map((row) => (row.action === 'revise' ? row.new_text : texts.get(row.id))),
      ...added.map((row) => row.new_text),
    ].filter((text) => text?.trim());
    const { voters = 0, waiting = [] } = work.sheet;
    const close = (/** @type {boolean} */ go) => {
      dialog.close();
      if (go) this.editor.confirm();
    };
    const left = [...this.leftOut.querySelectorAll('li > span:first-child')].map((one) => one.textContent);
    const dialog = el(
      'dialog',
      { class: 'coeval ce-dialog', 'aria-label': 'Finalise the criteria?' },
      el('h2', {}, `Finalise ${set.length === 1 ? 'this criterion' : `these ${set.length} criteria`}?`),
      el(
        'ol',
        { class: 'ce-set' },
        set.map((text) => el('li', { dir: 'auto' }, text)),
      ),
      left.length > 0 && el('p', {}, `Left out: ${left.map((text) => `“${text}”`).join(', ')}`),
      el(
        'p',
        {},
        waiting.length
          ? `${voters} voted. Not voted yet: ${waiting.join(', ')}.`
          : `Everybody has voted: ${voters} ${voters === 1 ? 'person' : 'people'}.`,
      ),
      el('p', { class: 'ce-note' }, 'The vote closes. A later change needs a new version and a new vote.'),
      el('p', { class: 'ce-note' }, 'People can judge then. First set the share of blind assignments:'),
      el('a', { class: 'ce-note', href: `admin?task=${this.slug}&tab=tasks#design-more` }, 'Study design'),
      el(
        'div',
        { class: 'ce-dialog-foot' },
        button('Not yet', { class: 'ce-btn', onclick: () => close(false) }),
        button('Finalise', { class: 'ce-btn is-primary', onclick: () => close(true) }),
      ),
    );
    dialog.addEventListener('close', () => dialog.remove());
    this.node.append(dialog);
    dialog.showModal();
  }

  /** @param {SaveAnswer<Sheet>} answer */
  onanswer({ next, message }) {
    if (next) this.show(next);
    else this.notices.stay('ended', message);
    this.onsaved();
  }

  recount() {
    const { work, table } = this.editor;
    this.foot.showCount(table.countText(work?.sheet.counted), table.undecided().length);
    // no vote is closed over a changed ballot: its bar is the only one until it is saved
    const changed = work && !sameState(table.state(), work.saved);
    this.node.toggleAttribute('data-unsaved', this.part === 'ballot' && Boolean(changed));
  }
}
