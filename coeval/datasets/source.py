"""A study as its file is gone through: what is many is read row by row, as often as it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from coeval.domain import (
    Criterion,
    Group,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    Run,
    Study,
    Task,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rows(Generic[T]):
    """Rows that are read from disk anew each time they are gone through."""

    read: Callable[[], Iterator[T]]

    def __iter__(self) -> Iterator[T]:
        return self.read()


@dataclass(frozen=True, slots=True)
class Source:
    """What a file of a study holds, checked already. Its size is bounded by the disk, not by memory.

    Going through ``instances``, ``drafts`` or ``submissions`` raises InputError where the file was changed or
    removed since.
    """

    task: Task
    instances: Iterable[Instance] = ()
    criteria: tuple[Criterion, ...] = ()
    runs: tuple[Run, ...] = ()
    drafts: Iterable[tuple[str, ImportedDraft]] = ()
    """Each with the label of its run."""
    submissions: Iterable[ImportedSubmission] = ()
    notes: tuple[str, ...] = ()
    """What was left out or mended on reading, with counts."""
    group: Group | None = None
    """The group of the people whose submissions name none."""

    def load(self) -> Study:
        """All of it, in memory."""
        drafts: dict[str, list[ImportedDraft]] = {run.label: [] for run in self.runs}
        for label, draft in self.drafts:
            drafts[label].append(draft)
        return Study(
            task=self.task,
            instances=tuple(self.instances),
            criteria=self.criteria,
            runs=tuple(ImportedRun(run, tuple(drafts[run.label])) for run in self.runs),
            submissions=tuple(self.submissions),
            notes=self.notes,
        )


def source_of(study: Study) -> Source:
    """A study that is in memory, as a source."""
    return Source(
        task=study.task,
        instances=study.instances,
        criteria=study.criteria,
        runs=tuple(imported.run for imported in study.runs),
        drafts=Rows(
            lambda: ((imported.run.label, draft) for imported in study.runs for draft in imported.drafts)
        ),
        submissions=study.submissions,
        notes=study.notes,
    )
