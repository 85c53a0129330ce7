"""Criteria, the votes on them, and the sets they end in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coeval.domain.people import Group
from coeval.domain.tasks import Instance, Scale

MAX_REMARK = 10_000
"""Longest text, in characters, that an evaluator or annotator may enter in one box."""

MAX_ADDED = 50
"""Most criteria one ballot, and most lines one evaluation, may add."""


class Action(StrEnum):
    """The four things a person can do to a drafted line (CoEval paper, section 3)."""

    APPROVE = "approve"
    DELETE = "delete"
    REVISE = "revise"
    ADD = "add"


class Origin(StrEnum):
    """Who first wrote a criterion."""

    LLM = "llm"
    HUMAN = "human"


@dataclass(frozen=True, slots=True)
class Guide:
    """How to score by a criterion, for people and models alike: ``anchors`` says what each score means."""

    definition: str = ""
    anchors: tuple[tuple[int, str], ...] = ()
    examples: str = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One statement to judge by. Its wording never changes: a new wording is a new criterion."""

    text: str
    name: str = ""
    origin: Origin = Origin.LLM
    scale: Scale = Scale()
    question: str = ""
    """What a free-text judge is asked; empty for the usual question, how well the output meets the criterion."""
    guide: Guide = Guide()
    id: int = 0


@dataclass(frozen=True, slots=True)
class CriteriaSet:
    """A numbered, frozen, ordered list of criteria; versions count from 1 within a task."""

    version: int
    criteria: tuple[Criterion, ...]
    established_at: str = ""
    established_by: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A criterion put to the vote in one round for one version of the set.

    ``support`` of ``samples`` is how many of the model's samples named it; ``members`` are the wordings
    that were merged into this one.
    """

    text: str
    origin: Origin = Origin.LLM
    support: int = 1
    samples: int = 1
    members: tuple[str, ...] = ()
    kept_criterion: int | None = None
    """The criterion of an earlier version that this proposal repeats word for word, if any."""
    note: str = ""
    """Where it comes from, such as the instance that prompted it."""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Vote:
    """One evaluator's action on one proposal, or, with ``proposal`` None, a criterion they add."""

    action: Action
    proposal: int | None = None
    reason: str = ""
    new_text: str = ""


@dataclass(frozen=True, slots=True)
class Ballot:
    """One evaluator's votes on every proposal of a round; a later revision replaces an earlier one."""

    person: str
    votes: tuple[Vote, ...]
    group: Group = Group.TEAM
    revision: int = 1
    saved_at: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A criterion that somebody thought of at an instance."""

    text: str
    person: str
    instance: Instance
    at: str
    id: int
