"""Comparisons of judges and raters: pairs of runs, pairs of raters, and unstable verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.two_raters import pair_tables
from coeval.stats.agreement.unit_kinds import MANY
from coeval.stats.clusters import Clusters
from coeval.stats.estimates import Estimate, Spelled, adjust_holm
from coeval.stats.frames import ASSISTED, LLM, StudyFrames
from coeval.stats.judges.correlation import table_correlations
from coeval.stats.judges.two_judges import correlation_difference, flip_rate, permutation_test
from coeval.stats.judges.vector_correlation import WilliamsTest, correlate, williams_test
from coeval.stats.rating_matrix import Codes, Numbers, Ratings
from coeval.stats.report.tables import Table

# The alignment section's comparisons: judges with each other, and pairs of raters.

MAX_RUNS = 10
"""The largest number of runs that are all compared; more are compared only with the shown (or first) run."""

MIN_SYSTEMS = 6
"""The fewest systems for swapping judges by system: with five, the smallest p-value is 2 / 2^5 = .0625."""


@dataclass(frozen=True, eq=False)
class Judge:
    """One run of drafts, with its scores by the code of the unit."""

    run: str
    label: str
    shown: bool
    scores: pd.Series[float]


def list_judges(study: StudyFrames) -> list[Judge]:
    """Return every run with scores, in the order of the drafts."""
    judges = []
    for run, part in study.model_scores.groupby("run", sort=False):
        scores = part.drop_duplicates("unit", keep="last").set_index("unit")["score"]
        shown = bool(part["shown"].astype(bool).any())
        judges.append(Judge(str(run), str(part["run_label"].iloc[0]), shown, scores))
    return judges


def human_means(scored: pd.DataFrame) -> pd.Series[float]:
    """Return the mean of people's scores by the code of the unit."""
    return scored.groupby("unit")["score"].mean()


@dataclass(frozen=True)
class Permuted:
    """A permutation test that swaps judges in ``n_swaps`` clusters; ``p_holm`` is adjusted over all comparisons."""

    p_value: float
    p_holm: float
    n_swaps: int
    exact: bool
    replicates: int


@dataclass(frozen=True)
class Comparison:
    """A comparison of two runs on one criterion, for the units that both runs and people scored.

    ``gap`` is r_a - r_b. It and ``permutation`` apply to other documents judged by these people, for these systems;
    ``permutation_systems``, if there are enough systems to swap, applies to other systems.
    """

    a: str
    b: str
    run_a: str
    run_b: str
    criterion: str
    n: int
    clusters: int
    r_a: float
    r_b: float
    r_ab: float
    williams: WilliamsTest
    permutation: Permuted
    permutation_systems: Permuted | None
    gap: Spelled


def compare_runs(
    study: StudyFrames,
    scored: pd.DataFrame,
    judges: Sequence[Judge],
    replicates: int,
    seed: int,
) -> list[Comparison]:
    """Compare every pair of runs by criterion, on the units that both and people scored.

    P-values are also adjusted with Holm's method.
    """
    pairs = list(combinations(judges, 2))
    if len(judges) > MAX_RUNS:
        main = next((judge for judge in judges if judge.shown), judges[0])
        pairs = [(main, judge) for judge in judges if judge is not main]
    items, width = human_means(scored), max(len(study.criteria), 1)
    rows = []
    for a, b in pairs:
        both = items.index.intersection(a.scores.index).intersection(b.scores.index)
        for k, criterion in enumerate(study.criteria):
            units = both[both % width == k].to_numpy(dtype=np.int64)
            sides = [np.asarray(side[units], dtype=float) for side in (items, a.scores, b.scores)]
            rows.append(_compared(study, a, b, criterion, units, sides, replicates, seed))
    holm = adjust_holm([row.permutation.p_value for row in rows])
    of_systems = adjust_holm(
        [row.permutation_systems.p_value if row.permutation_systems else np.nan for row in rows]
    )
    return [
        replace(
            row,
            permutation=replace(row.permutation, p_holm=p),
            permutation_systems=row.permutation_systems and replace(row.permutation_systems, p_holm=q),
        )
        for row, p, q in zip(rows, holm, of_systems, strict=True)
    ]


def _compared(
    study: StudyFrames,
    a: Judge,
    b: Judge,
    criterion: str,
    units: Codes,
    sides: Sequence[Numbers],
    replicates: int,
    seed: int,
) -> Comparison:
    human, first, second = sides
    clusters = study.clusters.of(units) if len(units) else Clusters(units, study.clusters.kind)
    r_a, r_b, r_ab = (
        correlate(x, y, "pearson") for x, y in ((human, first), (human, second), (first, second))
    )
    gap = correlation_difference(human, first, second, groups=clusters.code)
    if gap.defined:
        gap = gap.having(
            interval_kind=gap.interval_kind.replace("groups", clusters.kind), resampled=clusters.kind
        )
    effect = gap.details.get("design_effect")
    worth = len(human) / effect if effect else None
    return Comparison(
        a=a.label,
        b=b.label,
        run_a=a.run,
        run_b=b.run,
        criterion=criterion,
        n=len(human),
        clusters=clusters.n,
        r_a=r_a,
        r_b=r_b,
        r_ab=r_ab,
        williams=williams_test(r_a, r_b, r_ab, len(human), n_effective=worth),
        permutation=_permuted(sides, clusters.code, replicates, seed),
        permutation_systems=_by_system(study, sides, units, replicates, seed),
        gap=Spelled(gap, ("p_value", "replicates_left_out")),
    )


