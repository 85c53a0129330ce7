/** Set-up's side bar: Gradio's tabs one below the other, a heading for each group, arrow keys, a menu on a phone. */

import { el } from './dom.js';

/** Milliseconds after which Gradio has drawn its tabs. */
const DRAWN = 200;

/** The group of each tab, in the order of the groups. @type {Map<string, string>} */
let groupOf = new Map();

/** Runs again whenever Gradio has drawn its tabs. @param {HTMLElement} list */
function place(list) {
  const tabs = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role=tab]')]);
  const heads = new Map();
  for (const head of /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll('.tab-group'))) {
    heads.set(head.dataset.group, head);
  }
  let before = '';
  for (const tab of tabs) {
    const group = groupOf.get(tab.dataset.tabId ?? '') ?? '';
    if (group !== before) {
      const head =
        heads.get(group) ??
        el('span', { class: 'tab-group', role: 'presentation', 'data-group': group }, group);
      if (tab.previousElementSibling !== head) tab.before(head);
      heads.delete(group);
      before = group;
    }
    const at = tab.getAttribute('aria-selected') === 'true' ? '0' : '-1';
    if (tab.getAttribute('tabindex') !== at) tab.setAttribute('tabindex', at);
  }
  for (const head of heads.values()) head.remove();
  const chosen = tabs.find((tab) => tab.getAttribute('aria-selected') === 'true');
  const menu = list.parentElement?.querySelector('.tab-menu');
  const words = chosen?.textContent ?? '';
  if (menu && menu.textContent !== words) menu.textContent = words;
}

/** @param {KeyboardEvent} event @param {HTMLElement} list */
function move(event, list) {
  const tabs = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role=tab]')]);
  const at = tabs.indexOf(/** @type {HTMLElement} */ (event.target));
  const last = tabs.length - 1;
  const to = {
    ArrowDown: at === last ? 0 : at + 1,
    ArrowUp: at ? at - 1 : last,
    Home: 0,
    End: last,
  }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  tabs[to].focus();
}

/** Opens and marks the section that the address names (#id), once its page is there. */
function openSection(tries = 60) {
  const section = document.getElementById(location.hash.slice(1));
  const head = /** @type {HTMLElement | null} */ (section?.querySelector('button.label-wrap'));
  if (!section || !head?.offsetHeight || !window.coevalStarted) {
    if (location.hash && tries) setTimeout(openSection, DRAWN, tries - 1);
    return;
  }
  if (!head.classList.contains('open')) head.click();
  document.querySelector('.is-named')?.classList.remove('is-named');
  section.classList.add('is-named');
  setTimeout(() => section.scrollIntoView(), DRAWN);
}

/** @param {HTMLElement} list */
function start(list) {
  const wrapper = /** @type {HTMLElement} */ (list.parentElement);
  /** @param {boolean} open */
  const show = (open) => {
    wrapper.classList.toggle('is-open', open);
    menu.setAttribute('aria-expanded', String(open));
  };
  const menu = el('button', {
    class: 'tab-menu',
    type: 'button',
    'aria-expanded': 'false',
    onclick: () => show(!wrapper.classList.contains('is-open')),
  });
  wrapper.prepend(menu);
  list.setAttribute('aria-orientation', 'vertical');
  list.setAttribute('aria-label', 'Set-up');
  list.addEventListener('keydown', (event) => move(event, list));
  list.addEventListener('click', () => show(false));
  window.addEventListener('hashchange', () => openSection());
  openSection();
  place(list);
  new MutationObserver(() => place(list)).observe(list, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['aria-selected'],
  });
}

const unlisted = new CSSStyleSheet();

/** Opens the first tab of the list if the open one has left it. @param {string[]} gone */
function openListed(gone) {
  const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('#tabs [role=tab]')]);
  const listed = tabs.filter((tab) => !gone.includes(tab.dataset.tabId ?? ''));
  if (window.coevalStarted && !listed.some((tab) => tab.getAttribute('aria-selected') === 'true'))
    listed[0]?.click();
}

/** Removes tabs from the list, because Gradio always lists a tab that was built visible. @param {string} ids */
export function unlistTabs(ids) {
  const listed = ids.split(' ').filter(Boolean);
  unlisted.replaceSync(
    listed.map((id) => `#tabs [data-tab-id="${CSS.escape(id)}"] { display: none !important }`).join(''),
  );
  if (!document.adoptedStyleSheets.includes(unlisted)) document.adoptedStyleSheets.push(unlisted);
  setTimeout(openListed, DRAWN, listed);
}

/** Reads the server's groups, "tasks:Study,people:People". Gradio may draw its tabs later. @param {string} groups */
export function groupTabs(groups) {
  groupOf = new Map(groups.split(',').map((pair) => /** @type {[string, string]} */ (pair.split(':'))));
  const found = document.querySelector('.sidebar > .tab-wrapper > [role=tablist]');
  const list = /** @type {HTMLElement | null} */ (found);
  if (list?.querySelector('[role=tab]')) {
    if (!list.hasAttribute('aria-orientation')) start(list);
  } else requestAnimationFrame(() => groupTabs(groups));
}
