"""Correlations of a model with people at three levels: dataset, document, system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy

from coeval.stats.clusters import cut, drawn_interval, fisher_interval, parse_clusters
from coeval.stats.estimates import Estimate
from coeval.stats.judges.vector_correlation import METHODS, correlate
from coeval.stats.rating_matrix import Codes, Numbers, parse_vector, renumbered

LEVELS = ("dataset", "document", "system")
SYSTEM = LEVELS.index("system")
DRAWS = 300
"""The number of resamples of clusters at system level, which gives the standard error to 4%."""

TESTS = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall": "kendalltau"}
"""The tests of scipy.stats."""

SAME = 1e-10
"""Means that differ by less, on a scale of about 1, are equal."""

SMALL = 64
"""The largest group size that is correlated together with other groups."""


@dataclass(frozen=True)
class LevelCorrelations:
    """Pearson, Spearman and tau-b at one level, from ``n`` items in ``groups_used`` of ``n_groups`` groups."""

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    n: int
    n_groups: int
    groups_used: int
    groups_skipped: int


@dataclass(frozen=True)
class Correlations:
    """Correlations of all items pooled, within each ``document`` (then averaged), and of the systems' means."""

    dataset: LevelCorrelations
    document: LevelCorrelations
    system: LevelCorrelations


def correlations(
    human: Any, model: Any, document: Any = None, system: Any = None, clusters: Any = None
) -> Correlations:
    """Return Pearson, Spearman and Kendall's tau-b of a model's scores with people's, at three levels.

    Parameters
    ----------
    human, model : one score per item, nan if missing. Items without both are left out.
    document, system : the document and system of each item; None if unknown.
    clusters : the cluster label of each item. With labels, every correlation has an interval over clusters, for these
        systems. At system level, the interval is for means over this number of clusters: with more clusters, the
        means are steadier and the correlation is higher.

    Returns
    -------
    Correlations
        Documents in which a side never varies are skipped. Without clusters, document level has no
        ``p_value``. Undefined values are nan with a ``reason``.

    Raises
    ------
    ValueError
        If the vectors differ in length.

    Source: Chiang and Lee 2023, A Closer Look into Automatic Evaluation Using Large Language Models, for
    dataset and document level; Deutsch, Dror and Roth 2021 for system level. The levels can differ by more than a
    factor of two on the same data set.

    >>> found = correlations([1, 2, 4, 5, 3, 1], [2, 2, 5, 4, 3, 2], ["a", "a", "a", "b", "b", "b"])
    >>> round(found.dataset.pearson, 3), found.document.groups_used, found.system.pearson.reason
    (0.871, 2, 'no systems are named')
    """
    x, y = parse_vector(human, "human"), parse_vector(model, "model")
    documents = group_codes(document, len(x), "document")
    systems = group_codes(system, len(x), "system")
    if len(y) != len(x):
        raise ValueError(f"human has {len(x)} scores and model {len(y)}; give one of each for every item.")
    paired = ~(np.isnan(x) | np.isnan(y))
    point = Correlations(
        dataset=_dataset_level(x[paired], y[paired]),
        document=_document_level(x, y, paired, documents),
        system=_system_level(x, y, paired, systems),
    )
    if clusters is None:
        return point
    kept = np.flatnonzero(paired)
    part = parse_clusters(clusters, len(x)).of(kept)
    varied = vary_groups(x[kept], y[kept], _cut(documents, kept), _cut(systems, kept), part.groups())
    return spread_levels(point, varied, part.kind, part.n)


def _cut(codes: Codes | None, kept: Codes) -> Codes | None:
    return None if codes is None else codes[kept]


@dataclass(frozen=True, eq=False)
class Varied:
    """Correlations of partial and resampled data, nan if undefined.

    ``without`` leaves out each group, as groups x (dataset, document) x methods. ``drawn`` resamples the groups at
    system level, as draws x methods.
    """

    without: Numbers
    drawn: Numbers

    def of(self, level: int, method: int) -> Numbers:
        """Return the values of one correlation, by its positions in ``LEVELS`` and ``METHODS``."""
        return np.asarray(self.drawn[:, method] if level == SYSTEM else self.without[:, level, method])


def vary_groups(
    x: Numbers, y: Numbers, documents: Codes | None, systems: Codes | None, group: Codes, groups: int = 0
) -> Varied:
    """Return every correlation without each group of items; at system level, those of resampled groups.

    ``group`` has numbers below ``groups``. Leaving out a group without items changes nothing.
    """
    groups = max(groups, int(group.max(initial=-1)) + 1)
    without = np.full((groups, 2, len(METHODS)), np.nan)
    owner = None if documents is None else _groups_of(documents, group)
    within = {}
    if documents is not None and owner is not None:
        named = documents >= 0
        within = {
            method: correlate_within(x[named], y[named], documents[named], method) for method in METHODS
        }
    for name in range(groups):
        rest = group != name
        if rest.all():
            continue
        sides = x[rest], y[rest]
        for place, method in enumerate(METHODS):
            without[name, 0, place] = correlate(*sides, method)
            if method in within:
                without[name, 1, place] = _mean_known(within[method][owner != name])
            elif documents is not None:
                without[name, 1, place] = _mean_within(*sides, documents[rest], method)
    return Varied(without, _draw_systems(x, y, systems, group, groups))


