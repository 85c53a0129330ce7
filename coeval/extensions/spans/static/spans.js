/** The Spans tab: error spans in the text, edited by keyboard or mouse, and saved. */

import {
  changed,
  charactersOf,
  decided,
  inOrder,
  moveEdge,
  openLines,
  scoreOf,
  toPoints,
  turned,
  widen,
  wordsOf,
} from './marks.js';

/** @typedef {import('./marks.js').Side} Side */
/** @typedef {import('./marks.js').Mark} Mark */
/** @typedef {import('./marks.js').Line} Line */

const parts = () => window.coeval.parts;
/** @type {typeof window.coeval.parts.tr} */
const tr = (...given) => parts().tr(...given);
/** @type {typeof window.coeval.parts.trn} */
const trn = (...given) => parts().trn(...given);
const SIDES = /** @type {Side[]} */ (['input', 'output']);
const KEEP_MS = 250;
const UNDO = 100;

class SpansScreen {
  /** @param {HTMLElement} root @param {{task: string, person: string}} value */
  constructor(root, { task, person }) {
    const { el, button, Notices, Kept, Outbox, StepClock, Keys, isShown } = parts();
    this.slug = task;
    this.person = person;
    this.stop = new AbortController();
    this.notices = new Notices();
    this.whole = true;
    /** Whether the mouse chose the words of a line. */
    this.pointed = false;
    /** @type {any} */
    this.sheet = null;
    /** @type {Line[]} */
    this.rows = [];
    /** @type {Line | null} */
    this.current = null;
    /** @type {{side: Side, anchor: number, focus: number}} */
    this.cursor = { side: 'output', anchor: 0, focus: 0 };
    /** @type {Record<Side, (offset: number) => number>} */
    this.units = { input: Number, output: Number };
    /** @type {any[]} */
    this.undoes = [];
    /** @type {{side: Side, start: number, end: number} | null} */
    this.noted = null;
    this.panes = Object.fromEntries(SIDES.map((side) => [side, this.buildPane(side)]));
    /** @type {WeakMap<Line, {node: HTMLElement, isCurrent: boolean}>} */
    this.lineNodes = new WeakMap();
    this.none = el('li', { class: 'sp-none' }, tr('No error is marked.'));
    this.list = el('ol', { class: 'sp-list', 'aria-label': tr('Spans') });
    this.where = el('span', { class: 'sp-where' });
    this.status = el('span', { class: 'sp-status', role: 'status' });
    this.sum = el('output', { class: 'sp-score' });
    this.score = el('input', {
      type: 'number',
      min: 0,
      max: 100,
      step: 1,
      inputmode: 'numeric',
      class: 'sp-given',
      'aria-label': tr('Score from 0 to 100'),
      oninput: () => this.keepSoon(),
    });
    const act = (label, run, keys, kind = '') =>
      button(
        label,
        {
          class: `ce-btn ${kind}`,
          onclick: run,
          // words that a finger selected stay selected
          onmousedown: (event) => event.preventDefault(),
          'aria-keyshortcuts': keys,
        },
        parts().kbd(keys),
      );
    this.rest = act(tr('Approve the rest'), () => this.approveRest(), '⇧ A');
    this.confirm = act(tr('Save and next'), () => this.save(), 'Ctrl ⏎', 'is-primary');
    this.head = el(
      'div',
      { class: 'sp-head' },
      button(parts().icon('left'), {
        class: 'ce-btn',
        onclick: () => this.go(-1),
        'aria-label': tr('Previous instance'),
      }),
      this.where,
      button(parts().icon('right'), {
        class: 'ce-btn',
        onclick: () => this.go(1),
        'aria-label': tr('Next instance'),
      }),
      this.status,
      button(tr('Keys'), { class: 'ce-btn', onclick: () => this.keys.show() }, parts().kbd('?')),
    );
    this.texts = el('div', { class: 'sp-texts' });
    this.work = el(
      'div',
      { class: 'sp-work' },
      this.texts,
      el(
        'section',
        { class: 'sp-side', 'aria-label': tr('Spans') },
        this.list,
        el(
          'div',
          { class: 'sp-adds' },
          act(tr('Add a span'), () => this.add(), 'N'),
          act(tr('Something is missing'), () => this.addMissing(), 'M'),
          this.rest,
        ),
        el('div', { class: 'sp-foot' }, this.sum, this.score, this.confirm),
      ),
    );
    this.end = el('p', { class: 'sp-end' });
    this.node = el(
      'div',
      { class: 'coeval sp', tabindex: '-1', 'data-state': 'loading' },
      this.notices.banner,
      this.head,
      this.end,
      this.work,
      this.notices.live,
    );
    parts().fill(root, this.node);
    this.kept = new Kept(person, task, () =>
      this.notices.warn(tr('This browser cannot keep unsaved work: save before you leave the page.')),
    );
    this.clock = new StepClock(person, { isShown: () => isShown(this.node), signal: this.stop.signal });
    this.outbox = new Outbox(person, 'spans', { signal: this.stop.signal, ...this.sending() });
    this.keys = new Keys(this.node, this.commands());
    const { signal } = this.stop;
    window.addEventListener('pagehide', () => this.keep(), { signal });
    // a finger that selects ends with no mouse event
    document.addEventListener('selectionchange', () => this.noteSelection(), { signal });
    document.addEventListener('visibilitychange', () => this.keep(), { signal });
  }

