/** The Rubrics tab: an instance, its own criteria with their points, and a judgment by each. */

const {
  AddedRow,
  DraftedRow,
  Keys,
  Notices,
  Reading,
  SheetEditor,
  SheetFoot,
  SheetTable,
  SheetWork,
  button,
  checkOne,
  digitOf,
  el,
  fill,
  findQuoted,
  growAll,
  growingBox,
  kbd,
  printed,
  request,
  rovingGroup,
  serverNow,
  tableCommands,
  tr,
  utf16Index,
  withQuery,
} = window.coeval.parts;

/**
 * The criteria of one instance; `levels` are the steps of the scale, each with its name.
 * @typedef {Sheet & {position: number, instance: {id: number, input: string, output: string}, levels: [number, string][]}} RubricsSheet
 */

/* A criterion: what becomes of it, and whether it is met. `row.own` holds what a table of words does not know. */

/** The buttons of the scale, what the draft says, and the evidence; of a drafted or an added criterion. */
class Verdict {
  constructor(line) {
    this.line = line;
    const { table } = line;
    this.steps = table.levels.map(([step, name]) =>
      button(
        name,
        {
          class: line.row.drafted === step ? 'rt-step is-drafted' : 'rt-step',
          role: 'radio',
          'aria-keyshortcuts': String(step),
          'aria-label':
            line.row.drafted === step ? tr('{level}, the draft’s verdict', { level: name }) : name,
          onclick: () => table.setValue(line, step),
        },
        kbd(String(step)),
      ),
    );
    const group = el(
      'div',
      { class: 'rt-score', role: 'radiogroup', 'aria-label': tr('Judgment') },
      ...this.steps,
    );
    rovingGroup(group, this.steps);
    this.note = el('div', { class: 'ce-note' });
    this.evidence = growingBox(
      {
        class: 'ce-in ce-small rx-evidence',
        'aria-label': tr('Evidence'),
        placeholder: tr('evidence (optional)'),
        maxlength: String(table.sheet.limits.remark),
      },
      (evidence) => {
        line.own({ evidence });
        table.changed(`evidence:${line.labelId}`);
      },
    );
    this.node = el('div', { class: 'rx-verdict' }, group, this.note, this.evidence);
  }

  update() {
    const { row, table } = this.line;
    const gone = row.action === 'delete';
    this.node.hidden = gone;
    const places = table.levels.map(([step]) => step);
    checkOne(this.steps, places.indexOf(row.own.value));
    if (this.evidence.value !== row.own.evidence) this.evidence.value = row.own.evidence;
    growAll(this.evidence);
    const said = table.nameOfLevel(row.drafted);
    fill(this.note, said ? tr('The draft says: {level}.', { level: said }) : '');
  }
}

/** Points and, of an added criterion, the axis. */
function pointsBox(line) {
  const { table, row } = line;
  const box = el('input', {
    class: 'ce-in ce-small rx-points',
    type: 'number',
    step: 'any',
    'aria-label': tr('Points'),
    oninput: () => {
      line.own({ points: box.value === '' ? null : Number(box.value) });
      table.changed(`points:${line.labelId}`);
    },
  });
  box.value = row.own.points ?? '';
  return box;
}

class RubricRow extends DraftedRow {
  constructor(table, row) {
    super(table, row);
    if (row.axis) this.side.append(el('span', { class: 'ce-tag', dir: 'auto' }, row.axis));
    this.verdict = new Verdict(this);
    this.body.append(this.verdict.node);
    this.update();
  }

  /** Another object each time, so that what the table noted before stays as it was. */
  own(change) {
    this.row.own = { ...this.row.own, ...change };
  }

  /** A kept criterion keeps the verdict that stands on the screen, until the person says another. */
  setAction(action) {
    const { own, drafted = null } = this.row;
    if (action !== 'delete' && own.value === null && drafted !== null) this.own({ value: drafted });
    super.setAction(action);
  }

