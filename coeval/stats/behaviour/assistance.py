"""How far the draft itself moved the people who saw it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.patterns import draw_weights
from coeval.stats.agreement.resampling import alpha_difference
from coeval.stats.estimates.intervals import summarise, two_sided
from coeval.stats.estimates.later import special
from coeval.stats.estimates.results import Estimate, Result
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


def assistance_effect(
    scores: Any, *, replicates: int = 1000, confidence: float = 0.95, seed: int = 0, level: str = "ordinal"
) -> Result:
    """Three estimates of the draft's pull on people, and what it did to their agreement.

    Parameters
    ----------
    scores : DataFrame (or what makes one), one row a submission: ``instance``, ``criterion`` (optional),
        ``annotator``, ``arm`` (assisted or blind), ``score``, ``draft_score`` (of the draft shown or
        withheld), ``shown_score`` (what was shown; without it, the draft's score) and, optionally, ``planted_score``,
        ``planted_error``, ``line_caught`` and ``unit`` (a code of instance and criterion).

    Returns
    -------
    Result
        ``adoption``: P(score = draft), assisted minus blind. ``distance``: mean ``|score - draft|``, likewise
        (negative where the draft draws people near). ``pull``: the share of the way people move to a shown
        score, from the shown scores that were shifted: the final score regressed on the shift within each
        instance and criterion; it alone is not diluted by those who would have given the draft's score anyway.
        Each has ``ci_low``, ``ci_high``, ``se``, ``p_value`` from drawing the instances anew, and the counts;
        nan with a ``reason`` without a blind arm, or without shifted scores. ``alpha_assisted``,
        ``alpha_blind``, ``alpha_difference`` (joint interval over units); ``sown``: catch rates.

        Submissions shown a shifted score count for the pull and the catch rates only, those shown a line of
        another instance (``planted_error`` evidence) for the catch rates only.

    Source: Schroeder et al. 2025 for adoption; the pull is the within-unit effect of a randomised shift.

    >>> rows = [{"instance": i, "annotator": a, "arm": "assisted" if a != "c" else "blind", "draft_score": 3,
    ...          "score": 3 if a != "c" else 4} for i in range(6) for a in "abc"]
    >>> effect = assistance_effect(rows, replicates=100)
    >>> float(effect.adoption), float(effect.distance), effect.pull.reason == NO_PLANTED
    (1.0, -1.0, True)
    """
    effects = draft_effects(scores, replicates=replicates, confidence=confidence, seed=seed)
    alphas = arm_alphas(scores, level=level, replicates=replicates, confidence=confidence, seed=seed)
    return Result(effects, **alphas, sown=catch_rates(_prepared(scores), confidence))


def draft_effects(scores: Any, *, replicates: int = 1000, confidence: float = 0.95, seed: int = 0) -> Result:
    """The three estimates of ``assistance_effect`` alone: ``adoption``, ``distance`` and ``pull``."""
    return _effects(_prepared(scores), replicates, confidence, seed)


def arm_alphas(
    scores: Any, *, level: str = "ordinal", replicates: int = 1000, confidence: float = 0.95, seed: int = 0
) -> Result:
    """``alpha_assisted``, ``alpha_blind`` and ``alpha_difference`` of ``assistance_effect`` alone."""
    return Result(_agreement(_prepared(scores), level, replicates, confidence, seed))


def _effects(frame: pd.DataFrame, replicates: int, confidence: float, seed: int) -> Result:
    cluster, names = pd.factorize(frame["instance"])
    sums = _sums_by_cluster(frame, np.asarray(cluster, dtype=np.int64), len(names))
    totals = dict(zip(SUMS, sums.sum(axis=0), strict=True))
    drawn = _drawn_sums(sums, replicates, seed)
    found = Result()
    for name, (reason, value) in _estimates(totals).items():
        counts = {
            "n_assisted": int(totals["n_assisted"]),
            "n_blind": int(totals["n_blind"]),
            "n_instances": len(names),
        }
        if name == "pull":
            counts = {"n_shifted": int((frame["shift"].fillna(0) != 0).sum()), "n_instances": len(names)}
        if reason:
            found[name] = Estimate.undefined(reason, **counts)
            continue
        replicated = drawn[name]
        spread = summarise(replicated, value, len(names), confidence)
        found[name] = Estimate(value, **counts, p_value=two_sided(spread.pop("distribution")), **spread)
    return found


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
    frame = frame.dropna(subset=["score"]).reset_index(drop=True)
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
    )
    if "unit" in frame:
        return frame
    return frame.assign(unit=frame.groupby(["instance", "criterion"], sort=False).ngroup())


def _sums_by_cluster(frame: pd.DataFrame, cluster: Codes, size: int) -> Numbers:
    """Instances x ``SUMS``: everything the three estimates need."""
    score, draft = frame["score"].to_numpy(), frame["draft_score"].to_numpy()
    plain = ~np.isnan(draft) & frame["genuine"].to_numpy() & (frame["shift"].fillna(0) == 0).to_numpy()
    columns = []
    for arm in (ASSISTED, BLIND):
        kept = plain & (frame["arm"] == arm).to_numpy()
        for part in (score == draft, np.abs(score - draft), np.ones(len(frame))):
            columns.append(np.bincount(cluster, np.where(kept, part, 0), size))
    shift = _within_unit(frame, "shift")
    columns.append(np.bincount(cluster, shift * np.nan_to_num(score), size))
    columns.append(np.bincount(cluster, shift * np.nan_to_num(frame["shift"].to_numpy()), size))
    return np.column_stack(columns)


def _within_unit(frame: pd.DataFrame, column: str) -> Numbers:
    """The column less its mean over the assisted submissions of the same instance and criterion; else 0."""
    shown = frame[column].notna()
    means = frame[shown].groupby("unit", sort=False)[column].transform("mean")
    return (frame[column] - means).fillna(0).to_numpy(dtype=float)


def _estimates(sums: Mapping[str, Any]) -> dict[str, tuple[str | None, float]]:
    """Adoption, distance and pull from sums, each with the reason where it is undefined."""
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
    assisted, blind = (sums[f"{what}_{arm}"] / np.float64(sums[f"n_{arm}"]) for arm in (ASSISTED, BLIND))
    return assisted - blind


def _drawn_sums(sums: Numbers, replicates: int, seed: int) -> dict[str, Numbers]:
    """The replicates of the three estimates; nan where one is undefined."""
    if not len(sums):
        return {}
    times = np.ones(len(sums), dtype=np.int64)
    blocks = [
        weights @ sums for weights in draw_weights(times, replicates, np.random.default_rng(seed), len(SUMS))
    ]
    drawn = dict(zip(SUMS, np.concatenate(blocks).T, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = np.where(drawn["shift"] > 1e-12, drawn["shift_score"] / drawn["shift"], np.nan)
        return {
            "adoption": drawn["same_assisted"] / drawn["n_assisted"] - drawn["same_blind"] / drawn["n_blind"],
            "distance": drawn["gap_assisted"] / drawn["n_assisted"] - drawn["gap_blind"] / drawn["n_blind"],
            "pull": pull,
        }


def _agreement(
    frame: pd.DataFrame, level: str, replicates: int, confidence: float, seed: int
) -> dict[str, Any]:
    """Alpha of each arm over the units of both, and their difference with a joint interval."""
    plain = frame[frame["genuine"]]
    unit, names = pd.factorize(plain["unit"])
    assisted, blind = (
        _ratings(plain, np.asarray(unit), names, (plain["arm"] == arm).to_numpy())
        for arm in (ASSISTED, BLIND)
    )
    difference = alpha_difference(
        assisted, blind, level, replicates=replicates, confidence=confidence, seed=seed, paired=True
    )
    found = {"alpha_difference": difference}
    for name, key in (("alpha_assisted", "a"), ("alpha_blind", "b")):
        value, n = difference[f"alpha_{key}"], difference[f"n_units_{key}"]
        found[name] = (
            Estimate(value, n_units=n, level=level)
            if not np.isnan(value)
            else Estimate.undefined("no unit has two varying ratings in this arm", n_units=n, level=level)
        )
    return found


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


def catch_rates(frame: pd.DataFrame, confidence: float = 0.95) -> Result:
    """How often a wrong score that was shown on purpose was not let stand, overall and by annotator.

    Parameters
    ----------
    frame : ``annotator, arm, score, draft_score, shown_score, planted_score``; optionally ``line_caught``: whether a
        line that was wrong on purpose was revised or deleted, nan where there was none.

    Returns
    -------
    Result
        ``n``, ``caught`` (Estimate: the final score is not the shown one; Wilson interval), ``restored`` (it is
        the draft's own score) and ``per_annotator``, a list of the same; ``lines``: ``n`` and ``caught`` of lines.
    """
    planted = frame[frame["planted_score"].astype(bool) & (frame["arm"] == ASSISTED)].dropna(
        subset=["score", "shown_score"]
    )
    people = [
        Result({"annotator": name}, **_caught(part, confidence))
        for name, part in planted.groupby("annotator")
    ]
    lines = frame["line_caught"].dropna().astype(float) if "line_caught" in frame else pd.Series(dtype=float)
    return Result(
        _caught(planted, confidence),
        per_annotator=people,
        lines=Result(n=len(lines), caught=_share(lines, confidence, "no wrong line was shown on purpose")),
    )


def _caught(planted: pd.DataFrame, confidence: float) -> dict[str, Any]:
    reason, restored = "no wrong score was shown on purpose", planted["score"] == planted["draft_score"]
    return {
        "n": len(planted),
        "restored": Estimate(restored.mean(), n=len(planted)) if len(planted) else Estimate.undefined(reason),
        "caught": _share(planted["score"] != planted["shown_score"], confidence, reason),
    }


def _share(caught: pd.Series[Any], confidence: float, reason: str) -> Estimate:
    """The share with Wilson's interval (Wilson 1927)."""
    n, z = len(caught), float(special.ndtri((1 + confidence) / 2))
    if not n:
        return Estimate.undefined(reason)
    p = float(caught.mean())
    middle, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = ((middle + side * half) / (1 + z**2 / n) for side in (-1, 1))
    return Estimate(p, n=n, ci_low=max(0.0, low), ci_high=min(1.0, high), interval_kind="Wilson")