  /** @param {Side} side @returns {any} */
  buildPane(side) {
    const { el } = parts();
    const name = el('h3', {});
    const text = el('div', {
      class: 'sp-text',
      dir: 'auto',
      tabindex: '0',
      role: 'group',
      'data-side': side,
    });
    text.addEventListener('mouseup', () => this.takeSelection());
    text.addEventListener('click', (event) => this.pickAt(event, side));
    text.addEventListener('focus', () => this.cursor.side !== side && this.setCursor(side, 0, 0));
    return {
      side,
      name,
      text,
      node: el('section', { class: 'sp-pane' }, name, text),
      words: [],
      nodes: new Map(),
      signs: [],
      whole: '',
    };
  }

  sending() {
    return {
      onsaved: (entry, answer) => this.onsaved(entry, answer),
      onwaiting: (_entry, error, seconds) => this.onwaiting(error, seconds),
      onrefused: (entry, error) => this.onrefused(entry, error),
      onrestored: () => this.notices.say(tr('The server is back: this browser sent the lost work again.')),
      onlost: (_entry, error) => this.notices.warn(error.message),
    };
  }

  commands() {
    const edge = (name, by, combos, label) => ({
      id: label,
      combos,
      shown: combos,
      again: true,
      label,
      run: () => this.move(name, by),
    });
    const arrow = (key, by) => ({
      id: key,
      combos: [key, `Shift+${key}`],
      again: true,
      run: (event) => this.walk(event, by),
    });
    const digits = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const one = (id, combos, label, run, more = {}) => ({ id, combos, label, run, ...more });
    return [
      { id: 'type', combos: [], anyKey: true, run: (event) => this.refuses(event) },
      one('next', ['ArrowDown', 'J'], tr('Next span'), () => this.step(1), { again: true }),
      one('previous', ['ArrowUp', 'K'], tr('Previous span'), () => this.step(-1), { again: true }),
      one('approve', ['A'], tr('Approve the span'), () => this.decide('approve')),
      one('delete', ['D', 'Delete'], tr('Delete the span'), () => this.decide('delete')),
      one(
        'severity',
        digits,
        tr('Choose the severity'),
        (event) => this.setSeverity(Number(parts().digitOf(event)) - 1),
        {
          shown: ['1'],
        },
      ),
      one('category', ['C'], tr('Choose the category'), () => this.focusCategory()),
      edge('start', -1, ['[', 'Q'], tr('Begin the span earlier')),
      edge('start', 1, ['{', 'Shift+Q'], tr('Begin the span later')),
      edge('end', 1, [']', 'E'], tr('End the span later')),
      edge('end', -1, ['}', 'Shift+E'], tr('End the span earlier')),
      arrow('ArrowLeft', -1),
      arrow('ArrowRight', 1),
      one('add', ['N'], tr('Add a span where the cursor is; Shift with an arrow key selects more'), () =>
        this.add(),
      ),
      one('missing', ['M'], tr('Mark an omission without a position'), () => this.addMissing()),
      one('text', ['X'], tr('Go to the other text'), () => this.changeText()),
      one('whole', ['W'], tr('Select whole words, or single characters'), () => this.changeWhole()),
      one('rest', ['Shift+A'], tr('Approve the rest'), () => this.approveRest()),
      one('undo', ['Z', 'Ctrl+Z', 'Meta+Z'], tr('Undo'), () => this.undo()),
      one('give', ['G'], tr('Go to the score'), () => this.focusScore()),
      one('save', ['Ctrl+Enter', 'Meta+Enter'], tr('Save and next'), () => this.save(), { inText: true }),
      one('leave', ['Escape'], '', () => this.leave(), { inText: true }),
      one('back', ['PageUp'], tr('Previous instance'), () => this.go(-1)),
      one('on', ['PageDown'], tr('Next instance'), () => this.go(1)),
      one('keys', ['?'], tr('Keys'), () => this.keys.show()),
    ];
  }

