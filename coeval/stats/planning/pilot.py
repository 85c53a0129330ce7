"""What a plan rests on: the spread that a pilot's scores show, or the one that is assumed before there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coeval.stats.agreement.clustered import mean_alpha
from coeval.stats.agreement.icc import variance_components
from coeval.stats.estimates.clusters import DOCUMENTS, Clusters, sums_interval
from coeval.stats.estimates.results import Estimate
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Numbers, encode_ratings
from coeval.stats.report.agreement import people_alphas
from coeval.stats.report.reliability import reliability_section

SIMULATED = 300
"""Documents of a simulated study: enough that its own spread hardly shows in the plan."""


@dataclass(frozen=True)
class Difference:
    """How much higher system ``a`` scores than ``b``, with the error over ``documents``."""

    a: str
    b: str
    value: Estimate
    documents: int


@dataclass(frozen=True)
class Pilot:
    """What is known before planning.

    ``scored`` documents (of kind ``kind``) have a score. Those with scores of two people, ``documents`` many, gave the
    alpha, the mean over criteria, and the differences of systems;
    ``item``, ``person`` and ``residual`` are the variance components of one criterion, the mean over criteria.
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


@dataclass(frozen=True)
class Assumed:
    """A study that is thought of: how many of each, and the standard deviation of what each adds to a score.

    ``document`` is shared by all scores of a document, ``system`` by those of a system's output for it, ``criterion``
    by those of a document by a criterion, ``person`` by all of a person's, ``noise`` by none.
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
    """The spread that a study's own scores show so far."""
    alpha = people_alphas(study, replicates=0).headline.mean.value
    parts = [part.components for part in reliability_section(study).per_criterion]
    known = [part for part in parts if part.item.defined]
    shares = [
        float(np.mean([getattr(part, name) for part in known])) if known else np.nan
        for name in ("item", "person", "residual")
    ]
    scored, documents = study.clusters.of(study.scored["unit"]).n, int(alpha.details.get("clusters", 0))
    known_so_far = ("scores", study.clusters.kind, scored, documents, alpha, _differences(study))
    return Pilot(*known_so_far, shares[0], shares[1], shares[2])


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
    """The difference of two means over the clusters that have both or one of them."""
    sums = np.hstack([first, second])
    sums = np.asarray(sums[sums[:, [1, 3]].any(axis=1)], dtype=float)
    total = sums.sum(axis=0)
    value = float(total[0] / total[1] - total[2] / total[3])

    def gap(rows: Numbers) -> Numbers:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(rows[:, 0] / rows[:, 1] - rows[:, 2] / rows[:, 3])

    return Difference(a, b, Estimate(value, **sums_interval(sums, gap, kind)), len(sums))


def pilot_from(assumed: Assumed, *, seed: int = 0) -> Pilot:
    """The spread that an assumed study would show, from one of ``SIMULATED`` documents drawn as it says.

    Raises
    ------
    ValueError
        For fewer than two people or documents' worth of anything, a spread below 0, or a scale without two points.
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
    return Pilot("assumed", DOCUMENTS, d, d, alpha, differences, means[0], means[1], means[2])


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
    """Whole scores, documents x systems x criteria x people."""
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
