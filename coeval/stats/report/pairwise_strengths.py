"""The section on comparisons of two outputs: strengths (Bradley and Terry 1952), ties, and the effect of the order.

In the model, the log-odds of preferring the output shown first are its system's strength minus the other's, plus the
effect of being first (Davidson and Beaver 1977). A tie counts as half a win for each system, and a mean of several
answers as its share. Strengths sum to 0; a difference of 1 means odds of e to 1.

A system that won every comparison would have an infinite strength. Half a win each way is therefore added once for
every compared pair of systems, which shrinks strengths slightly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.clusters import DOCUMENTS, cut, ratio_of, sums_interval
from coeval.stats.estimates import Estimate, Spelled, t_limits
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Codes, Numbers
from coeval.stats.report.tables import Table

ADDED = 0.5
"""The wins added in each direction for every compared pair of systems."""

STEPS, CLOSE = 100, 1e-10
KIND = "sandwich over documents, t"


@dataclass(frozen=True)
class Strengths:
    """The systems' strengths in order, and the log-odds of being shown first, with intervals."""

    systems: tuple[str, ...]
    strengths: tuple[Estimate, ...]
    first: Estimate


def fit_strengths(
    first: Codes,
    second: Codes,
    preference: Numbers,
    cluster: Codes,
    systems: Sequence[str],
) -> Strengths:
    """Fit the model by Newton's method.

    Parameters
    ----------
    first, second : the systems shown first and second in each comparison, as positions in ``systems``.
    preference : from 0 (the second) to 1 (the first); .5 is a tie.
    cluster : the document of each comparison, because documents were sampled. For G documents, intervals use the
        cluster-robust variance with G / (G - 1), or that of independent comparisons if it is larger, and Student's t
        with G - 1 degrees of freedom.

    Estimates are undefined, with a reason, if a system was not compared, or systems fall into groups without
    comparisons between them. With fewer than two documents, strengths have no interval.
    """
    k = len(systems)
    if not len(first):
        return _undefined(systems, "nothing was compared")
    if not _connected(first, second, k):
        return _undefined(
            systems, "some systems were never compared with the others, directly or by way of third ones"
        )
    design = _design(first, second, k)
    extra = _added(first, second, k)
    theta, information = _newton(design, preference, extra)
    inverse: Numbers = np.linalg.inv(information).astype(float)
    # contrasts: the centred strengths of all systems from those of the first k - 1
    full = np.zeros((k, design.shape[1]))
    full[: k - 1, : k - 1] = np.eye(k - 1)
    full[:, : k - 1] -= full[:, : k - 1].mean(axis=0)
    residual = preference - _chance(design @ theta)
    variance, groups = _robust(design * residual[:, None], cluster, inverse)
    values = full @ theta
    # documents with equal results have no variance between them, but each comparison still varies by chance
    spreads = None if variance is None else np.sqrt(np.maximum(_of(full, variance), _of(full, inverse)))
    order = None if variance is None else float(np.sqrt(max(variance[-1, -1], inverse[-1, -1])))
    details = {"n": len(first), "clusters": groups, "interval_kind": KIND}
    return Strengths(
        tuple(systems),
        tuple(
            _estimate(float(value), None if spreads is None else float(spreads[at]), groups, details)
            for at, value in enumerate(values)
        ),
        _estimate(float(theta[-1]), order, groups, details),
    )


def _of(contrasts: Numbers, variance: Numbers) -> Numbers:
    return np.asarray(np.diag(contrasts @ variance @ contrasts.T), dtype=float)


def _undefined(systems: Sequence[str], reason: str) -> Strengths:
    return Strengths(
        tuple(systems), tuple(Estimate.undefined(reason) for _ in systems), Estimate.undefined(reason)
    )


def _estimate(value: float, se: float | None, groups: int, details: dict[str, Any]) -> Estimate:
    if se is None:
        return Estimate(value, **details, ci_reason="there are fewer than two documents")
    return Estimate(value, **details, **t_limits(value, se, groups - 1))


def _connected(first: Codes, second: Codes, k: int) -> bool:
    group = np.arange(k)
    for _ in range(k):
        for winner, other in {(int(a), int(b)) for a, b in zip(first, second, strict=True)}:
            group[[winner, other]] = min(group[winner], group[other])
    return bool((group == group[0]).all())


def _design(first: Codes, second: Codes, k: int) -> Numbers:
    """Return one column per system except the last, whose strength is 0, and a column of ones for the order."""
    design = np.zeros((len(first), k + 1))
    rows = np.arange(len(first))
    design[rows, first] += 1
    design[rows, second] -= 1
    design[:, k] = 1
    return np.delete(design, k - 1, axis=1)


