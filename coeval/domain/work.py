"""Each person's queue, and what owners look back on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coeval.domain.evaluations import Arm


class Filter(StrEnum):
    """Which of a person's instances the screen goes through."""

    ALL = "all"
    UNFINISHED = "unfinished"
    FLAGGED = "flagged"


@dataclass(frozen=True, slots=True)
class Assignment:
    """One instance in one person's queue; positions count from 1."""

    annotator: int
    task: int
    position: int
    instance: int
    arm: Arm | None
    """Drawn when the person first opens the instance; None until then."""
    finished: bool
    flagged: bool
    skipped: bool = False
    opened_at: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a person says of an instance as a whole."""

    flagged: bool = False
    skipped: bool = False
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One save of one person; ``before`` is the score of the revision it followed."""

    id: int
    at: str
    person: str
    instance: str
    criterion: str
    revision: int
    arm: str
    score: float | None
    before: float | None
    n_changed: int
    """Lines that were not kept as drafted."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """An instance by a criterion where people's scores differ."""

    instance: int
    external_id: str
    criterion: int
    text: str
    n: int
    low: float
    high: float
    decided: float | None


@dataclass(frozen=True, slots=True)
class Adjudication:
    """What an owner decided for one instance by one criterion."""

    instance: int
    criterion: int
    score: float
    note: str = ""
    decided_by: str = ""
    decided_at: str = ""
    revision: int = 0
