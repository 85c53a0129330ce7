/** Nodes from the server, and the choice of a role for each column. */

import { request, withQuery } from '../core/api.js';
import { button, el, fill } from '../core/dom.js';
import { refresh } from '../core/follow.js';
import { groupTabs, unlistTabs } from '../core/sidebar.js';
import { markdownNodes } from './display.js';

/* Shows the nodes of a Python View: a tree of {tag, class, attributes, children}; texts stay texts. */

const TAGS = new Set(
  (
    'a b br code dd del details div dl dt em h1 h2 h3 h4 hr i img ins kbd li ol p pre section small span strong ' +
    'summary table tbody td th thead tr u ul'
  ).split(' '),
);
const ATTRIBUTES =
  /^(title|scope|role|colspan|download|target|open|id|lang|dir|tabindex|data-[a-z-]+|aria-[a-z]+)$/;

/** Addresses are on this site or https, so a browser never runs them. */
function safeHref(href) {
  const url = new URL(href, document.baseURI);
  return url.origin === location.origin || url.protocol === 'https:' ? href : null;
}

/** Images have types without scripts; the page's policy limits their hosts. */
function safeSource(source) {
  return /^(?:https:\/\/|data:image\/(?:png|jpe?g|gif|webp);base64,)/i.test(source) ? source : '';
}

/** A link that changes something is sent as a form, because a write is never a GET. */
function post(event) {
  event.preventDefault();
  const action = withQuery(event.currentTarget.href, { 'coeval-person': window.coevalPerson });
  const form = el('form', { method: 'post', action });
  document.body.append(form);
  form.submit();
}

/** Sets the language and direction of the page from its corner: "ar rtl". @param {string} speaks */
function speakPage(speaks) {
  const [code, direction] = speaks.split(' ');
  document.documentElement.lang = code;
  document.documentElement.dir = direction;
}

/** A file in another tool's format may have no content; the reason is shown beside its link. @param {MouseEvent} event */
async function saveFile(event) {
  event.preventDefault();
  const link = /** @type {HTMLAnchorElement} */ (event.currentTarget);
  link.parentElement?.querySelector('.link-answer')?.remove();
  const say = (/** @type {string} */ text) =>
    link.after(el('span', { class: 'link-answer error', role: 'alert' }, ` ${text}`));
  try {
    const answer = await fetch(link.href, { headers: { accept: 'application/json' } });
    if (!answer.ok) {
      say((await answer.json()).message);
      return;
    }
    const file = URL.createObjectURL(await answer.blob());
    const named = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '');
    el('a', { href: file, download: named?.[1] ?? '' }).click();
    setTimeout(() => URL.revokeObjectURL(file), 60000);
  } catch (error) {
    say(String(error.message ?? error));
  }
}

/**
 * Lets a link to a file state for whom the page was opened, because a browser sends no header with it. The address that
 * a person copies stays without it. @param {Event} event
 */
function statePerson(event) {
  const link = /** @type {HTMLAnchorElement} */ (event.currentTarget);
  const plain = link.href;
  link.href = withQuery(plain, { 'coeval-person': window.coevalPerson });
  setTimeout(() => link.setAttribute('href', plain));
}

/** The forms for answers by message: what is typed stays when the server sends the list again. @type {Map<string, HTMLElement>} */
const answerForms = new Map();

/** A form that answers a message where it is read. @param {string} place the task and the message */
function answerForm(place) {
  const before = answerForms.get(place);
  if (before) return before;
  const [task, message] = place.split(' ');
  const box = el('textarea', {
    class: 'ce-in',
    rows: '2',
    dir: 'auto',
    maxlength: '10000',
    'aria-label': 'Answer',
  });
  const refusal = el('p', { class: 'error', role: 'alert' });
  const send = async (/** @type {boolean} */ close) => {
    try {
      const path = `api/scrutiny/${encodeURIComponent(task)}/answers`;
      await request('POST', path, { message: Number(message), text: box.value, close });
      answerForms.delete(place);
      refresh();
    } catch (error) {
      refusal.textContent = error.message;
    }
  };
  const form = el(
    'div',
    { class: 'answer-form' },
    box,
    button('Answer', { class: 'ce-btn is-primary', onclick: () => send(false) }),
    button('Close', { class: 'ce-btn', onclick: () => send(true) }),
    refusal,
  );
  answerForms.set(place, form);
  return form;
}

