"""The learned parts as plain numbers and texts, which are stored as JSON and applied without the fitting code.

Every part maps a table to a table, so that the same code serves a study's drafts and a file of new outputs. ``Jury``
combines the scores of several judges, ``Calibration`` maps the result to people's scale, and ``Deferral`` selects the
lines that a person should see. ``Fitted`` applies them in this order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field, model_validator

from coeval.extensions.judge.model.labels import PROBABILITIES
from coeval.llm.prompting.questions import Example, Name, Part, Text

Numbers = npt.NDArray[np.float64]

STEADY = 0.1
"""A calibrated score follows the judge's own score if it changes by at least this much per point."""

Positive = Annotated[float, Field(gt=0)]
Confidence = Literal["samples", "jury", "probability"]


class Member(Part):
    """A member of a jury on one criterion: the mean and standard deviation of its scores, and its z-score's weight."""

    judge: Name
    mean: float
    sd: Positive
    weight: float


class Bench(Part):
    """A jury on one criterion: ``intercept + slope * combination`` of its members, within ``low`` and ``high``."""

    members: Annotated[tuple[Member, ...], Field(min_length=1, max_length=1000)]
    intercept: float = 0.0
    slope: float = 1.0
    low: float
    high: float


class Jury(Part):
    """Several judges as one. ``kind`` is the way to combine their scores:

    - ``mean``: the weighted mean of the z-scores of the members that scored;
    - ``ridge``: the weighted sum of z-scores, in which a missing score counts as the member's mean;
    - ``vote``: the weighted median of the scores of the members that scored.
    """

    kind: Literal["mean", "ridge", "vote"]
    benches: dict[Name, Bench]

    def apply(self, judges: pd.DataFrame) -> pd.DataFrame:
        """Return one row per instance and criterion, from ``judges`` with the columns of ``Labels.judges``.

        Returns
        -------
        DataFrame
            ``instance``, ``criterion``, ``score`` (NaN if no member scored), ``spread`` (the members' mean),
            ``disagreement`` (the standard deviation of the members' scores; NaN if fewer than two) and, if the judges
            have them, ``probabilities`` (the members' mean).

        On a criterion without a bench, the score is the plain mean.
        """
        return _by_criterion(judges, self)


class Feature(Part):
    """An input of a map: the raw score on ``criterion``, or the probability of one of its answers.

    ``answer`` is a position on the criterion's scale, from 0. ``mean`` is subtracted first, and replaces a missing
    value.
    """

    criterion: Name
    answer: Annotated[int, Field(ge=0, le=1000)] | None = None
    mean: float = 0.0
    weight: float


class Identity(Part):
    """A map that leaves scores unchanged."""

    kind: Literal["identity"] = "identity"


class Isotonic(Part):
    """A monotone map through knots: linear between them and constant outside (Zadrozny and Elkan 2002)."""

    kind: Literal["isotonic"] = "isotonic"
    raw: Annotated[tuple[float, ...], Field(min_length=1, max_length=10_000)]
    people: Annotated[tuple[float, ...], Field(min_length=1, max_length=10_000)]

    @model_validator(mode="after")
    def _is_a_map(self) -> Isotonic:
        if len(self.raw) != len(self.people):
            raise ValueError("raw and people must be of the same length")
        if (np.diff(self.raw) <= 0).any() or (np.diff(self.people) < 0).any():
            raise ValueError("raw must rise, and people must not fall")
        return self


class Linear(Part):
    """A linear map: ``intercept`` plus the weighted features, within ``low`` and ``high``."""

    kind: Literal["linear"] = "linear"
    intercept: float
    features: Annotated[tuple[Feature, ...], Field(max_length=10_000)]
    low: float
    high: float


class Ordinal(Part):
    """A cumulative logit (McCullagh 1980): P(score <= steps[k]) = logistic(cuts[k] - weighted features).

    The calibrated score is the expected step. With one feature, its weight is the slope.
    """

    kind: Literal["ordinal"] = "ordinal"
    features: Annotated[tuple[Feature, ...], Field(max_length=10_000)]
    cuts: Annotated[tuple[float, ...], Field(min_length=1, max_length=1000)]
    steps: Annotated[tuple[float, ...], Field(min_length=2, max_length=1001)]

    @model_validator(mode="after")
    def _is_a_scale(self) -> Ordinal:
        if len(self.steps) != len(self.cuts) + 1:
            raise ValueError("there must be one cut fewer than steps")
        if (np.diff(self.cuts) < 0).any() or (np.diff(self.steps) <= 0).any():
            raise ValueError("cuts must not fall, and steps must rise")
        return self


