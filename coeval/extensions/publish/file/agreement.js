/* Krippendorff's ordinal alpha with its jackknife over documents, as coeval/stats/agreement computes it.
   Nothing here is random: where the report deals documents into random groups, the interval is left out. */

import { tReach } from './student.js';

const MANY = 40;
const LARGE = 5_000_000;
const GROUPS = 50;
const WORTH = 0.6;
const OF_BIAS = 0.75;
export const NO_ERROR = 1e-12;
const NO_INTERVAL = { low: Number.NaN, high: Number.NaN };

/** The units with two scores or more by kind, and how many of each kind every cluster has. */
export function unitKinds(rows, scales) {
  const categories = categoriesOf(rows, scales);
  const codes = new Map(categories.map((score, code) => [score, code]));
  const found = { width: categories.length, kinds: [], times: [], held: new Map(), ratings: 0 };
  const places = new Map();
  for (const [unit, given] of groupBy(rows, 'unit')) {
    if (given.length < 2) continue;
    found.ratings += given.length;
    const scores = given.map((row) => codes.get(row.score)).sort((a, b) => a - b);
    const key = categories.length > MANY ? unit : scores.join();
    if (!places.has(key)) {
      places.set(key, found.kinds.length);
      found.kinds.push(countsOf(scores));
      found.times.push(0);
    }
    const kind = places.get(key);
    found.times[kind] += 1;
    const [{ cluster }] = given;
    if (!found.held.has(cluster)) found.held.set(cluster, []);
    found.held.get(cluster).push([kind, 1]);
  }
  return found;
}

/** The points of the common scale, if all scores are points of it; else the scores that occur. */
function categoriesOf(rows, scales) {
  const used = [...new Set(rows.map((row) => row.score))].sort((a, b) => a - b);
  const ranges = new Map(rows.map((row) => [scales[row.criterion].join(), scales[row.criterion]]));
  const [low, high] = ranges.size === 1 ? [...ranges.values()][0] : [0, Number.POSITIVE_INFINITY];
  if (high - low > 20) return used;
  const points = Array.from({ length: high - low + 1 }, (_, k) => low + k);
  return used.every((score) => points.includes(score)) ? points : used;
}

function countsOf(codes) {
  const counts = [...new Set(codes)].map((code) => [code, codes.filter((each) => each === code).length]);
  return { size: codes.length, counts };
}

export function groupBy(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row[key])) groups.set(row[key], []);
    groups.get(row[key]).push(row);
  }
  return groups;
}

/** Alpha for the number of units of each kind; NaN if all scores are the same. */
function alphaOf({ width, kinds }, weights) {
  const ratings = totalsOf({ width, kinds }, weights);
  const n = sum(ratings);
  let below = 0;
  const places = ratings.map((count) => {
    below += count;
    return below - (count + n) / 2;
  });
  const spreads = kinds.map(({ size, counts }) => {
    const total = sum(counts.map(([code, count]) => count * places[code]));
    const squares = sum(counts.map(([code, count]) => count * places[code] ** 2));
    return (2 * Math.max(size * squares - total ** 2, 0)) / (size - 1);
  });
  const observed = sum(spreads.map((spread, kind) => weights[kind] * spread));
  const mean = sum(ratings.map((count, code) => count * places[code])) / Math.max(n, 1e-300);
  const expected = 2 * n * sum(ratings.map((count, code) => count * (places[code] - mean) ** 2));
  const varies = ratings.filter((count) => count !== 0).length > 1 && expected > 0;
  return varies ? 1 - ((n - 1) * observed) / expected : Number.NaN;
}

function totalsOf({ width, kinds }, weights) {
  const totals = new Array(width).fill(0);
  kinds.forEach(({ counts }, kind) => {
    for (const [code, count] of counts) totals[code] += weights[kind] * count;
  });
  return totals;
}

/** Alpha without each of the clusters. */
function withoutEach(units, clusters) {
  return clusters.map((cluster) => {
    const weights = [...units.times];
    for (const [kind, times] of units.held.get(cluster) ?? []) weights[kind] -= times;
    return alphaOf(units, weights);
  });
}

/** Whether all people gave the commonest score to more than half of the units. */
function isSkewed(units) {
  const totals = totalsOf(units, units.times);
  const commonest = totals.indexOf(Math.max(...totals));
  const alike = units.times.filter((_, kind) =>
    units.kinds[kind].counts.every(([code]) => code === commonest),
  );
  return sum(alike) / sum(units.times) > 0.5;
}

