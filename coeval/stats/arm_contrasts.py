"""Comparisons of two ways to show drafts (means, alphas, the pull and catches), and of first with final scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.alpha import mean_alpha_difference
from coeval.stats.clusters import (
    DOCUMENTS,
    INSTANCES,
    PEOPLE,
    UNITS,
    Clusters,
    OfSums,
    crossed_interval,
    cut,
    effective_freedom,
    gap_of,
    jackknife_interval,
    mean_interval,
    parse_clusters,
    ratio_of,
    sums_interval,
    widened,
)
from coeval.stats.estimates import Estimate, Spelled
from coeval.stats.frames import ASSISTED, BLIND, FIRST
from coeval.stats.rating_matrix import Numbers, encode_ratings


@dataclass(frozen=True)
class Arms:
    """The two arms to compare, and the clusters of the rows."""

    shown: str = ASSISTED
    other: str = BLIND
    kind: str = DOCUMENTS


@dataclass(frozen=True)
class Contrast:
    """A measure in two arms, and the difference.

    ``difference`` has an interval over documents for these people, and one for similar people
    (``people_ci_low``, ``people_ci_high``). If ``within``, people are compared with themselves: only those
    with both arms count, and the two values are adjusted to the same people.
    """

    difference: Estimate
    shown: Estimate
    other: Estimate
    within: bool = False

    @classmethod
    def undefined(cls, reason: str) -> Contrast:
        """Return an undefined contrast with its reason."""
        nothing = Estimate.undefined(reason)
        return cls(nothing, nothing, nothing)


def contrast_means(rows: pd.DataFrame, column: str, arms: Arms = Arms()) -> Contrast:
    """Return the mean of a column in one arm minus the other, within person for people with both arms.

    The comparison within person is a regression on the arm with a level for each person. A slow person with more
    blind items therefore does not count as a cost of the blind arm.

    Parameters
    ----------
    rows : ``annotator``, ``cluster`` (sampling unit), ``arm`` and the column. Rows without a value are left
        out.

    >>> rows = pd.DataFrame({"annotator": list("aabb") * 3, "arm": ["assisted", "blind"] * 6, "x": [2, 3, 5, 6] * 3,
    ...                      "cluster": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]})
    >>> found = contrast_means(rows, "x")
    >>> float(found.difference), float(found.shown), found.within
    (-1.0, 3.5, True)
    """
    compared = rows[rows["arm"].isin((arms.shown, arms.other)) & rows[column].notna()]
    in_arms = compared.groupby("annotator", observed=True)["arm"].nunique()
    pairs = list(in_arms.index[in_arms == 2])
    if pairs:
        compared = compared[compared["annotator"].isin(pairs)]
    value = compared[column].to_numpy(dtype=float)
    seen = (compared["arm"] == arms.shown).to_numpy(dtype=float)
    if not seen.sum() or seen.sum() == len(seen):
        arm = arms.other if seen.sum() else arms.shown
        return Contrast.undefined(f"the arm {arm} has no measured values")
    person = pd.factorize(compared["annotator"])[0]
    cluster = pd.factorize(compared["cluster"])[0]
    if pairs:
        apart = seen - _mean_of(np.asarray(seen, dtype=float), person)
        parts = np.column_stack([apart * (value - _mean_of(value, person)), apart * apart])
        statistic: OfSums = ratio_of
    else:
        parts = np.column_stack([value * seen, seen, value * (1 - seen), 1 - seen])
        statistic = gap_of
    difference = _crossed(parts, statistic, cluster, person, arms)
    # both arms' values for the same people; they differ by the difference
    middle, share = float(value.mean()), float(seen.mean())
    shown, other = (
        (middle + (1 - share) * difference, middle - share * difference)
        if pairs
        else (float(value[seen == 1].mean()), float(value[seen == 0].mean()))
    )
    counts = int(seen.sum()), int(len(seen) - seen.sum())
    return Contrast(
        difference.having(n_shown=counts[0], n_other=counts[1]),
        Estimate(shown, n=counts[0]),
        Estimate(other, n=counts[1]),
        bool(pairs),
    )


def _mean_of(values: Numbers, codes: Any) -> Numbers:
    return np.asarray((np.bincount(codes, values) / np.bincount(codes))[codes])


def _crossed(parts: Numbers, statistic: OfSums, cluster: Any, person: Any, arms: Arms) -> Estimate:
    """Return the statistic of the sums of all rows, with its intervals for these people and for similar people."""
    crossed = pd.factorize(cluster * (int(person.max()) + 1) + person)[0]
    value = float(statistic(parts.sum(axis=0)[None, :])[0])
    spreads = [
        sums_interval(Clusters(code, kind).sums(parts), statistic, kind)
        for code, kind in ((cluster, arms.kind), (person, PEOPLE), (crossed, UNITS))
    ]
    wider = crossed_interval(value, *spreads)
    spread = _widened_by_arm(spreads[0], Clusters(cluster, arms.kind).sums(parts))
    return Estimate(value, **spread, **wider)


def _widened_by_arm(spread: dict[str, Any], sums: Numbers) -> dict[str, Any]:
    """Return the interval with the degrees of freedom of the clusters that separate the arms.

    With few blind items, most clusters say little about the difference. A cluster's weight therefore depends on its
    rows in both arms.
    """
    weight = (
        sums[:, 1] if sums.shape[1] == 2 else sums[:, 1] * sums[:, 3] / np.maximum(sums[:, 1] + sums[:, 3], 1)
    )
    if np.isnan(spread["ci_low"]) or not (weight**2).sum() > 0:
        return spread
    return widened(spread, effective_freedom(weight))


NO_PLANTED = "no shown score differs from the draft's within an instance and criterion"


def find_pull(rows: pd.DataFrame, arms: Arms = Arms()) -> Estimate:
    """Return the pull: how far people move towards a shifted score, as a share of the shift.

    It is the slope of the final score on the shift within each instance and criterion. It is not diluted by people
    who would have given the draft's score anyway.

    Parameters
    ----------
    rows : ``annotator, cluster, unit, instance, arm, score, draft_score, shown_score, planted_score,
        planted_error``. Without a shown score, the draft's score was shown.

    Source: the within-unit effect of a randomised shift.
    """
    seen = rows[(rows["arm"] == arms.shown) & rows["score"].notna() & rows["draft_score"].notna()]
    draft = seen["draft_score"].astype(float)
    shift = seen["shown_score"].astype(float).fillna(draft) - draft
    counts = {
        "n_shifted": int((shift != 0).sum()),
        "n_planted": int((seen["planted_score"].astype(bool) & (shift != 0)).sum()),
        "n_instances": int(seen["instance"].nunique()),
    }
    apart, rest = (
        (part - part.groupby(seen["unit"], sort=False).transform("mean")).to_numpy(dtype=float)
        for part in (shift, seen["score"].astype(float))
    )
    parts = np.column_stack([apart * rest, apart * shift.to_numpy(dtype=float)])
    if not len(parts) or parts[:, 1].sum() <= 1e-12:
        return Estimate.undefined(NO_PLANTED, **counts)
    cluster, person = (pd.factorize(seen[name])[0] for name in ("cluster", "annotator"))
    return _crossed(parts, ratio_of, cluster, person, arms).having(**counts)


def contrast_alphas(rows: pd.DataFrame, arms: Arms = Arms()) -> Contrast:
    """Return ordinal alpha in each arm and the difference: means over criteria, so that scales are not mixed.

    Parameters
    ----------
    rows : ``annotator, cluster, unit, criterion, arm, score, genuine``. Rows that are not genuine are left out.
    """
    compared = rows[rows["genuine"] & rows["arm"].isin((arms.shown, arms.other))]
    cluster = pd.Series(pd.factorize(compared["cluster"])[0], compared.index)
    pairs, clusters = [], []
    for _, part in compared.groupby("criterion", sort=False, observed=True):
        unit, units = pd.factorize(part["unit"])
        who, people = pd.factorize(part["annotator"])
        values = part["score"].to_numpy(dtype=float)
        data = encode_ratings(who, unit, values, tuple(people), list(units))
        seen = (part["arm"] == arms.shown).to_numpy()
        pairs.append((data.where(seen), data.where(~seen)))
        of_unit = cluster[part.index].groupby(unit).first().to_numpy()
        clusters.append(Clusters(of_unit, arms.kind))
    difference = mean_alpha_difference(pairs, clusters)
    sides = []
    for name, arm in (("a", arms.shown), ("b", arms.other)):
        value, n = difference[f"alpha_{name}"], difference[f"n_units_{name}"]
        nothing = Estimate.undefined(_without_alpha(arm, n), n_units=n)
        sides.append(nothing if np.isnan(value) else Estimate(value, n_units=n))
    if not difference.defined:
        reason = next((side.reason for side in sides if not side.defined), difference.reason)
        difference = difference.having(reason=reason)
    return Contrast(difference, sides[0], sides[1])


def _without_alpha(arm: str, n: int) -> str:
    """Return the reason that an arm has no alpha."""
    if n:
        return f"all {arm} scores are the same"
    return (
        f"no {arm} scores yet" if arm == BLIND else "no two people have scored a unit with the draft in view"
    )


def share_limits(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of a difference between two shares, with all interval limits cut to [-1, 1].

    >>> share_limits({"ci_low": 0.33, "ci_high": 1.75, "se": 0.3})
    {'ci_low': 0.33, 'ci_high': 1.0, 'se': 0.3}
    """
    return {
        name: min(max(value, -1.0), 1.0) if name.endswith(("ci_low", "ci_high")) and value == value else value
        for name, value in details.items()
    }


