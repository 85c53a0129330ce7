"""Which scores figures rest on: a version of the criteria, one arm or all, planted errors in or out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd

from coeval.stats.frames import StudyFrames, is_planted

ALL_ARMS = ""


@dataclass(frozen=True, slots=True)
class Basis:
    """What a reader chose for a whole report; ``version`` 0 is the newest."""

    version: int = 0
    arm: str = ALL_ARMS
    planted: bool = True
    """Whether scores that were shown a draft with a planted error count."""

    @property
    def cuts(self) -> bool:
        """Whether some scores of the version are left out."""
        return bool(self.arm) or not self.planted

    def cut(self, study: StudyFrames) -> StudyFrames:
        """The study with the scores and actions of the arm alone; the same study gives the same one again."""
        if not self.cuts:
            return study
        known = _CUTS.setdefault(study, {})
        if self not in known:
            scores = _of_arm(study.scores, self.arm)
            if not self.planted:
                scores = scores[~is_planted(scores)]
            known[self] = replace(study, scores=scores, actions=_of_arm(study.actions, self.arm))
        return known[self]


_CUTS: WeakKeyDictionary[StudyFrames, dict[Basis, StudyFrames]] = WeakKeyDictionary()


def _of_arm(rows: pd.DataFrame, arm: str) -> pd.DataFrame:
    return rows[rows["arm"] == arm].reset_index(drop=True) if arm else rows


@dataclass(frozen=True, slots=True)
class OnBasis:
    """A statistic of the scores of a basis: hashed by both, so that its result is kept beside others."""

    statistic: Callable[[StudyFrames], Any]
    basis: Basis

    def __call__(self, study: StudyFrames) -> Any:
        return self.statistic(self.basis.cut(study))


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to choose from in a study."""

    arms: tuple[str, ...]
    planted: bool
    """Whether any score was given to a draft with a planted error."""


def list_choices(study: StudyFrames) -> Choices:
    """The arms that scores were given in, and whether errors were planted."""
    arms = tuple(str(arm) for arm in sorted(set(study.scores["arm"])))
    return Choices(arms, bool(is_planted(study.scores).any()))
