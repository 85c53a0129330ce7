"""How far the draft itself moved the people who saw it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.frames import ASSISTED, BLIND
from coeval.stats.intervals import summarise, two_sided
from coeval.stats.later import stats
from coeval.stats.patterns import draw_weights
from coeval.stats.ratings import Codes, Numbers, Ratings
from coeval.stats.resampling import alpha_difference
from coeval.stats.results import Estimate, Result

NO_BLIND = "no score was given without the draft (blind arm)"
NO_SOWN = "no shown score differs from the draft's within an instance and criterion"
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
        withheld), ``shown_score`` (what was shown; without it, the draft's score) and, optionally, ``sown``.

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

        Submissions shown a shifted score count for the pull only.

    Source: Schroeder et al. 2025 for adoption; the pull is the within-unit effect of a randomised shift.

    >>> rows = [{"instance": i, "annotator": a, "arm": "assisted" if a != "c" else "blind", "draft_score": 3,
    ...          "score": 3 if a != "c" else 4} for i in range(6) for a in "abc"]
    >>> effect = assistance_effect(rows, replicates=100)
    >>> float(effect.adoption), float(effect.distance), effect.pull.reason == NO_SOWN
    (1.0, -1.0, True)
    """
    frame = _prepared(scores)
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
    return Result(
        found, **_agreement(frame, level, replicates, confidence, seed), sown=catch_rates(frame, confidence)
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
    frame = frame.dropna(subset=["score"]).reset_index(drop=True)
    assisted = frame["arm"] == ASSISTED
    draft = frame["draft_score"].astype(float)
    shown = frame["shown_score"].astype(float) if "shown_score" in frame else draft
    shown = shown.where(shown.notna() & assisted, draft.where(assisted))
    shift = shown - draft
    sown = frame["sown"].astype(bool) if "sown" in frame else shift.fillna(0) != 0
    criterion, annotator = frame.get("criterion", ""), frame.get("annotator", "everybody")
    return frame.assign(
        score=frame["score"].astype(float),
        draft_score=draft,
        shown_score=shown,
        shift=shift,
        sown=sown & assisted,
        criterion=criterion,
        annotator=annotator,
    )


def _sums_by_cluster(frame: pd.DataFrame, cluster: Codes, size: int) -> Numbers:
    """Instances x ``SUMS``: everything the three estimates need."""
    score, draft = frame["score"].to_numpy(), frame["draft_score"].to_numpy()
    plain = ~np.isnan(draft) & ~frame["sown"].to_numpy() & (frame["shift"].fillna(0) == 0).to_numpy()
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
    means = frame[shown].groupby(["instance", "criterion"], sort=False)[column].transform("mean")
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
                None if sums["shift"] > 1e-12 else NO_SOWN,
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
    plain = frame[~frame["sown"]]
    units = pd.MultiIndex.from_frame(plain[["instance", "criterion"]])
    unit, names = pd.factorize(units)
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
    frame : ``annotator, arm, score, draft_score, shown_score, sown``.

    Returns
    -------
    Result
        ``n``, ``caught`` (Estimate: the final score is not the shown one; Wilson interval), ``restored`` (it is
        the draft's own score) and ``per_annotator``, a list of the same.
    """
    sown = frame[frame["sown"].astype(bool) & (frame["arm"] == ASSISTED)].dropna(
        subset=["score", "shown_score"]
    )
    people = [
        Result({"annotator": name}, **_caught(part, confidence)) for name, part in sown.groupby("annotator")
    ]
    return Result(_caught(sown, confidence), per_annotator=people)


def _caught(sown: pd.DataFrame, confidence: float) -> dict[str, Any]:
    n = len(sown)
    if not n:
        nothing = Estimate.undefined("no wrong score was shown on purpose")
        return {"n": 0, "caught": nothing, "restored": nothing}
    caught = int((sown["score"] != sown["shown_score"]).sum())
    interval = stats.binomtest(caught, n).proportion_ci(confidence, method="wilson")
    return {
        "n": n,
        "restored": Estimate((sown["score"] == sown["draft_score"]).mean(), n=n),
        "caught": Estimate(
            caught / n, n=n, ci_low=interval.low, ci_high=interval.high, interval_kind="Wilson"
        ),
    }
