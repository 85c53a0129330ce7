"""What CoEval talks about: frozen dataclasses and enumerations, with no imports of ours.

Ids are database ids (int). Times are UTC, ISO 8601 with milliseconds, e.g. ``2026-01-31T09:30:00.000Z``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

MAX_TEXT = 200_000
"""Longest text, in characters, that one field of a task, instance or draft may hold."""

MAX_REMARK = 10_000
"""Longest text, in characters, that an evaluator or annotator may enter in one box."""


class Role(StrEnum):
    """What a person may do; owners set up, researchers see statistics, annotators scrutinise."""

    OWNER = "owner"
    RESEARCHER = "researcher"
    ANNOTATOR = "annotator"


class Action(StrEnum):
    """The four things a person can do to a drafted line (CoEval paper, section 3)."""

    APPROVE = "approve"
    DELETE = "delete"
    REVISE = "revise"
    ADD = "add"


class RowKind(StrEnum):
    """The kinds of line in an evaluation."""

    CONCLUSION = "conclusion"
    SCORE = "score"
    EVIDENCE = "evidence"


class Origin(StrEnum):
    """Who first wrote a criterion."""

    LLM = "llm"
    HUMAN = "human"


class Arm(StrEnum):
    """How an instance is shown to an annotator: with the draft, without it, or only after a first score."""

    ASSISTED = "assisted"
    BLIND = "blind"
    FIRST = "first"


class DraftStatus(StrEnum):
    """Whether a score could be read from the model's answer."""

    OK = "ok"
    UNSCORED = "unscored"


class JobState(StrEnum):
    """Where a long piece of work stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Scale:
    """The scores a criterion admits: every whole step from ``low`` to ``high``.

    >>> Scale(1, 3).steps
    (1, 2, 3)
    """

    low: int = 1
    high: int = 5

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(range(self.low, self.high + 1))

    def admits(self, score: float) -> bool:
        """Whether a person may give this score: on the scale and whole."""
        return math.isfinite(score) and self.low <= score <= self.high and float(score).is_integer()

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"


@dataclass(frozen=True, slots=True)
class Task:
    """A text-generation task: the paper's T_desc, T_ipt, T_opt with its scale and guidelines."""

    slug: str
    name: str
    description: str = ""
    input_field: str = "Input"
    output_field: str = "Output"
    guidelines: str = ""
    scale: Scale = Scale()
    origin: str = ""
    """Where the task comes from, shown to everyone; "demo" marks the texts written for this project."""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signs in; ``name`` is unique in a database."""

    name: str
    role: Role = Role.ANNOTATOR
    id: int = 0


@dataclass(frozen=True, slots=True)
class Criterion:
    """One statement to judge by. Its wording never changes: a new wording is a new criterion."""

    text: str
    name: str = ""
    origin: Origin = Origin.LLM
    scale: Scale = Scale()
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
    role: Role = Role.ANNOTATOR
    revision: int = 1
    saved_at: str = ""


@dataclass(frozen=True, slots=True)
class Instance:
    """One (X, Y) pair: ``document`` groups those that share X, ``system`` says who wrote Y."""

    external_id: str
    input: str
    output: str
    document: str = ""
    system: str = ""
    reference: str = ""
    context: Mapping[str, str] = field(default_factory=dict)
    id: int = 0


@dataclass(frozen=True, slots=True)
class Quote:
    """A span quoted from the output; ``start`` and ``end`` are None where it was not found there.

    Offsets count Unicode code points of the output, end exclusive.
    """

    text: str
    start: int | None = None
    end: int | None = None

    @property
    def found(self) -> bool:
        return self.start is not None


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """One line of an evaluation, with the spans it quotes."""

    kind: RowKind
    text: str
    quotes: tuple[Quote, ...] = ()
    id: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """The model's evaluation of one instance by one criterion: immutable, with its provenance.

    ``score`` is None exactly when ``status`` is unscored; ``reason`` then says why and ``raw`` holds the
    model's own words. ``samples`` are the scores of the single answers where more than one was asked for.
    """

    instance: int
    criterion: int
    score: float | None
    rows: tuple[EvaluationRow, ...] = ()
    status: DraftStatus = DraftStatus.OK
    reason: str = ""
    raw: str = ""
    samples: tuple[float, ...] = ()
    attempt: int = 1
    run: int = 0
    id: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of one judge over a task: protocol, model and parameters; one run is shown to annotators."""

    protocol: str
    model: str
    label: str
    prompt_hash: str = ""
    params: Mapping[str, object] = field(default_factory=dict)
    shown: bool = False
    created_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class ScrutinyRow:
    """What a person did to one line: ``draft_row`` is None for a line they added."""

    kind: RowKind
    action: Action
    draft_row: int | None = None
    reason: str = ""
    text: str = ""
    """The new wording for ``revise`` and ``add``; empty otherwise. For the score row: the new score."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One person's saved scrutiny of one instance by one criterion; append-only, latest revision counts."""

    person: int
    instance: int
    criterion: int
    score: float | None
    rows: tuple[ScrutinyRow, ...]
    draft: int | None = None
    arm: Arm = Arm.ASSISTED
    opened_at: str = ""
    submitted_at: str = ""
    active_ms: int | None = None
    revision: int = 1
    uid: str = ""
    """A key made by the browser, so that a save sent twice is kept once."""
    bulk: bool = False
    """Whether some lines were approved all at once, with "Approve the rest"."""
    shown_score: float | None = None
    """The score that stood on the screen: the draft's, or the wrong one sown; None where none was shown."""
    sown: str = ""
    """What was wrong on purpose in the draft shown: ``score``, ``evidence`` or, as a rule, nothing."""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model, as it stands in the ledger. Cost is in the currency of the price given."""

    request_hash: str
    sample: int
    model: str
    endpoint: str
    request: str
    response: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    latency_ms: int = 0
    error: str = ""
    created_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A long piece of work that outlives the page that started it."""

    kind: str
    task: int
    state: JobState
    params: Mapping[str, object] = field(default_factory=dict)
    total: int = 0
    done: int = 0
    failed: int = 0
    message: str = ""
    created_by: str = ""
    created_at: str = ""
    updated_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Study:
    """What a file of a finished study holds, before it is stored: names stand where ids will be."""

    task: Task
    instances: tuple[Instance, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    runs: tuple[ImportedRun, ...] = ()
    submissions: tuple[ImportedSubmission, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out or mended on reading, with counts; shown after the import."""


@dataclass(frozen=True, slots=True)
class ImportedDraft:
    """A draft as read from a file: instance by external id, criterion by text."""

    instance: str
    criterion: str
    score: float | None
    rows: tuple[EvaluationRow, ...] = ()
    reason: str = ""
    raw: str = ""
    samples: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A judge's drafts as read from a file."""

    run: Run
    drafts: tuple[ImportedDraft, ...]


@dataclass(frozen=True, slots=True)
class ImportedSubmission:
    """A submission as read from a file; a row's ``draft_row`` is the position of the drafted line."""

    person: str
    instance: str
    criterion: str
    score: float | None
    rows: tuple[ScrutinyRow, ...] = ()
    opened_at: str = ""
    submitted_at: str = ""
    arm: Arm = Arm.ASSISTED
    run: str = ""
    """Label of the run whose draft was shown; empty where there was none."""
