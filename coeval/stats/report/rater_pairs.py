"""Every two raters in the agreement section, the model last."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from coeval.stats.agreement.alpha import plain_alpha
from coeval.stats.agreement.disagreement import Level
from coeval.stats.agreement.pairs import pair_tables
from coeval.stats.agreement.patterns import MANY, sample_units
from coeval.stats.estimates.intervals import JACKKNIFE
from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.rating_matrix import Ratings

SHOWN: tuple[Level, ...] = ("nominal", "ordinal", "interval")
MANY_PAIRS = 2000
"""Beyond this many pairs of annotators, only those who share a unit are listed."""


def list_pairs(people: Ratings, everyone: Ratings) -> Iterator[Result]:
    """Every two raters, the model last: the three alphas, a jackknife interval of the ordinal one, kappas."""
    everybody = people.n_annotators * (people.n_annotators - 1) / 2 <= MANY_PAIRS
    for a, b, n, alphas, details in _listed(people, everyone):
        if n or everybody:
            reason = "every score of both is the same" if n else "they share no unit"
            names: dict[str, Hashable] = {"a": a, "b": b}
            values = {
                level: Estimate.undefined(reason) if np.isnan(value) else Estimate(value)
                for level, value in alphas.items()
            }
            yield Result(names, n=n, **values, **details)


Listed = Iterator[tuple[Hashable, Hashable, int, dict[Level, float], dict[str, Any]]]


def _listed(people: Ratings, everyone: Ratings) -> Listed:
    """From tables; where the model's scores are near-continuous, its pairs without."""
    if len(everyone.categories) <= MANY:
        yield from _from_tables(everyone)
        return
    yield from _from_tables(people) if len(people.categories) <= MANY else _without_tables(people)
    if everyone.n_annotators > people.n_annotators:
        model = everyone.n_annotators - 1
        for k in range(model):
            yield from _without_tables(everyone.where(np.isin(everyone.annotator, (k, model))), (k, model))


def _from_tables(data: Ratings) -> Listed:
    names = data.annotators
    for block in pair_tables(data):
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
                {name: float(values[k]) for name, values in more.items()} | {"interval_kind": JACKKNIFE},
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
            dict.fromkeys(("percent", "cohen", "cohen_quadratic", "ci_low", "ci_high")),
        )