function build(node) {
  if (typeof node === 'string') return document.createTextNode(node);
  if (!TAGS.has(node.tag)) throw new Error(`a view holds no <${node.tag}>`);
  const { width, href, src, alt, ...others } = node.attributes ?? {};
  const made = el(node.tag, { class: node.class || null });
  for (const [name, value] of Object.entries(others)) {
    if (ATTRIBUTES.test(name) && name !== 'data-markdown') made.setAttribute(name, String(value));
  }
  if (href !== undefined && node.tag === 'a') {
    made.setAttribute('href', safeHref(href) ?? '#');
    if ('download' in others) made.addEventListener('click', statePerson);
    if (/\/as\/[^/]+\.zip$/.test(href)) made.addEventListener('click', saveFile);
  }
  if (node.tag === 'img') {
    made.setAttribute('alt', String(alt ?? ''));
    made.setAttribute('src', safeSource(String(src)));
  }
  if ('data-speaks' in others) speakPage(others['data-speaks']);
  if ('data-unlisted' in others) unlistTabs(others['data-unlisted']);
  if ('data-groups' in others) groupTabs(others['data-groups']);
  if ('data-answer' in others) made.append(answerForm(others['data-answer']));
  if ('data-post' in others) made.addEventListener('click', post);
  if (width !== undefined) made.style.width = `${Math.max(0, Math.min(1, width)) * 100}%`;
  if ('data-markdown' in others) made.append(...markdownNodes(others['data-markdown']));
  made.append(...(node.children ?? []).map(build));
  return made;
}

/** Nodes that are an answer by themselves; without any, the whole view is the answer. */
const ANSWERS = '[role=alert], [role=status], .banner';
/** Height of the bar that stays at the top, in pixels. */
const TOP_BAR = 56;
/** Milliseconds within which one answer changes several views and may add a message. */
const TOGETHER = 200;
/** Milliseconds after which a button without a change is taken to have given the same answer as before. */
const UNCHANGED = 1000;
/** The button pressed last, until its answer was shown. @type {Element | null} */
let pressed = null;
/** The last answer of each button. @type {WeakMap<Element, Element>} */
const answers = new WeakMap();
/** The views that have changed since then. @type {Set<HTMLElement>} */
const changed = new Set();

/** @param {Element} node */
function isOnScreen(node) {
  const { top, bottom } = node.getBoundingClientRect();
  return top >= TOP_BAR && Math.min(bottom, top + 60) <= window.innerHeight;
}

/** The answer nearest to its button; a refusal or a note comes before any other change. */
function findAnswer() {
  const place = (node) => node.getBoundingClientRect().top;
  const from = pressed ? place(pressed) : 0;
  const views = [...changed].filter((node) => node.isConnected && node.getClientRects().length);
  const told = views.flatMap((node) => [...node.querySelectorAll(ANSWERS)]);
  return (told.length ? told : views).sort(
    (a, b) => Math.abs(place(a) - from) - Math.abs(place(b) - from),
  )[0];
}

/** Scrolls to an answer out of view, unless a message in the corner shows it. @param {Element} answer */
function moveTo(answer) {
  if (isOnScreen(answer) || document.querySelector('.ce-toast')) return;
  const fits = answer.getBoundingClientRect().height < window.innerHeight * 0.7;
  answer.scrollIntoView({ block: fits ? 'center' : 'start' });
}

function showAnswer() {
  const answer = pressed && findAnswer();
  changed.clear();
  if (!pressed || !answer) return;
  answers.set(pressed, answer.closest('.coeval-view') ?? answer);
  pressed = null;
  moveTo(answer);
}

/** Starts to wait for an answer, or stops: a person who types or moves elsewhere is not interrupted. @param {Event} event */
function follow({ target, type }) {
  const button = type === 'click' && target instanceof Element ? target.closest('button') : null;
  changed.clear();
  pressed = button && button.role !== 'tab' && !button.matches('.label-wrap, .ce-close') ? button : null;
  const before = pressed && answers.get(pressed);
  if (!before) return;
  setTimeout(() => {
    if (pressed === button && !changed.size && before.isConnected && before.getClientRects().length)
      moveTo(before);
  }, UNCHANGED);
}

