"""A study as a table with one row per instance and criterion: people's mean score, the judge's score, document and
system.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.extensions.labelling.corrected_judge import check_carrying, corrected_mean, corrected_share, widen
from coeval.stats.estimates import Estimate, tell_estimate
from coeval.stats.frames import StudyFrames

UNAIDED, ALL = "scores without the draft in view", "all scores, including those with the draft in view"
ENOUGH = 20
"""With at least this many blind units, only blind scores are used."""

EVERYTHING = "all systems"
ERRORS = (
    "The judge has the same errors on this system as on labelled items with the same score. With three or "
    "more labelled "
    "systems, the interval includes the error of this assumption."
)


def list_units(study: StudyFrames, run: str = "") -> tuple[pd.DataFrame, str]:
    """Return ``instance, criterion, document, system, people, judge, spread`` per unit, and the source of
    the scores.

    ``run`` names the judge's run; by default it is the run that annotators see.
    """
    people, basis = study.unaided, UNAIDED
    if people["unit"].nunique() < ENOUGH:
        people, basis = study.genuine, ALL
    units = study.units.copy()
    units["document"] = study.clusters.code
    units["people"] = people.groupby("unit")["score"].mean().reindex(units.index)
    drafted = study.model_scores
    drafted = (
        drafted[drafted["run_label"].astype(str) == run] if run else drafted[drafted["shown"].astype(bool)]
    )
    if not run and drafted.empty and study.model_scores["run"].nunique() == 1:
        drafted = study.model_scores
    judged = drafted.drop_duplicates("unit", keep="last").set_index("unit")
    units["judge"] = judged["score"].reindex(units.index)
    units["uncertainty"] = judged["uncertainty"].astype(float).reindex(units.index)
    return units, basis


@dataclass(frozen=True)
class CorrectedSystem:
    """One system on one criterion: the judge's mean, its correction, and people's mean."""

    system: str
    criterion: str
    judged: float
    """The judge's own mean, or its share of passes."""
    corrected: Estimate
    """Corrected with the judge's errors on the labelled items of other systems, or of all systems if no other is
    labelled.
    """
    people: Estimate
    n: int
    labels: int


@dataclass(frozen=True)
class CorrectedStudy:
    """Every system on every criterion, with the assumption of the correction."""

    task: str
    run: str
    cut: float | None
    basis: str
    systems: list[CorrectedSystem]
    assumption: str = ERRORS


@dataclass(frozen=True)
class CorrectSystems:
    """The statistic for corrected means, with a cut point (default: the mean score) and a judge's run (default: the
    shown run).
    """

    cut: float | None = None
    run: str = ""

    def __call__(self, study: StudyFrames) -> CorrectedStudy:
        units, basis = list_units(study, self.run)
        systems = [
            self._correct(study, units[units["criterion"] == criterion], str(criterion), system)
            for criterion in study.criteria
            for system in _systems(units)
        ]
        return CorrectedStudy(
            study.task, self.run, self.cut, basis, [system for system in systems if system is not None]
        )

    def _correct(
        self, study: StudyFrames, units: pd.DataFrame, criterion: str, system: str
    ) -> CorrectedSystem | None:
        of_system = units if system == EVERYTHING else units[units["system"] == system]
        of_system = of_system[of_system["judge"].notna()]
        if of_system.empty:
            return None
        labelled = units[units["people"].notna() & units["judge"].notna()]
        others = labelled if system == EVERYTHING else labelled[labelled["system"] != system]
        calibrating = labelled if others.empty else others
        low, high = study.scales[criterion]
        truth, said, new = calibrating["people"], calibrating["judge"], of_system["judge"]
        clusters: dict[str, Any] = {
            "clusters": calibrating["document"],
            "clusters_new": of_system["document"],
        }
        points = list(np.arange(low, high + 1)) if high - low <= 20 else list(np.linspace(low, high, 11))
        if len(points) == 2:
            corrected = corrected_share(
                *(_passed(side, (low + high) / 2) for side in (truth, said, new)), **clusters
            )
        else:
            corrected = corrected_mean(truth, said, new, points, cut=self.cut, **clusters)
        carrying = check_carrying(
            truth, said, calibrating["system"].fillna("").tolist(), points,
            cut=(low + high) / 2 if len(points) == 2 else self.cut, clusters=calibrating["document"].tolist(),
        )  # fmt: skip
        share = self.cut is not None or len(points) == 2
        corrected = widen(corrected, carrying, 0.0 if share else low, 1.0 if share else high)
        cut = (low + high) / 2 if len(points) == 2 else self.cut
        if cut is not None:
            of_system = of_system.assign(
                judge=_passed(of_system["judge"], cut), people=_passed(of_system["people"], cut)
            )
        people = of_system["people"].dropna()
        mean = (
            Estimate(people.mean(), n=len(people))
            if len(people)
            else Estimate.undefined("people scored none of its items")
        )
        return CorrectedSystem(
            system,
            criterion,
            float(of_system["judge"].mean()),
            corrected,
            mean,
            len(of_system),
            len(calibrating),
        )


def _passed(values: pd.Series[float], cut: float) -> pd.Series[float]:
    """Return 1 at or above the cut point, 0 below it, and nan without a score."""
    return (values >= cut).astype(float).where(values.notna())


def _systems(units: pd.DataFrame) -> list[str]:
    named = units["system"].replace("", None).dropna()
    names = [str(name) for name in dict.fromkeys(named)]
    return names if len(names) > 1 else [EVERYTHING]


def tell_systems(corrected: CorrectedStudy) -> Iterator[str]:
    """Describe the table in lines of text, then the assumptions."""
    what = "mean score" if corrected.cut is None else f"share at or above {corrected.cut:g}"
    if not corrected.systems:
        yield "No judge has scored this study: draft evaluations, or import a judge's scores."
        return
    yield f"{corrected.task}: {what}, from {corrected.basis}"
    for row in corrected.systems:
        yield (
            f"{row.system}, {row.criterion[:50]}: judge {row.judged:.2f}; corrected {tell_estimate(row.corrected)}; "
            f"people {tell_estimate(row.people)} ({row.n:,} judged, "
            f"{row.labels:,} labels of other systems)"
        )
    yield f"Corrected assumes: {ERRORS}"