def _added(first: Codes, second: Codes, k: int) -> Numbers:
    """Return one row per compared pair of systems: 2 x ADDED ties without an effect of the order."""
    pairs = sorted({(min(int(a), int(b)), max(int(a), int(b))) for a, b in zip(first, second, strict=True)})
    rows = _design(np.array([a for a, _ in pairs]), np.array([b for _, b in pairs]), k)
    rows[:, -1] = 0
    return rows


def _chance(log_odds: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-log_odds))


def _newton(design: Numbers, preference: Numbers, extra: Numbers) -> tuple[Numbers, Numbers]:
    """Return the strengths at which the score function is 0, and the information matrix at these strengths."""
    theta = np.zeros(design.shape[1])
    information = np.eye(design.shape[1])
    for _ in range(STEPS):
        chance, tied = _chance(design @ theta), _chance(extra @ theta)
        score = design.T @ (preference - chance) + 2 * ADDED * (extra.T @ (0.5 - tied))
        information = (design * (chance * (1 - chance))[:, None]).T @ design
        information += 2 * ADDED * (extra * (tied * (1 - tied))[:, None]).T @ extra
        information += 1e-9 * np.eye(len(theta))
        step = np.linalg.solve(information, score)
        theta = theta + np.clip(step, -2, 2)
        if np.abs(step).max() < CLOSE:
            break
    return theta, information


def _robust(scores: Numbers, cluster: Codes, inverse: Numbers) -> tuple[Numbers | None, int]:
    """Return the cluster-robust variance (None for fewer than two clusters) and the number of clusters."""
    codes = np.unique(cluster, return_inverse=True)[1]
    groups = int(codes.max()) + 1
    if groups < 2:
        return None, groups
    sums = np.zeros((groups, scores.shape[1]))
    np.add.at(sums, codes, scores)
    return groups / (groups - 1) * inverse @ (sums.T @ sums) @ inverse, groups


# The section: strengths and mean ratings, ties, and the effect of the order.

POOLED = "all criteria"


@dataclass(frozen=True)
class ComparedSystem:
    """A system's strength (``fit_strengths``), its number of wins, and its mean ratings."""

    system: str
    n: int
    strength: Spelled
    win_rate: float
    human_mean: float | None
    llm_mean: float | None


@dataclass(frozen=True)
class ComparedBy:
    """The comparisons on one criterion, or on all together.

    ``first_share`` is how often the output shown first was preferred, without ties. ``both_ways`` pairs were compared
    in both orders; ``same_both_ways`` of them had the same preference or a tie both times.
    """

    criterion: str
    n: int
    ties: int
    unread: int
    first_share: Spelled
    both_ways: int
    same_both_ways: int
    systems: list[ComparedSystem]


@dataclass(frozen=True)
class PairwiseRun:
    """The results of one run of comparisons."""

    run: str
    by: list[ComparedBy]


def pairwise_section(study: StudyFrames) -> list[PairwiseRun]:
    """Return Bradley-Terry strengths with intervals over documents, ties and position bias, by criterion."""
    compared = study.comparisons
    compared = compared[(compared["first_system"] != "") & (compared["second_system"] != "")]
    return [
        PairwiseRun(str(run), [_compare(study, part, criterion) for criterion in _criteria(study, part)])
        for run, part in compared.groupby("run_label", sort=False)
    ]


def _criteria(study: StudyFrames, votes: pd.DataFrame) -> list[str]:
    present = [criterion for criterion in study.criteria if (votes["criterion"] == criterion).any()]
    return [*present, POOLED] if len(present) > 1 else present


def _compare(study: StudyFrames, votes: pd.DataFrame, criterion: str) -> ComparedBy:
    chosen = votes if criterion == POOLED else votes[votes["criterion"] == criterion]
    read = chosen.dropna(subset=["preference"])
    # two outputs of the same system say nothing about systems
    between = read[read["first_system"] != read["second_system"]]
    systems = sorted({*between["first_system"], *between["second_system"]})
    places = {system: at for at, system in enumerate(systems)}
    first, second = (
        between[side].map(places).to_numpy(dtype=np.int64) for side in ("first_system", "second_system")
    )
    preference = between["preference"].to_numpy(dtype=float)
    documents = pd.factorize(between["document"])[0].astype(np.int64)
    strengths = fit_strengths(first, second, preference, documents, systems)
    read_both_ways, same = _both_ways(read)
    return ComparedBy(
        criterion,
        len(read),
        int((read["preference"] == 0.5).sum()),
        len(chosen) - len(read),
        Spelled(_first_share(read), ("n",)),
        read_both_ways,
        same,
        _systems(study, between, strengths, criterion),
    )


