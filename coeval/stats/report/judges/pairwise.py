"""The section on comparisons of two outputs: strengths beside the rating means, ties, and the effect of the order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.estimates.clusters import DOCUMENTS, cut, sums_interval
from coeval.stats.estimates.results import Estimate, Spelled
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.bradley_terry import Strengths, fit_strengths
from coeval.stats.report.report_table import Table

POOLED = "all criteria"


@dataclass(frozen=True)
class ComparedSystem:
    """A system: its strength (``bradley_terry``), how often it was preferred, and what ratings say of it."""

    system: str
    n: int
    strength: Spelled
    win_rate: float
    human_mean: float | None
    llm_mean: float | None


@dataclass(frozen=True)
class ComparedBy:
    """The comparisons by one criterion, or by all together.

    ``first_share`` is how often the output shown first was preferred where there was no tie; ``first_log_odds`` is what
    being first is worth in the model of the strengths. ``same_both_ways`` of ``both_ways`` pairs that were compared in
    both orders had the same output preferred, or a tie, both times.
    """

    criterion: str
    n: int
    ties: int
    unread: int
    first_share: Spelled
    first_log_odds: Spelled
    both_ways: int
    same_both_ways: int
    systems: list[ComparedSystem]


@dataclass(frozen=True)
class PairwiseRun:
    """One run of comparisons."""

    run: str
    by: list[ComparedBy]


def pairwise_section(study: StudyFrames) -> list[PairwiseRun]:
    """Bradley-Terry strengths with intervals over documents, ties and position bias: by criterion, and together."""
    known = study.comparisons
    known = known[(known["first_system"] != "") & (known["second_system"] != "")]
    return [
        PairwiseRun(str(run), [_compare(study, own, criterion) for criterion in _criteria(study, own)])
        for run, own in known.groupby("run_label", sort=False)
    ]


def _criteria(study: StudyFrames, own: pd.DataFrame) -> list[str]:
    present = [criterion for criterion in study.criteria if (own["criterion"] == criterion).any()]
    return [*present, POOLED] if len(present) > 1 else present


def _compare(study: StudyFrames, own: pd.DataFrame, criterion: str) -> ComparedBy:
    chosen = own if criterion == POOLED else own[own["criterion"] == criterion]
    read = chosen.dropna(subset=["preference"])
    # two outputs of one system say nothing about systems
    between = read[read["first_system"] != read["second_system"]]
    systems = sorted({*between["first_system"], *between["second_system"]})
    places = {system: at for at, system in enumerate(systems)}
    first, second = (
        between[side].map(places).to_numpy(dtype=np.int64) for side in ("first_system", "second_system")
    )
    preference = between["preference"].to_numpy(dtype=float)
    documents = pd.factorize(between["document"])[0].astype(np.int64)
    strengths = fit_strengths(first, second, preference, documents, systems)
    both, same = _both_ways(read)
    return ComparedBy(
        criterion,
        len(read),
        int((read["preference"] == 0.5).sum()),
        len(chosen) - len(read),
        Spelled(_first_share(read), ("n",)),
        Spelled(strengths.first, ("n",)),
        both,
        same,
        _systems(study, between, strengths, criterion),
    )


def _first_share(read: pd.DataFrame) -> Estimate:
    """How often the first was preferred, of the comparisons without a tie, with an interval over documents."""
    decided = read[read["preference"] != 0.5]
    if decided.empty:
        return Estimate.undefined("no comparison had a preference")
    share = (decided["preference"] > 0.5).to_numpy(dtype=float)
    documents = pd.factorize(decided["document"])[0].astype(np.int64)
    sums = np.zeros((int(documents.max()) + 1, 2))
    np.add.at(sums, documents, np.column_stack([share, np.ones_like(share)]))
    spread = cut(sums_interval(sums, lambda totals: totals[:, 0] / totals[:, 1], DOCUMENTS), 0, 1)
    return Estimate(float(share.mean()), n=len(decided), **spread)


def _both_ways(read: pd.DataFrame) -> tuple[int, int]:
    """Pairs that were compared in both orders, and how many of them came out alike."""
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
        own = won[won["system"] == system]
        rows.append(
            ComparedSystem(
                system,
                len(own),
                Spelled(strength, ("n",)),
                float(own["won"].mean()),
                people.get(system),
                model.get(system),
            )
        )
    return sorted(rows, key=lambda row: -row.strength.value if row.strength.value.defined else 0.0)


def _means(scores: pd.DataFrame, units: pd.DataFrame) -> dict[Any, float]:
    """The mean score of each system over the units chosen."""
    own = scores[scores["unit"].isin(units.index)]
    means = own["score"].astype(float).groupby(units["system"].reindex(own["unit"]).to_numpy()).mean()
    return {system: float(mean) for system, mean in means.items()}


def pairwise_tables(section: list[PairwiseRun]) -> list[Table]:
    """The strengths of every run by criterion, and what the order did."""
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
            "Systems compared two at a time",
            "Bradley-Terry strengths in log-odds (the mean system has 0, ties count half, the order is allowed for), "
            "with 95% intervals over documents, beside the means of ratings.",
            pd.DataFrame(strengths).dropna(axis=1, how="all"),
        ),
        Table(
            "pairwise_order",
            "What the order did",
            "How often the output shown first was preferred, ties left out (.5 where the order does nothing), with a "
            "95% interval over documents; and of the pairs compared in both orders, how many came out alike.",
            pd.DataFrame(orders),
        ),
    ]


def list_compared(study: StudyFrames) -> list[Table]:
    """The tables of the comparisons alone, which need nobody's scores."""
    return pairwise_tables(pairwise_section(study))
