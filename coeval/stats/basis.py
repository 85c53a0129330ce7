"""The selection of scores for a report: a version of the criteria, with or without the draft's influence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd

from coeval.stats.clusters import VERDICT_FROM
from coeval.stats.frames import BLIND, FIRST, StudyFrames, is_planted


@dataclass(frozen=True, slots=True)
class Basis:
    """A reader's selection for a whole report. ``version`` 0 is the newest version."""

    version: int = 0
    unaided: bool = False
    """True for only the scores without a draft's influence: blind scores and first scores."""
    asked_again: bool = False
    """True if scores are counted that the model gave only when it was asked again."""

    @property
    def cuts(self) -> bool:
        """True if the selection differs from the usual scores of the version."""
        return self.unaided or self.asked_again

    def cut(self, study: StudyFrames) -> StudyFrames:
        """Return the study with only the selected scores and actions. The result is cached."""
        if not self.cuts:
            return study
        cuts = _CUTS.setdefault(study, {})
        if self not in cuts:
            part = replace(study, asked_again=self.asked_again)
            if self.unaided:
                part = replace(part, scores=_unaided(study.scores), actions=_unaided(study.actions))
            cuts[self] = part
        return cuts[self]


_CUTS: WeakKeyDictionary[StudyFrames, dict[Basis, StudyFrames]] = WeakKeyDictionary()


def _unaided(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the blind rows, and the rows of the arm ``first`` with the score from before the draft.

    If a person has both for one unit, the later row is used, as in ``StudyFrames.unaided``.
    """
    blind = rows[rows["arm"] == BLIND]
    if "first_score" not in rows:
        return blind.reset_index(drop=True)
    scored_first = rows[(rows["arm"] == FIRST) & rows["first_score"].notna()]
    before = scored_first.assign(
        arm=BLIND, score=scored_first["first_score"].astype(float), shown_score=float("nan")
    )
    unaided = pd.concat([blind.astype({"score": float}), before]).sort_index() if len(before) else blind
    return unaided.drop_duplicates(["annotator", "instance", "criterion"], keep="last").reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class OnBasis:
    """A statistic of the scores of a basis. It can be hashed, so that results can be cached."""

    statistic: Callable[[StudyFrames], Any]
    basis: Basis

    def __call__(self, study: StudyFrames) -> Any:
        return self.statistic(self.basis.cut(study))


@dataclass(frozen=True, slots=True)
class Choices:
    """The possible selections in a study."""

    planted: bool
    """True if any score was given to a draft with a planted error."""
    asked_again: bool = False
    """True if the model gave any score only when it was asked again."""
    unaided: bool = False
    """True if there are enough scores without a draft's influence. These are then shown first."""


def list_choices(study: StudyFrames) -> Choices:
    """Return the possible selections, and whether errors were planted."""
    drafted = bool((study.scores["arm"] != BLIND).any())
    again = "again" in study.drafts and bool(study.drafts["again"].any())
    return Choices(bool(is_planted(study.scores).any()), again, drafted and _has_unaided(study))


def _has_unaided(study: StudyFrames) -> bool:
    """Return whether two or more people gave unaided scores in enough clusters for a separate headline."""
    units = study.unaided["unit"].value_counts()
    shared = units.index[units > 1].to_numpy(dtype="int64")
    return len(shared) > 0 and study.clusters.of(shared).n >= VERDICT_FROM
