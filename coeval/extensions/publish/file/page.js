/* The page of a published study: what the reader leaves out, the figures without it, the items and the files. */

import { groupBy } from './agreement.js';
import { drawInterval, interval, saveCsv, say, setWords, short } from './elements.js';
import { computeFigures } from './figures.js';
import { buildItems } from './items.js';

const data = readStudy();
const at = (id) => document.getElementById(id);
const out = { people: new Set(), criteria: new Set(), systems: new Set() };
const showItems = buildItems(data);

/** The study as the file holds it, with its rows as objects. */
function readStudy() {
  const known = window.publishedStudy ?? JSON.parse(document.getElementById('study').textContent);
  setWords(known.words);
  const { documents, inputs, arms } = known;
  const items = known.items.map(([id, document, system, input, output], place) => {
    return {
      at: place,
      id,
      document: documents[document] ?? '',
      system,
      input: inputs[input] ?? null,
      output,
    };
  });
  const scores = known.scores.map(([who, item, criterion, score, arm, first]) => {
    return { who, item, criterion, score, arm: arms[arm], first };
  });
  const drafts = new Map();
  for (const [item, criterion, score, lines] of known.drafts) {
    drafts.set(`${item} ${criterion}`, { item, criterion, score, lines });
  }
  return { ...known, items, scores, drafts };
}

function update() {
  const ends = [Math.min(...data.scales.flat()), Math.max(...data.scales.flat())];
  const figures = withWhole(computeFigures(data, out));
  const names = Object.keys(out).flatMap((kind) => [...out[kind]].map((each) => data[kind][each]));
  at('left-out').textContent = say(names.length ? 'left_out' : 'nothing_out', { names: names.join(' · ') });
  const { headline, pooled, rows } = figures;
  fillTile('headline', headline, say(`scores_${headline.scores}`));
  fillTile('pooled', pooled, say('units_scores', pooled));
  at('score-count').textContent = rows.length;
  const [people, items] = ['who', 'item'].map((key) => groupBy(rows, key).size);
  at('score-note').textContent = say('people_items', { people, items });
  fillRows('criterion', figures.criteria, (each) => {
    return [drawInterval(each, [-0.2, 1], [0.667, 0.8]), printed(each, short), each.units, each.ratings];
  });
  fillRows('system', figures.systems, (each) => {
    return [drawInterval(each, ends), printed(each, (value) => value.toFixed(2)), each.scores];
  });
  return showItems(rows, out);
}

/** Where the report deals documents into random groups, its own interval stands, if nothing is left out. */
function withWhole(found) {
  if (out.people.size + out.criteria.size + out.systems.size) return found;
  const { headline, pooled, criteria } = data.intervals;
  const take = (each, [low, high]) => each.grouped && Object.assign(each, { low, high });
  take(found.headline, headline);
  take(found.pooled, pooled);
  for (const [place, each] of found.criteria.entries()) take(each, criteria[place]);
  return found;
}

function fillTile(name, figure, note) {
  const [, value, about] = keep(at(`tile-${name}`), figure).children;
  value.textContent = Number.isNaN(figure.value) ? say('undefined') : short(figure.value);
  about.textContent = [interval(figure, short), note].filter(Boolean).join(' · ');
}

/** Fill the rows of a table whose first cells are in the page; what is left out has no row. */
function fillRows(kind, found, cellsOf) {
  for (const row of document.querySelectorAll(`tr[data-${kind}]`)) {
    const figure = found.find((each) => each[kind] === Number(row.dataset[kind]));
    row.hidden = !figure;
    if (!figure) continue;
    keep(row, figure);
    for (const [at, content] of cellsOf(figure).entries()) row.cells[at + 1].replaceChildren(content);
  }
}

function printed(figure, print) {
  return Number.isNaN(figure.value) ? '–' : `${print(figure.value)} ${interval(figure, print)}`;
}

/** Keep the exact numbers beside the printed ones, for programs and tests. */
function keep(element, { value, low, high }) {
  Object.assign(element.dataset, { value, low, high });
  return element;
}

const FILES = {
  'items.csv': () => [
    ['item', 'document', 'system', 'input', 'output'],
    ...data.items.map(({ id, document, system, input, output }) => [id, document, system, input, output]),
  ],
  'scores.csv': () => [
    ['item', 'criterion', 'annotator', 'arm', 'score', 'first_score'],
    ...data.scores.map(({ who, item, criterion, score, arm, first }) => {
      return [data.items[item].id, data.criteria[criterion], data.people[who], arm, score, first];
    }),
  ],
  'drafts.csv': () => [
    ['item', 'criterion', 'score', 'line', 'text'],
    ...[...data.drafts.values()].flatMap(({ item, criterion, score, lines }) => {
      const about = [data.items[item].id, data.criteria[criterion], score];
      return lines.length ? lines.map(([kind, text]) => [...about, kind, text]) : [[...about, '', '']];
    }),
  ],
};

for (const box of document.querySelectorAll('#choices input')) {
  const { kind, place } = box.dataset;
  box.checked = true;
  box.onchange = () => {
    out[kind][box.checked ? 'delete' : 'add'](Number(place));
    update();
  };
}
for (const button of document.querySelectorAll('#files button')) {
  button.onclick = () => saveCsv(button.value, FILES[button.value]());
}
update()();
document.documentElement.dataset.ready = 'yes';