  update() {
    super.update();
    this.verdict?.update();
    if (this.points) {
      this.points.hidden = this.row.action !== 'revise';
      if (Number(this.points.value) !== this.row.own.points) this.points.value = this.row.own.points ?? '';
    }
  }

  buildBoxes() {
    const known = this.boxes;
    const boxes = super.buildBoxes();
    if (!known) {
      this.points = pointsBox(this);
      this.version.append(el('label', { class: 'rx-points-line ce-note' }, this.points));
    }
    return boxes;
  }

  take(state) {
    if (state.own) this.row.own = state.own;
    super.take(state);
  }

  problem() {
    const { action, own, new_text: words, text, points } = this.row;
    if (!action) return tr('approve, revise or delete it');
    if (action === 'delete') return '';
    if (action === 'revise' && !words.trim()) return tr('write the new wording, or approve or delete it');
    if (action === 'revise' && own.points === null) return tr('give its points');
    if (action === 'revise' && words.trim() === text.trim() && own.points === points)
      return tr('the wording is unchanged: change it or approve it');
    return own.value === null ? tr('say whether it is met') : '';
  }

  sortKey(column) {
    return column === 0 ? this.row.points : super.sortKey(column);
  }

  describe() {
    super.describe();
    const level = this.table.nameOfLevel(this.row.own.value);
    if (level && this.row.action !== 'delete') this.state.append(` ${level}`);
  }

  payload() {
    const { own, action } = this.row;
    const kept = action !== 'delete';
    return {
      ...super.payload(),
      points: action === 'revise' ? own.points : null,
      value: kept ? own.value : null,
      evidence: kept ? own.evidence.trim() : '',
    };
  }
}

class AddedRubric extends AddedRow {
  constructor(table, row) {
    super(table, { ...row, own: row.own ?? { value: null, evidence: '', points: 1, axis: '' } });
    this.points = pointsBox(this);
    this.axis = el('input', {
      class: 'ce-in ce-small',
      maxlength: '100',
      dir: 'auto',
      'aria-label': tr('Axis'),
      placeholder: tr('axis (optional)'),
      oninput: () => {
        this.own({ axis: this.axis.value });
        table.changed(`axis:${this.labelId}`);
      },
    });
    this.version.append(el('div', { class: 'rx-points-line' }, this.points, this.axis));
    this.verdict = new Verdict(this);
    this.body.append(this.verdict.node);
    this.show();
  }

  own(change) {
    this.row.own = { ...this.row.own, ...change };
  }

  show() {
    this.points.value = this.row.own.points ?? '';
    this.axis.value = this.row.own.axis ?? '';
    this.verdict.update();
  }

  update() {
    this.verdict.update();
  }

  take(state) {
    if (state.own) this.row.own = state.own;
    super.take(state);
    this.show();
  }

  problem() {
    const { new_text: words, own } = this.row;
    if (!words.trim()) return '';
    if (own.points === null) return tr('give its points');
    return own.value === null ? tr('say whether it is met') : '';
  }

  /** @returns {any} */
  payload() {
    const { new_text: words, reason, own } = this.row;
    return {
      action: 'add',
      new_text: words.trim(),
      reason: reason.trim(),
      points: own.points,
      axis: own.axis.trim(),
      value: own.value,
      evidence: own.evidence.trim(),
    };
  }
}

/* The table: criteria with verdicts. */

class RubricTable extends SheetTable {
  get levels() {
    return /** @type {RubricsSheet} */ (this.sheet).levels;
  }

  /** @returns {any} */
  buildRow(row) {
    return new RubricRow(this, { action: null, reason: '', new_text: '', quotes: [], ...row });
  }

  /** @returns {any} */
  buildAdded(row) {
    return new AddedRubric(this, { label: '', reason: '', new_text: '', ...row });
  }

  headings() {
    return [tr('Points'), tr('Criterion'), tr('Your version'), tr('Action'), tr('Reason')];
  }