def contrast_catches(rows: pd.DataFrame, arms: Arms = Arms()) -> Contrast:
    """Return how often people changed a planted wrong score, minus how often blind people did not give that score.

    People who see no draft cannot catch its error, but can give the same wrong score by themselves. For each planted
    score, the other arm's value is the share of its scores with the same criterion and draft score that differ from
    the wrong one. The difference is the effect of seeing the error.

    Parameters
    ----------
    rows : ``arm, cluster, criterion, score, draft_score, shown_score, planted_score``.
    """
    planted = rows["planted_score"].astype(bool) & (rows["arm"] == arms.shown) & rows["shown_score"].notna()
    blind = (rows["arm"] == arms.other) & rows["draft_score"].notna()
    if not planted.any():
        return Contrast.undefined("no wrong score was shown on purpose")
    compared = rows[planted | blind].reset_index(drop=True)
    wrong = planted[planted | blind].to_numpy()
    score, draft, shown = (
        compared[name].to_numpy(dtype=float) for name in ("score", "draft_score", "shown_score")
    )
    drafted, of_draft = np.unique(draft.round(6), return_inverse=True)
    key = pd.factorize(pd.factorize(compared["criterion"])[0] * len(drafted) + of_draft)[0]
    size = int(key.max()) + 1
    values = np.unique(shown[wrong])
    equal = score[:, None] == values[None, :]
    column = np.clip(np.searchsorted(values, np.nan_to_num(shown)), 0, len(values) - 1)

    def shares(places: Any) -> tuple[float, float]:
        planted_rows, others = places[wrong[places]], places[~wrong[places]]
        if not len(planted_rows):
            return math.nan, math.nan
        caught = float((score[planted_rows] != shown[planted_rows]).mean())
        n = np.bincount(key[others], minlength=size)
        at = np.stack([np.bincount(key[others], equal[others, k], size) for k in range(len(values))], axis=1)
        there = n[key[planted_rows]] > 0
        if not there.any():
            return caught, math.nan
        kept = planted_rows[there]
        by_itself = float((1 - at[key[kept], column[kept]] / n[key[kept]]).mean())
        # only planted errors with matching blind scores are compared
        return float((score[kept] != shown[kept]).mean()), by_itself

    everything = np.arange(len(compared))
    caught, avoided = shares(everything)
    clusters = Clusters(pd.factorize(compared["cluster"])[0], arms.kind)
    counts = {"n_shown": int(wrong.sum()), "n_other": int((~wrong).sum())}
    changed = (score[wrong] != shown[wrong]).astype(float)
    of_planted = Clusters(clusters.code[wrong], arms.kind).of(np.arange(int(wrong.sum())))
    shown_estimate = Estimate(caught, **counts, **mean_interval(changed, of_planted, (0.0, 1.0)))
    if math.isnan(avoided):
        nothing = Estimate.undefined(
            "no score without the draft has the criterion and draft score of a planted one"
        )
        return Contrast(nothing, shown_estimate, nothing)
    gap = caught - avoided
    group = clusters.groups()
    left_out = [shares(np.flatnonzero(group != name)) for name in range(int(group.max()) + 1)]
    without = np.array([part[0] - part[1] for part in left_out])
    spread = cut(jackknife_interval(gap, without, clusters.kind, n=clusters.n), -1.0, 1.0)
    return Contrast(Estimate(gap, **counts, **spread), shown_estimate, Estimate(avoided))


