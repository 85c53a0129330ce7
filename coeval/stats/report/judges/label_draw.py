"""How the labelled units were chosen: a prediction-powered mean is right only where chance chose them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.stats.estimates.clusters import sums_interval
from coeval.stats.estimates.results import Estimate
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Codes, Numbers

UNLIKE = 0.01
"""The judges' mean score of labelled units differs from that of the others where its p-value is below this."""


@dataclass(frozen=True)
class LabelDraw:
    """Whether the labelled units are a draw by chance: ``name`` says which, or why nothing says so.

    ``p_value`` is of the judges scoring labelled units like the others, which labels picked by how hard or how good an
    item looks seldom are.
    """

    valid: bool
    name: str
    p_value: Estimate


def check_draw(
    study: StudyFrames, scored: pd.DataFrame, judged: pd.DataFrame, labelled: Codes, rest: Codes
) -> LabelDraw:
    """How the labelled units of a system were chosen among those that judges scored.

    Parameters
    ----------
    scored : the people's scores that are the labels.
    judged : units x judges.
    labelled, rest : places of units that people and judges scored, and that only judges scored.
    """
    p_value = _likeness(study, judged, labelled, rest)
    if p_value.defined and p_value < UNLIKE:
        return LabelDraw(
            False,
            "judges score the labelled units unlike the others, so chance did not choose them",
            p_value,
        )
    own = scored[scored["unit"].isin(labelled)]
    if len(own) and own["draft_score"].notna().all():
        arms = " and ".join(sorted(set(own["arm"])))
        return LabelDraw(True, f"the arm {arms}, drawn at random by this study's design", p_value)
    return LabelDraw(
        False, "nothing says that the labelled units were drawn at random or with known chances", p_value
    )


def _likeness(study: StudyFrames, judged: pd.DataFrame, labelled: Codes, rest: Codes) -> Estimate:
    """The p-value of equal means of the judges' mean z-scores, over clusters."""
    units = np.concatenate([labelled, rest])
    if not len(labelled) or not len(rest):
        return Estimate.undefined("all units are labelled, or none is")
    table = judged.loc[units].to_numpy(dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (table - np.nanmean(table, axis=0)) / np.nanstd(table, axis=0)
    known = ~np.isnan(z)
    score = np.where(known, z, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    first = (np.arange(len(units)) < len(labelled)).astype(float)
    columns = np.column_stack([score * first, first, score * (1 - first), 1 - first])
    clusters = study.clusters.of(units)
    if clusters.n < 3:
        return Estimate.undefined("fewer than three clusters")

    def gap(rows: Numbers) -> Numbers:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(rows[:, 0] / rows[:, 1] - rows[:, 2] / rows[:, 3])

    p_value = float(sums_interval(clusters.sums(columns), gap, clusters.kind)["p_value"])
    return Estimate.undefined("the judges' scores do not vary") if np.isnan(p_value) else Estimate(p_value)
