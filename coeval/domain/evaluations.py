"""Drafts, submissions, each person's queue, and objects that owners review."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from coeval.domain.tasks import Action

# Drafts and people's work on them.


class RowKind(StrEnum):
    """The kinds of line in an evaluation."""

    CONCLUSION = "conclusion"
    SCORE = "score"
    EVIDENCE = "evidence"


class Arm(StrEnum):
    """The way in which an instance is shown to an annotator: with the draft, without it, after a first score,
    or with a part of the draft.

    ``evidence`` marks the passages that the draft quotes, without its text; ``reasons`` shows its lines of
    evidence, without its conclusion and score. In both, the score row starts empty. ``undrafted`` is never
    drawn: it is the outcome of a save without a draft, or with a draft that could not be read.
    """

    ASSISTED = "assisted"
    BLIND = "blind"
    FIRST = "first"
    EVIDENCE = "evidence"
    REASONS = "reasons"
    UNDRAFTED = "undrafted"


class DraftStatus(StrEnum):
    """Whether a score could be read from the model's answer."""

    OK = "ok"
    UNSCORED = "unscored"


class QuotePlace(StrEnum):
    """The text that contains a quotation."""

    OUTPUT = "output"
    NEAR = "nearly in the output"
    INPUT = "input"


@dataclass(frozen=True, slots=True)
class Quote:
    """A quoted span. ``start`` and ``end`` are None if the span was not found.

    Offsets count Unicode code points of the output, or of the input if ``place`` says so; the end is
    exclusive.
    """

    text: str
    start: int | None = None
    end: int | None = None
    place: QuotePlace = QuotePlace.OUTPUT

    @property
    def found(self) -> bool:
        """Return whether the quotation is in the output, word for word or nearly."""
        return self.start is not None and self.place is not QuotePlace.INPUT

    @property
    def located(self) -> bool:
        """Return whether the quotation is anywhere in the sample."""
        return self.start is not None


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """One line of an evaluation, with the spans that it quotes."""

    kind: RowKind
    text: str
    quotes: tuple[Quote, ...] = ()
    id: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """The model's evaluation of one instance by one criterion: immutable, with its provenance.

    ``score`` is None exactly if ``status`` is unscored; ``reason`` then says why, and ``raw`` has the model's
    own words. ``samples`` are the scores of the single answers if more than one was requested;
    ``probabilities`` are those of the scale's steps, from a decision or log-probabilities. ``rung`` is a `Rung`,
    or empty for an unscored draft and for one from another tool.
    """

    instance: int
    criterion: int
    score: float | None
    rows: tuple[EvaluationRow, ...] = ()
    status: DraftStatus = DraftStatus.OK
    reason: str = ""
    raw: str = ""
    samples: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    rung: str = ""
    attempt: int = 1
    run: int = 0
    id: int = 0


@dataclass(frozen=True, slots=True)
class ImportedDraft:
    """A draft as read from a file: instance by external id, criterion by text; see ``Draft``."""

    instance: str
    criterion: str
    score: float | None
    rows: tuple[EvaluationRow, ...] = ()
    reason: str = ""
    raw: str = ""
    samples: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    rung: str = ""

    @classmethod
    def of(cls, draft: Draft, instance: str, criterion: str) -> ImportedDraft:
        """Return a draft with the names of its instance and criterion in place of their ids."""
        values: dict[str, Any] = {each.name: getattr(draft, each.name) for each in fields(cls)}
        return cls(**values | {"instance": instance, "criterion": criterion})

    def to_draft(self, instance: int, criterion: int, attempt: int = 1) -> Draft:
        """Return the draft for these database ids. It is unscored if it has no score."""
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        values |= {"instance": instance, "criterion": criterion, "attempt": attempt}
        return Draft(**values, status=DraftStatus.UNSCORED if self.score is None else DraftStatus.OK)