/** The kinds with a unit that agrees on the rarest score and one that is split, each a cluster of its own. */
function withTwoUnits(units) {
  const totals = totalsOf(units, units.times);
  const raters = Math.max(2, roundEven(sum(totals) / sum(units.times)));
  const commonest = totals.indexOf(Math.max(...totals));
  let rarest = totals.indexOf(Math.min(...totals.filter((count) => count > 0)));
  if (rarest === commonest) rarest = commonest ? commonest - 1 : Math.min(1, totals.length - 1);
  const half = Math.floor(raters / 2);
  const split = [...Array(half).fill(rarest), ...Array(raters - half).fill(commonest)];
  const first = units.kinds.length;
  return {
    ...units,
    kinds: [...units.kinds, countsOf(Array(raters).fill(rarest)), countsOf(split)],
    times: [...units.times, WORTH, WORTH],
    held: new Map([...units.held, [ADDED[0], [[first, WORTH]]], [ADDED[1], [[first + 1, WORTH]]]]),
  };
}

const ADDED = ['added, alike', 'added, split'];

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** The nearest whole number; halves go to the even one, as in Python. */
function roundEven(value) {
  const low = Math.floor(value);
  return value - low === 0.5 ? low + (low % 2) : Math.round(value);
}

/** Tukey's interval from a statistic without each cluster, widened by its bias. */
export function jackknife(value, without) {
  const kept = without.filter((each) => !Number.isNaN(each));
  const size = kept.length;
  const mean = sum(kept) / size;
  const se = Math.sqrt(((size - 1) / size) * sum(kept.map((each) => (each - mean) ** 2)));
  if (size < 2 || Number.isNaN(value) || se <= NO_ERROR) return { ...NO_INTERVAL, se: Number.NaN };
  const moved = value - OF_BIAS * (size - 1) * (mean - value);
  const half = tReach(size - 1) * se;
  return { low: Math.min(value, moved) - half, high: Math.max(value, moved) + half, se };
}

/** The interval of a statistic with units added, extended to the value and cut at 1. */
const widenedTo = (value, { low, high }) => ({
  low: Math.min(low, value),
  high: Math.max(Math.min(high, 1), value),
});

function isGrouped(several, clusters) {
  const width = Math.max(...several.map((units) => units.kinds.length + units.width));
  return clusters * width > LARGE && clusters > GROUPS;
}

/** Alpha of one set of scores with its interval. */
export function alpha(rows, scales) {
  const units = unitKinds(rows, scales);
  const clusters = [...units.held.keys()];
  const value = alphaOf(units, units.times);
  const counts = { units: sum(units.times), ratings: units.ratings, clusters: clusters.length };
  if (Number.isNaN(value)) return { value, ...NO_INTERVAL, ...counts };
  if (isGrouped([units], clusters.length)) return { value, ...NO_INTERVAL, ...counts, grouped: true };
  if (!isSkewed(units)) {
    const without = clusters.length > 1 ? withoutEach(units, clusters) : [];
    const { low, high } = jackknife(value, without);
    const kept = without.filter((each) => !Number.isNaN(each));
    const constant = kept.length > 1 && Math.max(...kept) - Math.min(...kept) <= NO_ERROR;
    if (!constant) return { value, low, high: Math.min(high, 1), ...counts };
  }
  const more = withTwoUnits(units);
  const spread = jackknife(alphaOf(more, more.times), withoutEach(more, [...clusters, ...ADDED]));
  return { value, ...widenedTo(value, spread), ...counts };
}

/** The mean of the criteria's alphas, with an interval that leaves out each cluster of all criteria at once. */
export function meanAlpha(parts, scales) {
  const several = parts.map((rows) => unitKinds(rows, scales));
  const defined = several.filter((units) => !Number.isNaN(alphaOf(units, units.times)));
  const clusters = [...new Set(defined.flatMap((units) => [...units.held.keys()]))];
  const counts = { criteria: defined.length, clusters: clusters.length };
  if (!defined.length) return { value: Number.NaN, ...NO_INTERVAL, ...counts };
  const value = sum(defined.map((units) => alphaOf(units, units.times))) / defined.length;
  if (isGrouped(defined, clusters.length)) return { value, ...NO_INTERVAL, ...counts, grouped: true };
  const skewed = defined.some(isSkewed);
  const whole = defined.map((units) => (isSkewed(units) ? withTwoUnits(units) : units));
  const names = skewed ? [...clusters, ...ADDED] : clusters;
  const left = whole.map((units) => withoutEach(units, names));
  const without = names.map((_, at) => sum(left.map((each) => each[at])) / left.length);
  const spread = jackknife(sum(whole.map((units) => alphaOf(units, units.times))) / whole.length, without);
  if (skewed) return { value, ...widenedTo(value, spread), ...counts };
  return { value, low: spread.low, high: Math.min(spread.high, 1), ...counts };
}
