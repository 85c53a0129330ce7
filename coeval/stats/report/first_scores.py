"""First scores compared with the same people's final scores, after they saw the draft."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.alpha import mean_alpha
from coeval.stats.arm_contrasts import share_limits
from coeval.stats.clusters import DOCUMENTS, INSTANCES, Clusters, parse_clusters, sums_interval
from coeval.stats.estimates import FLAT, Estimate, Spelled
from coeval.stats.frames import FIRST
from coeval.stats.rating_matrix import encode_ratings

NO_FIRST = "nobody has scored before seeing the draft (arm first)"


@dataclass(frozen=True)
class FirstShares:
    """Shares of scores: equal to the draft's before and after it was shown; moved towards it, away, or neither."""

    same_before: Estimate
    same_after: Estimate
    towards: Estimate
    away: Estimate
    kept: Estimate


@dataclass(frozen=True)
class FirstCriterion:
    """The shares of one criterion's ``n`` scores."""

    criterion: str
    n: int
    shares: FirstShares = field(metadata=FLAT)


@dataclass(frozen=True)
class FirstEffect:
    """The effect of the draft on people who scored first. ``adoption`` is P(score = draft), after minus before."""

    n: int
    n_instances: int
    shares: FirstShares = field(metadata=FLAT)
    adoption: Spelled
    alpha_before: Estimate
    alpha_after: Estimate
    per_criterion: list[FirstCriterion]


def first_effect(scores: pd.DataFrame, *, confidence: float = 0.95) -> FirstEffect:
    """Return how people who scored first changed their scores after they saw the draft.

    Parameters
    ----------
    scores : ``annotator, instance, criterion, arm, score, draft_score, first_score``; rows of the arm ``first``
        with all three scores are used. Optionally ``unit``, a code of instance and criterion, and ``cluster``, the
        sampling unit (default: the instance).

    >>> rows = pd.DataFrame({"annotator": list("abab"), "instance": [1, 1, 2, 2], "criterion": "x", "arm": "first",
    ...                      "first_score": [2, 3, 4, 1], "score": [3, 3, 4, 2], "draft_score": 3})
    >>> found = first_effect(rows)
    >>> [float(share) for share in (found.shares.same_before, found.shares.same_after, found.adoption.value)]
    [0.25, 0.5, 0.25]
    """
    known = scores[scores["arm"] == FIRST].dropna(subset=["score", "draft_score", "first_score"])
    if not len(known):
        nothing = Estimate.undefined(NO_FIRST)
        shares = FirstShares(nothing, nothing, nothing, nothing, nothing)
        return FirstEffect(0, 0, shares, Spelled(nothing), nothing, nothing, [])
    return FirstEffect(
        n=len(known),
        n_instances=int(known["instance"].nunique()),
        shares=_shares(known),
        adoption=Spelled(_adoption(known, confidence), ("p_value", "replicates")),
        alpha_before=_alpha(known, "first_score"),
        alpha_after=_alpha(known, "score"),
        per_criterion=[
            FirstCriterion(str(name), len(part), _shares(part))
            for name, part in known.groupby("criterion", sort=False)
        ],
    )


def _shares(known: pd.DataFrame) -> FirstShares:
    draft, first, final = (known[name].astype(float) for name in ("draft_score", "first_score", "score"))
    nearer = (first - draft).abs() - (final - draft).abs()
    shares = (first == draft, final == draft, nearer > 0, nearer < 0, nearer == 0)
    return FirstShares(*(Estimate(float(share.mean()), n=len(known)) for share in shares))


def _adoption(known: pd.DataFrame, confidence: float) -> Estimate:
    """Return P(score = draft) after minus before."""
    draft, first, final = (
        known[name].to_numpy(dtype=float) for name in ("draft_score", "first_score", "score")
    )
    names = known["cluster"] if "cluster" in known else known["instance"]
    kind = DOCUMENTS if names.nunique() < known["instance"].nunique() else INSTANCES
    clusters = parse_clusters(names, len(known), kind)
    gain = (final == draft).astype(float) - (first == draft)
    sums = clusters.sums(np.column_stack([gain, np.ones(len(known))]))
    spread = sums_interval(sums, lambda rows: rows[:, 0] / rows[:, 1], kind, confidence=confidence)
    return Estimate(gain.mean(), n=len(known), **share_limits(spread))


def _alpha(known: pd.DataFrame, column: str) -> Estimate:
    """Return ordinal alpha of the scores in a column, the mean over criteria."""
    parts = []
    for _, part in known.groupby("criterion", sort=False, observed=True):
        (unit, units), (who, people) = pd.factorize(part["instance"]), pd.factorize(part["annotator"])
        values: Any = part[column].to_numpy(dtype=float)
        parts.append(encode_ratings(who, unit, values, tuple(people), list(units)))
    found = mean_alpha(parts, [Clusters(np.arange(data.n_units)) for data in parts])
    n = sum(int((data.per_unit > 1).sum()) for data in parts)
    return Estimate(float(found), reason=found.reason, n_units=n)