Map = Annotated[Identity | Isotonic | Linear | Ordinal, Field(discriminator="kind")]


class Calibration(Part):
    """Maps from a judge's scores to people's scale, by criterion. A criterion without a map keeps its scores."""

    maps: dict[Name, Map]

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the table of ``Jury.apply`` with ``score`` on people's scale and the original score as ``raw``.

        A missing score stays NaN: no map invents a score.
        """
        raw = table["score"].to_numpy(dtype=float)
        score = raw.copy()
        for criterion, fitted in self.maps.items():
            rows = np.flatnonzero((table["criterion"] == criterion).to_numpy())
            if len(rows):
                score[rows] = _mapped(fitted, table, rows)
        return table.assign(score=np.where(np.isnan(raw), np.nan, score), raw=raw)


class Deferral(Part):
    """The lines for people: those with a confidence below ``threshold``, and those without a score.

    ``kind`` defines confidence: minus the spread of ``samples``, minus the disagreement of the ``jury``, or the highest
    ``probability`` of an answer. If ``threshold`` is None, every line goes to a person.
    """

    kind: Confidence
    threshold: float | None
    within: Annotated[float, Field(ge=0)]
    """0 in every file that CoEval writes, and not read: a person agrees if their score is the judge's, rounded."""
    coverage: Annotated[float, Field(ge=0, le=1)]
    """The share of the fitted lines that stay with the judge."""
    agreement: Annotated[float, Field(ge=0, le=1)] | None
    """The guaranteed agreement with people on the lines that stay with the judge; None if no line stays."""
    level: Annotated[float, Field(gt=0, lt=1)]
    """The bound on the share of lines that stay with the judge and on which people disagree with it."""
    computed: Text
    """The method, in a citable sentence."""

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a copy with ``confidence`` (nan if unknown) and ``ask_person``.

        Lines without a score or without a confidence always go to a person, and all lines do without a threshold.
        """
        confidence = find_confidence(table, self.kind)
        mask = ~(np.isnan(confidence) | table["score"].isna().to_numpy())
        stays = (
            mask & (confidence >= self.threshold)
            if self.threshold is not None
            else np.zeros(len(table), bool)
        )
        return table.assign(confidence=confidence, ask_person=~stays)


class Fitted(Part):
    """All learned parts, in the order of application. A part that was not kept is None or empty."""

    examples: Annotated[tuple[Example, ...], Field(max_length=1000)] = ()
    jury: Jury | None = None
    calibration: Calibration | None = None
    deferral: Deferral | None = None

    def apply(self, judges: pd.DataFrame) -> pd.DataFrame:
        """Return the judge's scores, from ``judges`` with the columns of ``Labels.judges``.

        Without a jury, the score is the plain mean of all judges. Examples take effect earlier, in the prompt.

        Returns
        -------
        DataFrame
            One row per instance and criterion: ``instance``, ``criterion``, ``score``, ``raw`` (before calibration),
            ``spread``, ``disagreement``, ``confidence`` (NaN without a deferral), ``ask_person`` (False without a
            deferral) and, if the judges have them, ``probabilities``.
        """
        table = _by_criterion(judges, self.jury)
        table = (self.calibration or Calibration(maps={})).apply(table)
        if self.deferral is None:
            return table.assign(confidence=np.nan, ask_person=False)
        return self.deferral.apply(table)

    def apply_each(self, judges: pd.DataFrame) -> pd.Series:
        """Return the scores that single answers would have given, as tuples by (instance, criterion).

        ``judges`` has the columns of ``Labels.judges`` and ``samples``, the scores of the answers. The n-th answers of
        all members of a jury yield the n-th score. The tuple is empty if a member has fewer than two answers.
        """
        count = judges["samples"].map(len).where(judges["score"].notna())
        runs = (
            count.groupby([judges["instance"], judges["criterion"]], sort=False).min().fillna(0).astype(int)
        )
        runs[runs < 2] = 0
        said = []
        for turn in range(int(runs.max()) if len(runs) else 0):
            scores = [each[turn] if turn < len(each) else math.nan for each in judges["samples"]]
            table = self.apply(judges.assign(score=np.array(scores, dtype=float), spread=np.nan))
            said.append(table.set_index(["instance", "criterion"])["score"].reindex(runs.index).to_numpy())
        grid = np.array(said, dtype=float).reshape(len(said), len(runs)).T
        return pd.Series(
            [tuple(row[:n].tolist()) for row, n in zip(grid, runs, strict=True)], runs.index, dtype=object
        )


def find_unmoved(table: pd.DataFrame) -> dict[str, float]:
    """Return the criteria whose calibrated score does not follow the judge's own score, each with its slope.

    ``table`` has ``criterion``, ``raw`` and ``score``. The slope is from the least-squares line through these rows, so
    it describes these outputs, whatever the kind of map.

    >>> table = pd.DataFrame({"criterion": "a", "raw": [1.0, 2.0, 3.0], "score": [3.0, 3.0, 3.1]})
    >>> {name: round(slope, 3) for name, slope in find_unmoved(table).items()}
    {'a': 0.05}
    """
    unmoved = {}
    for criterion, rows in table.dropna(subset=["raw", "score"]).groupby("criterion", sort=False):
        raw, score = (rows[name].to_numpy(dtype=float) for name in ("raw", "score"))
        away = raw - raw.mean()
        spread = float(away @ away)
        slope = float(away @ score) / spread if spread > 1e-12 else math.nan
        if slope < STEADY:
            unmoved[str(criterion)] = slope
    return unmoved


def tell_unmoved(criterion: str, slope: float) -> str:
    """Return a sentence about a criterion from ``find_unmoved``."""
    return (
        f"The calibrated score on “{criterion}” does not follow the judge: it moves by {round(slope, 3) + 0.0:+.3f} "
        "when the judge's own score moves by 1."
    )


def find_confidence(table: pd.DataFrame, kind: Confidence) -> Numbers:
    """Return the judge's confidence in each line: higher values mean more confidence, NaN means unknown."""
    if kind == "probability":
        column = table[PROBABILITIES] if PROBABILITIES in table else [None] * len(table)
        return np.array([max(p) if isinstance(p, (tuple, list)) else np.nan for p in column], dtype=float)
    return -table["spread" if kind == "samples" else "disagreement"].to_numpy(dtype=float)