/** Notes that a part of the page has changed, perhaps in answer to a button. @param {HTMLElement} root */
function note(root) {
  if (!pressed) return;
  if (!changed.size) setTimeout(showAnswer, TOGETHER);
  changed.add(root);
}

for (const type of ['click', 'wheel', 'touchmove', 'input'])
  document.addEventListener(type, follow, { capture: true, passive: true });

export function view(element, props, watch) {
  const root = element.querySelector('.coeval-view');
  /* parts that somebody opened stay open when the server sends the view again */
  const show = () => {
    const open = new Set([...root.querySelectorAll('details[open][id]')].map((one) => one.id));
    const focus = /** @type {HTMLElement | null} */ (
      root.contains(document.activeElement) ? document.activeElement : null
    );
    fill(root, ...(props.value?.nodes ?? []).map(build));
    for (const one of root.querySelectorAll('details[id]'))
      if (open.has(one.id)) one.setAttribute('open', '');
    if (focus?.isConnected) focus.focus({ preventScroll: true });
  };
  watch('value', () => {
    const before = root.textContent;
    show();
    if (root.textContent !== before || root.querySelector(ANSWERS)) note(root);
  });
  show();
  if (props.value?.nodes?.length) note(root); // a question that a button opened
}

/* The visibility of columns: a menu for each, and a button that shows the column to judge and people. */

const HIDDEN = 'hidden';
const SCORES = 'scores';

/**
 * @typedef {{name: string, example: string, role: string, fixed: string}} RoleRow
 * @typedef {[string, string][]} Choices
 * @typedef {{rows: RoleRow[], fields: Choices, roles: Choices, words: Record<string, any>}} RoleValue
 * @param {HTMLElement} element
 * @param {{value: RoleValue | null}} props
 * @param {(name: string, run: () => void) => void} watch
 */
export function roles(element, props, watch) {
  const root = /** @type {HTMLElement} */ (element.querySelector('.coeval-roles'));

  /** Stores the role for Gradio, and shows it in the row at once. @param {string} name @param {string} role */
  function choose(name, role) {
    if (!props.value) return;
    const isField = role !== SCORES && props.value.fields.some(([field]) => field === role);
    const rows = props.value.rows.map((row) => {
      if (row.name === name) return { ...row, role };
      return isField && row.role === role ? { ...row, role: HIDDEN } : row; // a field is read from one column
    });
    props.value = { ...props.value, rows };
    show();
    [...root.querySelectorAll('select')].find((menu) => menu.dataset.column === name)?.focus();
  }

  /** @param {Choices} choices @param {string} role */
  function options(choices, role) {
    return choices.map(([value, label]) => el('option', { value, selected: value === role }, label));
  }

  /** @param {RoleRow} row @param {RoleValue} value */
  function cells({ name, role, fixed }, { fields, roles: choices, words }) {
    if (fixed) return [el('td', { class: 'role-fixed' }, fixed)];
    const menu = el(
      'select',
      {
        class: 'role-menu',
        'aria-label': `${words.asks} ${name}`,
        'data-column': name,
        onchange: (event) => choose(name, event.target.value),
      },
      fields.length > 0 && el('optgroup', { label: words.fields }, options(fields, role)),
      fields.length
        ? el('optgroup', { label: words.others }, options(choices, role))
        : options(choices, role),
    );
    const show = button(words.show, {
      class: 'ce-btn role-show',
      'aria-label': `Show ${name} to judge and people`,
      onclick: () => choose(name, words.shown),
    });
    return [el('td', {}, menu, role === HIDDEN && show)];
  }

  function show() {
    const { value } = props;
    if (!value?.rows.length) {
      fill(root);
      return;
    }
    const head = value.words.head.map((/** @type {string} */ name) => el('th', { scope: 'col' }, name));
    fill(
      root,
      el(
        'table',
        { class: 'grid' },
        el('thead', {}, el('tr', {}, head)),
        el(
          'tbody',
          {},
          value.rows.map((row) =>
            el(
              'tr',
              { class: row.role === HIDDEN && !row.fixed ? 'is-hidden' : null },
              el('th', { scope: 'row' }, row.name),
              el('td', { class: 'role-example' }, row.example),
              cells(row, value),
            ),
          ),
        ),
      ),
    );
  }

  watch('value', show);
  show();
}
