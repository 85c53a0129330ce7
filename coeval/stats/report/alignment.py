"""The section that compares judges with people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from coeval.stats.frames import BLIND, CROWD, EXPERT, FIRST, StudyFrames
from coeval.stats.judges.alternative_annotator import EPSILONS
from coeval.stats.judges.correlation import LEVELS
from coeval.stats.judges.vector_correlation import METHODS
from coeval.stats.report.model_vs_model import (
    Comparison,
    MeanPairwise,
    compare_runs,
    list_judges,
    mean_pairwise,
    pairwise_correlation_tables,
)
from coeval.stats.report.model_vs_people import Against, JudgeRow, choose_labels, judge_row
from coeval.stats.report.tables import Table, make_table


@dataclass(frozen=True)
class AlignmentSection:
    """Every run of drafts compared with people."""

    labels: str
    leaned: bool
    n_labels: int
    n_blind: int
    n_first: int
    annotator_kind: str
    epsilon: float
    runs: list[JudgeRow]
    comparisons: list[Comparison]
    mean_pairwise_correlations: MeanPairwise


def alignment_section(study: StudyFrames) -> AlignmentSection:
    """Return the comparison of every run of drafts with people.

    The people's score of a unit (an instance and a criterion) is their mean. ``labels`` names the scores used:
    "blind", "first" (from before the draft was shown) or "blind and first" if there are any, because the draft
    influences people who see it. "undrafted" means that every score is older than the drafts. Otherwise,
    descriptive figures use assisted scores, ``leaned`` is True, and the alt-test is undefined. Deliberately wrong
    drafts are always left out.

    Intervals and tests treat clusters (whole documents) as independent. ``comparisons`` contains Williams' test of
    every pair of runs by criterion, and the difference of their correlations.
    """
    reference = choose_labels(study)
    people = study.ratings(reference.scored)
    epsilon, kind = _epsilon(reference.scored)
    judges = list_judges(study)
    return AlignmentSection(
        labels=reference.kind,
        leaned=reference.leaned,
        n_labels=len(reference.scored),
        n_blind=reference.count(BLIND),
        n_first=0 if reference.leaned else reference.count(FIRST),
        annotator_kind=kind,
        epsilon=epsilon,
        runs=[judge_row(study, reference, people, judge, epsilon) for judge in judges],
        comparisons=compare_runs(study, reference.scored, judges),
        mean_pairwise_correlations=mean_pairwise(study),
    )


def _epsilon(scored: pd.DataFrame) -> tuple[float, str]:
    groups = set(scored["group"])
    kind = {frozenset({EXPERT}): "expert", frozenset({CROWD}): "crowd"}.get(frozenset(groups), "skilled")
    return EPSILONS[kind], kind


def alignment_tables(section: AlignmentSection) -> list[Table]:
    """Return the tables of the judges, of each pair of judges, and of pairs of raters."""
    correlations = tuple(f"{level}_{method}" for level in LEVELS for method in METHODS)
    return [
        make_table(
            "judges",
            "Judges against people",
            f"People's mean score of a unit, from {section.labels} scores; alt-test with RMSE, epsilon "
            f"{section.epsilon:g}, Benjamini-Yekutieli, p adjusted over criteria (Holm): the model may replace a "
            "person if p is at most .05. All: the criteria pooled; mean: their mean.",
            [row for run in section.runs for row in _judge_rows(run)],
            ("judge", "criterion", "n", *correlations, "equals_median", "model_less_median", "winning_rate")
            + ("advantage", "alt_test_p_holm"),
        ),
        make_table(
            "judges_compared",
            "Judges compared",
            "Pearson correlation with the people's mean, over units scored by both judges, and the difference with its "
            "95% interval over documents; Williams' test with the effective number of items, two-sided, adjusted over "
            "all rows (Holm).",
            [_comparison_row(row) for row in section.comparisons],
            (
                "judges",
                "criterion",
                "n",
                "r_first",
                "r_second",
                "difference",
                "ci_low",
                "ci_high",
                "p_williams",
                "p_holm",
            ),
        ),
        *pairwise_correlation_tables(section.mean_pairwise_correlations),
    ]


def _judge_rows(run: JudgeRow) -> Iterator[dict[str, Any]]:
    for part in run.per_criterion:
        yield _judge_row(run, part.criterion, part.against) | {"alt_test_p_holm": part.alt_test_p_holm}
    means = {
        f"{level}_{method}": getattr(run.correlations_mean[level], method).value
        for level in LEVELS
        for method in METHODS
    }
    yield {"judge": run.label, "criterion": "mean", "n": run.against.n_units, **means}
    yield _judge_row(run, "all", run.against)


def _judge_row(run: JudgeRow, criterion: str, against: Against) -> dict[str, Any]:
    return {
        "judge": run.label,
        "criterion": criterion,
        "n": against.n_units,
        **{
            f"{level}_{method}": getattr(getattr(against.correlations, level), method)
            for level in LEVELS
            for method in METHODS
        },
        "equals_median": against.confusion.exact,
        "model_less_median": against.confusion.bias,
        "winning_rate": against.alt_test.winning_rate,
        "advantage": against.alt_test.advantage_probability,
    }


def _comparison_row(row: Comparison) -> dict[str, Any]:
    return {
        "judges": f"{row.a} – {row.b}",
        "criterion": row.criterion,
        "n": row.n,
        "r_first": row.r_a,
        "r_second": row.r_b,
        "difference": row.gap.value,
        "ci_low": row.gap.get("ci_low"),
        "ci_high": row.gap.get("ci_high"),
        "p_williams": row.williams.p_two_sided,
        "p_holm": row.p_holm,
    }
