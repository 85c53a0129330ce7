"""The section on reliability: where differences between scores come from, and how many people a mean needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from coeval.stats.agreement.icc import PEOPLE, Components, variance_components
from coeval.stats.estimates.results import FLAT, Estimate
from coeval.stats.frames import StudyFrames
from coeval.stats.report.report_table import Table


@dataclass(frozen=True)
class CriterionComponents:
    """The components of one criterion."""

    criterion: str
    components: Components = field(metadata=FLAT)


@dataclass(frozen=True)
class ReliabilitySection:
    """A G-study of every criterion, and the mean over criteria of its D-study."""

    per_criterion: list[CriterionComponents]
    phi: dict[int, Estimate]


def reliability_section(study: StudyFrames) -> ReliabilitySection:
    """Variance between instances, between people, and the rest, by criterion; and how the mean of k people would agree.

    Final scores of everybody, whatever they saw: with drafts in view, people agree more than they would without.
    """
    width, parts = max(len(study.criteria), 1), []
    for place, criterion in enumerate(study.criteria):
        own = study.rated[study.rated["unit"] % width == place]
        parts.append(CriterionComponents(criterion, variance_components(study.ratings(own))))
    return ReliabilitySection(parts, {k: _mean([part.components.phi[k] for part in parts]) for k in PEOPLE})


def _mean(values: list[Estimate]) -> Estimate:
    known = [float(value) for value in values if value.defined]
    if not known:
        return Estimate.undefined(values[0].reason or "" if values else "there is no criterion")
    return Estimate(float(np.mean(known)), n_criteria=len(known))


def reliability_tables(section: ReliabilitySection) -> list[Table]:
    """The components by criterion, and how dependable the mean of so many people would be."""
    rows = [
        {
            "criterion": part.criterion,
            "instances": part.components.n_items,
            "people": part.components.n_people,
            "between_instances": part.components.item,
            "between_people": part.components.person,
            "rest": part.components.residual,
        }
        for part in section.per_criterion
    ]
    study = pd.DataFrame(
        [
            {"criterion": part.criterion, **{_of(k): value for k, value in part.components.phi.items()}}
            for part in section.per_criterion
        ]
        + [{"criterion": "mean over criteria", **{_of(k): value for k, value in section.phi.items()}}]
    )
    return [
        Table(
            "variance_components",
            "Where differences between scores come from",
            "Variance in squared points: between instances, between people, and the rest (a G-study by criterion).",
            pd.DataFrame(rows),
        ),
        Table(
            "people_needed",
            "How dependable the mean of so many people is",
            "Phi, the dependability of a mean of k people's scores; .8 is usually asked for (a D-study: Brennan 2001).",
            study,
        ),
    ]


def _of(people: int) -> str:
    return "1 person" if people == 1 else f"{people} people"
