"""Combine several judges by the mean of their z-scores, ridge weights or a vote, or choose a single judge.

A fitted line maps the mean of z-scores and the ridge to people's scale. A single judge is mapped in the same way, so
that its comparison with a jury is fair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from coeval.domain import Scale
from coeval.errors import InputError
from coeval.extensions.judge.learning.cross_validation import people_lines
from coeval.extensions.judge.model.fitted import Bench, Jury, Member, Numbers
from coeval.extensions.judge.model.labels import Labels

Kind = Literal["mean", "ridge", "vote"]
KINDS: tuple[Kind, ...] = ("mean", "ridge", "vote")
PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
PARTS = 5


@dataclass(frozen=True, eq=False)
class Grid:
    """The scores on one criterion: people's mean of each line, the judges' names, and the judges' z-scores.

    ``z`` is lines x judges (NaN without a score). It has only judges whose scores vary: those at ``places``
    in ``names``. ``means`` and ``sds`` are of their scores.
    """

    human: Numbers
    names: list[str]
    z: Numbers
    places: list[int]
    means: list[float]
    sds: list[float]

    def member(self, column: int, weight: float) -> Member:
        name = self.names[self.places[column]]
        return Member(judge=name, mean=self.means[column], sd=self.sds[column], weight=weight)


Grids = Mapping[str, Grid]


def fit_jury(labels: Labels, kind: Kind, grids: Grids | None = None) -> Jury:
    """Combine all judges of ``labels`` into a jury on each criterion that people and at least one judge scored.

    ``grids`` is the result of ``judge_grids(labels)``, if it is already known.
    """
    benches = {}
    for criterion, grid in (grids or judge_grids(labels)).items():
        if not grid.places or len(grid.human) < 2:
            continue
        weights, intercept, slope = np.ones(len(grid.places)), 0.0, 1.0
        if kind == "mean":
            intercept, slope = _line(_row_means(grid.z), grid.human)
        elif kind == "ridge":
            filled = np.where(np.isnan(grid.z), 0.0, grid.z)
            weights = _ridge_weights(filled, grid.human)
            intercept = float(grid.human.mean() - (filled @ weights).mean())
        members = tuple(grid.member(column, float(weight)) for column, weight in enumerate(weights))
        benches[criterion] = _bench(members, intercept, slope, labels.scales[criterion])
    return Jury(kind=kind, benches=benches)


def fit_best_judge(labels: Labels, grids: Grids | None = None) -> Jury:
    """Return the single judge that is closest to people on each criterion, mapped to people's scale by a line."""
    benches = {}
    for criterion, grid in (grids or judge_grids(labels)).items():
        lines = [_line(column, grid.human) for column in grid.z.T]
        errors = [
            float(np.nanmean((intercept + slope * column - grid.human) ** 2))
            for (intercept, slope), column in zip(lines, grid.z.T, strict=True)
        ]
        if errors:
            best = int(np.argmin(errors))
            benches[criterion] = _bench((grid.member(best, 1.0),), *lines[best], labels.scales[criterion])
    return Jury(kind="mean", benches=benches)


def single_judge(labels: Labels, name: str) -> Jury:
    """Return one judge as a jury, without fitting.

    Raises
    ------
    InputError
        If there is no such judge.
    """
    if name not in labels.members:
        raise InputError(f"There is no judge {name!r}; the judges are {', '.join(labels.members)}.")
    member = Member(judge=name, mean=0.0, sd=1.0, weight=1.0)
    benches = {c: _bench((member,), 0.0, 1.0, labels.scales[c]) for c in labels.criteria}
    return Jury(kind="mean", benches=benches)


def _bench(members: tuple[Member, ...], intercept: float, slope: float, scale: Scale) -> Bench:
    return Bench(members=members, intercept=intercept, slope=slope, low=scale.low, high=scale.high)


def judge_grids(labels: Labels) -> Grids:
    """Return people's means and the judges' standardised scores for each criterion.

    A grid has the lines that people and at least one judge scored. A judge that gives every line the same score has
    no column in it.
    """
    lines = people_lines(labels)
    grids = {}
    for criterion in labels.criteria:
        scored_lines = lines[lines["criterion"] == criterion]
        rows = labels.judges[labels.judges["criterion"] == criterion]
        table = rows.pivot(index="instance", columns="judge", values="score").reindex(
            scored_lines["instance"]
        )
        scores = table.to_numpy(dtype=float)
        scored = ~np.isnan(scores).all(axis=1)
        scores, human = scores[scored], scored_lines["human"].to_numpy(dtype=float)[scored]
        places = [k for k in range(scores.shape[1]) if np.unique(scores[~np.isnan(scores[:, k]), k]).size > 1]
        means = [float(np.nanmean(scores[:, k])) for k in places]
        sds = [float(np.nanstd(scores[:, k])) for k in places]
        z = (scores[:, places] - np.array(means)) / np.array(sds) if places else np.empty((len(scores), 0))
        grids[criterion] = Grid(human, [str(name) for name in table.columns], z, places, means, sds)
    return grids


def _row_means(z: Numbers) -> Numbers:
    mask = ~np.isnan(z)
    total = np.where(mask, z, 0.0).sum(axis=1)
    mean: Numbers = np.divide(total, mask.sum(axis=1), out=np.zeros(len(z)), where=mask.any(axis=1))
    return mean


def _line(x: Numbers, y: Numbers) -> tuple[float, float]:
    """Return a least-squares line, which is constant if x does not vary."""
    mask = ~np.isnan(x)
    x, y = x[mask], y[mask]
    if len(x) < 2 or np.ptp(x) == 0:
        return (float(y.mean()) if len(y) else 0.0), 0.0
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    return float(y.mean() - slope * x.mean()), slope


def _ridge_weights(z: Numbers, human: Numbers) -> Numbers:
    """Return ridge weights, with the penalty from a cross-validation over lines."""
    part = np.random.default_rng(0).permutation(len(human)) % PARTS
    centred = human - human.mean()

    def solve(rows: np.ndarray, penalty: float) -> Numbers:
        x = z[rows]
        return np.asarray(np.linalg.solve(x.T @ x + penalty * np.eye(z.shape[1]), x.T @ centred[rows]))

    def error(penalty: float) -> float:
        return sum(
            float(((centred[part == name] - z[part == name] @ solve(part != name, penalty)) ** 2).sum())
            for name in range(PARTS)
        )

    return solve(np.ones(len(human), dtype=bool), min(PENALTIES, key=error))
