"""The difference between two systems' means on one criterion, corrected by people's scores of both systems.

Documents are the sampling unit, so the outputs of one document are averaged first. If most documents have outputs of
both systems, the systems are compared within documents; otherwise, they are compared as two samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy

from coeval.stats.clusters import Clusters
from coeval.stats.estimates import NO_ERROR
from coeval.stats.rating_matrix import Numbers

LABELLED = 10
"""Smallest number of documents with people's scores of both systems for a corrected mean."""

FOLDS = 10
PENALTIES = np.geomspace(0.01, 10_000, 13)
"""The candidate penalties of the ridge regression."""


@dataclass(frozen=True, slots=True)
class Room:
    """How far the outputs of one document can move the difference down (``loss``) or up (``gain``), in points.

    ``documents`` is the number of documents in the sample.
    """

    loss: float
    gain: float
    documents: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The new mean minus the old one, in points, with its standard error and degrees of freedom for Student's t.

    ``documents`` is the number of documents. ``labelled`` is the number that people scored if the difference
    was corrected, or else 0. ``skew`` is the skewness of the estimate: its third central moment over ``se``
    cubed. ``se`` is nan if every document of the sample shows the same difference: such a sample does not tell its
    spread. ``rooms`` has one entry for paired documents, and one for each system otherwise.
    """

    value: float
    se: float
    df: float
    documents: int
    paired: bool
    labelled: int = 0
    skew: float = 0.0
    rooms: tuple[Room, ...] = ()

    def below(self, margin: float) -> float:
        """Return the one-sided p-value against "at or below the margin", which is small if the difference is above."""
        return max(1 - self.level_at(margin), self.miss_loss(margin))

    def above(self, margin: float) -> float:
        """Return the one-sided p-value against "at or above the margin", which is small if the difference is below."""
        chances = [_miss(margin - self.value, room.gain, room.documents) for room in self.rooms]
        return max(self.level_at(margin), *chances) if chances else self.level_at(margin)

    def miss_loss(self, margin: float) -> float:
        """Return the probability of a sample without the rare large losses that put the true mean at the margin.

        If one output in 20 loses four points, 36% of the samples of 20 documents have no such output, and nothing in
        them shows how far the mean can be off.
        """
        return max(
            (_miss(self.value - margin, room.loss, room.documents) for room in self.rooms), default=0.0
        )

    def level_at(self, margin: float) -> float:
        """Return the level of the difference's distribution at which the margin lies.

        Student's t assumes symmetric differences. At the margin, with 80 differences that are 0 or, rarely, a drop of a
        point, its verdict is "no worse" in 9.1% of cases instead of 5%. If rare gains skew them, it is "regression" in
        7.2%. Hall's transformation removes the skewness from t.

        Source: Hall 1992, On the removal of skewness by transformation.
        """
        if self.se > 0:
            t, k = (self.value - margin) / self.se, self.skew
            return float(scipy.special.stdtr(self.df, t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6))
        return math.nan if math.isnan(self.value) else float(np.sign(self.value - margin) + 1) / 2


def _miss(shift: float, room: float, documents: int) -> float:
    """Return the probability that none of the documents has the event that moves the mean by ``shift``.

    The event moves one document by ``room`` and is as rare as the shift allows. 0 if the mean need not move.

    >>> round(_miss(0.2, 4, 20), 3), _miss(0.2, 0.1, 20)
    (0.358, 0.0)
    """
    return 0.0 if shift <= 0 else float((1 - shift / max(room, shift)) ** documents)


IDENTICAL = Difference(0.0, 0.0, 1.0, 0, True)
"""The difference of two systems with the same outputs, which is known without a sample."""


def compare_systems(
    rows: pd.DataFrame, new: str, old: str, column: str, scale: tuple[float, float]
) -> Difference:
    """Return the difference between two systems on one criterion.

    Parameters
    ----------
    rows : ``document``, ``system``, ``people`` (the mean of people's scores of the same output, NaN if there are none)
        and the judge's scores.
    column : the column of the judge's scores to compare, ``score`` or ``raw``.
    scale : the lowest and the highest score of the criterion.

    Returns
    -------
    Difference
        If people scored at least ``LABELLED`` documents of both systems, the means are prediction-powered
        (``powered_mean``). The judge's errors may then differ between systems, but the outputs that people scored must
        be a random draw. Otherwise, it is the difference of the judge's means, which assumes equal errors on both
        systems. The difference and its error are NaN if a system has no scores.
    """
    scored = rows[rows[column].notna()]
    judged = {system: _by_document(scored, system, column) for system in (new, old)}
    people = {system: _by_document(scored, system, "people") for system in (new, old)}
    shared = judged[new].index.intersection(judged[old].index)
    if 2 * len(shared) >= min(len(judged[new]), len(judged[old])) > 0:
        gaps, theirs = judged[new] - judged[old], people[new] - people[old]
        difference = _mean(gaps[shared], theirs.reindex(shared), paired=True)
        documents = [difference.labelled or difference.documents] * 2
    else:
        if min(int(people[system].notna().sum()) for system in (new, old)) < LABELLED:
            people = {system: column_of * math.nan for system, column_of in people.items()}
        means = [_mean(judged[system], people[system], paired=False) for system in (new, old)]
        difference = _subtract(*means)
        documents = [mean.labelled or mean.documents for mean in means]
    sampled = people if difference.labelled else judged
    return replace(difference, rooms=_rooms(sampled[new].mean(), sampled[old].mean(), scale, *documents))


def _rooms(
    new: float, old: float, scale: tuple[float, float], new_documents: int, old_documents: int
) -> tuple[Room, ...]:
    """Return how far one document can move the difference between these two means on the scale."""
    low, high = scale
    rooms = Room(new - low, high - new, new_documents), Room(high - old, old - low, old_documents)
    if new_documents != old_documents:
        return rooms
    return (Room(max(room.loss for room in rooms), max(room.gain for room in rooms), new_documents),)


def _by_document(rows: pd.DataFrame, system: str, column: str) -> pd.Series:
    outputs = rows[rows["system"] == system]
    return outputs.groupby("document", sort=True)[column].mean()


def _mean(judged: pd.Series, people: pd.Series, *, paired: bool) -> Difference:
    """Return the mean over documents of the judge's scores, corrected by people's if there are enough."""
    mask = people.notna().to_numpy()
    values, labels = judged.to_numpy(dtype=float), people.to_numpy(dtype=float)
    n = int(mask.sum())
    if n < LABELLED:
        return Difference(*_plain(values), max(len(values) - 1, 1), len(values), paired, skew=_skew(values))
    if mask.all():
        return Difference(*_plain(labels), n - 1, n, paired, n, _skew(labels))
    value, se = powered_mean(labels[mask], values[mask], values[~mask])
    skew = _skew_corrected(labels[mask], values[mask], values[~mask], se)
    return Difference(value, se, n - 1, len(values), paired, n, skew)


def powered_mean(labels: Numbers, judged: Numbers, rest: Numbers) -> tuple[float, float]:
    """Return the people's mean, improved by a judge with cross-fitting, and its standard error.

    The weight of the judge for each fold of the labels is fitted on the other folds. The mean is
    mean(labels - g(judged) + mean of g(rest)). It is unbiased for any weights, so fitting them to the labels does
    not make the error too small.

    Parameters
    ----------
    labels : the people's scores of n documents. These must be drawn at random: if they were chosen by difficulty, the
        mean is wrong, and no correction here can repair it.
    judged, rest : the judge's scores of the same n documents, and of the documents without a label; none is missing.

    Returns
    -------
    tuple
        If the judge would make the error larger, the result is the plain mean of the labels. The error is nan
        if it would be 0.

    Source: Angelopoulos, Duchi and Zrnic 2023, PPI++; Zrnic and Candès 2024, Cross-prediction-powered inference.
    """
    n, spread = len(labels), float(np.concatenate([judged, rest]).std())
    value, variance = labels.mean(), labels.var(ddof=1) / n
    if len(rest) > 1 and spread > NO_ERROR:
        x, others = judged / spread, rest / spread
        fold = Clusters(np.arange(n)).dealt(FOLDS)
        fitted = [_ridge(x[fold != k], labels[fold != k]) for k in range(min(FOLDS, n))]
        weights = np.array(fitted)[fold] * len(rest) / (len(rest) + n)
        left = labels - (x - others.mean()) * weights
        improved = left.var(ddof=1) / n + (others * weights.mean()).var(ddof=1) / len(rest)
        if improved <= variance:
            value, variance = left.mean(), improved
    se = math.sqrt(variance)
    return float(value), se if se > NO_ERROR else math.nan


def _ridge(x: Numbers, y: Numbers) -> float:
    """Return the ridge slope of ``y`` on ``x``, with a penalty from generalised cross-validation."""
    x, y = x - x.mean(), y - y.mean()
    shrunk = x @ x + PENALTIES
    slopes = x @ y / shrunk
    freedom = np.maximum(len(y) - 1 - x @ x / shrunk, 0.5)
    scores = ((y - np.outer(slopes, x)) ** 2).sum(axis=1) / freedom**2
    return float(slopes[scores.argmin()])


def _plain(values: Numbers) -> tuple[float, float]:
    if len(values) < 2 or np.ptp(values) == 0:
        return (float(values[0]) if len(values) else math.nan), math.nan
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def _third(values: Numbers) -> float:
    """Return the third central moment of the numbers' mean."""
    return float(((values - values.mean()) ** 3).mean()) / len(values) ** 2 if len(values) else 0.0


def _skew(values: Numbers) -> float:
    spread = float(values.std()) / math.sqrt(len(values)) if len(values) else 0.0
    return _third(values) / spread**3 if spread > 0 else 0.0


def _skew_corrected(labels: Numbers, judged: Numbers, rest: Numbers, se: float) -> float:
    """Return the skewness of a corrected mean, from the judge's residuals and scores."""
    spread = float(judged.var())
    slope = float(((labels - labels.mean()) * judged).mean()) / spread if spread > 0 else 0.0
    third = _third(labels - slope * judged) + slope**3 * _third(rest)
    return third / se**3 if se > 0 else 0.0


def _subtract(new: Difference, old: Difference) -> Difference:
    """Return the difference of two independent samples, with Welch and Satterthwaite's degrees of freedom."""
    # a system with the same score on every document adds no variance here; miss_loss covers its rare losses
    variances, freedom = tuple(np.nan_to_num((new.se, old.se)) ** 2), (new.df, old.df)
    total = sum(variances)
    third = new.skew * variances[0] ** 1.5 - old.skew * variances[1] ** 1.5
    shares = sum(v**2 / df for v, df in zip(variances, freedom, strict=True))
    return Difference(
        new.value - old.value,
        math.sqrt(total) if total > 0 else math.nan,
        total**2 / shares if shares > 0 else min(freedom),
        min(new.documents, old.documents),
        False,
        min(new.labelled, old.labelled),
        third / total**1.5 if total > 0 else 0.0,
    )
