"""The number of documents and people that a study needs, from a pilot or from assumptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy

from coeval.stats.agreement.alpha import mean_alpha
from coeval.stats.agreement.components import variance_components
from coeval.stats.clusters import DOCUMENTS, Clusters, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Numbers, encode_ratings
from coeval.stats.report.agreement import people_alphas
from coeval.stats.report.raters import reliability_section

# The number of documents for an interval of a given width, or a difference of a given size.

MOST = 100_000
"""Largest number of documents in an answer."""

POWER = 0.8


@dataclass(frozen=True)
class Needed:
    """The approximate number of documents. ``low`` and ``high`` allow for a pilot's spread that was too high or low.

    ``documents`` is None if more than ``MOST`` are needed.
    """

    documents: int | None
    low: int | None
    high: int | None


def documents_for_width(se: float, documents: int, width: float, confidence: float = 0.95) -> Needed:
    """Return the number of documents for an interval of +-``width``, from the standard error in a pilot.

    The error falls with the square root of the number of documents. The interval is Student's t.

    Parameters
    ----------
    se, documents : the standard error in the pilot, and its number of documents.
    width : half of the desired interval, above 0.

    >>> documents_for_width(0.05, 25, 0.05)
    Needed(documents=99, low=72, high=150)
    """
    tail = (1 + confidence) / 2
    return _needed(se, documents, width, lambda df: scipy.special.stdtrit(df, tail))


def documents_for_difference(
    se: float, documents: int, points: float, *, power: float = POWER, confidence: float = 0.95
) -> Needed:
    """Return the number of documents that detect a difference of ``points``, two-sided, with this ``power``.

    Parameters
    ----------
    se, documents : the standard error of the difference in the pilot, and its number of documents.

    >>> documents_for_difference(0.1, 20, 0.3).documents
    20
    """
    tail = (1 + confidence) / 2
    return _needed(
        se, documents, points, lambda df: scipy.special.stdtrit(df, tail) + scipy.special.stdtrit(df, power)
    )


def _needed(se: float, documents: int, width: float, reach: Callable[[Any], Any]) -> Needed:
    """Return the needed number. ``reach`` maps degrees of freedom to the number of standard errors in ``width``."""
    if not width > 0:
        raise ValueError(f"A width of {width:g} needs endless documents; choose one above 0.")
    if documents < 2 or not se > 0:
        return Needed(None, None, None)
    sizes = np.arange(2, MOST + 1)
    steps = reach(sizes - 1) / np.sqrt(sizes)
    df = documents - 1
    spread = [np.sqrt(df / scipy.special.chdtri(df, tail)) for tail in (0.1, 0.9)]

    def smallest(error: float) -> int | None:
        enough = np.flatnonzero(steps * error * np.sqrt(documents) <= width)
        return int(sizes[enough[0]]) if len(enough) else None

    return Needed(smallest(se), smallest(se * spread[0]), smallest(se * spread[1]))


def people_for(item: float, person: float, residual: float, phi: float) -> int | None:
    """Return the number of people for a mean with dependability ``phi``, from variance components, or None.

    >>> people_for(2.56, 5.24, 1.02, 0.8)
    10
    """
    if not item > 0 or not 0 < phi < 1:
        return None
    return max(1, int(np.ceil(phi / (1 - phi) * (person + residual) / item - 1e-9)))


# An interval that is valid at every look, for a study that stops when it knows enough.

BETS = np.array([0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99])
"""The shares of capital that gamblers bet. Large shares learn from few documents, small shares from varied ones."""

HALVINGS = 30
"""The number of halvings in the search for a limit, far more than any displayed number needs."""


def betting_interval(
    values: Numbers, low: float, high: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return a confidence sequence for the mean of bounded values, valid at every look.

    A gambler bets that the mean is above (or below) m. If m is the true mean, the probability that the capital ever
    grows by the inverse of the error rate is at most the error rate, at any number of looks. The limits are the means
    against which nobody wins that much. This needs no normal distribution and no minimum number of values. (An
    asymptotic sequence is far too narrow for ten nearly equal values, because rare large ones are still to come.)

    Parameters
    ----------
    values : independent values from one distribution, in any order.
    low, high : the bounds of the values.

    Source: Waudby-Smith and Ramdas 2024, Estimating means of bounded random variables by betting, section 5 and
    appendix B (a mixture of gamblers who stake constant shares, one side at a time).

    >>> values = np.repeat([0.0, 1.0], [30, 10])
    >>> [round(limit, 3) for limit in betting_interval(values, -4, 4)]
    [-0.269, 0.715]
    """
    if not len(values):
        return low, high
    scaled = np.clip((np.asarray(values, dtype=float) - low) / (high - low), 0.0, 1.0)
    tail = (1 - confidence) / 2
    lower, upper = _lower_limit(scaled, tail), 1 - _lower_limit(1 - scaled, tail)
    return low + (high - low) * lower, low + (high - low) * upper


