"""The influence of the draft on the people who saw it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.alpha import alpha_difference
from coeval.stats.clusters import (
    DOCUMENTS,
    INSTANCES,
    PEOPLE,
    UNITS,
    OfSums,
    crossed_interval,
    mean_interval,
    parse_clusters,
    sums_interval,
)
from coeval.stats.estimates import FLAT, Estimate, Spelled
from coeval.stats.frames import ASSISTED, BLIND
from coeval.stats.rating_matrix import Codes, Numbers, Ratings

NO_BLIND = "no score was given without the draft (blind arm)"
NO_PLANTED = "no shown score differs from the draft's within an instance and criterion"
ALIASES = {"draft": "draft_score", "shown": "shown_score", "person": "annotator", "item": "instance"}
SUMS = (
    "same_assisted",
    "gap_assisted",
    "n_assisted",
    "same_blind",
    "gap_blind",
    "n_blind",
    "shift_score",
    "shift",
)


@dataclass(frozen=True)
class DraftEffects:
    """Three estimates of the draft's pull on people.

    ``adoption`` is P(score = draft), assisted minus blind. ``distance`` is the mean ``|score - draft|``,
    assisted minus blind; it is negative if the draft draws people nearer. ``pull`` is the share of the way
    that people move to a shifted score: the final score regressed on the shift within each instance and
    criterion. Only the pull is not diluted by people who would have given the draft's score anyway. Each has
    an interval and ``p_value`` over clusters for these people, and ``people_ci_low`` and ``people_ci_high``
    for similar people.
    """

    adoption: Estimate
    distance: Estimate
    pull: Estimate


@dataclass(frozen=True)
class ArmAlphas:
    """Alpha of each arm over the units that both have, and the difference with a joint interval."""

    alpha_difference: Estimate
    alpha_assisted: Estimate
    alpha_blind: Estimate


def draft_effects(scores: Any, *, confidence: float = 0.95) -> DraftEffects:
    """Return the influence of the draft on the people who saw it.

    Parameters
    ----------
    scores : DataFrame or its input, one row per submission: ``instance``, ``criterion`` (optional),
        ``annotator``, ``arm`` (assisted or blind), ``score``, ``draft_score`` (of the draft shown or
        withheld), ``shown_score`` (default: the draft's score) and, optionally, ``planted_score``,
        ``planted_error``, ``line_caught``, ``unit`` (a code of instance and criterion) and ``cluster`` (the sampling
        unit, usually the document; default: the instance).

        Submissions with a shifted score count only for the pull; those with a line of another instance
        (``planted_error`` evidence) count for none of the three.

    Returns
    -------
    DraftEffects
        Adoption and distance are nan without a blind arm, the pull without shifted scores.

    Source: Schroeder et al. 2025 for adoption; the pull is the within-unit effect of a randomised shift.

    >>> rows = [{"instance": i, "annotator": a, "arm": "assisted" if a != "c" else "blind", "draft_score": 3,
    ...          "score": 3 if a != "c" else 4} for i in range(6) for a in "abc"]
    >>> effect = draft_effects(rows)
    >>> float(effect.adoption), float(effect.distance), effect.pull.reason == NO_PLANTED
    (1.0, -1.0, True)
    """
    frame = _prepared(scores)
    cluster, names = pd.factorize(frame["cluster"])
    person, people = pd.factorize(frame["annotator"])
    both, cells = pd.factorize(cluster * len(people) + person)
    sums, of_people, of_both = (
        _sums_by_cluster(frame, np.asarray(codes, dtype=np.int64), size)
        for codes, size in ((cluster, len(names)), (person, len(people)), (both, len(cells)))
    )
    kind = DOCUMENTS if frame["cluster"].nunique() < frame["instance"].nunique() else INSTANCES
    shifted, instances = int((frame["shift"].fillna(0) != 0).sum()), int(frame["instance"].nunique())
    planted = int((frame["planted_score"] & (frame["shift"].fillna(0) != 0)).sum())
    totals = dict(zip(SUMS, sums.sum(axis=0), strict=True))
    of_arms = {"n_assisted": int(totals["n_assisted"]), "n_blind": int(totals["n_blind"])}
    effects = {}
    for name, (reason, value) in _estimates(totals).items():
        own = {"n_shifted": shifted, "n_planted": planted} if name == "pull" else of_arms
        counts = {**own, "n_instances": instances}
        if reason:
            effects[name] = Estimate.undefined(reason, **counts)
            continue
        spread = sums_interval(sums, _OF_SUMS[name], kind, confidence=confidence, value=value)
        others = sums_interval(of_people, _OF_SUMS[name], PEOPLE, confidence=confidence, value=value)
        each = sums_interval(of_both, _OF_SUMS[name], UNITS, confidence=confidence, value=value)
        wider = crossed_interval(value, spread, others, each, confidence=confidence)
        found = spread | wider
        effects[name] = Estimate(value, **counts, **(share_limits(found) if name == "adoption" else found))
    return DraftEffects(**effects)


def share_limits(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of a difference between two shares, with all interval limits cut to [-1, 1].

    >>> share_limits({"ci_low": 0.33, "ci_high": 1.75, "se": 0.3})
    {'ci_low': 0.33, 'ci_high': 1.0, 'se': 0.3}
    """
    return {
        name: min(max(value, -1.0), 1.0) if name.endswith(("ci_low", "ci_high")) and value == value else value
        for name, value in details.items()
    }


def arm_alphas(
    scores: Any,
    *,
    level: str = "ordinal",
    confidence: float = 0.95,
    shown: str = ASSISTED,
    other: str = BLIND,
) -> ArmAlphas:
    """Return alpha of each arm, without drafts that are deliberately wrong. ``scores`` are as for
    ``draft_effects``.
    """
    frame = _prepared(scores)
    plain = frame[frame["genuine"]]
    unit, names = pd.factorize(plain["unit"])
    assisted, blind = (
        _ratings(plain, np.asarray(unit), names, (plain["arm"] == arm).to_numpy()) for arm in (shown, other)
    )
    cluster = plain.groupby(np.asarray(unit))["cluster"].first().to_numpy()
    kind = DOCUMENTS if plain["cluster"].nunique() < plain["instance"].nunique() else INSTANCES
    clusters = parse_clusters(cluster, len(names), kind)
    difference = alpha_difference(assisted, blind, level, confidence=confidence, clusters=clusters)
    alphas = []
    for key, arm in (("a", shown), ("b", other)):
        value, n = difference[f"alpha_{key}"], difference[f"n_units_{key}"]
        nothing = Estimate.undefined(_without_alpha(arm, n), n_units=n, level=level)
        alphas.append(nothing if np.isnan(value) else Estimate(value, n_units=n, level=level))
    if not difference.defined:
        reason = next(alpha.reason for alpha in alphas if not alpha.defined)
        difference = difference.having(reason=reason)
    return ArmAlphas(difference, *alphas)


def _without_alpha(arm: str, n: int) -> str:
    """Return the reason that an arm has no alpha."""
    if n:
        return f"all {arm} scores are the same"
    return (
        f"no {arm} scores yet" if arm == BLIND else "no two people have scored a unit with the draft in view"
    )


def _prepared(scores: Any) -> pd.DataFrame:
    frame = (
        scores
        if isinstance(scores, pd.DataFrame)
        else pd.DataFrame(dict(scores) if isinstance(scores, Mapping) else list(scores))
    )
    frame = frame.rename(columns={old: new for old, new in ALIASES.items() if new not in frame})
    for column in ("instance", "arm", "score", "draft_score"):
        if column not in frame:
            raise ValueError(
                f"The scores lack the column {column!r}; they need instance, arm, score, draft_score."
            )
    there = frame["score"].notna()
    frame = (frame if there.all() else frame[there]).reset_index(drop=True)
    assisted = frame["arm"] == ASSISTED
    draft = frame["draft_score"].astype(float)
    shown = frame["shown_score"].astype(float) if "shown_score" in frame else draft
    shown = shown.where(shown.notna() & assisted, draft.where(assisted))
    shift = shown - draft
    planted = frame["planted_score"].astype(bool) if "planted_score" in frame else shift.fillna(0) != 0
    line = frame["planted_error"].eq("evidence") if "planted_error" in frame else planted & False
    frame = frame.assign(
        score=frame["score"].astype(float),
        draft_score=draft,
        shown_score=shown,
        shift=shift.where(~line),
        planted_score=planted & assisted,
        genuine=~((planted | line) & assisted),
        criterion=frame.get("criterion", ""),
        annotator=frame.get("annotator", "everybody"),
        cluster=frame.get("cluster", frame["instance"]),
    )
    if "unit" in frame:
        return frame
    return frame.assign(unit=frame.groupby(["instance", "criterion"], sort=False).ngroup())


def _sums_by_cluster(frame: pd.DataFrame, cluster: Codes, size: int) -> Numbers:
    """Return the sums that the three estimates need, as clusters x ``SUMS``."""
    score, draft = frame["score"].to_numpy(), frame["draft_score"].to_numpy()
    plain = ~np.isnan(draft) & frame["genuine"].to_numpy() & (frame["shift"].fillna(0) == 0).to_numpy()
    columns = []
    for arm in (ASSISTED, BLIND):
        kept = plain & (frame["arm"] == arm).to_numpy()
        for part in (score == draft, np.abs(score - draft), np.ones(len(frame))):
            columns.append(np.bincount(cluster, np.where(kept, part, 0), size))
    if not frame["shift"].fillna(0).any():
        return np.column_stack([*columns, *np.zeros((2, size))])
    shift = _within_unit(frame, "shift")
    # the score also minus its unit's mean, which does not cancel within one person's part of the unit
    rest = _within_unit(frame.assign(score=frame["score"].where(frame["shift"].notna())), "score")
    columns.append(np.bincount(cluster, shift * rest, size))
    columns.append(np.bincount(cluster, shift * np.nan_to_num(frame["shift"].to_numpy()), size))
    return np.column_stack(columns)


def _within_unit(frame: pd.DataFrame, column: str) -> Numbers:
    """Return the column minus its mean over the assisted submissions of the same instance and criterion;
    else 0.
    """
    shown = frame[column].notna()
    means = frame[shown].groupby("unit", sort=False)[column].transform("mean")
    return (frame[column] - means).fillna(0).to_numpy(dtype=float)


def _estimates(sums: Mapping[str, Any]) -> dict[str, tuple[str | None, float]]:
    """Return adoption, distance and pull from sums, each with the reason if it is undefined."""
    reason = None if sums["n_blind"] else NO_BLIND
    if not sums["n_assisted"]:
        reason = "no score was given with the draft (assisted arm)"
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "adoption": (reason, _difference(sums, "same")),
            "distance": (reason, _difference(sums, "gap")),
            "pull": (
                None if sums["shift"] > 1e-12 else NO_PLANTED,
                sums["shift_score"] / np.float64(sums["shift"]),
            ),
        }


