/** The table of the Criteria tab: a person's ballot, or the owner's decisions on the count. */

import { request } from '../core/api.js';
import { button, el, fill, kbd } from '../core/dom.js';
import { Keys, printed } from '../core/keys.js';
import { Notices } from '../core/notices.js';
import { tr } from '../core/words.js';
import { SheetEditor } from '../table/sheet_editor.js';
import { SheetFoot } from '../table/sheet_foot.js';
import { SheetWork } from '../table/sheet_work.js';
import { tableCommands } from '../table/table_keys.js';

class BallotWork extends SheetWork {
  /**
   * @param {Sheet} sheet
   * @param {'ballot' | 'decisions'} part
   * @param {string} path
   * @param {import('../core/drafts_kept.js').Kept} kept
   */
  constructor(sheet, part, path, kept) {
    super(sheet, { place: `${part}:${sheet.round}`, path, kept });
    this.hasHistory = part === 'ballot';
  }

  /** Decisions are saved once; what they count is not theirs. */
  get timesSaved() {
    return this.hasHistory ? this.sheet.revision : 0;
  }

  get historyPath() {
    return this.hasHistory ? `${this.path}/history` : '';
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
   * @param {() => void} onsaved the rest of the page is to follow
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
      onconfirm: () => this.editor.confirm(),
    });
    this.foot.node.hidden = true;
    this.foot.build(button(tr('Keys'), { class: 'ce-btn', onclick: () => this.keys.show() }, kbd('?')));
    const place = el('div');
    const { banner, live, corner } = this.notices;
    this.node = el('div', { class: 'coeval' }, banner, place, this.foot.node, live, corner);
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
      onstale: (now, mine, why) => this.show(now, mine, why),
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
        label: tr('What you saved here before'),
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

  /** Whether this already shows that, so that nothing has to be fetched. @param {ScreenValue} value */
  shows({ task, person, round, revision }) {
    const sheet = this.editor.work?.sheet;
    const same = sheet?.round === round && sheet?.revision === revision;
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
   * @param {TableState | null} mine a state that a stale save was refused for
   * @param {string} [why]
   */
  show(sheet, mine = null, why) {
    this.notices.stay('', '');
    this.foot.node.hidden = false;
    this.foot.confirmLabel.textContent = sheet.confirm?.label ?? '';
    this.editor.open(new BallotWork(sheet, this.part, this.path, this.editor.kept), mine);
    this.editor.compare(mine, why);
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
  }
}
