"""The section on equivalence: is a judge's mean within a stated margin of people's?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from coeval.stats.estimates.families import adjust_holm
from coeval.stats.estimates.results import Estimate, Spelled
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.equivalence import LEVEL, Equivalence, equivalence_test
from coeval.stats.report.judges.judges_compared import human_means, list_judges
from coeval.stats.report.judges.labels_chosen import LEANED, NO_LABELS, choose_labels
from coeval.stats.report.report_table import Table

SHARE = 0.125
"""The margin as a share of the scale's range: half a point from 1 to 5."""


@dataclass(frozen=True)
class EquivalenceRow:
    """One judge by one criterion; ``equivalent`` goes by the p-value adjusted over the judge's criteria."""

    run: str
    label: str
    criterion: str
    n: int
    margin: float
    bias: Spelled
    p_value: Estimate
    p_holm: Estimate
    smallest_margin: Estimate
    equivalent: bool | None


@dataclass(frozen=True)
class EquivalenceSection:
    """Two one-sided tests of every judge by every criterion; ``margin_share`` of the scale's range is the margin."""

    labels: str
    margin_share: float
    rows: list[EquivalenceRow]


def equivalence_section(study: StudyFrames) -> EquivalenceSection:
    """Equivalence of every judge to people, from scores that no draft can have led; other documents, these people."""
    reference = choose_labels(study)
    items = human_means(reference.scored)
    rows: list[EquivalenceRow] = []
    for judge in list_judges(study):
        own = []
        for place, criterion in enumerate(study.criteria):
            low, high = study.scales.get(criterion, (1, 5))
            margin = SHARE * (high - low)
            both = items.index.intersection(judge.scores.index)
            both = both[both % len(study.criteria) == place]
            tested = _nothing(margin, len(both), LEANED if reference.leaned else NO_LABELS)
            if len(both) and not reference.leaned and margin > 0:
                clusters = study.clusters.of(both)
                people = np.asarray(items[both], dtype=np.float64)
                judged = np.asarray(judge.scores[both], dtype=np.float64)
                tested = equivalence_test(judged, people, margin, clusters)
            own.append(_row(judge.run, judge.label, criterion, tested))
        rows += _adjusted(own)
    return EquivalenceSection(reference.kind, SHARE, rows)


def _nothing(margin: float, n: int, reason: str) -> Equivalence:
    nothing = Estimate.undefined(reason)
    return Equivalence(nothing, margin, nothing, nothing, n)


def _row(run: str, label: str, criterion: str, tested: Equivalence) -> EquivalenceRow:
    return EquivalenceRow(
        run,
        label,
        criterion,
        tested.n,
        tested.margin,
        Spelled(tested.bias),
        tested.p_value,
        tested.p_value,
        tested.smallest_margin,
        None,
    )


def _adjusted(rows: list[EquivalenceRow]) -> list[EquivalenceRow]:
    adjusted = adjust_holm([float(row.p_value) for row in rows])
    return [
        row if np.isnan(p) else replace(row, p_holm=Estimate(p), equivalent=p < LEVEL)
        for row, p in zip(rows, adjusted, strict=True)
    ]


def equivalence_tables(section: EquivalenceSection) -> list[Table]:
    """A row a judge and criterion; none where nothing can be tested."""
    rows = [
        {
            "judge": row.label,
            "criterion": row.criterion,
            "items": row.n,
            "judge_less_people": float(row.bias.value),
            "ci90_low": row.bias.get("ci_low"),
            "ci90_high": row.bias.get("ci_high"),
            "margin": row.margin,
            "p_adjusted": float(row.p_holm),
            "equivalent": {True: "yes", False: "not shown", None: "–"}[row.equivalent],
            "smallest_margin": float(row.smallest_margin),
        }
        for row in section.rows
        if row.bias.value.defined
    ]
    note = (
        f"Is a judge's mean within the margin ({section.margin_share:g} of the scale's range) of people's? Two "
        f"one-sided tests over clusters, from {section.labels} scores, adjusted over a judge's criteria (Holm); "
        "other documents, these people. Not shown is not the same as different. The last column is the least "
        "margin that would do."
    )
    return [Table("equivalence", "Equivalence of judges and people", note, pd.DataFrame(rows))]