def _difference(sums: Mapping[str, Any], what: str) -> Any:
    assisted, blind = (
        sums[f"{what}_{arm}"] / np.asarray(sums[f"n_{arm}"], float) for arm in (ASSISTED, BLIND)
    )
    return assisted - blind


def _rows_of(rows: Numbers) -> dict[str, Numbers]:
    return dict(zip(SUMS, rows.T, strict=True))


def _assisted_minus_blind(rows: Numbers, what: str) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(_difference(_rows_of(rows), what))


def _pull(rows: Numbers) -> Numbers:
    sums = _rows_of(rows)
    moved = np.full(len(rows), np.nan)
    np.divide(sums["shift_score"], sums["shift"], out=moved, where=sums["shift"] > 1e-12)
    return moved


_OF_SUMS: dict[str, OfSums] = {
    "adoption": lambda rows: _assisted_minus_blind(rows, "same"),
    "distance": lambda rows: _assisted_minus_blind(rows, "gap"),
    "pull": _pull,
}


def _ratings(frame: pd.DataFrame, unit: Codes, names: Any, kept: Any) -> Ratings:
    values, categories = pd.factorize(frame["score"], sort=True)
    annotator, people = pd.factorize(frame["annotator"])
    return Ratings(
        tuple(people),
        list(names),
        np.asarray(categories, dtype=float),
        np.asarray(annotator, np.int64)[kept],
        np.asarray(unit, np.int64)[kept],
        np.asarray(values, np.int64)[kept],
    )