  /** What a step of the scale is called; '' where there is none. */
  nameOfLevel(value) {
    return this.levels.find(([step]) => step === value)?.[1] ?? '';
  }

  /** A verdict on a criterion that is undecided keeps that criterion. */
  setValue(row, value) {
    if (this.locked) return;
    this.select(row);
    row.own({ value });
    if (row instanceof RubricRow && !row.row.action) row.setAction('approve');
    else row.update();
    row.describe();
    this.changed();
    this.focusNext(row);
  }

  pressDigit(digit) {
    const level = this.levels.find(([step]) => String(step) === digit);
    if (!level || !this.current) return false;
    if (this.refusesKeys()) return true;
    this.setValue(this.current, level[0]);
    return true;
  }

  /** The highest step of the scale, or the lowest. @param {number} end */
  setEnd(end) {
    const level = this.levels.at(end);
    if (this.current && level && !this.refusesKeys()) this.setValue(this.current, level[0]);
  }

  addEvidence(words) {
    const row = this.current;
    if (!row || this.locked || row.row.action === 'delete') return;
    const before = row.row.own.evidence.trim();
    row.own({ evidence: [before, words].filter(Boolean).join(' ') });
    row.verdict.update();
    this.changed();
    row.verdict.evidence.enter();
  }

  undecided() {
    return this.all.filter((row) => row.problem());
  }

  spans(texts, toUtf16) {
    const own = this.all.flatMap((row) =>
      row.row.action === 'delete'
        ? []
        : findQuoted(row.row.own.evidence, texts, 'evidence').map((span) => ({
            ...span,
            row: this.keyOf(row),
            label: '',
          })),
    );
    return [...super.spans(texts, toUtf16).map((span) => ({ ...span, label: '' })), ...own];
  }
}

/* The screen. */

class RubricsWork extends SheetWork {
  constructor(sheet, path, kept) {
    super(sheet, { place: `rubrics:${sheet.position}`, path, kept });
    this.openedAt = serverNow();
    this.instance = sheet.instance;
    this.toUtf16 = { input: utf16Index(sheet.instance.input), output: utf16Index(sheet.instance.output) };
  }

  get historyPath() {
    return withQuery(this.path.replace(/sheets$/, 'history'), { position: this.position });
  }

  get position() {
    return /** @type {RubricsSheet} */ (this.sheet).position;
  }

  body({ rows, added }, uid) {
    const { instance, revision, draft: run } = /** @type {RubricsSheet} */ (this.sheet);
    const lines = [...rows, ...added];
    return { uid, instance: instance.id, revision, run, lines, opened_at: this.openedAt };
  }
}

class RubricsScreen {
  constructor(root, { task, person }, onsaved) {
    this.slug = task;
    this.person = person;
    this.onsaved = onsaved;
    this.path = `api/rubrics/${encodeURIComponent(task)}`;
    this.stop = new AbortController();
    this.notices = new Notices();
    this.foot = new SheetFoot({
      onhistory: () => this.editor.showHistory(),
      onconfirm: () => this.editor.confirm(),
    });
    this.foot.node.hidden = true;
    const way = (label, move, key) =>
      button(label, { class: 'ce-btn', onclick: () => this.move(move) }, kbd(key));
    this.foot.build(
      way(tr('Previous'), -1, 'K'),
      way(tr('Next'), 1, 'J'),
      button(
        tr('Add evidence'),
        {
          class: 'ce-btn rx-touch',
          onclick: () => this.addEvidence(),
          // the words stay selected, and the line stays in use
          onmousedown: (event) => event.preventDefault(),
        },
        kbd('E'),
      ),
    );
    this.reading = new Reading({
      onpick: (row) => this.editor.table.pick(row),
      onhover: (rows) => this.editor.table.hover(rows),
      tools: [button(tr('All keys'), { class: 'ce-link', onclick: () => this.keys.show() }, kbd('?'))],
    });
    this.progress = el('p', { class: 'rx-progress ce-note' });
    this.note = el('p', { class: 'wb-arm' });
    this.score = el('p', { class: 'ce-note rx-score', role: 'status' });
    this.place = el('div');
    this.two = el('div', { class: 'wb-two rx-two' });
    this.end = el('div', {});
    this.node = this.buildNode();
    fill(root, this.node);
    this.editor = this.buildEditor();
    this.keys = new Keys(this.node, this.commands());
    this.keys.onchange(() => this.printConfirmKey());
    window.addEventListener('pagehide', () => this.editor.keep(), { signal: this.stop.signal });
  }

