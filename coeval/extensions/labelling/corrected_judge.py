"""A judge's mean, corrected for the errors that the judge makes on labelled items.

The correction needs one assumption: on items with the same true score, the judge has the same errors on new as on
labelled items. The distribution of scores may differ, so new items may come from another system. Prediction-powered
inference needs labels drawn from the new items themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from coeval.stats.clusters import Clusters, join_clusters
from coeval.stats.estimates import CONFIDENCE, Estimate, t_limits, t_quantile
from coeval.stats.rating_matrix import Codes, Numbers, parse_vector

LEAST_SKILL = 0.1
"""The minimum of sensitivity plus specificity minus 1; below it, the verdicts are almost uninformative."""

TOLD = 1.645
"""A judge's skill must exceed 0 by this many standard errors."""

SMOOTHING = 2.0
"""The weight, in labels, of the fitted line in each row of the misclassification matrix."""

GRID = np.linspace(0.0, 1.0, 2001)
"""The shares to test for the interval."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Labelled items with the judge's scores, the judge's scores on new items, and the clusters of both."""

    truth: Numbers
    judged: Numbers
    new: Numbers
    document: Codes
    """The cluster of each labelled item, then of each new item, numbered together."""
    own: Clusters

    @property
    def of_labels(self) -> Codes:
        return self.document[: len(self.truth)]

    @property
    def of_new(self) -> Codes:
        return self.document[len(self.truth) :]

    @property
    def size(self) -> int:
        return int(self.document.max(initial=-1)) + 1

    @property
    def counts(self) -> dict[str, Any]:
        """Return the numbers of items and clusters, as in an ``Estimate``."""
        clusters = {"clusters": self.own.n, "resampled": self.own.kind}
        return {"n": len(self.truth), "n_new": len(self.new), **clusters}

    @property
    def problem(self) -> str:
        """Return the reason why nothing can be corrected, or ""."""
        if not len(self.new):
            return "the judge scored no new item"
        return "fewer than three clusters are labelled" if self.own.n < 3 else ""


def read_sample(truth: Any, judged: Any, new: Any, clusters: Any = None, clusters_new: Any = None) -> Sample:
    """Return the items without missing scores; a name in both parts means the same cluster."""
    y, f, rest = (
        parse_vector(side, name) for side, name in ((truth, "truth"), (judged, "judged"), (new, "new"))
    )
    if len(y) != len(f):
        raise ValueError(f"truth has {len(y)} scores and judged {len(f)}; give both for every item.")
    paired, judged_new = ~(np.isnan(y) | np.isnan(f)), ~np.isnan(rest)
    joined, own = join_clusters(clusters, clusters_new, paired, judged_new)
    return Sample(y[paired], f[paired], rest[judged_new], joined.code, own)


