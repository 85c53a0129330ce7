"""Which of people's scores judges are held against."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from coeval.stats.frames import ASSISTED, BLIND, FIRST, StudyFrames, once

LEANED = "every score was given with the draft in view, and this needs scores given without it (blind or first arm)"
NO_LABELS = "no person has scored anything"


@dataclass(frozen=True)
class Reference:
    """The people's scores that judges are held against: ``kind`` says which, ``leaned`` if a draft was in view."""

    scored: pd.DataFrame
    kind: str
    leaned: bool

    def count(self, arm: str) -> int:
        """How many of the scores were given in an arm; of ``first`` these are the first scores, where not leaned."""
        return int((self.scored["arm"] == arm).sum())


@once
def choose_labels(study: StudyFrames) -> Reference:
    """The scores no draft can have led, blind and first ones, wherever there are any; else those of genuine drafts.

    A person counts once for a unit.
    """
    unaided = study.unaided
    if len(unaided):
        arms = set(unaided["arm"])
        return Reference(unaided, " and ".join(arm for arm in (BLIND, FIRST) if arm in arms), False)
    genuine = study.genuine
    return Reference(genuine, ASSISTED if len(genuine) else "none", len(genuine) > 0)