def _draw_systems(x: Numbers, y: Numbers, systems: Codes | None, group: Codes, groups: int) -> Numbers:
    """Return the correlations of the systems' means over resampled groups, as draws x methods."""
    drawn = np.full((DRAWS, len(METHODS)), np.nan)
    named = np.zeros(len(x), dtype=bool) if systems is None else systems >= 0
    if systems is None or not named.any() or groups < 2:
        return drawn
    place = renumbered(systems[named])[1]
    width = int(place.max()) + 1
    if width < 3:
        return drawn
    cell = group[named] * width + place
    sums = [
        np.bincount(cell, side, groups * width).reshape(groups, width)
        for side in (x[named], y[named], np.ones(len(place)))
    ]
    # the same draws of groups for every criterion, so that means over criteria vary together
    times = np.random.default_rng(groups).multinomial(groups, np.full(groups, 1 / groups), DRAWS)
    human, model, sizes = (times @ sums_of_side for sums_of_side in sums)
    kept = np.flatnonzero((sizes > 0).all(axis=1))
    if len(kept):
        a, b = (join_ties((side[kept] / sizes[kept]).ravel()) for side in (human, model))
        draw = np.repeat(np.arange(len(kept)), width)
        drawn[kept] = np.column_stack([correlate_within(a, b, draw, method) for method in METHODS])
    return drawn


def _groups_of(documents: Codes, group: Codes) -> Codes | None:
    """Return the group of each document, in the order of the codes; None if a document is in several groups.

    Leaving out a whole document does not change the correlations of others.
    """
    named = documents >= 0
    places, place = renumbered(documents[named])
    owner = np.zeros(len(places), dtype=np.int64)
    owner[place] = group[named]
    return owner if (owner[place] == group[named]).all() else None


def _mean_within(x: Numbers, y: Numbers, codes: Codes, method: str) -> float:
    named = codes >= 0
    return _mean_known(correlate_within(x[named], y[named], codes[named], method)) if named.any() else np.nan


def _mean_known(values: Numbers) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else np.nan


def spread_levels(point: Correlations, varied: Varied, kind: str, n: int) -> Correlations:
    """Return the correlations with intervals from the varied data."""

    def spread(place: int, level: LevelCorrelations) -> LevelCorrelations:
        values: dict[str, Any] = {}
        for k, method in enumerate(METHODS):
            value: Estimate = getattr(level, method)
            interval = interval_of(place, float(value), varied.of(place, k), kind, n)
            keep = (
                {"p_value": value.details["p_value"]}
                if place == SYSTEM and "p_value" in value.details
                else {}
            )
            values[method] = value.having(**interval | keep) if value.defined else value
        return replace(level, **values)

    return Correlations(*(spread(place, getattr(point, level)) for place, level in enumerate(LEVELS)))


def interval_of(level: int, value: float, varied: Numbers, kind: str, n: int) -> dict[str, Any]:
    """Return the interval of a correlation at a level (a position in ``LEVELS``) from its values on varied data."""
    if level == SYSTEM:
        return cut(drawn_interval(value, varied, kind, n=n), -1.0, 1.0)
    return cut(fisher_interval(value, varied, kind, n=n), -1.0, 1.0)


def join_ties(values: Numbers) -> Numbers:
    """Return the values with rounding differences removed.

    Means of the same scores in another order differ in the last digit, which would change their ranks. On a scale of
    whole points, different means of n scores differ by 1 / n^2 or more.

    >>> join_ties(np.array([0.1 + 0.2, 0.3, 0.4])).tolist()
    [0.3, 0.3, 0.4]
    """
    if not len(values):
        return values
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    apart = np.diff(ranked) > SAME * max(1.0, float(np.abs(ranked).max()))
    first = np.concatenate([[0], np.flatnonzero(apart) + 1])
    joined = np.empty_like(values)
    joined[order] = ranked[first][np.concatenate([[0], np.cumsum(apart)])]
    return joined


def _with_p(x: Numbers, y: Numbers, method: str) -> Estimate:
    """Return one correlation with its two-sided p-value against 0. Both sides must vary."""
    if len(x) < 3:
        return Estimate(correlate(x, y, method), n=len(x), p_value=np.nan)
    tested = getattr(scipy.stats, TESTS[method])(x, y)
    return Estimate(correlate(x, y, method), n=len(x), p_value=float(tested.pvalue))


def _level(values: dict[str, Estimate], n: int, groups: int, used: int) -> LevelCorrelations:
    return LevelCorrelations(**values, n=n, n_groups=groups, groups_used=used, groups_skipped=groups - used)


def _undefined(reason: str, n: int = 0, groups: int = 0) -> LevelCorrelations:
    return _level({method: Estimate.undefined(reason, n=n) for method in METHODS}, n, groups, 0)


