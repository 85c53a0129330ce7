"""People: their roles, their proof of identity, and their progress in crowd studies."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

# People, their roles, and their proof of identity.

MAX_PERSON_NAME = 80
"""The longest name of a person, in characters."""


class Role(StrEnum):
    """A person's permissions: owners set up studies, researchers see statistics, annotators review drafts."""

    OWNER = "owner"
    RESEARCHER = "researcher"
    ANNOTATOR = "annotator"


class Group(StrEnum):
    """The group of a person in the statistics. The alternative annotator test is stricter for experts."""

    TEAM = "team"
    EXPERT = "expert"
    CROWD = "crowd"


@dataclass(frozen=True, slots=True)
class Person:
    """A person who signs in; ``name`` is unique in a database."""

    name: str
    role: Role = Role.ANNOTATOR
    id: int = 0
    uid: str = field(default="", compare=False)
    """The random name under which the person's browsers keep saves; empty before the first sign-in."""


@dataclass(frozen=True, slots=True)
class Member:
    """A person as owners see them."""

    person: Person
    group: Group
    disabled_at: str = ""
    """The time since which the person cannot sign in; empty if the person can."""
    guest: bool = False
    """True if the person signed in with Hugging Face and has no role yet."""

    @property
    def standing(self) -> str:
        """Return the role, or that the person is a guest."""
        return "guest" if self.guest else str(self.person.role)


@dataclass(frozen=True, slots=True)
class Account:
    """A person's account; ``secret`` is the Argon2 hash of a password, or empty."""

    person: Person
    kind: str
    subject: str
    secret: str = ""
    guest: bool = False


@dataclass(frozen=True, slots=True)
class Invitation:
    """The effect of an invitation link: an account with a role, or a new password for an existing account."""

    role: Role
    created_by: str
    person: Person | None = None
    creator: int | None = None
    """The person who created the invitation; None for the command line."""
    key: str = ""
    """The name of the invitation in lists: the beginning of its token's hash."""
    expires_at: str = ""


# Crowd studies: the plan, people's states, exams and their keys, and requests to Prolific.


class Proof(StrEnum):
    """The method by which a crowd service's link proves a person's identity."""

    NONE = ""
    """No proof: everybody who knows an id can use the link."""
    LINK = "link"
    """The study's own secret is in the address: it proves the study, but not the person."""
    TOKEN = "token"
    """The service signs each link (Prolific's secure links)."""


class StudyState(StrEnum):
    """The state of a study: planned is only saved, running assigns work, paused lets people finish, closed
    accepts no more saves.
    """

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Terms:
    """The texts, codes and payment of a study for its participants."""

    consent: str = ""
    guidelines: str = ""
    """Pages of guidelines, separated by lines of three hyphens."""
    service: str = ""
    """The service whose links bring people: ``prolific``, ``mturk``, or empty if people sign in themselves."""
    code_done: str = ""
    code_screened: str = ""
    code_declined: str = ""
    code_full: str = ""
    """The code for people who arrive or qualify when no work is left; if empty, ``code_screened``."""
    code_blocked: str = ""
    """The code for people who failed the attention checks; if empty, they are asked to return the submission."""
    code_part: str = ""
    """The code for less work than ``code_done`` requires; if empty, the code of a full study."""
    enough: int = 0
    """The number of instances required for ``code_done``; 0 for the plan's quota."""
    proof: str = Proof.NONE
    link_version: int = 1
    """A version that grows when an owner renews the study's secret, so that old addresses stop working."""
    exam_items: int = 0
    """The number of exam instances in one try; 0 for all of them."""
    hourly_rate: float = 0.0
    currency: str = "GBP"
    pass_share: float = 0.8
    """The share of the exam's items that must be right."""
    max_tries: int = 2
    review: bool = False
    """True if an owner must admit everybody who passed."""
    warn_after: int = 1
    block_after: int = 2
    """The number of failed attention checks before a warning, and the number that ends the work."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The distribution of a task to a crowd: ``per_instance`` people per instance, ``quota`` instances per person."""

    state: StudyState = StudyState.RUNNING
    per_instance: int = 3
    batch: int = 5
    quota: int = 20
    reserve_minutes: int = 60
    exam: int | None = None
    """The task that is the qualification."""
    terms: Terms = field(default_factory=Terms)
    reason: str = ""
    """The reason why the study is not running: ``full`` if it paused by itself, empty if an owner decided."""


