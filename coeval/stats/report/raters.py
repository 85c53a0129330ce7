"""Raters in the report: all pairs, variance components, and the number of people for a dependable mean."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from coeval.stats.agreement.alpha import alpha_levels
from coeval.stats.agreement.two_raters import pair_tables
from coeval.stats.agreement.unit_kinds import MANY, Level
from coeval.stats.clusters import Clusters
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Ratings

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
    alphas = alpha_levels(pair, clusters, SHOWN)
    ordinal = alphas["ordinal"].details
    kept = ("ci_low", "ci_high", "interval_kind")
    details = {name: ordinal.get(name) for name in kept} | {"percent": ordinal["percent_agreement"]}
    values = {level: float(alphas[level]) for level in SHOWN}
    return data.annotators[a], data.annotators[b], ordinal["n_units"], values, details