@dataclass(frozen=True, slots=True)
class ScrutinyRow:
    """One person's action on one line. ``draft_row`` is None for an added line."""

    kind: RowKind
    action: Action
    draft_row: int | None = None
    reason: str = ""
    text: str = ""
    """The new wording for ``revise`` and ``add``; empty otherwise. In the score row: the new score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """The circumstances of a save, as the browser sends them and as they are stored. Add new fields here."""

    opened_at: str = ""
    active_ms: int | None = None
    bulk: bool = False
    """True if some lines were approved together, with "Approve the rest"."""


@dataclass(frozen=True, slots=True)
class Submission(Conduct):
    """One person's saved scrutiny of one instance by one criterion; append-only, the latest revision counts."""

    person: int
    instance: int
    criterion: int
    score: float | None
    rows: tuple[ScrutinyRow, ...]
    draft: int | None = None
    arm: Arm = Arm.ASSISTED
    submitted_at: str = ""
    revision: int = 1
    uid: str = ""
    """A key from the browser, so that a repeated save is stored only once."""
    shown_score: float | None = None
    """The score on the screen: the draft's or a planted one. None if none was shown."""
    planted: str = ""
    """The planted error in the displayed draft: ``score``; usually empty."""
    id: int = 0

    @property
    def outcome(self) -> Arm:
        """Return the arm for a file, which also holds the draft and whether it could be read."""
        return Arm.UNDRAFTED if self.draft is None and self.arm is not Arm.BLIND else self.arm


# Each person's queue, and objects that owners review.


class Filter(StrEnum):
    """A selection of a person's instances on the screen."""

    ALL = "all"
    UNFINISHED = "unfinished"
    FLAGGED = "flagged"


class Emptiness(StrEnum):
    """The reason why a person has no instance of a task."""

    NO_INSTANCES = "no instances"
    NOT_IN_TEAM = "not in the team"
    ALL_WITH_OTHERS = "all with others"
    """The person is in the team, but every instance already has enough people."""
    NOT_GIVEN = "not given"


@dataclass(frozen=True, slots=True)
class Assignment:
    """One instance in one person's queue; positions count from 1."""

    annotator: int
    task: int
    position: int
    instance: int
    arm: Arm | None
    """The arm, drawn when the person first opens the instance; None until then."""
    finished: bool
    flagged: bool
    skipped: bool = False
    opened_at: str = ""
    reserved_arm: Arm | None = None
    """The arm that was drawn when the browser fetched the instance ahead."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A person's flag, skip or comment for a whole instance."""

    flagged: bool = False
    skipped: bool = False
    comment: str = ""


class Only(StrEnum):
    """A selection of instances in an owner's list."""

    ALL = "all"
    UNSCORED = "with unscored drafts"
    FLAGGED = "flagged or commented on"
    DIFFERING = "where people differ"
    UNTOUCHED = "judged by nobody yet"


@dataclass(frozen=True, slots=True)
class InstanceState:
    """An instance as an owner's list shows it; input and output are shortened."""

    position: int
    external_id: str
    document: str
    system: str
    input: str
    output: str
    n_drafts: int
    """The number of drafts of the shown run with a score."""
    n_unscored: int
    n_people: int
    n_flagged: int
    n_comments: int
    apart: float | None
    """The largest difference between two people's latest scores on a criterion; None without two people."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A person's comment on a whole instance."""

    person: str
    flagged: bool
    skipped: bool
    comment: str
    at: str


class InboxState(StrEnum):
    """The state of a flag or comment."""

    OPEN = "open"
    ANSWERED = "answered"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A flag or comment with the study team's answer."""

    id: int
    person: str
    annotator: int
    instance: int
    position: int
    external_id: str
    flagged: bool
    comment: str
    at: str
    state: InboxState = InboxState.OPEN
    answer: str = ""
    answered_by: str = ""
    answered_at: str = ""


@dataclass(frozen=True, slots=True)
class Dispute:
    """An instance and a criterion on which people's scores differ."""

    instance: int
    position: int
    external_id: str
    document: str
    criterion: int
    text: str
    n: int
    low: float
    high: float
    decided: float | None


@dataclass(frozen=True, slots=True)
class Adjudication:
    """An owner's decision for one instance and one criterion."""

    instance: int
    criterion: int
    score: float
    note: str = ""
    decided_by: str = ""
    decided_at: str = ""
    revision: int = 0