class Standing(StrEnum):
    """A person's state in a study, from the first page to the end."""

    CONSENTED = "consented"
    """is reading the guidelines"""
    EXAM = "exam"
    """is taking the qualification"""
    REVIEW = "review"
    """waits for an owner to read the exam"""
    SCREENED_OUT = "screened_out"
    """failed the exam for the last time, or was refused"""
    ADMITTED = "admitted"
    """gets work"""
    WARNED = "warned"
    """failed an attention check, and must read the warning before continuing"""
    FINISHED = "finished"
    """finished all assigned work"""
    FULL = "full"
    """arrived or qualified when no work was left"""
    REJECTED = "rejected"
    """an owner excluded the work from the statistics"""
    BLOCKED = "blocked"
    """failed too many attention checks"""
    WITHDRAWN = "withdrawn"
    """withdrew their consent; their saves are set aside for a time and not counted"""
    REMOVED = "removed"
    """their data was deleted"""


@dataclass(frozen=True, slots=True)
class Enrolment:
    """One change of a person's state in a study."""

    task: int
    person: int
    state: Standing
    note: str = ""
    actor: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """A right answer: one of these scores, with these drafted lines deleted or revised.

    ``must`` are positions in the draft, from 1; if ``accepted`` is empty, any score is right.
    """

    instance: int
    criterion: int
    accepted: tuple[float, ...] = ()
    must: tuple[int, ...] = ()
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Graded:
    """One answered item of an exam."""

    instance: str
    criterion: str
    right: bool
    given: float | None
    accepted: tuple[float, ...]
    missed: tuple[int, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One submitted attempt at an exam."""

    person: int
    attempt: int
    right: int
    items: int
    passed: bool
    detail: tuple[Graded, ...]
    at: str = ""


@dataclass(frozen=True, slots=True)
class Participant:
    """One submission: a person's part in a study in one session.

    ``service_id`` is the person's id at the service.
    """

    id: int
    name: str
    state: Standing
    note: str
    joined_at: str
    last_save: str
    active_minutes: float
    finished: int = 0
    """Finished instances, including attention checks, as the quota counts them."""
    held: int = 0
    timed_out: int = 0
    lapsed: int = 0
    """Instances of the last batch that timed out."""
    taken_out: int = 0
    """Instances that were finished, and later rejected or withdrawn."""
    assigned: int = 0
    """All instances that the person got for work in this submission, without attention checks."""
    asked: int | None = None
    """The instances that the person could get, recorded when the work ended."""
    checks: int = 0
    failed: int = 0
    kind: str = ""
    service_id: str = ""
    study: str = ""
    session: str = ""
    arrival: int = 0
    proof: str = ""
    saves: int = 0
    """Evaluations saved in the study itself, without the exam, each counted once."""
    wall_minutes: float = 0.0
    """Minutes from consent to the end; a long pause counts as a short one."""
    left: bool = False
    """True if the person later arrived for another study of the service."""
    before: Standing | None = None
    """The earlier state of a person who has withdrawn or was removed."""
    repeats: tuple[str, ...] = ()
    """Further sessions of the same study with which the person arrived."""


@dataclass(frozen=True, slots=True)
class ReturnRequest:
    """A request to continue as a person of a study; ``admitted`` is None until an owner decides."""

    id: int
    annotator: int
    name: str
    number: str
    """The number on the browser's page. An owner can ask the person for it."""
    asked_at: str
    admitted: bool | None