def _lower_limit(values: Numbers, tail: float) -> float:
    """Return the lowest mean in [0, 1] against which gamblers on a larger mean have not won ``1 / tail``."""
    distinct, times = np.unique(values, return_counts=True)
    low, high = 0.0, float(values.mean())
    for _ in range(HALVINGS):
        mean = (low + high) / 2
        if not mean > 0:
            return low
        # each gambler's capital falls as the mean rises, so a single point separates won from lost bets
        capital = np.log1p(BETS[:, None] * (distinct / mean - 1)) @ times
        most = float(capital.max())
        won = most + np.log(np.exp(capital - most).mean()) >= -np.log(tail)
        low, high = (mean, high) if won else (low, mean)
    return low


# The basis of a plan: the spread in a pilot's scores, or an assumed spread before there are any.

SIMULATED = 300
"""The number of documents in a simulated study, large enough that its random error hardly affects the plan."""


@dataclass(frozen=True)
class Difference:
    """The difference between systems ``a`` and ``b``, with its error over ``documents``.

    ``gaps`` are the differences within each document that has both systems, one per document.
    """

    a: str
    b: str
    value: Estimate
    documents: int
    gaps: Numbers


@dataclass(frozen=True)
class Pilot:
    """The data for planning.

    ``scored`` documents (of kind ``kind``) have a score. ``documents`` of them have scores of two people; they give
    alpha (mean over criteria) and the differences between systems. ``item``, ``person`` and ``residual`` are the mean
    variance components of one criterion.
    """

    source: str
    kind: str
    scored: int
    documents: int
    alpha: Estimate
    differences: list[Difference]
    item: float
    person: float
    residual: float
    reach: float
    """The largest difference between two scores on the scale."""
    scores: str = ""
    """A description of the scores behind alpha. The differences and components use all scores."""
    drafts_in_view: int = 0
    """The number of scores given with the draft in view."""


@dataclass(frozen=True)
class Assumed:
    """An assumed study: the size of each facet, and the standard deviation of each component of a score.

    All scores of a document share ``document``; those of one system's output share ``system``, those of one document
    and criterion ``criterion``, and all of one person's scores ``person``. Each score has its own ``noise``.
    """

    systems: int = 2
    criteria: int = 4
    people: int = 3
    document: float = 0.7
    system: float = 0.4
    criterion: float = 0.4
    person: float = 0.3
    noise: float = 0.6
    low: int = 1
    high: int = 5


def pilot_of(study: StudyFrames) -> Pilot:
    """Return the pilot from a study's scores so far."""
    alphas = people_alphas(study, replicates=0)
    headline = alphas.headline
    alpha = headline.mean.value
    parts = [part.components for part in reliability_section(study).per_criterion]
    known = [part for part in parts if part.item.defined]
    shares = [
        float(np.mean([getattr(part, name) for part in known])) if known else np.nan
        for name in ("item", "person", "residual")
    ]
    scored, documents = study.clusters.of(study.scored["unit"]).n, int(alpha.details.get("clusters", 0))
    known_so_far = ("scores", study.clusters.kind, scored, documents, alpha, _differences(study))
    reach = max((high - low for low, high in study.scales.values()), default=np.nan)
    return Pilot(
        *known_so_far, shares[0], shares[1], shares[2], reach, headline.scores, alphas.of_all.drafts_in_view.n
    )


@dataclass(frozen=True, slots=True)
class Finished:
    """The pilot of the documents that all planned people have finished.

    People differ in care. If they work one after another, each of them changes a document's mean, so no interval of
    unfinished documents is valid. ``asked`` are the instances that people should score; empty means all.
    """

    people: int
    asked: frozenset[str] = frozenset()

    def __call__(self, study: StudyFrames) -> Pilot:
        """Return the pilot from the scores of these documents alone."""
        names = study.units["instance"]
        wanted = names.isin(self.asked).to_numpy() if self.asked else np.ones(len(names), dtype=bool)
        raters = np.bincount(study.scored["unit"], minlength=len(names))
        lacking = study.clusters.code[wanted & (raters < max(self.people, 1))]
        begun = study.clusters.code[study.scored["unit"].to_numpy(dtype=np.int64)]
        # ``scored`` has the rows of ``scores`` with a score, in the same order
        kept = study.scores[study.scores["score"].notna()][~np.isin(begun, lacking)]
        return pilot_of(replace(study, scores=kept.reset_index(drop=True)))