def corrected_share(
    truth: Any,
    judged: Any,
    new: Any,
    *,
    clusters: Any = None,
    clusters_new: Any = None,
) -> Estimate:
    """Return the share of new items that people would pass, from a judge with known sensitivity and specificity.

    theta = (p + q0 - 1) / (q0 + q1 - 1), with p the share that the judge passes, q1 its sensitivity and q0 its
    specificity on the labelled items. The interval contains every share that a test does not reject. Its error
    includes the labels and the new items, with rates smoothed by two labels, and allows for dependence within
    clusters.

    Parameters
    ----------
    truth, judged : for each labelled item, 1 if people pass it, and 1 if the judge does; otherwise 0.
    new : the judge's verdicts on the new items.
    clusters, clusters_new : one label per item; items with the same label were drawn together.

    Returns
    -------
    Estimate
        With ``ci_low``, ``ci_high``, ``sensitivity``, ``specificity``, ``n`` labels (``n_pass`` of them passed),
        ``n_new``, ``judged`` (the judge's own share) and ``design_effect``. nan with a ``reason`` if people passed none
        or all of the labelled items, or if sensitivity plus specificity cannot be distinguished from 1.

    Source: Rogan and Gladen 1978; Lee et al. 2025, How to correctly report LLM-as-a-judge evaluations (2511.21140),
    for the smoothed rates. The interval is Fieller's.

    >>> truth, judged = [1] * 50 + [0] * 50, [1] * 45 + [0] * 5 + [1] * 10 + [0] * 40
    >>> share = corrected_share(truth, judged, [1] * 110 + [0] * 90)
    >>> round(share, 3), round(share.sensitivity, 2), round(share.specificity, 2)
    (0.5, 0.9, 0.8)
    """
    sample = read_sample(truth, judged, new, clusters, clusters_new)
    y, f = sample.truth > 0.5, sample.judged > 0.5
    passed, failed = int(y.sum()), int((~y).sum())
    counts = sample.counts | {
        "n_pass": passed,
        "confidence": CONFIDENCE,
        "interval_kind": "Fieller, smoothed rates, labels and new items, t over clusters with labels",
    }
    if sample.problem:
        return Estimate.undefined(sample.problem, **counts)
    if not passed or not failed:
        which = "pass" if not passed else "fail"
        return Estimate.undefined(f"no labelled item is a {which}", **counts)
    p, q1, q0 = float((sample.new > 0.5).mean()), float(f[y].mean()), float((~f[~y]).mean())
    counts |= {"judged": p, "sensitivity": q1, "specificity": q0}
    sens, spec = (q1 * passed + 1) / (passed + 2), (q0 * failed + 1) / (failed + 2)
    of_sens, of_spec = sens * (1 - sens) / (passed + 2), spec * (1 - spec) / (failed + 2)
    skill, error = sens + spec - 1, float(np.sqrt(of_sens + of_spec))
    if skill < LEAST_SKILL or skill < TOLD * error:
        return Estimate.undefined(
            f"sensitivity plus specificity is {q1 + q0:.2f}, which cannot be distinguished from 1: the "
            "judge's verdicts are uninformative here",
            **counts,
        )
    value = float(np.clip((p + q0 - 1) / (q1 + q0 - 1), 0, 1)) if q1 + q0 > 1 else float("nan")
    effect = _design_effect(sample, y, f, value)
    t = float(t_quantile(sample.own.n - 1))
    shares = _fieller_shares(p, len(sample.new), (sens, of_sens), (spec, of_spec), t * t * effect)
    low, high = min([value, *shares]), max([value, *shares])
    return Estimate(value, ci_low=low, ci_high=high, design_effect=effect, **counts)


def _fieller_shares(
    p: float, size: int, sens: tuple[float, float], spec: tuple[float, float], limit: float
) -> list[float]:
    """Return the shares of ``GRID`` that Fieller's test does not reject at ``limit``, a squared t.

    ``p`` is the share of ``size`` new items that the judge passes; the two rates are with their variances.
    """
    smooth = (p * size + 2) / (size + 4)
    gaps = smooth + spec[0] - 1 - GRID * (sens[0] + spec[0] - 1)
    spread = smooth * (1 - smooth) / (size + 4) + (1 - GRID) ** 2 * spec[1] + GRID**2 * sens[1]
    return [float(share) for share in GRID[gaps**2 <= limit * spread]]


def _design_effect(sample: Sample, y: Any, f: Any, theta: float) -> float:
    """Return the factor, at least 1, by which clustering increases the error."""
    labelled = np.where(
        y, -theta * (f - f[y].mean()) / y.sum(), (1 - theta) * ((~f) - (~f)[~y].mean()) / (~y).sum()
    )
    v = sample.new > 0.5
    rest = (v - v.mean()) / len(v)
    alone = float((labelled**2).sum() + (rest**2).sum())
    whole = np.bincount(sample.of_labels, labelled, sample.size) + np.bincount(
        sample.of_new, rest, sample.size
    )
    together = float((whole**2).sum()) * sample.own.n / max(sample.own.n - 1, 1)
    return max(1.0, together / alone) if alone > 0 else 1.0


