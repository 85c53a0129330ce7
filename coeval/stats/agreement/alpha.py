"""Krippendorff's alpha: over all annotators, pair by pair, and with each annotator left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import krippendorff
import numpy as np

from coeval.stats.agreement.coefficients import NOT_PAIRED, krippendorff_linear, percent_of
from coeval.stats.agreement.patterns import MANY, Level, Units, check_level, sample_units
from coeval.stats.agreement.two_raters import pair_tables
from coeval.stats.estimates import Estimate, Pairs
from coeval.stats.rating_matrix import Ratings, RatingsLike, parse_ratings

MANY_UNITS = 10_000
"""With more units, our own engine replaces the krippendorff package, which needs 120 MB for 200,000 units."""

CONSTANT = "every paired rating is the same, so there is no variation to agree about"


def krippendorff_alpha(
    ratings: RatingsLike,
    level: str = "ordinal",
    *,
    value_domain: Sequence[Any] | None = None,
    weights: Any = None,
    confidence: float = 0.95,
) -> Estimate:
    """Return Krippendorff's alpha.

    Parameters
    ----------
    ratings : annotators x units, nan if missing; numbers or words.
    level : "nominal", "ordinal", "interval" or "ratio".
    value_domain : the admissible categories in order; by default, words are ordered alphabetically.
    weights : Gwet's agreement weights by name or as a matrix (see ``agreement_weights``), used in place of a
        level: disagreement is then 1 - weight.

    Returns
    -------
    Estimate
        With ``n_units`` (units with two or more ratings), ``n_units_left_out``, ``n_ratings``,
        ``n_annotators``, ``level``, ``percent_agreement``; and, if the distance does not depend on the
        data (all levels but ordinal), Gwet's linearised ``se``, ``ci_low``, ``ci_high``, ``p_value``, ``pa``, ``pe``.
        nan if no unit has two ratings, or all paired ratings are the same.

    Raises
    ------
    ValueError
        If the level is unknown, or interval or ratio for words.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, sections C and D:

    >>> ratings = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    ...            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    ...            [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    ...            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    >>> round(krippendorff_alpha(ratings, "nominal"), 3), round(krippendorff_alpha(ratings, "ordinal"), 3)
    (0.743, 0.815)
    >>> krippendorff_alpha([[3, 3], [3, 3]])
    undefined (every paired rating is the same, so there is no variation to agree about)
    """
    data = parse_ratings(ratings, value_domain)
    if weights is not None:
        return krippendorff_linear(data, weights, confidence).having(**counted(data))
    known = check_level(level)
    check_words(data, known)
    value = point_alpha(data, known)
    details = counted(data) | {"level": known}
    if np.isnan(value):
        return undefined_alpha(details)
    return Estimate(value, **(_spread(data, known, confidence) | details))


def point_alpha(data: Ratings, level: Level) -> float:
    """Return alpha from the krippendorff package; nan if undefined.

    The package tabulates the pairs of categories of every unit. Many units and near-continuous values are therefore
    left to the engine for replicates, which counts each kind of unit once.
    """
    if len(data.categories) > MANY or data.n_units > MANY_UNITS:
        return plain_alpha(sample_units(data), level)
    counts = data.counts[data.per_unit > 1]
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return np.nan
    return float(
        krippendorff.alpha(value_counts=counts, value_domain=data.numbers, level_of_measurement=level)
    )


def undefined_alpha(details: dict[str, Any]) -> Estimate:
    """Return an undefined alpha, with the reason from its units."""
    return Estimate.undefined(CONSTANT if details["n_units"] else NOT_PAIRED, **details)


def _spread(data: Ratings, level: Level, confidence: float) -> dict[str, Any]:
    """Return Gwet's linearised error if there are few categories and distances do not depend on the data."""
    names = {"nominal": "identity", "interval": "quadratic", "ratio": "ratio"}
    if level not in names or len(data.categories) > MANY:
        return {}
    return krippendorff_linear(data, names[level], confidence).details


def check_words(data: Ratings, level: Level) -> None:
    """Raise ValueError for distances between words."""
    if level in ("interval", "ratio") and not data.numeric:
        raise ValueError(
            f"Level {level!r} needs numbers, but the ratings hold {data.categories[0]!r}; "
            f"use level='nominal' or, with the order in value_domain, level='ordinal'."
        )


def counted(data: Ratings) -> dict[str, Any]:
    """Return the numbers of units, scores and people on which an agreement coefficient is based."""
    paired = data.per_unit > 1
    rated = int((data.per_unit > 0).sum())
    return {
        "n": int(paired.sum()),
        "n_units": int(paired.sum()),
        "n_units_left_out": rated - int(paired.sum()),
        "n_ratings": int(data.per_unit[paired].sum()),
        "n_annotators": int(np.count_nonzero(np.bincount(data.annotator[paired[data.unit]]))),
        "percent_agreement": percent_of(data),
    }


def pairwise_alpha(
    ratings: RatingsLike, level: str = "ordinal", *, value_domain: Sequence[Any] | None = None
) -> Pairs:
    """Return alpha of each pair of annotators, over the units that both rated.

    Returns
    -------
    Pairs
        ``{(a, b): Estimate}`` in the order of the annotators; ``.matrix`` is the symmetric table. Alpha is nan
        for pairs without a common unit or without variation.

    >>> pairs = pairwise_alpha({"ann": {1: 1, 2: 2, 3: 3}, "bob": {1: 1, 2: 2, 3: 3}, "cid": {1: 3, 2: 2, 3: 1}})
    >>> pairs["ann", "bob"], pairs["ann", "bob"].n_units, round(pairs["cid", "ann"], 2)
    (1.0, 3, -0.67)
    """
    data = parse_ratings(ratings, value_domain)
    known = check_level(level)
    check_words(data, known)
    pairs = Pairs()
    for (a, b), n, value in pair_alphas(data, known):
        details = {"n": n, "n_units": n, "level": known}
        pair = data.annotators[a], data.annotators[b]
        pairs[pair] = undefined_alpha(details) if np.isnan(value) else Estimate(value, **details)
    return pairs


def pair_alphas(data: Ratings, level: Level) -> Iterator[tuple[tuple[int, int], int, float]]:
    """Yield the positions, common units and alpha of each pair of annotators. All tables of one annotator are
    computed at once.
    """
    if len(data.categories) > MANY:
        yield from _pair_alphas_of_many_values(data, level)
        return
    for block in pair_tables(data):
        for k, (n, value) in enumerate(zip(block.sizes, block.alphas(level), strict=True)):
            yield (block.a, block.a + 1 + k), int(n), float(value)


def _pair_alphas_of_many_values(data: Ratings, level: Level) -> Iterator[tuple[tuple[int, int], int, float]]:
    for a in range(data.n_annotators):
        for b in range(a + 1, data.n_annotators):
            sample = sample_units(data.where(np.isin(data.annotator, (a, b))))
            yield (a, b), len(sample.times), plain_alpha(sample, level)


def plain_alpha(sample: Units, level: Level) -> float:
    """Return alpha of the units themselves from the engine for replicates; nan if undefined."""
    if not len(sample.times):
        return np.nan
    return float(sample.alphas(sample.times[None, :].astype(float), level)[0][0])
