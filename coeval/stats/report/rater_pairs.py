"""Every two raters in the agreement section, the model last."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from coeval.stats.agreement.alpha import plain_alpha
from coeval.stats.agreement.disagreement import Level
from coeval.stats.agreement.pairs import pair_tables
from coeval.stats.agreement.patterns import MANY, sample_units
from coeval.stats.estimates.clusters import Clusters
from coeval.stats.estimates.results import Estimate
from coeval.stats.rating_matrix import Ratings

SHOWN: tuple[Level, ...] = ("nominal", "ordinal", "interval")
MANY_PAIRS = 2000
"""Beyond this many pairs of annotators, only those who share a unit are listed."""


@dataclass(frozen=True)
class RaterPair:
    """Two raters over the ``n`` units both scored; the interval is of ordinal alpha, None without tables."""

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
    """Every two raters, the model last: the three alphas, an interval of the ordinal one over clusters, kappas.

    ``clusters`` are those of the units of ``everyone``.
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


Listed = Iterator[tuple[Hashable, Hashable, int, dict[Level, float], dict[str, Any]]]


def _listed(people: Ratings, everyone: Ratings, clusters: Clusters) -> Listed:
    """From tables; where the model's scores are near-continuous, its pairs without."""
    if len(everyone.categories) <= MANY:
        yield from _from_tables(everyone, clusters)
        return
    if len(people.categories) <= MANY:
        places = np.searchsorted(np.asarray(everyone.units), np.asarray(people.units))
        yield from _from_tables(people, Clusters(clusters.code[places], clusters.kind))
    else:
        yield from _without_tables(people)
    if everyone.n_annotators > people.n_annotators:
        model = everyone.n_annotators - 1
        for k in range(model):
            yield from _without_tables(everyone.where(np.isin(everyone.annotator, (k, model))), (k, model))


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


def _without_tables(data: Ratings, only: tuple[int, int] | None = None) -> Listed:
    """The same for near-continuous scores, which have no tables: the alphas alone."""
    for a, b in [only] if only else combinations(range(data.n_annotators), 2):
        sample = sample_units(data.where(np.isin(data.annotator, (a, b))))
        yield (
            data.annotators[a],
            data.annotators[b],
            len(sample.times),
            {level: plain_alpha(sample, level) for level in SHOWN},
            {},
        )