  buildNode() {
    const { banner, live } = this.notices;
    const card = el(
      'section',
      { class: 'ce-card', 'aria-label': tr('Criteria of this instance') },
      this.note,
      this.score,
      this.place,
    );
    fill(this.two, this.reading.node, el('span'), el('div', { class: 'wb-work' }, card));
    this.two.hidden = true;
    return el(
      'div',
      { class: 'coeval wb rx' },
      this.progress,
      banner,
      this.two,
      this.end,
      this.foot.node,
      live,
    );
  }

  buildEditor() {
    const { node, foot, notices, place } = this;
    const whose = { task: this.slug, person: this.person, box: 'rubrics', signal: this.stop.signal };
    const on = {
      onload: () => this.recount(),
      onchange: () => this.remark(),
      oncount: () => this.recount(),
      onsaved: (answer) => this.onanswer(answer),
      onstale: (now, mine, why) => this.show(now, mine, why),
      onagreed: () => this.open({ at: this.position, move: 1 }),
    };
    const events = {
      name: tr('Criteria of this instance'),
      oncurrent: (key) => this.reading.light(key, { scroll: true }),
    };
    return new SheetEditor({ place, host: node, foot, notices }, whose, on, events, RubricTable);
  }

  get position() {
    return /** @type {RubricsWork | null} */ (this.editor.work)?.position ?? null;
  }

  get table() {
    return /** @type {RubricTable} */ (this.editor.table);
  }

  commands() {
    const table = () => this.table;
    const here = (run) => (event) => (this.editor.work ? run(event) : false);
    const own = new Set(['score', 'new']);
    return [
      {
        id: 'confirm',
        combos: ['Ctrl+Enter', 'Meta+Enter'],
        label: tr('Save and continue'),
        inText: true,
        remappable: true,
        run: here(() => this.editor.confirm()),
      },
      ...tableCommands(table)
        .filter(({ id }) => !own.has(id))
        .map((command) => ({ ...command, run: here(command.run) })),
      {
        id: 'score',
        combos: Array.from('0123456789'),
        shown: ['1', '0'],
        label: tr('Judge the criterion: press a digit'),
        run: here((event) => table().pressDigit(digitOf(event))),
      },
      { id: 'met', combos: ['M'], label: tr('It is met'), run: here(() => table().setEnd(-1)) },
      { id: 'unmet', combos: ['U'], label: tr('It is not met'), run: here(() => table().setEnd(0)) },
      {
        id: 'evidence',
        combos: ['E'],
        label: tr('Add evidence, with the words selected in the text'),
        run: here(() => this.addEvidence()),
      },
      { id: 'new', combos: ['N'], label: tr('Add a criterion'), run: here(() => table().addByKey('N')) },
      {
        id: 'output',
        combos: ['O'],
        label: tr('Move into the text; arrow keys move by word, Shift selects'),
        run: here(() => this.reading.output.body.focus()),
      },
      { id: 'next', combos: ['J'], label: tr('Next instance'), run: here(() => this.move(1)) },
      { id: 'previous', combos: ['K'], label: tr('Previous instance'), run: here(() => this.move(-1)) },
      {
        id: 'history',
        combos: ['H'],
        label: tr('Show your saved versions'),
        run: here(() => this.editor.showHistory()),
      },
      { id: 'help', combos: ['?'], label: tr('This page'), run: () => this.keys.show() },
    ];
  }

