"""What the file of a finished study holds before it is stored, and the rule by which a study has enough."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coeval.domain.criteria import Criterion
from coeval.domain.evaluations import Arm, EvaluationRow, ScrutinyRow
from coeval.domain.judges import Run
from coeval.domain.people import Group
from coeval.domain.tasks import Instance, Task


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
    """A draft as read from a file: instance by external id, criterion by text; see ``Draft``."""

    instance: str
    criterion: str
    score: float | None
    rows: tuple[EvaluationRow, ...] = ()
    reason: str = ""
    raw: str = ""
    samples: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()


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
    """The arm drawn; of a standing study, the one that came of it (``Submission.outcome``)."""
    run: str = ""
    """Label of the run whose draft was shown; empty where there was none."""
    shown_score: float | None = None
    """The score that stood on the screen where it was not the draft's own."""
    planted: str = ""
    active_ms: int | None = None
    first_score: float | None = None
    """In the arm ``first``: the score given before the draft was shown."""
    group: Group | None = None
    """The group of the person; None where the file does not say."""


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
