"""Each person's queue, and what owners review."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coeval.domain.evaluations import Arm


class Filter(StrEnum):
    """Which of a person's instances the screen goes through."""

    ALL = "all"
    UNFINISHED = "unfinished"
    FLAGGED = "flagged"


class Emptiness(StrEnum):
    """Why a person has no instance of a task."""

    NO_INSTANCES = "no instances"
    NOT_IN_TEAM = "not in the team"
    ALL_WITH_OTHERS = "all with others"
    """The person is of the team, and every instance went to as many others as it needs."""
    NOT_GIVEN = "not given"


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


class Only(StrEnum):
    """Which instances an owner looks through."""

    ALL = "all"
    UNSCORED = "with unscored drafts"
    FLAGGED = "flagged or commented on"
    DIFFERING = "where people differ"
    UNTOUCHED = "judged by nobody yet"


@dataclass(frozen=True, slots=True)
class InstanceState:
    """An instance as an owner's list shows it; input and output are cut short."""

    external_id: str
    document: str
    system: str
    input: str
    output: str
    n_drafts: int
    """Drafts of the shown run that have a score."""
    n_unscored: int
    n_people: int
    n_flagged: int
    n_comments: int
    apart: float | None
    """How far apart the latest scores of two people are at most, by any criterion; None where nobody can differ."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What one person said of an instance as a whole."""

    person: str
    flagged: bool
    skipped: bool
    comment: str
    at: str


class InboxState(StrEnum):
    """What became of a flag or comment."""

    OPEN = "open"
    ANSWERED = "answered"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A flag or comment as it reaches those who run the study, with their answer."""

    id: int
    person: str
    annotator: int
    instance: int
    external_id: str
    flagged: bool
    comment: str
    at: str
    state: InboxState = InboxState.OPEN
    answer: str = ""
    answered_by: str = ""
    answered_at: str = ""


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
