"""A study that is read row by row from its file, and hashes of its keys."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
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

SHELVES = 256
"""The number of shelves for hashes. Only one shelf at a time is searched."""


class Seen:
    """The hashes of the keys read so far.

    Two keys may share a hash, so the file is searched again before a key is refused.

    >>> seen = Seen(["a", "b", "a"])
    >>> seen.repeated() == {hash("a")}, Seen(["a", "c"]).beyond(seen) == {hash("c")}
    (True, True)
    """

    def __init__(self, keys: Iterable[Hashable] = ()) -> None:
        self._shelves = [array("q") for _ in range(SHELVES)]
        for key in keys:
            self.add(key)

    def add(self, key: Hashable) -> None:
        number = hash(key)
        self._shelves[number % SHELVES].append(number)

    def repeated(self) -> set[int]:
        """Return the hashes that occur more than once."""
        neighbours = (pair for shelf in self._shelves for pair in pairwise(sorted(shelf)))
        return {identifier for identifier, other in neighbours if identifier == other}

    def beyond(self, known: Seen) -> set[int]:
        """Return the hashes that are not in ``known``."""
        pairs = zip(self._shelves, known._shelves, strict=True)
        return {number for mine, theirs in pairs for number in set(mine).difference(theirs)}


# A study in a file, whose large parts are read row by row at each use.

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rows(Generic[T]):
    """Rows that are read from disk every time they are iterated over."""

    read: Callable[[], Iterator[T]]

    def __iter__(self) -> Iterator[T]:
        return self.read()


@dataclass(frozen=True, slots=True)
class Source:
    """The checked content of a study's file, which may be larger than memory.

    Iterating over ``instances``, ``drafts`` or ``submissions`` raises InputError if the file was changed or removed.
    """

    task: Task
    instances: Iterable[Instance] = ()
    criteria: tuple[Criterion, ...] = ()
    runs: tuple[Run, ...] = ()
    drafts: Iterable[tuple[str, ImportedDraft]] = ()
    """Each draft with the label of its run."""
    submissions: Iterable[ImportedSubmission] = ()
    notes: tuple[str, ...] = ()
    """Notes on data that was left out or repaired while reading, with counts."""
    guessed: tuple[str, ...] = ()
    """The criteria with a scale that no file states. It was taken from the scores, and the importer may correct it."""
    group: Group | None = None
    """The group of people whose submissions name none."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """The column of each field, if the file is a table of instances."""
    columns: tuple[str, ...] = ()
    """All columns of the table."""

    def load(self) -> Study:
        """Return the whole study in memory."""
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
    """Return a study in memory as a source."""
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