def weighted_median(grid: Numbers, weight: Numbers) -> Numbers:
    """Return the weighted median of each row's known numbers: the mean of two if each half has equal weight.

    >>> weighted_median(np.array([[1.0, 5.0, 4.0], [2.0, 3.0, np.nan]]), np.ones(3)).tolist()
    [4.0, 2.5]
    """
    order = np.argsort(grid, axis=1)
    ranked = np.take_along_axis(grid, order, axis=1)
    weights = np.where(np.isnan(ranked), 0.0, np.maximum(weight, 0.0)[order])
    share, half = np.cumsum(weights, axis=1), weights.sum(axis=1, keepdims=True) / 2
    rows = np.arange(len(grid))
    at_least, above = (share >= half - 1e-12).argmax(axis=1), (share > half + 1e-12).argmax(axis=1)
    middle = (ranked[rows, at_least] + ranked[rows, above]) / 2
    return np.where(half[:, 0] > 0, middle, np.nan)


def _combine(kind: str, z: Numbers, weight: Numbers) -> Numbers:
    mask = ~np.isnan(z)
    total = np.where(mask, z, 0.0) @ weight
    if kind == "mean":
        total = np.divide(total, weights := mask @ weight, out=np.full(len(z), np.nan), where=weights != 0)
    return np.where(mask.any(axis=1), total, np.nan)


def _by_criterion(judges: pd.DataFrame, jury: Jury | None) -> pd.DataFrame:
    """Return one row per instance and criterion. Without a jury or bench, its score is the judges' plain mean."""
    benches = jury.benches if jury else {}
    parts = [
        _one_criterion(part, jury.kind if jury else "", benches.get(str(name)))
        for name, part in judges.groupby("criterion", sort=False)
    ]
    return pd.concat(parts, ignore_index=True) if parts else _one_criterion(judges, "", None)