# First scores compared with the same people's final scores, after they saw the draft.

NO_FIRST = "nobody has scored before seeing the draft (arm first)"


@dataclass(frozen=True)
class FirstEffect:
    """The effect of the draft on people who scored before they saw it.

    The shares are of scores: equal to the draft's before and after it was shown; moved towards it, away, or neither.
    ``adoption`` is P(score = draft), after minus before.
    """

    n: int
    n_instances: int
    adoption: Spelled
    same_before: Estimate
    same_after: Estimate
    towards: Estimate
    away: Estimate
    kept: Estimate


def first_effect(scores: pd.DataFrame) -> FirstEffect:
    """Compare people's first scores with their final scores, after they saw the draft.

    Parameters
    ----------
    scores : ``annotator, instance, criterion, arm, score, draft_score, first_score``; rows of the arm ``first``
        with all three scores are used. ``cluster`` is optional: the sampling unit (default: the instance).

    >>> rows = pd.DataFrame({"annotator": list("abab"), "instance": [1, 1, 2, 2], "criterion": "x", "arm": "first",
    ...                      "first_score": [2, 3, 4, 1], "score": [3, 3, 4, 2], "draft_score": 3})
    >>> found = first_effect(rows)
    >>> [float(share) for share in (found.same_before, found.same_after, found.adoption.value)]
    [0.25, 0.5, 0.25]
    """
    rated = scores[scores["arm"] == FIRST].dropna(subset=["score", "draft_score", "first_score"])
    if not len(rated):
        nothing = Estimate.undefined(NO_FIRST)
        return FirstEffect(0, 0, Spelled(nothing), nothing, nothing, nothing, nothing, nothing)
    draft, first, final = (rated[name].astype(float) for name in ("draft_score", "first_score", "score"))
    nearer = (first - draft).abs() - (final - draft).abs()
    shares = (first == draft, final == draft, nearer > 0, nearer < 0, nearer == 0)
    return FirstEffect(
        len(rated),
        int(rated["instance"].nunique()),
        Spelled(_adoption(rated), ("p_value", "replicates")),
        *(Estimate(float(share.mean()), n=len(rated)) for share in shares),
    )


def _adoption(rated: pd.DataFrame) -> Estimate:
    """Return P(score = draft) after minus before."""
    draft, first, final = (
        rated[name].to_numpy(dtype=float) for name in ("draft_score", "first_score", "score")
    )
    names = rated["cluster"] if "cluster" in rated else rated["instance"]
    kind = DOCUMENTS if names.nunique() < rated["instance"].nunique() else INSTANCES
    clusters = parse_clusters(names, len(rated), kind)
    gain = (final == draft).astype(float) - (first == draft)
    sums = clusters.sums(np.column_stack([gain, np.ones(len(rated))]))
    spread = sums_interval(sums, ratio_of, kind)
    return Estimate(gain.mean(), n=len(rated), **share_limits(spread))
