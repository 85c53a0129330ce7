"""Whole studies: the content of a finished study's file, stopping rules, and restorations of a hosted file."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain.evaluations import Arm, ImportedDraft, ScrutinyRow
from coeval.domain.people import Group
from coeval.domain.runs import Run
from coeval.domain.tasks import Criterion, Instance, Task

# The content of a finished study's file before it is stored, and stopping rules.


@dataclass(frozen=True, slots=True)
class Study:
    """The content of a finished study's file before it is stored, with names in place of ids."""

    task: Task
    instances: tuple[Instance, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    runs: tuple[ImportedRun, ...] = ()
    submissions: tuple[ImportedSubmission, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes on what was left out or repaired while reading, with counts; shown after the import."""


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
    """The arm that was drawn or, for a study in progress, the resulting arm (``Submission.outcome``)."""
    run: str = ""
    """The label of the run whose draft was shown; empty if there was none."""
    shown_score: float | None = None
    """The score on the screen if it differed from the draft's own."""
    planted: str = ""
    active_ms: int | None = None
    first_score: float | None = None
    """In the arm ``first``: the score from before the draft was shown."""
    group: Group | None = None
    """The group of the person; None if the file does not name one."""


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """A stopping rule: the interval of ``system_a`` minus ``system_b`` is as narrow as +-``width``, or excludes 0.

    ``planned`` is the planned number of documents. ``scores_then`` is the number of scores at the time of the
    declaration.
    """

    width: float
    planned: int
    system_a: str
    system_b: str
    scores_then: int = 0
    declared_by: str = ""
    declared_at: str = ""


@dataclass(frozen=True, slots=True)
class Restoration:
    """The record of a restoration: its place, snapshot, time and loss."""

    source: str
    name: str
    taken_at: str
    restored_at: str
    passed_over: str = ""
    """Newer snapshots that were damaged, one per line."""
    newest_at: str = ""
    """The time of the newest snapshot in the place."""
    put_aside: str = ""
    """The name under which the replaced file was kept."""
