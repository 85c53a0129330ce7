"""A mean from few human labels and many model labels: prediction-powered inference, with one judge or a jury."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from coeval.stats.clusters import UNITS, Clusters, effective_freedom, join_clusters
from coeval.stats.estimates import Estimate, t_limits
from coeval.stats.rating_matrix import Codes, Numbers, parse_vector

FOLDS = 10
PENALTIES = np.geomspace(0.01, 10_000, 13)
"""The candidate penalties of the ridge regression."""


def jury_mean(
    y: Any,
    judges: Any,
    judges_unlabeled: Any,
    *,
    clusters: Any = None,
    clusters_unlabeled: Any = None,
    kind: str = UNITS,
    finite: bool = False,
) -> Estimate:
    """Return the people's mean, improved by a jury of judges with cross-fitting, with Student's t over clusters.

    Large clusters dominate the mean, so t has the degrees of freedom of the effective number of labelled clusters.
    The weights for each fold of the labelled clusters are fitted on the other folds. The mean is
    mean(y - g(x) + mean of g over the unlabelled). It is unbiased for any weights, so fitting them to the labels does
    not make the interval too short.

    Parameters
    ----------
    y : the people's scores of n items. The labelled items must be drawn at random, or with known probabilities:
        if they were chosen by difficulty, the mean is wrong, and no correction here can repair it.
    judges, judges_unlabeled : items x judges, or a vector for one judge. A missing score (nan) is replaced by the
        judge's mean.
    clusters, clusters_unlabeled : the cluster label of each item. By default, every item is a cluster. Equal labels
        in both mean the same cluster.
    kind : the name of a cluster, for ``interval_kind``.
    finite : True for the mean of exactly these labelled and unlabelled items, not of others like them.

    Returns
    -------
    Estimate
        With ``ci_low``, ``ci_high``, ``se``, ``lam`` (the slope of people's scores on the prediction used, 0 if the
        judges are not used), ``n``, ``n_unlabeled``, ``n_judges``, ``classical``, ``classical_se`` and ``multiplier``:
        the worth of one label in plain labels, which is the squared ratio of the two errors. If the judges would make
        the error larger, the result is the plain mean, with ``lam`` 0 and ``fell_back``. nan if fewer than three
        clusters are labelled, or no item is unlabelled.

    A cluster may contain labelled and unlabelled items. Its part of the error is the square of its total
    contribution to the mean, from its labels and from the judges' scores.

    Source: Angelopoulos, Duchi and Zrnic 2023, PPI++; Zrnic and Candès 2024, Cross-prediction-powered inference.
    """
    sample = _parse_sample(y, judges, judges_unlabeled, clusters, clusters_unlabeled, kind)
    counts: dict[str, Any] = {
        "n": len(sample.labels),
        "n_unlabeled": len(sample.rest),
        "n_judges": sample.judged.shape[1],
        "clusters": sample.own.n,
        "resampled": sample.own.kind,
        "confidence": 0.95,
        "interval_kind": f"prediction-powered, cross-fitted, t over {sample.own.kind} with labels",
    }
    if sample.own.n < 3:
        return Estimate.undefined("fewer than three clusters are labelled", **counts)
    if not len(sample.rest):
        return Estimate.undefined("no item is left that only judges scored", **counts)
    found = _cross_fitted(sample, finite)
    if found["fell_back"]:
        counts["interval_kind"] = f"plain mean of the labels, t over {sample.own.kind} with labels"
    return Estimate(**found, **counts)


@dataclass(frozen=True, eq=False)
class _Sample:
    """The labels, the judges' scores of labelled and other items, and all clusters."""

    labels: Numbers
    judged: Numbers
    rest: Numbers
    document: Codes
    """The clusters of the labelled items, then of the others, in one numbering."""
    own: Clusters
    """The clusters of the labelled items, renumbered without clusters that have no label."""


def _parse_sample(
    y: Any, judges: Any, judges_unlabeled: Any, clusters: Any, clusters_unlabeled: Any, kind: str
) -> _Sample:
    labels = parse_vector(y, "y")
    x, rest = _as_judges(judges), _as_judges(judges_unlabeled)
    if len(labels) != len(x) or x.shape[1] != rest.shape[1]:
        raise ValueError(
            f"There are {len(labels)} labels, {len(x)} labelled items by {x.shape[1]} judges, and {rest.shape[1]} "
            "judges of the unlabelled ones; give one row a label, and the same judges."
        )
    kept, usable = ~np.isnan(labels), ~np.isnan(rest).all(axis=1)
    joined, own = join_clusters(clusters, clusters_unlabeled, kept, usable, kind)
    return _Sample(labels[kept], x[kept], rest[usable], joined.code, own)