def _permuted(sides: Sequence[Numbers], groups: Any, replicates: int, seed: int) -> Permuted:
    test = permutation_test(*sides, groups=groups, replicates=replicates, seed=seed)
    return Permuted(test.p_value, np.nan, test.n_swaps, test.exact, test.replicates)


def _by_system(
    study: StudyFrames, sides: Sequence[Numbers], units: Codes, replicates: int, seed: int
) -> Permuted | None:
    """Return the test that swaps by system; None if there are too few systems."""
    systems = study.units["system"].replace("", None).to_numpy(dtype=object)[units]
    if pd.isna(systems).any() or len(set(systems)) < MIN_SYSTEMS:
        return None
    return _permuted(sides, systems, replicates, seed)


@dataclass(frozen=True)
class PairMeans:
    """Each correlation's mean over ``n_pairs`` pairs of raters."""

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    n_pairs: int
    n_pairs_left_out: int

    def of(self, method: str) -> Estimate:
        """Return one of the three coefficients."""
        return {"pearson": self.pearson, "spearman": self.spearman, "kendall": self.kendall}[method]


MeanPairwise = Mapping[str, PairMeans]
"""Mean correlations of pairs of people by arm, and of the shown run with people."""


def mean_pairwise(study: StudyFrames) -> MeanPairwise:
    """Return mean correlations over pairs of raters: people by arm, and the shown run with people.

    Source: CoEval paper, table 8. "Blind" also includes first scores, which no draft influenced. Deliberately wrong
    drafts are left out. Pairs are correlated over the units of all criteria; pairs that share fewer than two units,
    or do not vary on one side, are left out and counted.
    """
    by_name = {}
    genuine = study.genuine
    for name, part in (
        ("people", genuine),
        ("people_assisted", genuine[genuine["arm"] == ASSISTED]),
        ("people_blind", study.unaided),
    ):
        everyone = study.ratings(part, llm=True)
        rows = _pair_correlations(everyone)
        with_llm = rows["b"] == LLM
        by_name[name] = _averaged(rows[~with_llm])
        by_name[name.replace("people", LLM, 1)] = _averaged(rows[with_llm])
    return by_name


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


def _averaged(rows: pd.DataFrame) -> PairMeans:
    used = rows.dropna(subset=["pearson"])
    reason = "no two raters share units on which both vary"
    means = {
        method: Estimate(used[method].mean()) if len(used) else Estimate.undefined(reason)
        for method in ("pearson", "spearman", "kendall")
    }
    return PairMeans(**means, n_pairs=len(used), n_pairs_left_out=len(rows) - len(used))


@dataclass(frozen=True)
class FlipRow:
    """The flip rate of one run on one criterion, for the verdict "at least ``threshold``" (the middle of the scale)."""

    run: str
    label: str
    criterion: str
    threshold: float
    share: Spelled


def flips_section(study: StudyFrames) -> list[FlipRow]:
    """Return the flip rates of every run with two or more answers per output, by criterion.

    Intervals apply to other documents and the same judge.
    """
    several = study.model_scores[study.model_scores["samples"].notna()]
    rows = []
    for (run, label), own in several.groupby(["run", "run_label"], sort=False, observed=True):
        for criterion in study.criteria:
            part = own[own["criterion"] == criterion]
            if part.empty:
                continue
            low, high = study.scales.get(criterion, (1, 5))
            clusters = study.clusters.of(part["unit"].to_numpy())
            rate = flip_rate(list(part["samples"]), (low + high) / 2, clusters)
            rows.append(
                FlipRow(str(run), str(label), criterion, (low + high) / 2, Spelled(rate, ("n", "answers")))
            )
    return rows


def flips_tables(section: list[FlipRow]) -> list[Table]:
    """Return the table of all runs' flip rates."""
    rows = [
        {
            "judge": row.label,
            "criterion": row.criterion,
            "at_least": row.threshold,
            "outputs": row.share.get("n"),
            "answers": row.share.get("answers"),
            "changes": float(row.share.value),
            "ci_low": row.share.get("ci_low"),
            "ci_high": row.share.get("ci_high"),
        }
        for row in section
    ]
    if not rows:
        return []
    return [
        Table(
            "verdict_flips",
            "Verdicts that change between runs",
            "The share of outputs on which two single answers of a judge fall on different sides of the middle of the "
            "scale, from the answers that were stored, with a 95% interval over documents.",
            pd.DataFrame(rows),
        )
    ]
