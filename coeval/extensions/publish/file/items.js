/* The items: filtered and sorted, each with its texts, the marked evidence, the draft and people's scores. */

import { groupBy, sum } from './agreement.js';
import { el, say, table } from './elements.js';
import { leftOf } from './figures.js';

const PAGE = 50;
const WIDE = 2;

/** Prepare the list once; the function that is returned shows the items of newly selected rows. */
export function buildItems(data) {
  const ids = ['item-list', 'item-count', 'more-items', 'item-fields'];
  const [list, count, more, form] = ids.map((id) => document.getElementById(id));
  const state = { rows: [], out: null, shown: PAGE };

  function show() {
    const found = select(data, state, form.elements);
    const open = new Set([...list.querySelectorAll('details[open]')].map((each) => each.id));
    list.replaceChildren(...found.slice(0, state.shown).map((each) => itemView(data, state, each)));
    for (const each of list.children) each.open = open.has(each.id);
    count.textContent = say('items_shown', { n: list.children.length, of: found.length });
    more.hidden = found.length <= state.shown;
  }

  function showFrom(shown) {
    state.shown = shown;
    show();
  }

  /** Open the item that the address names, whatever the filters. */
  function follow() {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name.startsWith('item-')) return;
    if (!document.getElementById(name)) {
      form.reset();
      showFrom(data.items.length);
    }
    const item = document.getElementById(name);
    if (!item) return;
    item.open = true;
    item.scrollIntoView();
    item.firstChild.focus();
  }

  form.oninput = () => showFrom(PAGE);
  more.onclick = () => showFrom(state.shown + PAGE);
  addEventListener('hashchange', follow);
  return (rows, out) => {
    Object.assign(state, { rows, out });
    show();
    return follow;
  };
}

/** The items that pass the filters, each with its scores by criterion, in order. */
function select(data, { rows, out }, { find, system, differ, order }) {
  const of = groupBy(rows, 'item');
  const words = find.value.trim().toLowerCase();
  const says = ({ id, document, input, output }) => [id, document, input, output].join('\n').toLowerCase();
  const found = data.items
    .filter((item) => !out.systems.has(item.system))
    .filter((item) => !system?.value || item.system === Number(system.value))
    .filter((item) => !words || says(item).includes(words))
    .map((item) => ({ item, ...summary(of.get(item.at) ?? []) }))
    .filter((each) => !differ.value || each.range >= WIDE);
  const by = order.value;
  return by === 'at' ? found : found.sort((a, b) => (b[by] || 0) - (a[by] || 0) || a.item.at - b.item.at);
}

/** The scores of an item by criterion, their mean, and how far people are apart on one criterion at most. */
function summary(rows) {
  const by = groupBy(rows, 'criterion');
  const ranges = [...by.values()].map((list) => list.map((row) => row.score));
  const range = Math.max(0, ...ranges.map((scores) => Math.max(...scores) - Math.min(...scores)));
  return { by, range, mean: sum(rows.map((row) => row.score)) / rows.length };
}

function itemView(data, state, { item, by, range, mean }) {
  const about = [data.systems[item.system], item.document].filter(Boolean).join(' · ');
  const figures = Number.isNaN(mean) ? say('unscored') : say('mean_range', { mean: mean.toFixed(2), range });
  const told = el(range >= WIDE ? 'span.wide' : 'span', figures);
  const view = el('details.item', el('summary', el('b', item.id), el('span', about), told));
  view.id = `item-${item.id}`;
  view.ontoggle = () => {
    if (view.open && view.children.length === 1) view.append(itemBody(data, state, item, by));
  };
  return view;
}

function itemBody(data, { out }, item, by) {
  const [criteria, people] = ['criteria', 'people'].map((kind) => leftOf(data[kind], out[kind]));
  const drafts = criteria.map((at) => data.drafts.get(`${item.at} ${at}`));
  const quotes = drafts.flatMap((draft) => draft?.lines.flatMap((line) => line[2]) ?? []);
  const texts = item.input === null ? [] : [item.input, item.output];
  const views = texts.map((text, at) => {
    const found = quotes.filter(([, , inInput]) => Boolean(inInput) === (at === 0));
    return el('section', el('h4', data.fields[at]), el('p.text', ...markedParts(text, found)));
  });
  const link = el('a', say('link'));
  link.href = `#item-${encodeURIComponent(item.id)}`;
  return el(
    'div',
    el('p.note', link),
    el('div.texts', ...views),
    scoreTable(data, item, criteria, drafts, people, by),
    ...drafts.map((draft, at) => draftView(data.criteria[criteria[at]], draft)),
    commentsView(data, out, item),
  );
}

/** A text in parts, with the quoted passages marked; offsets count code points. */
function markedParts(text, quotes) {
  const letters = Array.from(text);
  const ends = quotes.flat().filter((at) => at < letters.length);
  const cuts = [...new Set([0, letters.length, ...ends])].sort((a, b) => a - b);
  return cuts.slice(1).map((end, at) => {
    const part = letters.slice(cuts[at], end).join('');
    return quotes.some(([from, to]) => from <= cuts[at] && to >= end) ? el('mark', part) : part;
  });
}

function scoreTable(data, item, criteria, drafts, people, by) {
  const rows = criteria.map((criterion, at) => {
    const given = new Map((by.get(criterion) ?? []).map((row) => [row.who, row.score]));
    const wide = Math.max(...given.values()) - Math.min(...given.values()) >= WIDE;
    const name = data.criteria[criterion];
    const scores = [drafts[at]?.score, ...people.map((who) => given.get(who))];
    return [
      wide ? el('span.wide', `${name} (${say('disagree')})`) : name,
      ...scores.map((score) => score ?? '–'),
    ];
  });
  const heads = [say('criterion'), say('draft'), ...people.map((who) => data.people[who])];
  return table(say('scores_of', { id: item.id }), heads, rows);
}

function draftView(criterion, draft) {
  if (!draft?.lines.length) return null;
  const lines = draft.lines.map(([kind, text]) => el('li', `${say(kind)}: ${text}`));
  return el('details.draft', el('summary', say('draft_of', { criterion })), el('ul', ...lines));
}

function commentsView(data, out, item) {
  const given = data.comments.filter((each) => each[1] === item.at && !out.people.has(each[0]));
  if (!given.length) return null;
  const lines = given.map(([who, , text]) => el('li', `${data.people[who]}: ${text}`));
  return el('section', el('h4', say('comments')), el('ul', ...lines));
}