def _cross_fitted(sample: _Sample, finite: bool) -> dict[str, Any]:
    """Return the corrected mean, its error and interval, and the worth of one label."""
    labels, own = sample.labels, sample.own
    x, rest = _standardised(sample.judged, sample.rest)
    shrink = 1.0 if finite else len(rest) / (len(rest) + len(labels))
    told, mean_weight = np.zeros(len(labels)), np.zeros(x.shape[1])
    for fold in _folds(own):
        train = np.setdiff1d(np.arange(len(labels)), fold)
        weight = shrink * _ridge(x[train], labels[train])
        told[fold] = (x[fold] - rest.mean(axis=0)) @ weight
        mean_weight += weight * len(fold) / len(labels)
    share = 1 - len(labels) / (len(labels) + len(rest)) if finite else 1.0
    left, size = labels - told, int(sample.document.max()) + 1
    of_label, of_rest = np.split(sample.document, [len(labels)])
    plain = np.sqrt(share * (_influences(labels, of_label, size) ** 2).sum())
    influences = _influences(left, of_label, size)
    if not finite:  # else the other items are not a sample, and the mean of their predictions has no error
        influences += _influences(rest @ mean_weight, of_rest, size)
    se = np.sqrt(share * (influences**2).sum())
    fell_back = not se <= plain  # nan if the other items are a single cluster
    theta, se = float((labels if fell_back else left).mean()), float(plain if fell_back else se)
    return {
        "value": theta,
        **t_limits(theta, se, effective_freedom(np.bincount(own.code).astype(float))),
        "lam": _slope(labels, x @ mean_weight) if mean_weight.any() and not fell_back else 0.0,
        "fell_back": fell_back,
        "classical": labels.mean(),
        "classical_se": plain,
        "multiplier": (plain / se) ** 2 if se > 0 else np.nan,
    }


def _influences(values: Numbers, cluster: Codes, size: int) -> Numbers:
    """Return each cluster's part in the error of the mean of ``values``; the sum of their squares is its variance."""
    gaps = np.bincount(cluster, values - values.mean(), size) / len(values)
    n = len(np.unique(cluster))
    return np.asarray(gaps * np.sqrt(n / (n - 1)) if n > 1 else np.full(size, np.nan))


def _as_judges(values: Any) -> Numbers:
    table = np.asarray(values, dtype=float)
    return table[:, None] if table.ndim == 1 else table


def _standardised(x: Numbers, rest: Numbers) -> tuple[Numbers, Numbers]:
    """Return the judges' z-scores over all items. A missing score becomes the judge's mean."""
    both = np.concatenate([x, rest])
    spread = np.nanstd(both, axis=0)
    z = np.nan_to_num((both - np.nanmean(both, axis=0)) / np.where(spread > 0, spread, np.inf))
    return z[: len(x)], z[len(x) :]


def _folds(clusters: Clusters) -> Iterator[Codes]:
    """Yield the items of each fold; a cluster is in only one fold."""
    part = clusters.dealt(FOLDS)
    for fold in range(min(FOLDS, clusters.n)):
        yield np.flatnonzero(part == fold)


def _ridge(x: Numbers, y: Numbers) -> Numbers:
    """Return ridge weights, with a penalty from generalised cross-validation."""
    x, y = x - x.mean(axis=0), y - y.mean()
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    along = u.T @ y
    best, weights = np.inf, np.zeros(x.shape[1])
    for penalty in PENALTIES:
        kept = s**2 / (s**2 + penalty)
        freedom = len(y) - 1 - kept.sum()
        score = ((y - u @ (kept * along)) ** 2).sum() / max(freedom, 0.5) ** 2
        if score < best:
            best = score
            weights = vt.T @ (np.divide(kept, s, out=np.zeros_like(s), where=s > 1e-9) * along)
    return np.asarray(weights)


def _slope(y: Numbers, x: Numbers) -> float:
    return float(np.cov(y, x)[0, 1] / x.var(ddof=1)) if x.var() > 0 else 0.0
