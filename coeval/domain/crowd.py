"""Crowd studies: the plan, where people stand, exams and their keys, and what was asked of Prolific."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Proof(StrEnum):
    """How a crowd service's link proves whom it names."""

    NONE = ""
    """Not at all: whoever knows an id can come under it."""
    LINK = "link"
    """The study's own secret is part of the address that the service was given."""
    TOKEN = "token"
    """The service signs each link (Prolific's secure links)."""


class StudyState(StrEnum):
    """Running gives out work; paused lets people finish what they hold; closed takes no more saves."""

    RUNNING = "running"
    PAUSED = "paused"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Terms:
    """What the people of a study are told, asked and paid."""

    consent: str = ""
    guidelines: str = ""
    """Pages, one after the other, parted by lines of three hyphens."""
    service: str = ""
    """Whose links bring people: ``prolific``, ``mturk``, or empty for those who sign in by themselves."""
    code_done: str = ""
    code_screened: str = ""
    code_declined: str = ""
    code_full: str = ""
    """For who comes or qualifies when there is no work left; without it, ``code_screened``."""
    code_blocked: str = ""
    """For who failed the attention checks; without it they are asked to return the submission."""
    proof: str = Proof.NONE
    link_version: int = 1
    """Counts up when an owner makes the study's secret anew: the addresses from before end to work."""
    exam_items: int = 0
    """Instances of the exam in one try; 0 for all of them."""
    hourly_rate: float = 0.0
    currency: str = "GBP"
    pass_share: float = 0.8
    """Share of the exam's items that have to be right."""
    max_tries: int = 2
    review: bool = False
    """Whether an owner admits by hand whoever passed."""
    warn_after: int = 1
    block_after: int = 2
    """Failed attention checks before a warning, and until the work stops."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a task is given out to a crowd: ``per_instance`` people each, ``quota`` instances a person."""

    state: StudyState = StudyState.RUNNING
    per_instance: int = 3
    batch: int = 5
    quota: int = 20
    reserve_minutes: int = 60
    exam: int | None = None
    """The task that is the qualification."""
    terms: Terms = field(default_factory=Terms)
    reason: str = ""
    """Why it does not run: ``full`` where it paused by itself, empty where an owner decided."""


class Standing(StrEnum):
    """A person's place in a study, from the first page to the end."""

    CONSENTED = "consented"
    """reads the guidelines"""
    EXAM = "exam"
    """takes the qualification"""
    REVIEW = "review"
    """waits for an owner to read the exam"""
    SCREENED_OUT = "screened_out"
    """failed the exam for the last time, or was refused"""
    ADMITTED = "admitted"
    """is given work"""
    WARNED = "warned"
    """failed an attention check, and has to read so before going on"""
    FINISHED = "finished"
    """did all they were asked for"""
    FULL = "full"
    """came or qualified when no work was left"""
    REJECTED = "rejected"
    """an owner took the work out of the statistics"""
    BLOCKED = "blocked"
    """failed too many attention checks"""
    REMOVED = "removed"
    """asked for their data to be removed"""


@dataclass(frozen=True, slots=True)
class Enrolment:
    """One step of one person in one study."""

    task: int
    person: int
    state: Standing
    note: str = ""
    actor: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What a right answer is: one of these scores, and these drafted lines deleted or revised.

    ``must`` are positions in the draft, from 1; empty ``accepted`` takes any score.
    """

    instance: int
    criterion: int
    accepted: tuple[float, ...] = ()
    must: tuple[int, ...] = ()
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Graded:
    """One item of an exam as it was answered."""

    instance: str
    criterion: str
    right: bool
    given: float | None
    accepted: tuple[float, ...]
    missed: tuple[int, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One handing-in of an exam."""

    person: int
    attempt: int
    right: int
    items: int
    passed: bool
    detail: tuple[Graded, ...]
    at: str = ""


@dataclass(frozen=True, slots=True)
class Participant:
    """One submission: a person's part in a study by one session; ``service_id`` is what the service calls them."""

    id: int
    name: str
    state: Standing
    note: str
    joined_at: str
    last_save: str
    active_minutes: float
    finished: int = 0
    held: int = 0
    timed_out: int = 0
    checks: int = 0
    failed: int = 0
    kind: str = ""
    service_id: str = ""
    study: str = ""
    session: str = ""
    arrival: int = 0
    proof: str = ""
    saves: int = 0
    """Evaluations saved in the study itself, exam aside."""
    wall_minutes: float = 0.0
    """From consent to the end; a long pause counts as a short one."""
    left: bool = False
    """Whether the person came again by another session since."""


# ---- what was asked of Prolific: by whom, when, for how much, and what came of it


class Kind(StrEnum):
    """What is asked."""

    DRAFT = "draft"
    PUBLISH = "publish"
    PLACES = "places"
    APPROVE = "approve"
    RETURN = "return"
    REJECT = "reject"
    BONUS = "bonus"
    MESSAGE = "message"


class Outcome(StrEnum):
    """How far a request is; it stands in the record before anything leaves."""

    PREPARED = "prepared"
    """a bonus is being set up: nothing can have been paid yet"""
    SENT = "sent"
    """it left, and no answer is in the record"""
    UNKNOWN = "unknown"
    """no answer came: it may have happened or not"""
    DONE = "done"
    REFUSED = "refused"
    """it did not happen"""
    DROPPED = "dropped"
    """it was given up before anything was paid"""


STANDING = (Outcome.PREPARED, Outcome.SENT, Outcome.UNKNOWN, Outcome.DONE)
"""Outcomes of what happened or may have: the same thing is not asked for again by itself."""
UNSETTLED = (Outcome.SENT, Outcome.UNKNOWN)
"""Outcomes that only Prolific can tell more of."""


@dataclass(frozen=True, slots=True)
class Item:
    """What a request is about: a submission, a study or a person; two requests for the same thing share the ``key``.

    Amounts are in hundredths of the currency, pence or cents. ``paid_before`` is what bonuses had come to.
    """

    key: str
    subject: str
    amount: int = 0
    paid_before: int = 0
    who: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request with the newest outcome. ``remote`` is the id that Prolific gave to what it made."""

    kind: Kind
    study: str
    items: tuple[Item, ...]
    currency: str = ""
    note: str = ""
    """What it was asked for and on what grounds: a rule, a reason, the evidence."""
    asked_by: str = ""
    asked_at: str = ""
    outcome: Outcome = Outcome.SENT
    remote: str = ""
    answer: str = ""
    answered_at: str = ""
    id: int = 0

    @property
    def subjects(self) -> frozenset[str]:
        return frozenset(item.subject for item in self.items)

    @property
    def amount(self) -> int:
        return sum(item.amount for item in self.items)
