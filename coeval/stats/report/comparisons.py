"""The alignment section's comparisons: judges with each other, raters in pairs, people with a latent truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.competence import dawid_skene
from coeval.stats.agreement.pairs import pair_tables
from coeval.stats.agreement.patterns import MANY
from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.frames import ASSISTED, LLM, StudyFrames
from coeval.stats.judges.correlation import correlate, table_correlations
from coeval.stats.judges.two_judges import bootstrap_test, permutation_test
from coeval.stats.judges.williams import williams_test
from coeval.stats.rating_matrix import Numbers, Ratings
from coeval.stats.report.agreement import spelled

MAX_RUNS = 10
"""More runs than this are compared with the shown one (or the first) only."""

STEPS = 20_000_000
"""Scores times steps of Dawid and Skene's model that a page may wait for."""


@dataclass(frozen=True, eq=False)
class Judge:
    """One run of drafts: its scores by unit code."""

    run: str
    label: str
    shown: bool
    scores: pd.Series[float]


def list_judges(study: StudyFrames) -> list[Judge]:
    """Every run that scored something, in the order of the drafts."""
    found = []
    for run, part in study.model_scores.groupby("run", sort=False):
        scores = part.drop_duplicates("unit", keep="last").set_index("unit")["score"]
        shown = bool(part["shown"].astype(bool).any())
        found.append(Judge(str(run), str(part["run_label"].iloc[0]), shown, scores))
    return found


def human_means(scored: pd.DataFrame) -> pd.Series[float]:
    """The mean of the people's scores by unit code."""
    return scored.groupby("unit")["score"].mean()


def compare_runs(
    study: StudyFrames,
    scored: pd.DataFrame,
    judges: Sequence[Judge],
    replicates: int,
    seed: int,
) -> list[Result]:
    """Every two runs by criterion, on the units that both and people scored."""
    pairs = list(combinations(judges, 2))
    if len(judges) > MAX_RUNS:
        main = next((judge for judge in judges if judge.shown), judges[0])
        pairs = [(main, judge) for judge in judges if judge is not main]
    items, width = human_means(scored), max(len(study.criteria), 1)
    found = []
    for a, b in pairs:
        both = items.index.intersection(a.scores.index).intersection(b.scores.index)
        for k, criterion in enumerate(study.criteria):
            own = both[both % width == k]
            human, one, other = (np.asarray(side[own], dtype=float) for side in (items, a.scores, b.scores))
            found.append(
                Result(
                    {"a": a.label, "b": b.label, "run_a": a.run, "run_b": b.run, "criterion": criterion},
                    **_compared(human, one, other, replicates, seed),
                )
            )
    return found


def _compared(human: Numbers, a: Numbers, b: Numbers, replicates: int, seed: int) -> dict[str, Any]:
    r_a, r_b, r_ab = (
        correlate(human, a, "pearson"),
        correlate(human, b, "pearson"),
        correlate(a, b, "pearson"),
    )
    permuted = permutation_test(human, a, b, replicates=replicates, seed=seed)
    booted = bootstrap_test(human, a, b, replicates=replicates, seed=seed)
    return {
        "n": len(human),
        "r_a": r_a,
        "r_b": r_b,
        "r_ab": r_ab,
        "williams": williams_test(r_a, r_b, r_ab, len(human)),
        "permutation": Result(
            {name: permuted[name] for name in ("difference", "p_value", "exact", "replicates")}
        ),
        "bootstrap": spelled(booted, "p_value", "replicates_left_out"),
    }


def mean_pairwise(study: StudyFrames) -> Result:
    """Mean correlation over pairs of raters: people by arm, and the shown run with people (paper, table 8).

    Those called blind are the scores no draft can have led: of the blind arm, and first scores. Drafts that were
    wrong on purpose are left out. Pairs are correlated over all criteria's units together; pairs that share fewer
    than two units, or in which one side never varies, are left out and counted.
    """
    found = Result()
    genuine = study.genuine
    for name, part in (
        ("people", genuine),
        ("people_assisted", genuine[genuine["arm"] == ASSISTED]),
        ("people_blind", study.unaided),
    ):
        everyone = study.ratings(part, llm=True)
        rows = _pair_correlations(everyone)
        with_llm = rows["b"] == LLM
        found[name] = _averaged(rows[~with_llm])
        found[name.replace("people", LLM, 1)] = _averaged(rows[with_llm])
    return found


def _pair_correlations(data: Ratings) -> pd.DataFrame:
    rows = []
    if len(data.categories) <= MANY:
        for block in pair_tables(data):
            values = table_correlations(block.tables, data.numbers)
            rows += [
                {
                    "b": data.annotators[block.a + 1 + k],
                    **{name: column[k] for name, column in values.items()},
                }
                for k in range(len(block.tables))
            ]
        return pd.DataFrame(rows, columns=["b", "pearson", "spearman", "kendall"])
    table = data.table()
    for a, b in combinations(range(data.n_annotators), 2):
        both = ~np.isnan(table[a]) & ~np.isnan(table[b])
        rows.append(
            {
                "b": data.annotators[b],
                **{
                    method: correlate(table[a, both], table[b, both], method)
                    for method in ("pearson", "spearman", "kendall")
                },
            }
        )
    return pd.DataFrame(rows, columns=["b", "pearson", "spearman", "kendall"])


def _averaged(rows: pd.DataFrame) -> Result:
    used = rows.dropna(subset=["pearson"])
    reason = "no two raters share units on which both vary"
    means = {
        method: Estimate(used[method].mean()) if len(used) else Estimate.undefined(reason)
        for method in ("pearson", "spearman", "kendall")
    }
    return Result(means, n_pairs=len(used), n_pairs_left_out=len(rows) - len(used))


def competence_section(study: StudyFrames, people: Ratings) -> Result:
    """Dawid and Skene's chance that a person's score is right, over all units."""
    if people.n_annotators < 3 or len(people.categories) > 20:
        reason = "fewer than three people" if people.n_annotators < 3 else "more than 20 different scores"
        return Result(reason=reason, annotators=[])
    steps = int(np.clip(STEPS / max(len(people.code), 1), 200, 5000))
    found = dawid_skene(people, tolerance=1e-6, max_iterations=steps)
    if found.reason:
        return Result(reason=found.reason, annotators=[])
    rated = np.bincount(people.annotator, minlength=people.n_annotators)
    alone = Estimate.undefined("this person shares no unit with another")
    rows = [
        {"annotator": name, "n": int(n), "competence": found.competence.get(name, alone)}
        for name, n in zip(people.annotators, rated, strict=True)
    ]
    return Result(reason=None, annotators=rows, converged=found.converged, n_iterations=found.n_iterations)