@dataclass(frozen=True)
class Caught:
    """The planted wrong scores, ``n`` of them: the share that people changed, and the share that they set to
    the draft's own score.
    """

    n: int
    restored: Estimate
    caught: Spelled


@dataclass(frozen=True)
class CaughtBy:
    """The planted errors that one annotator saw and caught."""

    annotator: Any
    scores: Caught = field(metadata=FLAT)


@dataclass(frozen=True)
class CaughtLines:
    """The share of ``n`` deliberately wrong lines that people revised or deleted."""

    n: int
    caught: Spelled


@dataclass(frozen=True)
class CatchRates:
    """The shares of planted errors that these people caught, with intervals over documents."""

    scores: Caught = field(metadata=FLAT)
    per_annotator: list[CaughtBy]
    lines: CaughtLines


def catch_rates(frame: pd.DataFrame, confidence: float = 0.95) -> CatchRates:
    """Return how often people caught planted errors, overall and by annotator.

    Parameters
    ----------
    frame : ``annotator, arm, score, draft_score, shown_score, planted_score``; optionally ``line_caught``
        (True if a deliberately wrong line was revised or deleted, nan without one) and ``cluster``, the document
        (default: the instance).
    """
    planted = frame[frame["planted_score"].astype(bool) & (frame["arm"] == ASSISTED)].dropna(
        subset=["score", "shown_score"]
    )
    people = [CaughtBy(name, _caught(part, confidence)) for name, part in planted.groupby("annotator")]
    wrong = frame.dropna(subset=["line_caught"]) if "line_caught" in frame else frame.iloc[:0]
    lines = wrong["line_caught"].astype(float) if len(wrong) else pd.Series(dtype=float)
    share = _share(lines, wrong, confidence, "no wrong line was shown on purpose")
    return CatchRates(_caught(planted, confidence), people, CaughtLines(len(lines), Spelled(share)))


def _caught(planted: pd.DataFrame, confidence: float) -> Caught:
    reason, restored = "no wrong score was shown on purpose", planted["score"] == planted["draft_score"]
    return Caught(
        n=len(planted),
        restored=Estimate(restored.mean(), n=len(planted)) if len(planted) else Estimate.undefined(reason),
        caught=Spelled(_share(planted["score"] != planted["shown_score"], planted, confidence, reason)),
    )


def _share(caught: pd.Series[Any], rows: pd.DataFrame, confidence: float, reason: str) -> Estimate:
    """Return the share with its interval over documents: people who see the same error catch it together."""
    if not len(caught):
        return Estimate.undefined(reason)
    documents = rows["cluster"] if "cluster" in rows else rows["instance"]
    clusters = parse_clusters(documents, len(rows), DOCUMENTS)
    values = caught.to_numpy(dtype=float)
    spread = mean_interval(values, clusters, (0.0, 1.0), confidence=confidence)
    return Estimate(float(values.mean()), n=len(values), **spread)
