"""Raters in the report: all pairs, variance components, and the number of people for a dependable mean."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.alpha import alpha_levels
from coeval.stats.agreement.components import PEOPLE, Components, variance_components
from coeval.stats.agreement.two_raters import pair_tables
from coeval.stats.agreement.unit_kinds import MANY, Level
from coeval.stats.clusters import Clusters
from coeval.stats.estimates import FLAT, Estimate
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Ratings
from coeval.stats.report.tables import Table

# All pairs of raters in the agreement section, with the model last.

SHOWN: tuple[Level, ...] = ("nominal", "ordinal", "interval")
MANY_PAIRS = 2000
"""The largest number of pairs for which pairs without common units are also listed."""


@dataclass(frozen=True)
class RaterPair:
    """Two raters on the ``n`` units that both scored. The interval belongs to ordinal alpha.

    Near-continuous scores have no kappas.
    """

    a: Hashable
    b: Hashable
    n: int
    nominal: Estimate
    ordinal: Estimate
    interval: Estimate
    percent: float | None = None
    cohen: float | None = None
    cohen_quadratic: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    interval_kind: str | None = None


def list_pairs(people: Ratings, everyone: Ratings, clusters: Clusters) -> Iterator[RaterPair]:
    """Yield each pair of raters, with the model last: three alphas, an interval of ordinal alpha, and kappas.

    ``clusters`` are the clusters of the units of ``everyone``.
    """
    everybody = people.n_annotators * (people.n_annotators - 1) / 2 <= MANY_PAIRS
    for a, b, n, alphas, details in _listed(people, everyone, clusters):
        if n or everybody:
            reason = "every score of both is the same" if n else "they share no unit"
            nominal, ordinal, interval = (
                Estimate.undefined(reason) if np.isnan(alphas[level]) else Estimate(alphas[level])
                for level in SHOWN
            )
            yield RaterPair(a, b, n, nominal, ordinal, interval, **details)


ListedPair = tuple[Hashable, Hashable, int, dict[Level, float], dict[str, Any]]
Listed = Iterator[ListedPair]


def _listed(people: Ratings, everyone: Ratings, clusters: Clusters) -> Listed:
    """Yield the pairs of raters, from tables if scores have few different values."""
    if len(everyone.categories) <= MANY:
        yield from _from_tables(everyone, clusters)
        return
    model = everyone.n_annotators - 1 if everyone.n_annotators > people.n_annotators else None
    if len(people.categories) <= MANY:
        places = np.searchsorted(np.asarray(everyone.units), np.asarray(people.units))
        yield from _from_tables(people, Clusters(clusters.code[places], clusters.kind))
    for a, b in combinations(range(everyone.n_annotators), 2):
        if len(people.categories) > MANY or b == model:
            yield _without_table(everyone, a, b, clusters)


def _from_tables(data: Ratings, clusters: Clusters) -> Listed:
    names, kind = data.annotators, f"jackknife over {clusters.kind}, t"
    for block in pair_tables(data, clusters):
        alphas = {level: block.alphas(level) for level in SHOWN}
        low, high = block.alpha_limits("ordinal")
        more = {
            "percent": block.percents(),
            "cohen": block.kappas("identity"),
            "cohen_quadratic": block.kappas("quadratic"),
            "ci_low": low,
            "ci_high": high,
        }
        for k, n in enumerate(block.sizes):
            yield (
                names[block.a],
                names[block.a + 1 + k],
                int(n),
                {level: alphas[level][k] for level in SHOWN},
                {name: float(values[k]) for name, values in more.items()} | {"interval_kind": kind},
            )


def _without_table(data: Ratings, a: int, b: int, clusters: Clusters) -> ListedPair:
    """Return a pair of raters with near-continuous scores, which have no table and no kappa."""
    pair = data.where(np.isin(data.annotator, (a, b)))
    alphas = alpha_levels(pair, clusters, SHOWN, replicates=0)
    ordinal = alphas["ordinal"].details
    kept = ("ci_low", "ci_high", "interval_kind")
    details = {name: ordinal.get(name) for name in kept} | {"percent": ordinal["percent_agreement"]}
    values = {level: float(alphas[level]) for level in SHOWN}
    return data.annotators[a], data.annotators[b], ordinal["n_units"], values, details


# The section on reliability: variance components, and the number of people for a dependable mean.

NAMES = {"item": "between instances", "person": "between people", "residual": "the rest"}
"""The variance components and their names."""


@dataclass(frozen=True)
class CriterionComponents:
    """The variance components of one criterion."""

    criterion: str
    components: Components = field(metadata=FLAT)
    intervals: dict[str, dict[str, Any]]
    """The interval of each component, or ``no_interval`` with the reason."""


@dataclass(frozen=True)
class ReliabilitySection:
    """A G-study of every criterion, and the mean of the D-studies over criteria."""

    per_criterion: list[CriterionComponents]
    phi: dict[int, Estimate]


def reliability_section(study: StudyFrames) -> ReliabilitySection:
    """Return the variance components by criterion, and the dependability of the mean of k people.

    All final scores are used, also those with drafts in view, which raise agreement. Intervals apply to other
    documents scored by these people.
    """
    width, parts = max(len(study.criteria), 1), []
    for place, criterion in enumerate(study.criteria):
        own = study.rated[study.rated["unit"] % width == place]
        data = study.ratings(own)
        found = variance_components(data, clusters=study.clusters_of(data))
        spread = {name: _interval(getattr(found, name)) for name in NAMES}
        parts.append(CriterionComponents(criterion, found, spread))
    return ReliabilitySection(parts, {k: _mean([part.components.phi[k] for part in parts]) for k in PEOPLE})


def _interval(value: Estimate) -> dict[str, Any]:
    kept = ("ci_low", "ci_high", "interval_kind", "resampled", "clusters", "no_interval")
    return {name: value.details[name] for name in kept if name in value.details}


def _mean(values: list[Estimate]) -> Estimate:
    known = [float(value) for value in values if value.defined]
    if not known:
        return Estimate.undefined(values[0].reason or "" if values else "there is no criterion")
    return Estimate(float(np.mean(known)), n_criteria=len(known))


def reliability_tables(section: ReliabilitySection) -> list[Table]:
    """Return tables of the components by criterion, and of the dependability of the mean by number of people."""
    rows = [
        {
            "criterion": part.criterion,
            "instances": part.components.n_items,
            "people": part.components.n_people,
            **_with_interval("between_instances", part.components.item),
            **_with_interval("between_people", part.components.person),
            **_with_interval("rest", part.components.residual),
        }
        for part in section.per_criterion
    ]
    study = pd.DataFrame(
        [
            {"criterion": part.criterion, **{_of(k): value for k, value in part.components.phi.items()}}
            for part in section.per_criterion
        ]
        + [{"criterion": "mean over criteria", **{_of(k): value for k, value in section.phi.items()}}]
    )
    return [
        Table(
            "variance_components",
            "Variance components",
            "Variance in squared points: between instances, between people, and the rest (a G-study by criterion), "
            f"for these people, with 95% intervals.{_without_interval(section)}",
            pd.DataFrame(rows),
        ),
        Table(
            "people_needed",
            "Reliability by number of raters",
            (
                "Phi, the dependability of a mean of k people's scores; .8 is the usual target (a D-study: "
                "Brennan 2001)."
            ),
            study,
        ),
    ]


def _with_interval(name: str, value: Estimate) -> dict[str, float]:
    low, high = value.ci
    return {name: float(value), f"{name}_ci_low": low, f"{name}_ci_high": high}


def _without_interval(section: ReliabilitySection) -> str:
    """Return a note on the components without an interval, with the reasons."""
    named: dict[str, list[str]] = {}
    for part in section.per_criterion:
        for name, spread in part.intervals.items():
            if "no_interval" in spread:
                named.setdefault(spread["no_interval"], []).append(f"{NAMES[name]} ({part.criterion})")
    return "".join(f" No interval for {', '.join(names)}: {why}." for why, names in named.items())


def _of(people: int) -> str:
    return "1 person" if people == 1 else f"{people} people"
