"""What seeing the draft changed: each first score beside the same person's final one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.agreement.patterns import draw_weights
from coeval.stats.estimates.intervals import summarise, two_sided
from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.frames import FIRST
from coeval.stats.rating_matrix import encode_ratings

NO_FIRST = "nobody has scored before seeing the draft (arm first)"


def first_effect(
    scores: pd.DataFrame, *, replicates: int = 1000, confidence: float = 0.95, seed: int = 0
) -> Result:
    """How people who scored first and then saw the draft changed their scores.

    Parameters
    ----------
    scores : ``annotator, instance, criterion, arm, score, draft_score, first_score``; the arm ``first`` is used,
        where all three scores are there. With them ``unit``, a code of instance and criterion, if known.

    Returns
    -------
    Result
        ``n``, ``n_instances``; ``same_before`` and ``same_after``: the share that equals the draft's score;
        ``adoption``: after minus before, with an interval from drawing the instances anew; ``towards``,
        ``away`` and ``kept``: shares by whether the final score is nearer to the draft's than the first one,
        further, or as near; ``alpha_before`` and ``alpha_after``; and ``per_criterion``, a list of shares.

    >>> rows = pd.DataFrame({"annotator": list("abab"), "instance": [1, 1, 2, 2], "criterion": "x", "arm": "first",
    ...                      "first_score": [2, 3, 4, 1], "score": [3, 3, 4, 2], "draft_score": 3})
    >>> found = first_effect(rows, replicates=50)
    >>> float(found.same_before), float(found.same_after), float(found.adoption), float(found.towards)
    (0.25, 0.5, 0.25, 0.5)
    """
    known = scores[scores["arm"] == FIRST].dropna(subset=["score", "draft_score", "first_score"])
    if not len(known):
        nothing = Estimate.undefined(NO_FIRST)
        names = ("same_before", "same_after", "towards", "away", "kept")
        undefined = dict.fromkeys((*names, "adoption", "alpha_before", "alpha_after"), nothing)
        return Result(n=0, n_instances=0, **undefined, per_criterion=[])
    return Result(
        n=len(known),
        n_instances=int(known["instance"].nunique()),
        **_shares(known),
        adoption=_adoption(known, replicates, confidence, seed),
        alpha_before=_alpha(known, "first_score"),
        alpha_after=_alpha(known, "score"),
        per_criterion=[
            Result({"criterion": name}, n=len(part), **_shares(part))
            for name, part in known.groupby("criterion", sort=False)
        ],
    )


def _shares(known: pd.DataFrame) -> dict[str, Estimate]:
    draft, first, final = (known[name].astype(float) for name in ("draft_score", "first_score", "score"))
    nearer = (first - draft).abs() - (final - draft).abs()
    shares = {
        "same_before": first == draft,
        "same_after": final == draft,
        "towards": nearer > 0,
        "away": nearer < 0,
        "kept": nearer == 0,
    }
    return {name: Estimate(float(share.mean()), n=len(known)) for name, share in shares.items()}


def _adoption(known: pd.DataFrame, replicates: int, confidence: float, seed: int) -> Estimate:
    """P(score = draft) after less before, the instances drawn anew."""
    draft, first, final = (
        known[name].to_numpy(dtype=float) for name in ("draft_score", "first_score", "score")
    )
    cluster = pd.factorize(known["instance"])[0]
    gain = (final == draft).astype(float) - (first == draft)
    sums = np.column_stack([np.bincount(cluster, gain), np.bincount(cluster)])
    times = np.ones(len(sums), dtype=np.int64)
    blocks = [weights @ sums for weights in draw_weights(times, replicates, np.random.default_rng(seed), 2)]
    drawn = np.concatenate(blocks).T
    spread = summarise(drawn[0] / drawn[1], float(gain.mean()), len(sums), confidence)
    return Estimate(gain.mean(), n=len(known), p_value=two_sided(spread.pop("distribution")), **spread)


def _alpha(known: pd.DataFrame, column: str) -> Estimate:
    """Ordinal alpha of the scores in a column."""
    places = known["unit"] if "unit" in known else known.groupby(["instance", "criterion"]).ngroup()
    (unit, units), (who, people) = pd.factorize(places), pd.factorize(known["annotator"])
    values: Any = known[column].to_numpy(dtype=float)
    return krippendorff_alpha(encode_ratings(who, unit, values, tuple(people), list(units)), "ordinal")