def _dataset_level(x: Numbers, y: Numbers) -> LevelCorrelations:
    if len(x) < 2:
        return _undefined("fewer than two items have both scores", len(x), 1)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        steady = "the people" if np.ptp(x) == 0 else "the model"
        return _undefined(f"{steady} gave every item the same score", len(x), 1)
    return _level({method: _with_p(x, y, method) for method in METHODS}, len(x), 1, 1)


def _document_level(x: Numbers, y: Numbers, paired: Any, codes: Codes | None) -> LevelCorrelations:
    if codes is None:
        return _undefined("no documents are named")
    kept = paired & (codes >= 0)
    named = len(np.unique(codes[kept]))
    within = {method: correlate_within(x[kept], y[kept], codes[kept], method) for method in METHODS}
    used = ~np.isnan(within["pearson"])
    if not used.any():
        return _undefined(
            "in every document the people or the model gave one score only", int(kept.sum()), named
        )
    size = int(np.bincount(np.unique(codes[kept], return_inverse=True)[1])[used].sum())
    values = {
        method: Estimate(values[used].mean(), n=size, per_group=values[used])
        for method, values in within.items()
    }
    return _level(values, size, named, int(used.sum()))


def _system_level(x: Numbers, y: Numbers, paired: Any, codes: Codes | None) -> LevelCorrelations:
    if codes is None:
        return _undefined("no systems are named")
    kept = paired & (codes >= 0)
    _, place = np.unique(codes[kept], return_inverse=True)
    sizes = np.bincount(place)
    if len(sizes) < 3:
        return _undefined(
            f"{len(sizes)} systems are too few to correlate; at least 3 are needed",
            int(kept.sum()),
            len(sizes),
        )
    means = [join_ties(np.bincount(place, side[kept]) / sizes) for side in (x, y)]
    if min(np.ptp(mean) for mean in means) == 0:
        return _undefined("every system has the same mean", int(kept.sum()), len(sizes))
    values = {method: _with_p(means[0], means[1], method) for method in METHODS}
    return _level(values, int(kept.sum()), len(sizes), len(sizes))


def group_codes(labels: Any, size: int, name: str) -> Codes | None:
    """Return the codes of the groups, -1 if missing; None if no group is named."""
    if labels is None:
        return None
    series = labels if isinstance(labels, pd.Series) else pd.Series(list(labels), dtype=object)
    if len(series) != size:
        raise ValueError(f"{name} names {len(series)} items, but there are {size} scores.")
    codes, names = pd.factorize(series)
    for blank in np.flatnonzero(names == ""):
        codes = np.where(codes == blank, -1, codes - (codes > blank))
    return codes if (codes >= 0).any() else None


def correlate_within(x: Numbers, y: Numbers, codes: Codes, method: str) -> Numbers:
    """Return the correlation within each group, in the order of the codes; nan if a side never varies."""
    place = renumbered(codes)[1]
    if method == "kendall":
        return _within_kendall(x, y, place)
    if method == "spearman":
        x, y = (np.asarray(pd.Series(side).groupby(place).rank(), dtype=float) for side in (x, y))
    sizes = np.bincount(place)
    varies = _varies(x, place) & _varies(y, place)
    x, y = (np.asarray(side - (np.bincount(place, side) / sizes)[place]) for side in (x, y))
    xy, xx, yy = (np.bincount(place, product) for product in (x * y, x * x, y * y))
    coefficients: Numbers = np.divide(xy, np.sqrt(xx * yy), out=np.full(len(sizes), np.nan), where=varies)
    return coefficients


def _varies(values: Numbers, place: Codes) -> Any:
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    ranked = values[order]
    return np.maximum.reduceat(ranked, starts) > np.minimum.reduceat(ranked, starts)


def _within_kendall(x: Numbers, y: Numbers, place: Codes) -> Numbers:
    """Return tau-b of each group. Small groups are computed together from pairs, large ones with scipy."""
    order = np.argsort(place, kind="stable")
    x, y, place = x[order], y[order], place[order]
    sizes = np.bincount(place)
    sums = np.zeros((3, len(sizes)))
    small = np.isin(place, np.flatnonzero(sizes <= SMALL))
    a, b, group = x[small], y[small], place[small]
    for lag in range(1, min(SMALL, int(sizes.max(initial=0)))):
        same = np.flatnonzero(group[lag:] == group[:-lag])
        dx, dy = np.sign(a[same + lag] - a[same]), np.sign(b[same + lag] - b[same])
        for row, product in enumerate((dx * dy, dx * dx, dy * dy)):
            sums[row] += np.bincount(group[same], product, len(sizes))
    bottom = np.sqrt(sums[1] * sums[2])
    coefficients: Numbers = np.divide(sums[0], bottom, out=np.full(len(bottom), np.nan), where=bottom > 0)
    for large in np.flatnonzero(sizes > SMALL):
        coefficients[large] = correlate(x[place == large], y[place == large], "kendall")
    return coefficients