def _first_share(read: pd.DataFrame) -> Estimate:
    """Return how often the first output was preferred, without ties, with an interval over documents."""
    decided = read[read["preference"] != 0.5]
    if decided.empty:
        return Estimate.undefined("no comparison had a preference")
    share = (decided["preference"] > 0.5).to_numpy(dtype=float)
    documents = pd.factorize(decided["document"])[0].astype(np.int64)
    sums = np.zeros((int(documents.max()) + 1, 2))
    np.add.at(sums, documents, np.column_stack([share, np.ones_like(share)]))
    spread = cut(sums_interval(sums, ratio_of, DOCUMENTS), 0, 1)
    return Estimate(float(share.mean()), n=len(decided), **spread)


def _both_ways(read: pd.DataFrame) -> tuple[int, int]:
    """Return the number of pairs that were compared in both orders, and of those with the same result."""
    keys = ["criterion", "first", "second"]
    turned = read.rename(columns={"first": "second", "second": "first"})
    met = read.merge(turned, on=keys, suffixes=("", "_turned"))
    met = met[met["first"].astype(str) < met["second"].astype(str)]
    alike = np.sign(met["preference"] - 0.5) == -np.sign(met["preference_turned"] - 0.5)
    return len(met), int(alike.sum())


def _systems(
    study: StudyFrames, between: pd.DataFrame, strengths: Strengths, criterion: str
) -> list[ComparedSystem]:
    won = pd.concat(
        [
            pd.DataFrame({"system": between["first_system"], "won": between["preference"]}),
            pd.DataFrame({"system": between["second_system"], "won": 1 - between["preference"]}),
        ]
    )
    units = study.units
    chosen = units if criterion == POOLED else units[units["criterion"] == criterion]
    people = _means(study.scored[["unit", "score"]], chosen)
    model = _means(study.shown_scores.rename("score").rename_axis("unit").reset_index(), chosen)
    rows = []
    for system, strength in zip(strengths.systems, strengths.strengths, strict=True):
        system_votes = won[won["system"] == system]
        rows.append(
            ComparedSystem(
                system,
                len(system_votes),
                Spelled(strength, ("n",)),
                float(system_votes["won"].mean()),
                people.get(system),
                model.get(system),
            )
        )
    return sorted(rows, key=lambda row: -row.strength.value if row.strength.value.defined else 0.0)


def _means(scores: pd.DataFrame, units: pd.DataFrame) -> dict[Any, float]:
    """Return the mean score of each system over these units."""
    unit_scores = scores[scores["unit"].isin(units.index)]
    means = (
        unit_scores["score"]
        .astype(float)
        .groupby(units["system"].reindex(unit_scores["unit"]).to_numpy())
        .mean()
    )
    return {system: float(mean) for system, mean in means.items()}


def pairwise_tables(section: list[PairwiseRun]) -> list[Table]:
    """Return tables of every run's strengths by criterion and of the effect of the order."""
    if not section:
        return []
    strengths = [
        {
            "run": run.run,
            "criterion": by.criterion,
            "system": row.system,
            "comparisons": row.n,
            "strength": row.strength.value,
            "ci_low": row.strength.get("ci_low"),
            "ci_high": row.strength.get("ci_high"),
            "preferred": row.win_rate,
            "mean_of_people": row.human_mean,
            "mean_of_shown_run": row.llm_mean,
        }
        for run in section
        for by in run.by
        for row in by.systems
    ]
    orders = [
        {
            "run": run.run,
            "criterion": by.criterion,
            "comparisons": by.n,
            "ties": by.ties,
            "unread": by.unread,
            "first_preferred": by.first_share.value,
            "ci_low": by.first_share.get("ci_low"),
            "ci_high": by.first_share.get("ci_high"),
            "both_orders": by.both_ways,
            "same_in_both": by.same_both_ways,
        }
        for run in section
        for by in run.by
    ]
    return [
        Table(
            "pairwise_strengths",
            "Pairwise comparisons of systems",
            "Bradley-Terry strengths in log-odds (0 for the mean system, ties count half, adjusted for "
            "the order), with 95% intervals over documents, beside the means of ratings.",
            pd.DataFrame(strengths).dropna(axis=1, how="all"),
        ),
        Table(
            "pairwise_order",
            "Effect of the order",
            "How often the output shown first was preferred, without ties (.5 means no effect of the "
            "order), with a 95% interval over documents; and how many pairs had the same result in both "
            "orders.",
            pd.DataFrame(orders),
        ),
    ]


def list_compared(study: StudyFrames) -> list[Table]:
    """Return the comparison tables, which need no scores."""
    return pairwise_tables(pairwise_section(study))