  // ---- where we are ----------------------------------------------------------------------------------------------

  async start() {
    const place = parts().readStored(this.placeKey, () => sessionStorage) ?? {};
    await this.outbox.recover();
    if (!this.sheet && !this.outbox.size) await this.open(place);
  }

  get placeKey() {
    return `coeval:spans:${this.person}:${this.slug}`;
  }

  shows({ task, person }) {
    return this.node.isConnected && this.slug === task && this.person === person;
  }

  destroy() {
    this.keep();
    this.stop.abort();
    this.node.remove();
  }

  /** Fetches a sheet and shows it. @param {{instance?: number, step?: number}} where */
  async open(where = {}) {
    this.keep();
    this.node.setAttribute('aria-busy', 'true');
    try {
      this.show(await parts().request('POST', `api/spans/${encodeURIComponent(this.slug)}/sheet`, where));
    } catch (error) {
      if (error.status === 404 && where.instance) await this.open({});
      else {
        const again = parts().button(tr('Try again'), { class: 'ce-btn', onclick: () => this.open(where) });
        this.notices.stay('failed', error.message, again);
      }
    } finally {
      this.node.removeAttribute('aria-busy');
    }
  }

  go(step) {
    const id = this.sheet?.instance?.id;
    if (!this.outbox.size) this.open(id ? { instance: id, step } : {});
  }

  /** @param {any} sheet */
  show(sheet) {
    this.sheet = sheet;
    this.undoes = [];
    this.bulk = false;
    this.notices.stay('', '');
    this.notices.clearWarnings();
    const { task, instance } = sheet;
    parts().writeStored(this.placeKey, instance ? { instance: instance.id } : {}, () => sessionStorage);
    this.node.dataset.state = instance ? 'work' : 'end';
    this.work.hidden = !instance;
    this.where.textContent = instance
      ? tr('{at} of {total} · {done} done', { at: sheet.position, total: sheet.total, done: sheet.done })
      : tr('{done} of {total} done', { total: sheet.total, done: sheet.done });
    this.end.textContent = instance ? '' : this.endText(sheet);
    this.end.hidden = Boolean(instance);
    if (!instance) return;
    this.loadText('input', task.input_field, instance.source);
    this.loadText('output', task.output_field, instance.output);
    this.units = {
      input: parts().utf16Index(instance.source),
      output: parts().utf16Index(instance.output),
    };
    this.load(sheet, null);
    this.arrange();
    const kept = this.kept.get(this.place);
    if (kept?.edited) this.restore(kept);
    const before = sheet.saved_at ? tr('Saved at {time}', { time: parts().clockTime(sheet.saved_at) }) : '';
    this.status.textContent = before;
    this.say(sheet);
    this.openedAt = kept?.opened_at || parts().serverNow();
    this.clock.begin(kept?.active_ms ?? 0, task.idle_seconds);
    this.node.focus({ preventScroll: true });
  }

  say({ awaits_first: first, unread }) {
    if (first) this.notices.stay('first', tr('Mark the spans yourself first: then you see the draft.'));
    else if (unread)
      this.notices.stay('note', tr('The model gave no readable answer here: mark the spans yourself.'));
  }

  endText(sheet) {
    if (!sheet.total) return tr('Nothing is assigned to you here yet.');
    return tr('You have marked everything here. Thank you!');
  }

  /** @param {Side} side @param {string} name @param {string} text */
  loadText(side, name, text) {
    const pane = this.panes[side];
    pane.name.textContent = name;
    pane.text.setAttribute('aria-label', name);
    pane.node.hidden = !text;
    pane.whole = text;
    pane.nodes = new Map();
    parts().fill(pane.text);
    pane.words = wordsOf(text);
    pane.signs = charactersOf(text);
    this.cursor = { side: 'output', anchor: 0, focus: 0 };
  }

  /** The output is first where both texts do not fit: both are in one area that scrolls. */
  arrange() {
    const { input, output } = this.panes;
    parts().fill(this.texts, input.node, output.node);
    if (this.texts.scrollHeight > this.texts.clientHeight) this.texts.prepend(output.node);
    this.texts.scrollTop = 0;
  }

  get place() {
    return `spans:${this.sheet?.instance?.id}`;
  }