def corrected_mean(
    truth: Any,
    judged: Any,
    new: Any,
    points: Sequence[float],
    *,
    cut: float | None = None,
    clusters: Any = None,
    clusters_new: Any = None,
    replicates: int = 400,
    seed: int = 0,
) -> Estimate:
    """Return the mean score that people would give new items, from the judge's misclassification matrix.

    With ``cut``, return the share of scores at or above it. This also works if new items are farther from the cut than
    labelled ones, unlike sensitivity and specificity at the cut, because items near the cut are harder.

    Row k of the matrix has the distribution of the judge's scores for labelled items with the true score k. Because
    rare scores have few labels, each row is smoothed with two labels from a line that is fitted to all labels. The
    estimated true shares are the point of the simplex that explains the judge's shares best. The bootstrap resamples
    documents with all their items, labelled and new. The interval is the value -+ t times the spread of the
    replicates.

    Returns
    -------
    Estimate
        With ``ci_low``, ``ci_high``, ``se``, ``shares`` (of each point), ``n``, ``n_new``, ``judged`` (the judge's own
        mean) and ``slope`` (of the judge's scores on the true ones). nan with a ``reason`` if the labels have only one
        score, or if the slope cannot be distinguished from 0.

    Source: 2511.21140 for two scores; the matrix method of Buonaccorsi 2010, Measurement Error, chapter 2.
    """
    sample = read_sample(truth, judged, new, clusters, clusters_new)
    scale = np.asarray(points, dtype=float)
    worth = scale if cut is None else (scale >= cut).astype(float)
    counts = sample.counts | {
        "replicates": replicates,
        "confidence": CONFIDENCE,
        "interval_kind": "bootstrap of labels and new items over clusters, t",
    }
    if sample.problem:
        return Estimate.undefined(sample.problem, **counts)
    counts["judged"] = float((sample.new if cut is None else sample.new >= cut).mean())
    true, said, of_new = (nearest(scale, side) for side in (sample.truth, sample.judged, sample.new))
    if len(np.unique(true)) < 2:
        return Estimate.undefined("every labelled item has the same score", **counts)
    slope, error = _slope(true, said, sample)
    counts["slope"] = slope
    if slope < LEAST_SKILL or slope < TOLD * error:
        return Estimate.undefined(
            f"the judge's scores rise by {slope:.2f} for each point of people's, which cannot be distinguished from 0",
            **counts,
        )
    solved = _true_shares(sample, (true, said, of_new), len(scale), replicates, seed)
    means = solved @ worth
    value, se = float(means[0]), float(means[1:].std(ddof=1))
    spread = t_limits(value, se, sample.own.n - 1)
    return Estimate(
        value,
        ci_low=float(np.maximum(worth.min(), spread["ci_low"])),
        ci_high=float(np.minimum(worth.max(), spread["ci_high"])),
        se=spread["se"],
        shares=[float(share) for share in solved[0]],
        replicates_left_out=replicates + 1 - len(solved),
        **counts,
    )


def _true_shares(
    sample: Sample, places: tuple[Codes, Codes, Codes], points: int, replicates: int, seed: int
) -> Numbers:
    """Return the true shares of each scale point: a row for the sample, then one for each usable replicate.

    Parameters
    ----------
    places : the scale points of the true scores, of the judge's scores, and of its scores on the new items.
    points : the number of scale points.
    """
    true, said, of_new = places
    eye, drawn = np.eye(points), _drawn_counts(sample, replicates, seed)
    pairs = _sums(sample.of_labels, eye[true][:, :, None] * eye[said][:, None, :], sample.size)
    rest = _sums(sample.of_new, eye[of_new], sample.size)
    matrices, shares = np.einsum("bd,dij->bij", drawn, pairs), drawn @ rest
    usable = (shares.sum(axis=1) > 0) & ((matrices.sum(axis=2) > 0).sum(axis=1) > 1)
    matrices, shares = matrices[usable], shares[usable] / shares[usable].sum(axis=1, keepdims=True)
    lines = np.array([_fitted_rows(matrix) for matrix in matrices])
    rows = (matrices + SMOOTHING * lines) / (matrices.sum(axis=2, keepdims=True) + SMOOTHING)
    return solve_shares(rows, shares)


@dataclass(frozen=True)
class Carrying:
    """The error of corrections from other systems: the variation between labelled systems that exceeds chance."""

    spread: float
    systems: int


FEWEST_LABELS = 5
"""The smallest number of labels of a system for checking corrections on it."""


def check_carrying(
    truth: Any, judged: Any, systems: Sequence[Any], points: Sequence[float], *, cut: float | None = None,
    clusters: Any = None,
) -> Carrying | None:  # fmt: skip
    """Return how well corrections from some systems work on another; None with fewer than three labelled systems.

    Each labelled system is corrected with the labels of the others and compared with its own labels. The spread
    between systems is the part of the gaps that exceeds their errors. It measures the correction's assumption.
    """
    y, f = parse_vector(truth, "truth"), parse_vector(judged, "judged")
    named = np.asarray([str(system) for system in systems])
    document = list(range(len(y))) if clusters is None else list(clusters)
    own_scores = y if cut is None else (y >= cut).astype(float)
    squares, count = 0.0, 0
    for system in dict.fromkeys(named):
        mine = named == system
        rest = np.flatnonzero(~mine)
        if mine.sum() < FEWEST_LABELS or len(rest) < 2 * FEWEST_LABELS:
            continue
        corrected = corrected_mean(
            y[rest], f[rest], f[mine], points, cut=cut, clusters=[document[k] for k in rest],
            clusters_new=[document[k] for k in np.flatnonzero(mine)], replicates=100,
        )  # fmt: skip
        if corrected.defined:
            # both sides use the same items, so they share about half of their spread
            error = corrected.se**2 + float(own_scores[mine].var(ddof=1)) / float(mine.sum()) / 2
            squares += (float(corrected) - float(own_scores[mine].mean())) ** 2 - error
            count += 1
    return Carrying(float(np.sqrt(max(0.0, squares / count))), count) if count >= 3 else None


