/* The figures of the study, computed from its rows without what the reader leaves out: the headline,
   the alphas and the means of systems, as coeval/stats/report computes them. */

import { alpha, groupBy, jackknife, meanAlpha, NO_ERROR, sum } from './agreement.js';
import { tReach } from './student.js';

const FEW = 10;
const AT_ENDS = 0.25;

/** The rows that are left, each with its unit and its cluster. */
function selectRows(data, out) {
  const items = data.items.filter((item) => !out.systems.has(item.system));
  const documents = new Set(items.map((item) => item.document).filter(Boolean));
  const clusters = new Map(
    items.map((item) => [item.at, documents.size > 1 && item.document ? `d${item.document}` : item.at]),
  );
  const rows = [];
  for (const row of data.scores) {
    if (out.people.has(row.who) || out.criteria.has(row.criterion) || !clusters.has(row.item)) continue;
    const unit = row.item * data.criteria.length + row.criterion;
    rows.push({ ...row, unit, cluster: clusters.get(row.item), system: data.items[row.item].system });
  }
  return rows;
}

/** The places in a list that the reader did not leave out. */
export function leftOf(list, out) {
  return [...list.keys()].filter((place) => !out.has(place));
}

export function computeFigures(data, out) {
  const rows = selectRows(data, out);
  const { scales } = data;
  const [criteria, systems] = ['criteria', 'systems'].map((kind) => leftOf(data[kind], out[kind]));
  const used = criteria.map((criterion) => scales[criterion]);
  const of = (system) => rows.filter((row) => row.system === system);
  const cut = (some) => criteria.map((criterion) => some.filter((row) => row.criterion === criterion));
  return {
    rows,
    headline: findHeadline(rows, cut, scales),
    pooled: alpha(rows, scales),
    criteria: cut(rows).map((part, at) => ({ criterion: criteria[at], ...alpha(part, scales) })),
    systems: systems.map((system) => ({ system, ...meanOf(of(system), used) })),
  };
}

/** The mean alpha of the scores without a draft's influence, if they span enough documents; else of all. */
function findHeadline(rows, cut, scales) {
  const unaided = rows
    .filter((row) => row.arm === 'blind' || (row.arm === 'first' && row.first !== null))
    .map((row) => (row.arm === 'first' ? { ...row, score: row.first } : row));
  const mean = meanAlpha(cut(unaided), scales);
  const suffices = !Number.isNaN(mean.value) && mean.clusters >= FEW;
  return suffices ? { ...mean, scores: 'unaided' } : { ...meanAlpha(cut(rows), scales), scores: 'all' };
}

/** A system's mean with the interval of a bounded mean over documents: t on the logit scale. */
function meanOf(rows, scales) {
  const parts = [...groupBy(rows, 'cluster').values()];
  const clusters = parts.map((part) => [sum(part.map((row) => row.score)), part.length]);
  const [total, times] = [0, 1].map((column) => sum(clusters.map((each) => each[column])));
  if (!times) return { value: Number.NaN, low: Number.NaN, high: Number.NaN, scores: 0 };
  const without = clusters.length > 1 ? clusters.map(([x, y]) => (total - x) / (times - y)) : [];
  const { se } = jackknife(total / times, without);
  const freedom = Math.max(times ** 2 / sum(clusters.map(([, y]) => y * y)) - 1, 1);
  const low = Math.min(...scales.map(([lowest]) => lowest));
  const high = Math.max(...scales.map(([, highest]) => highest));
  return {
    value: total / times,
    scores: times,
    ...bounded(total / times, se, clusters.length, freedom, low, high),
  };
}

function bounded(value, se, n, freedom, low, high) {
  const share = (value - low) / (high - low);
  if (n < 2) return { low: Number.NaN, high: Number.NaN };
  if (!(share > NO_ERROR && share < 1 - NO_ERROR)) {
    const unseen = (high - low) * (1 - 0.025 ** (1 / (freedom + 1)));
    return share < 0.5 ? { low, high: low + unseen } : { low: high - unseen, high };
  }
  const total = n + 2 * AT_ENDS;
  const middle = (n * value + AT_ENDS * (low + high)) / total;
  const added = AT_ENDS ** 2 * ((low - middle) ** 2 + (high - middle) ** 2);
  const error = Math.max(se || 0, Math.sqrt(n ** 2 * (se || 0) ** 2 + added) / total);
  const reach = (tReach(freedom) * error) / (high - low) / (share * (1 - share));
  const middleLogit = Math.log(share / (1 - share));
  const at = (logit) => low + (high - low) / (1 + Math.exp(-logit));
  return { low: at(middleLogit - reach), high: at(middleLogit + reach) };
}