  /** Shows lines: those of the sheet, or a state of this person laid over them. @param {any} sheet @param {any} state */
  load(sheet, state) {
    const mine = new Map((state?.rows ?? []).filter((row) => row.at !== null).map((row) => [row.at, row]));
    const rows = sheet.rows.map((row) => {
      const { action, span } = mine.get(row.at) ?? row;
      return {
        at: row.at,
        was: turned(row.was, this.units),
        action,
        span: turned(span ?? row.was, this.units),
      };
    });
    const own = state ? state.rows.filter((row) => row.at === null).map((row) => row.span) : sheet.added;
    this.rows = inOrder([
      ...rows,
      ...own.map((span) => ({ at: null, was: null, action: 'add', span: turned(span, this.units) })),
    ]);
    const given = state ? state.score : sheet.score;
    /** @type {HTMLInputElement} */ (this.score).value =
      given === null || given === undefined ? '' : String(given);
    this.current = openLines(this.rows)[0] ?? this.rows[0] ?? null;
    this.draw();
  }

  restore(kept) {
    const { sheet } = this;
    if (kept.revision === sheet.revision && kept.draft === sheet.draft) {
      this.load(sheet, kept.state);
      this.bulk = Boolean(kept.bulk);
      const drop = parts().button(tr('Discard it'), { class: 'ce-btn', onclick: () => this.discard() });
      this.notices.stay('kept', tr('Your earlier work is restored but not saved yet.'), drop);
    } else
      this.offerVersions(kept.state, tr('These spans were saved elsewhere after you worked on them here.'));
  }

  discard() {
    this.kept.drop(this.place);
    this.load(this.sheet, null);
    this.notices.stay('', '');
  }

  /** The version that is saved is shown; one's own is kept until one of the two is chosen. */
  offerVersions(mine, why) {
    this.locked = true;
    const choose = (state) => () => {
      this.locked = false;
      this.notices.stay('', '');
      this.load(this.sheet, state);
      if (state) this.keep(true);
      else this.kept.drop(this.place);
    };
    this.notices.stay(
      'stale',
      why,
      parts().button(tr('Keep my version'), { class: 'ce-btn is-primary', onclick: choose(mine) }),
      parts().button(tr('Use the saved version'), { class: 'ce-btn', onclick: choose(null) }),
    );
  }

  // ---- the screen ------------------------------------------------------------------------------------------------

  draw() {
    for (const side of SIDES) this.drawText(side);
    this.drawList();
    const { typology } = this.sheet;
    const left = openLines(this.rows).length;
    const esa = typology.scoring === 'esa';
    /** @type {HTMLElement} */ (this.score).hidden = !esa;
    this.sum.textContent = esa ? tr('Score') : tr('Score {score}', { score: scoreOf(this.rows, typology) });
    this.rest.hidden = !left;
    this.confirm.dataset.open = String(left);
  }

  /**
   * The pieces of a text. Nodes of pieces that stay are used again: to lay out 3,000 characters again takes longer than
   * people want to wait for a key.
   * @param {Side} side
   */
  drawText(side) {
    const { el, cutSpans } = parts();
    const { text, whole, nodes } = this.panes[side];
    /** @type {any[]} */
    const spans = this.rows
      .filter(({ span, action }) => span.side === side && span.start !== null && action !== 'delete')
      .map((line) => ({ start: line.span.start, end: line.span.end, row: line, label: '' }));
    const [from, to] = this.selection(side);
    if (to > from) spans.push({ start: from, end: to, row: null, label: '' });
    const shown = new Map();
    const places = new Map(this.rows.map((line, place) => [line, place]));
    const show = (start, end, look) => {
      const key = `${look ? 's' : 't'}${start}:${end}`;
      const words = whole.slice(start, end);
      const node = nodes.get(key) ?? (look ? el('span', {}, words) : document.createTextNode(words));
      if (look && node.className !== look.class) node.className = look.class;
      if (look && node.dataset.lines !== look.lines) node.dataset.lines = look.lines;
      shown.set(key, node);
    };
    let at = 0;
    for (const { start, end, rows } of cutSpans(spans)) {
      if (start > at) show(at, start, null);
      show(start, end, this.pieceLook(rows, places));
      at = end;
    }
    if (at < whole.length) show(at, whole.length, null);
    this.panes[side].nodes = shown;
    arrange(text, [...shown.values()]);
  }

  pieceLook(rows, places) {
    const lines = rows.filter(Boolean);
    const severities = this.sheet.typology.severities;
    const worst = Math.max(-1, ...lines.map(({ span }) => severities.indexOf(span.severity)));
    const classes = [
      'sp-piece',
      lines.length && `is-level-${Math.min(3, worst)}`,
      lines.length > 1 && 'is-several',
      lines.some(({ action }) => action === null) && 'is-open',
      lines.includes(this.current) && 'is-current',
      rows.includes(null) && 'is-selected',
    ];
    return {
      class: classes.filter(Boolean).join(' '),
      lines: lines.map((line) => places.get(line)).join(' '),
    };
  }