def widen(value: Estimate, carrying: Carrying | None, low: float, high: float) -> Estimate:
    """Widen an estimate's interval by the error of corrections between systems."""
    if carrying is None or not value.defined or not carrying.spread > 0:
        return value
    t = float(t_quantile(carrying.systems - 1))
    sides = [abs(side - float(value)) for side in value.ci]
    below, above = (float(np.hypot(side, t * carrying.spread)) for side in sides)
    return value.having(
        ci_low=float(np.maximum(low, float(value) - below)), ci_high=float(np.minimum(high, float(value) + above)),
        between_systems=carrying.spread, labelled_systems=carrying.systems,
        interval_kind=f"{value.interval_kind}; spread over {carrying.systems} labelled systems",
    )  # fmt: skip


def nearest(scale: Numbers, values: Numbers) -> Codes:
    """Return the index of the scale point nearest to each value."""
    middles = (scale[1:] + scale[:-1]) / 2
    return np.searchsorted(middles, values, side="left")


def _slope(true: Codes, said: Codes, sample: Sample) -> tuple[float, float]:
    """Return the slope of the judge's scores on the true scores, and its standard error over clusters."""
    x, y = true - true.mean(), said - said.mean()
    within = float((x * x).sum())
    slope = float((x * y).sum()) / within
    gaps = np.bincount(sample.of_labels, x * (y - slope * x), sample.size)
    n = sample.own.n
    return slope, float(np.sqrt((gaps**2).sum() * n / max(n - 1, 1))) / within


def _drawn_counts(sample: Sample, replicates: int, seed: int) -> Numbers:
    """Return how often each replicate draws each cluster (replicates x clusters); the first row has each once.

    Clusters with and without labels are drawn separately, so that each replicate has the same number of labelled ones.
    """
    rng, weights = np.random.default_rng(seed), np.ones((replicates + 1, sample.size))
    labelled = np.zeros(sample.size, dtype=bool)
    labelled[sample.of_labels] = True
    for part in (np.flatnonzero(labelled), np.flatnonzero(~labelled)):
        if len(part):
            weights[1:, part] = rng.multinomial(len(part), np.full(len(part), 1 / len(part)), replicates)
    return weights


def _sums(code: Codes, values: Numbers, size: int) -> Numbers:
    sums = np.zeros((size, *values.shape[1:]))
    np.add.at(sums, code, values)
    return sums


def _fitted_rows(counts: Numbers) -> Numbers:
    """Return the matrix from a line through the labels, with normal scores around it and cuts midway between points."""
    k = len(counts)
    place = np.arange(k, dtype=float)
    n, by_true, by_said = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    mean_true, mean_said = float(by_true @ place / n), float(by_said @ place / n)
    within = float(by_true @ (place - mean_true) ** 2)
    shared = float((place - mean_true) @ counts @ (place - mean_said))
    slope = float(np.clip(shared / within, 0.0, 1.5)) if within > 0 else 1.0
    line = mean_said + slope * (place - mean_true)
    squares = float((counts * (place[None, :] - line[:, None]) ** 2).sum())
    spread = max(float(np.sqrt(squares / max(n - 2, 1))), 0.3)
    below = scipy.special.ndtr((place[:-1] + 0.5 - line[:, None]) / spread)
    return np.diff(np.hstack([np.zeros((k, 1)), below, np.ones((k, 1))]), axis=1)


def solve_shares(matrices: Numbers, shares: Numbers) -> Numbers:
    """Return the true shares that explain the judge's shares best, found by expectation-maximisation.

    >>> solve_shares(np.array([[[0.9, 0.1], [0.2, 0.8]]]), np.array([[0.55, 0.45]])).round(3)
    array([[0.5, 0.5]])
    """
    solved = np.full(shares.shape, 1 / shares.shape[1])
    for _ in range(300):
        mixed = np.einsum("bk,bkj->bj", solved, matrices)
        solved = solved * np.einsum("bkj,bj->bk", matrices, shares / np.maximum(mixed, 1e-12))
        solved /= solved.sum(axis=1, keepdims=True)
    return solved