  addEvidence() {
    const words = this.reading.selectedText();
    window.getSelection()?.removeAllRanges();
    this.table.addEvidence(words ? `“${words}”` : '');
  }

  printConfirmKey() {
    const [combo] = this.keys.combosOf('confirm');
    this.foot.confirmKey.textContent = combo ? printed(combo) : '';
  }

  async start() {
    await this.editor.recover();
    await this.open({});
  }

  shows({ task, person }) {
    return this.node.isConnected && this.slug === task && this.person === person && this.position !== null;
  }

  destroy() {
    this.editor.keep();
    this.stop.abort();
    this.node.remove();
  }

  move(step) {
    if (this.position !== null) this.open({ at: this.position, move: step });
  }

  async open(query) {
    try {
      this.show(await request('POST', withQuery(`${this.path}/open`, query), {}));
    } catch (error) {
      const again = button(tr('Try again'), { class: 'ce-btn', onclick: () => this.open(query) });
      this.notices.stay('error', error.message, again);
    }
  }

  show(sheet, mine = null, why = undefined) {
    this.notices.stay('', '');
    const open = Boolean(sheet.instance);
    this.two.hidden = !open;
    this.foot.node.hidden = !open;
    this.progress.textContent = sheet.total
      ? tr('{done} of {total} instances with criteria are judged.', { done: sheet.done, total: sheet.total })
      : '';
    if (!open) {
      this.editor.close();
      this.showEnd(sheet);
      return;
    }
    fill(this.end);
    this.note.textContent = sheet.note;
    this.note.hidden = !sheet.note;
    this.reading.load(sheet.task, sheet.instance);
    this.foot.confirmLabel.textContent = sheet.confirm.label;
    this.editor.open(new RubricsWork(sheet, `${this.path}/sheets`, this.editor.kept), mine);
    this.showScore(sheet);
    this.remark();
    this.editor.table.focusNext();
    this.notices.announce(
      tr('{position} of {total}, {n} criteria', {
        position: sheet.position,
        total: sheet.total,
        n: sheet.rows.length,
      }),
    );
    this.editor.compare(mine, why);
  }

  /** Both scores, once the person has saved theirs. */
  showScore({ scores: score }) {
    const told = (value) =>
      value === null || value === undefined
        ? '—'
        : `${Math.round(1000 * Math.min(1, Math.max(0, value))) / 1000}`;
    this.score.hidden = !score;
    this.score.textContent = score
      ? tr('Your score: {people}. The draft’s score: {judge}.', {
          people: told(score.people),
          judge: told(score.judge),
        })
      : '';
  }

  showEnd({ total, empty }) {
    const again = button(tr('Review from the start'), {
      class: 'ce-btn',
      onclick: () => this.open({ at: 1, move: -1 }), // the first place may hold an instance without criteria
    });
    fill(
      this.end,
      el(
        'div',
        { class: 'ce-card wb-end' },
        el(
          'h2',
          { tabindex: '-1' },
          total ? tr('That was the last one. Thank you.') : tr('Nothing to judge yet'),
        ),
        el('p', {}, total ? tr('Everything is saved, and you can still make changes.') : empty),
        total ? again : null,
      ),
    );
    this.end.querySelector('h2')?.focus({ preventScroll: true });
  }

  onanswer({ next }) {
    if (next) this.show(next);
    this.onsaved();
  }

  remark() {
    const { work, table } = this.editor;
    if (!work) return;
    const { instance, toUtf16 } = /** @type {RubricsWork} */ (work);
    this.reading.mark(table.spans(instance, toUtf16));
  }

  recount() {
    const { work, table } = this.editor;
    this.foot.showCount(table.countText(work?.sheet.counted), table.undecided().length);
  }
}

window.coeval.addScreen('rubrics', (element, value, onsaved) => new RubricsScreen(element, value, onsaved));