  drawList() {
    const nodes = this.rows.map((line, at) => this.lineNode(line, at));
    arrange(this.list, nodes.length ? nodes : [this.none]);
    this.list.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }

  /** The node of a line; the one from before, where nothing of it changed. @param {Line} line @param {number} at */
  lineNode(line, at) {
    const isCurrent = line === this.current;
    const known = this.lineNodes.get(line);
    const node = known?.isCurrent === isCurrent ? known.node : this.buildLine(line, at);
    if (node !== known?.node) this.lineNodes.set(line, { node, isCurrent });
    const number = /** @type {HTMLElement} */ (node.firstElementChild);
    if (number.textContent !== String(at + 1)) number.textContent = String(at + 1);
    return node;
  }

  /** @param {Line} line @param {number} at */
  buildLine(line, at) {
    const { el, button, icon } = parts();
    const { span, action } = line;
    const isCurrent = line === this.current;
    const words =
      span.start === null ? tr('(missing)') : this.panes[span.side].whole.slice(span.start, span.end ?? 0);
    const done = { add: tr('added'), approve: tr('approved'), delete: tr('deleted'), revise: tr('revised') };
    const pressed = (name) => String(action === name);
    return el(
      'li',
      {
        class: `sp-line is-level-${Math.min(3, this.sheet.typology.severities.indexOf(span.severity))}`,
        'data-action': action ?? 'none',
        'data-side': span.side,
        'aria-current': isCurrent ? 'true' : null,
        onclick: (event) => this.point(event, line),
      },
      el('span', { class: 'sp-number' }, String(at + 1)),
      el('q', { dir: 'auto' }, words.length > 120 ? `${words.slice(0, 118)}…` : words),
      el('span', { class: 'sp-kind' }, isCurrent ? this.buildChoices(line) : this.kindText(span)),
      span.note ? el('span', { class: 'sp-note', dir: 'auto' }, span.note) : null,
      el('span', { class: 'sp-done' }, action ? done[action] : tr('to decide')),
      el(
        'span',
        { class: 'sp-buttons' },
        line.was
          ? button(icon('approve'), {
              'aria-label': tr('Approve the span'),
              'aria-pressed': pressed('approve'),
              onclick: () => this.decide('approve', line),
            })
          : null,
        button(icon('delete'), {
          'aria-label': tr('Delete the span'),
          'aria-pressed': pressed('delete'),
          onclick: () => this.decide('delete', line),
        }),
      ),
    );
  }

  kindText(span) {
    const category = this.sheet.typology.categories.find(({ name }) => name === span.category);
    const side = span.side === 'input' ? this.sheet.task.input_field : '';
    return [category?.title ?? span.category, span.severity, side].filter(Boolean).join(' · ');
  }

  /** @param {Line} line */
  buildChoices(line) {
    const { el } = parts();
    const { severities, categories } = this.sheet.typology;
    const choice = (name, shown, value, run) =>
      el(
        'select',
        {
          'aria-label': name,
          onchange: (event) => run(event.target.value),
          onkeydown: (event) => event.key === 'Enter' && !parts().isComposing(event) && this.leave(),
        },
        ...shown.map(([key, title]) => el('option', { value: key, selected: key === value }, title)),
      );
    const kinds = categories.map(({ name, title }) => [name, title]);
    const edge = (key, name, by, label) =>
      parts().button(key, { 'aria-label': label, title: label, onclick: () => this.move(name, by) });
    return [
      kinds.length
        ? choice(tr('Category'), kinds, line.span.category, (name) => this.change({ category: name }))
        : null,
      choice(
        tr('Severity'),
        severities.map((name) => [name, name]),
        line.span.severity,
        (name) => this.change({ severity: name }),
      ),
      line.span.start === null
        ? null
        : el(
            'span',
            { class: 'sp-edges' },
            edge('[', 'start', -1, tr('Begin the span earlier')),
            edge('{', 'start', 1, tr('Begin the span later')),
            edge('}', 'end', -1, tr('End the span earlier')),
            edge(']', 'end', 1, tr('End the span later')),
          ),
    ];
  }

  // ---- the cursor in a text --------------------------------------------------------------------------------------

  unitsOf(side) {
    return this.whole ? this.panes[side].words : this.panes[side].signs;
  }

  /** The part of a text that the cursor covers, in whole words or characters. @param {Side} side @returns {[number, number]} */
  selection(side) {
    if (this.cursor.side !== side) return [0, 0];
    const units = this.unitsOf(side);
    const [first, last] = [
      Math.min(this.cursor.anchor, this.cursor.focus),
      Math.max(this.cursor.anchor, this.cursor.focus),
    ];
    return units[first] && units[last] ? [units[first][0], units[last][1]] : [0, 0];
  }

