"""When a study has enough, said beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Measure(StrEnum):
    """What a rule is about: alpha, the mean over criteria, or the difference of two systems' means."""

    ALPHA = "alpha"
    DIFFERENCE = "difference"


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """Enough: the interval that holds at every look is no wider than +-``width``; of two systems, or leaves out 0.

    ``planned`` is how many documents are planned: where the interval is narrowest for its number of documents.
    ``scores_then`` is how many scores there were when the rule was declared.
    """

    measure: Measure
    width: float
    planned: int
    system_a: str = ""
    system_b: str = ""
    scores_then: int = 0
    declared_by: str = ""
    declared_at: str = ""