def _one_criterion(judges: pd.DataFrame, kind: str, bench: Bench | None) -> pd.DataFrame:
    if bench:
        judges = judges[judges["judge"].isin([member.judge for member in bench.members])]
    names = [member.judge for member in bench.members] if bench else list(judges["judge"].unique())
    row, instances = pd.factorize(judges["instance"])
    column = pd.Index(names).get_indexer(pd.Index(judges["judge"]))
    scores, spreads = np.full((2, len(instances), len(names)), np.nan)
    scores[row, column] = judges["score"].to_numpy(dtype=float)
    spreads[row, column] = judges["spread"].to_numpy(dtype=float)
    n, mean = _known_mean(scores)
    away = np.where(np.isnan(scores), 0.0, scores - mean[:, None])
    table = pd.DataFrame(
        {
            "instance": instances,
            "criterion": judges["criterion"].iloc[0] if len(judges) else "",
            "score": _sit(kind, bench, scores) if bench else mean,
            "spread": _known_mean(spreads)[1],
            "disagreement": np.sqrt(
                np.divide((away**2).sum(axis=1), n - 1, out=np.full(len(n), np.nan), where=n > 1)
            ),
        }
    )
    if PROBABILITIES in judges:
        means = judges.groupby(row)[PROBABILITIES].agg(_mean_probabilities)
        table[PROBABILITIES] = means.reindex(range(len(table))).to_numpy()
    return table


def _sit(kind: str, bench: Bench, scores: Numbers) -> Numbers:
    """Return the bench's score of each line, from an array of lines x members."""
    mean, sd, weight = (
        np.array([getattr(m, key) for m in bench.members]) for key in ("mean", "sd", "weight")
    )
    combined = (
        weighted_median(scores, weight) if kind == "vote" else _combine(kind, (scores - mean) / sd, weight)
    )
    return np.clip(bench.intercept + bench.slope * combined, bench.low, bench.high)


def _known_mean(grid: Numbers) -> tuple[Numbers, Numbers]:
    """Return the count of known numbers in each row, and their mean, which is NaN if there are none."""
    mask = ~np.isnan(grid)
    n = mask.sum(axis=1).astype(float)
    return n, np.divide(np.where(mask, grid, 0.0).sum(axis=1), n, out=np.full(len(n), np.nan), where=n > 0)


def _mean_probabilities(column: pd.Series) -> tuple[float, ...] | None:
    lists = [p for p in column if isinstance(p, (tuple, list))]
    return tuple(float(p) for p in np.mean(lists, axis=0)) if lists else None


def _mapped(fitted: Map, table: pd.DataFrame, rows: npt.NDArray[np.intp]) -> Numbers:
    raw = table["score"].to_numpy(dtype=float)[rows]
    if isinstance(fitted, Identity):
        return raw
    if isinstance(fitted, Isotonic):
        return np.asarray(np.interp(raw, fitted.raw, fitted.people), dtype=float)
    total = _weighed(fitted.features, table, table["instance"].iloc[rows])
    if isinstance(fitted, Linear):
        return np.clip(fitted.intercept + total, fitted.low, fitted.high)
    return expected_step(np.asarray(fitted.cuts), np.asarray(fitted.steps), total)


def expected_step(cuts: Numbers, steps: Numbers, eta: Numbers) -> Numbers:
    """Return the expected step of a cumulative logit at each ``eta``.

    >>> expected_step(np.array([-50.0, 0.0]), np.array([1.0, 2.0, 3.0]), np.array([0.0])).tolist()
    [2.5]
    """
    below = 1 / (1 + np.exp(np.clip(eta[:, None] - cuts, -500, 500)))
    return np.asarray(steps[-1] - below @ np.diff(steps))


def _weighed(features: tuple[Feature, ...], table: pd.DataFrame, instances: pd.Series) -> Numbers:
    """Return the weighted sum of each instance's features."""
    total = np.zeros(len(instances))
    grids = _feature_grids(features, table)
    for feature in features:
        values = grids[feature.criterion, feature.answer].reindex(instances).to_numpy(dtype=float)
        total += feature.weight * np.where(np.isnan(values), 0.0, values - feature.mean)
    return total


def _feature_grids(
    features: tuple[Feature, ...], table: pd.DataFrame
) -> Mapping[tuple[str, int | None], pd.Series]:
    grids = {}
    by_criterion = {
        name: table[table["criterion"] == name].set_index("instance")
        for name in {f.criterion for f in features}
    }
    for feature in features:
        rows = by_criterion[feature.criterion]
        grids[feature.criterion, feature.answer] = (
            rows["score"] if feature.answer is None else probability_of(rows, feature.answer)
        )
    return grids


def probability_of(rows: pd.DataFrame, place: int) -> pd.Series:
    """Return the probability of one answer for each row, NaN if it is unknown."""
    column = rows[PROBABILITIES] if PROBABILITIES in rows else pd.Series(None, rows.index, dtype=object)
    return pd.Series(
        [p[place] if isinstance(p, (tuple, list)) and place < len(p) else np.nan for p in column],
        rows.index,
        dtype=float,
    )