  setCursor(side, anchor, focus) {
    this.noted = null;
    this.pointed = false;
    this.cursor = { side, anchor, focus };
    for (const each of SIDES) this.drawText(each);
    this.panes[side].text.querySelector('.is-selected')?.scrollIntoView({ block: 'nearest' });
  }

  walk(event, by) {
    const { side, anchor, focus } = this.cursor;
    const onward = getComputedStyle(this.panes[side].text).direction === 'rtl' ? -by : by;
    const to = Math.max(0, Math.min(this.unitsOf(side).length - 1, focus + onward));
    this.setCursor(side, event.shiftKey ? anchor : to, to);
    return true;
  }

  changeText() {
    const side = this.cursor.side === 'output' ? 'input' : 'output';
    if (this.panes[side].whole) this.setCursor(side, 0, 0);
  }

  changeWhole() {
    const [start, end] = this.selection(this.cursor.side);
    this.whole = !this.whole;
    this.placeCursor(this.cursor.side, start, end);
    this.notices.say(this.whole ? tr('Whole words are selected.') : tr('Single characters are selected.'));
  }

  placeCursor(side, start, end) {
    const units = this.unitsOf(side);
    const wide = widen(units, start, end);
    if (!wide) return;
    const first = units.findIndex(([from]) => from >= wide[0]);
    this.setCursor(
      side,
      first,
      units.findIndex(([, to]) => to >= wide[1]),
    );
  }

  /** How many UTF-16 units of a text stand before a place in it. @param {Side} side @param {Node} node @param {number} offset */
  offsetOf(side, node, offset) {
    const before = document.createRange();
    before.setStart(this.panes[side].text, 0);
    before.setEnd(node, offset);
    return before.toString().length;
  }

  /** What is selected in the texts with a mouse or a finger. @returns {{side: Side, start: number, end: number} | null} */
  readSelection() {
    const selection = window.getSelection();
    if (!selection || selection.isCollapsed) return null;
    const inside = (node) => SIDES.find((one) => this.panes[one].text.contains(node));
    const side = inside(selection.anchorNode);
    if (!side || side !== inside(selection.focusNode)) return null;
    const { startContainer, startOffset, endContainer, endOffset } = selection.getRangeAt(0);
    return {
      side,
      start: this.offsetOf(side, startContainer, startOffset),
      end: this.offsetOf(side, endContainer, endOffset),
    };
  }

  noteSelection() {
    this.noted = this.readSelection() ?? this.noted;
  }

  /** The cursor covers what the mouse selected, in whole words or characters. */
  takeSelection() {
    const found = this.readSelection();
    if (!found) return;
    window.getSelection()?.removeAllRanges();
    this.placeCursor(found.side, found.start, found.end);
    this.selected = true;
  }

  /**
   * A click on a span picks it; the next click on the same place, the one below it. A click on other words puts the
   * cursor there.
   * @param {MouseEvent} event @param {Side} side
   */
  pickAt(event, side) {
    if (this.selected) {
      this.selected = false;
      return;
    }
    const piece = /** @type {HTMLElement} */ (event.target).closest('[data-lines]');
    const lines = (piece?.getAttribute('data-lines') ?? '')
      .split(' ')
      .filter(Boolean)
      .map((at) => this.rows[Number(at)]);
    if (!lines.length) {
      this.putCursorAt(event, side);
      return;
    }
    const at = this.current ? lines.indexOf(this.current) : -1;
    this.pick(lines[(at + 1) % lines.length]);
  }

  /** @param {MouseEvent} event @param {Side} side */
  putCursorAt({ clientX, clientY }, side) {
    const caret = document.caretPositionFromPoint?.(clientX, clientY);
    const range = caret ? null : document.caretRangeFromPoint?.(clientX, clientY);
    const [node, offset] = caret
      ? [caret.offsetNode, caret.offset]
      : [range?.startContainer, range?.startOffset ?? 0];
    if (!node || !this.panes[side].text.contains(node)) return;
    const at = this.offsetOf(side, node, offset);
    // behind the middle of the last character of a word, the place is that behind the word
    const here = widen(this.unitsOf(side), at, at) ?? widen(this.unitsOf(side), at - 1, at - 1);
    if (here) this.placeCursor(side, ...here);
  }

  // ---- what the person does --------------------------------------------------------------------------------------