def _differences(study: StudyFrames) -> list[Difference]:
    scored = study.scored
    if not len(scored):
        return []
    systems = study.units["system"].replace("", None).to_numpy(dtype=object)[scored["unit"].to_numpy()]
    names = [str(name) for name in dict.fromkeys(systems) if name is not None]
    clusters = study.clusters.of(scored["unit"])
    score = scored["score"].to_numpy(dtype=float)
    sums = {
        name: clusters.sums(np.column_stack([np.where(systems == name, score, 0.0), systems == name]))
        for name in names
    }
    return [_difference(a, b, sums[a], sums[b], study.clusters.kind) for a, b in combinations(names, 2)]


def _difference(a: str, b: str, first: Numbers, second: Numbers, kind: str) -> Difference:
    """Return the difference of two systems' means over the clusters that have either."""
    sums = np.hstack([first, second])
    sums = np.asarray(sums[sums[:, [1, 3]].any(axis=1)], dtype=float)
    total = sums.sum(axis=0)
    value = float(total[0] / total[1] - total[2] / total[3])

    def gap(rows: Numbers) -> Numbers:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(rows[:, 0] / rows[:, 1] - rows[:, 2] / rows[:, 3])

    shared = sums[(sums[:, [1, 3]] > 0).all(axis=1)]
    return Difference(a, b, Estimate(value, **sums_interval(sums, gap, kind)), len(sums), gap(shared))


def pilot_from(assumed: Assumed, *, seed: int = 0) -> Pilot:
    """Return the pilot of an assumed study, from one simulation with ``SIMULATED`` documents.

    Raises
    ------
    ValueError
        If a number or spread is out of range, or the scale has fewer than two points.
    """
    _check(assumed)
    scores = _draw(assumed, np.random.default_rng(seed))
    d, s, k, p = scores.shape
    points = np.arange(float(assumed.low), assumed.high + 1.0)
    unit, person = (place.ravel() for place in np.indices((d * s, p)))
    parts = [
        encode_ratings(
            person, unit, scores[:, :, place].ravel(), tuple(range(p)), range(d * s), points.tolist()
        )
        for place in range(k)
    ]
    clusters = Clusters(np.repeat(np.arange(d), s), DOCUMENTS)
    components = [variance_components(part) for part in parts]
    means = [
        float(np.mean([float(getattr(one, name)) for one in components]))
        for name in ("item", "person", "residual")
    ]
    sums = [np.column_stack([scores[:, j].sum(axis=(1, 2)), np.full(d, k * p)]) for j in range(s)]
    differences = [_difference("A", "B", sums[0], sums[1], DOCUMENTS)] if s > 1 else []
    alpha = mean_alpha(parts, [clusters] * k)
    reach = float(assumed.high - assumed.low)
    return Pilot("assumed", DOCUMENTS, d, d, alpha, differences, means[0], means[1], means[2], reach)


def _check(assumed: Assumed) -> None:
    counts: Sequence[tuple[str, int, int]] = (
        ("systems", assumed.systems, 1),
        ("criteria", assumed.criteria, 1),
        ("people", assumed.people, 2),
    )
    for name, value, least in counts:
        if not least <= value <= 100:
            raise ValueError(f"{value} {name} cannot be planned for; choose from {least} to 100.")
    for name in ("document", "system", "criterion", "person", "noise"):
        value = getattr(assumed, name)
        if not 0 <= value <= 10:
            raise ValueError(
                f"A spread of {value:g} for {name} is not from 0 to 10; choose points of the scale."
            )
    if not 1 <= assumed.high - assumed.low <= 100:
        raise ValueError(
            f"A scale from {assumed.low} to {assumed.high} needs at least two points, at most 101."
        )


def _draw(assumed: Assumed, rng: np.random.Generator) -> Numbers:
    """Return integer scores as documents x systems x criteria x people."""
    d, s, k, p = SIMULATED, assumed.systems, assumed.criteria, assumed.people
    drawn = (
        rng.normal(0, assumed.document, (d, 1, 1, 1))
        + rng.normal(0, assumed.system, (d, s, 1, 1))
        + rng.normal(0, assumed.criterion, (d, 1, k, 1))
        + rng.normal(0, assumed.person, (1, 1, 1, p))
        + rng.normal(0, assumed.noise, (d, s, k, p))
    )
    middle = (assumed.low + assumed.high) / 2
    return np.asarray(np.clip(np.rint(middle + drawn), assumed.low, assumed.high))