  /** A click on the words of a line selects the line. It has no words to edit: letters are commands on its buttons only. */
  point({ target }, line) {
    const isAction = target.closest('button, select, .sp-buttons');
    this.pick(line);
    this.pointed = !isAction;
  }

  /** Letters that are typed after such a click are no commands, and a sentence says so. @param {KeyboardEvent} event */
  refuses(event) {
    const refused = this.pointed && parts().isPrintable(event);
    this.pointed = refused;
    if (refused)
      this.notices.say(
        tr(
          'The words of a span cannot be edited. For commands, press an arrow key or Esc first, or click a button.',
        ),
      );
    return refused;
  }

  pick(line) {
    this.pointed = false;
    // a click on a button of a line arrives here too, when another line stands in its place
    if (line === this.current || !this.rows.includes(line)) return;
    this.current = line;
    this.draw();
    const piece = this.node.querySelector('.sp-piece.is-current');
    piece?.scrollIntoView({ block: 'nearest' });
  }

  step(by) {
    if (!this.rows.length) return;
    const at = this.current ? this.rows.indexOf(this.current) : -by;
    this.pick(this.rows[Math.max(0, Math.min(this.rows.length - 1, at + by))]);
    this.notices.announce(this.current ? this.kindText(this.current.span) : '');
  }

  /** Puts other lines on the screen; the ones before can come back. @param {Line[]} rows @param {Line | null} current */
  set(rows, current) {
    if (this.locked || this.outbox.size) return;
    this.undoes = [...this.undoes.slice(1 - UNDO), { rows: this.rows, current: this.current }];
    this.rows = inOrder(rows);
    this.current = current;
    this.draw();
    this.keepSoon();
  }

  undo() {
    const before = this.undoes.pop();
    if (!before) return;
    this.rows = before.rows;
    this.current = before.current;
    this.draw();
    this.keepSoon();
  }

  replace(line, next) {
    this.set(
      this.rows.map((one) => (one === line ? next : one)),
      next,
    );
  }

  change(change) {
    if (this.current) this.replace(this.current, changed(this.current, change));
  }

  setSeverity(place) {
    const severity = this.sheet?.typology.severities[place];
    if (severity) this.change({ severity });
  }

  move(edge, by) {
    if (!this.current) return;
    const moved = moveEdge(this.unitsOf(this.current.span.side), this.current.span, edge, by);
    if (moved) this.change({ start: moved.start, end: moved.end });
  }

  /** Approves or deletes, and goes on to the next span without a decision. @param {'approve' | 'delete'} action */
  decide(action, line = this.current) {
    if (!line) return;
    if (line.at === null) {
      if (action === 'delete')
        this.set(
          this.rows.filter((one) => one !== line),
          this.rows[this.rows.indexOf(line) + 1] ?? null,
        );
      return;
    }
    const next = decided(line, action);
    const rows = this.rows.map((one) => (one === line ? next : one));
    const at = rows.indexOf(next);
    const ahead = [...rows.slice(at + 1), ...rows.slice(0, at)];
    const left = next.action ? ahead.find((one) => one.at !== null && one.action === null) : null;
    this.set(rows, left ?? next);
  }

  approveRest() {
    const open = openLines(this.rows);
    if (!open.length) return;
    this.bulk = true;
    this.set(
      this.rows.map((line) => (open.includes(line) ? { ...line, action: 'approve' } : line)),
      null,
    );
    this.notices.announce(trn('{n} span approved.', '{n} spans approved.', open.length));
  }

  kindFor(side) {
    const { severities, categories } = this.sheet.typology;
    const fitting = categories.find((one) => one.side === side) ?? categories[0];
    return {
      severity: severities.find((name) => name === 'minor') ?? severities[0],
      category: fitting?.name ?? '',
    };
  }

  append(mark) {
    if (this.rows.length >= this.sheet.typology.most) return;
    const line = { at: null, was: null, action: 'add', span: { note: '', ...mark } };
    const twin = this.rows.find(
      ({ span, action }) =>
        action !== 'delete' &&
        span.start === mark.start &&
        span.end === mark.end &&
        span.side === mark.side &&
        span.category === mark.category &&
        span.severity === mark.severity,
    );
    if (twin) {
      this.pick(twin);
      return;
    }
    this.set([...this.rows, line], line);
  }

  add() {
    if (this.noted) this.placeCursor(this.noted.side, this.noted.start, this.noted.end);
    window.getSelection()?.removeAllRanges();
    const { side } = this.cursor;
    const [start, end] = this.selection(side);
    if (end > start) this.append({ start, end, side, ...this.kindFor(side) });
    this.node.focus({ preventScroll: true });
  }

  addMissing() {
    const omission = this.sheet.typology.categories.find(({ name }) => /omission/i.test(name));
    const kind = this.kindFor('output');
    this.append({
      start: null,
      end: null,
      side: 'output',
      severity: kind.severity,
      category: omission?.name ?? kind.category,
    });
  }

  focusCategory() {
    /** @type {HTMLElement | null} */ (this.list.querySelector('[aria-current] select'))?.focus();
  }

  focusScore() {
    if (!this.score.hidden) this.score.focus();
  }

  leave() {
    this.node.focus({ preventScroll: true });
  }

  // ---- saving ----------------------------------------------------------------------------------------------------

  /** What is sent, in the offsets of the server. */
  body() {
    const turn = Object.fromEntries(
      SIDES.map((side) => [side, (offset) => toPoints(this.panes[side].whole, offset)]),
    );
    const sent = this.score.value.trim();
    return {
      rows: this.rows.map(({ at, action, span }) => ({
        at,
        action,
        span: action === 'revise' || action === 'add' ? turned(span, /** @type {any} */ (turn)) : null,
      })),
      score:
        this.sheet.typology.scoring === 'esa' && sent !== '' && Number.isFinite(Number(sent))
          ? Number(sent)
          : null,
    };
  }

  keepSoon() {
    clearTimeout(this.keepTimer);
    this.edited = true;
    this.keepTimer = setTimeout(() => this.keep(), KEEP_MS);
  }

  keep(now = false) {
    clearTimeout(this.keepTimer);
    if (!(this.edited || now) || !this.sheet?.instance || this.outbox.size) return;
    this.edited = false;
    const { revision, draft } = this.sheet;
    this.kept.put(this.place, {
      revision,
      draft,
      state: this.body(),
      edited: true,
      bulk: this.bulk,
      opened_at: this.openedAt,
      active_ms: this.clock.ms,
    });
  }

  problem(state) {
    const left = openLines(this.rows);
    if (left.length) {
      this.pick(left[0]);
      return trn(
        '{n} span still needs a decision: approve it, change it or delete it.',
        '{n} spans still need a decision: approve them, change them or delete them.',
        left.length,
      );
    }
    const given = state.score;
    if (
      this.sheet.typology.scoring === 'esa' &&
      (given === null || given < 0 || given > 100 || !Number.isInteger(given))
    ) {
      this.focusScore();
      return tr('Give a score: a whole number from 0 to 100.');
    }
    return '';
  }

  save() {
    if (!this.sheet?.instance || this.locked || this.outbox.size) return;
    const state = this.body();
    const problem = this.problem(state);
    if (problem) {
      this.notices.say(problem);
      this.notices.announce(problem);
      return;
    }
    this.keep(true);
    const { revision, draft, instance } = this.sheet;
    const uid = parts().newUid();
    this.status.textContent = tr('Saving…');
    this.outbox.add({
      uid,
      box: 'spans',
      task: this.slug,
      place: this.place,
      path: `api/spans/${encodeURIComponent(this.slug)}/saves`,
      body: {
        uid,
        ...state,
        instance: instance.id,
        draft,
        revision,
        bulk: Boolean(this.bulk),
        opened_at: this.openedAt,
        active_ms: this.clock.ms,
      },
      // the lines of a sheet of spans are others than those of a table
      state: /** @type {any} */ (state),
    });
  }

  onsaved(entry, { saved, next, message }) {
    if (entry.task !== this.slug) return;
    const kept = this.kept.get(entry.place);
    if (kept && kept.revision < saved.revision) this.kept.drop(entry.place);
    this.edited = false;
    if (next) this.show(next);
    else this.notices.stay('ended', message);
    const time = parts().clockTime(saved.submitted_at);
    this.status.textContent = tr('Saved at {time}', { time });
  }

  onwaiting(error, seconds) {
    this.status.textContent = '';
    this.notices.stay(
      'waiting',
      tr('{problem} Your spans are kept here and are sent again in {n} seconds.', {
        problem: error.message,
        n: seconds,
      }),
    );
  }

  onrefused(entry, error) {
    this.status.textContent = '';
    if (error.kind === 'stale' && error.body?.now) {
      this.show(error.body.now);
      this.offerVersions(entry.state, error.message);
      return;
    }
    if (!this.sheet) this.open({});
    this.notices.warn(error.message);
  }
}

/** Gives a node these children, moving only those that are not in their place. @param {Element} parent @param {ChildNode[]} nodes */
function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of Array.from(parent.childNodes)) if (!wanted.has(child)) child.remove();
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
  }
}

window.coeval.addScreen('spans', (element, value) => new SpansScreen(element, value));
