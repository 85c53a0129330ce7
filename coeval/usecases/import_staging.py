"""An import in progress: names in normal form, short transactions between people's saves, and publication."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from coeval.datasets import Source
from coeval.datasets.source import Rows
from coeval.domain import CriteriaSet, Criterion, ImportedDraft, ImportedSubmission, Instance, Person, Task
from coeval.errors import InputError
from coeval.folded_text import normalize_name
from coeval.store import Database, IntegrityError
from coeval.store.queries import criteria, imports, jobs
from coeval.store.queries import tasks as tasks_module
from coeval.usecases.access import Context
from coeval.usecases.leases import Hold
from coeval.usecases.sessions import check_name

Item = TypeVar("Item")

ROWS_AT_ONCE = 1_000
CHARACTERS_AT_ONCE = 2_000_000
"""The number of characters in one transaction, which may delay a save by a fraction of a second."""

REMOVAL_SECONDS = 0.1
"""The time limit of one transaction that removes imported rows; without it, saves once waited 17 seconds."""
REMOVAL_PAUSE = 0.1
"""The pause in which others can save: another process retries SQLite's lock every tenth of a second."""


class Staging:
    """An import that is not yet published.

    ``task`` is the task that everybody sees, if it exists. ``place`` is the task that holds the import's own
    instances and runs meanwhile; it becomes the task if there is none.
    """

    def __init__(
        self,
        context: Context,
        person: Person,
        hold: Hold,
        batch: int,
        task: Task | None,
        place: Task,
        slug: str,
    ) -> None:
        self.context, self.person, self.hold, self.batch = context, person, hold, batch
        self.task, self.place, self.slug = task, place, slug

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Return the import's own task, and the target task if it exists."""
        return (self.task, self.place) if self.task else (self.place,)

    @contextmanager
    def write(self) -> Iterator[Database]:
        """Write one short transaction of the import, unless another process has taken over the import."""
        with self.context.store.write() as db:
            self.hold.confirm(db)
            yield db

    def get_instance_ids(self, db: Database, names: Collection[str]) -> dict[str, int]:
        """Return the ids of instances by external id: those of the task and of this import."""
        return {
            name: number
            for task in self.tasks
            for name, number in tasks_module.get_instance_ids(db, task.id, names).items()
        }

    def ensure_criteria(self, given: Sequence[Criterion]) -> dict[str, int]:
        """Return the ids of criteria by text: those of the task and of the file."""
        with self.write() as db:
            current = criteria.get_criteria_set(db, self.task.id) if self.task else None
            ids = {criterion.text: criterion.id for criterion in current.criteria} if current else {}
            further = [criterion for criterion in given if criterion.text not in ids]
            return ids | {criterion.text: self._ensure_criterion(db, criterion) for criterion in further}

    def _ensure_criterion(self, db: Database, criterion: Criterion) -> int:
        old = criteria.find_criterion(db, self.task.id, criterion) if self.task else None
        return (old or criteria.ensure_criterion(db, self.place.id, criterion)).id

    def publish(self, complete: Callable[[Database, Task], CriteriaSet | None]) -> None:
        """Publish the import in one transaction.

        ``complete`` writes the rows that depend on the task's newest state, and returns its criteria set.

        Raises:
            InputError: the task was created, or its criteria were changed, since the import began.
        """
        with self.write() as db:
            task = self._find_home(db)
            current = complete(db, task)
            imports.move_runs_in(db, self.place.id, task.id, current.id if current else None)
            imports.finish_import(db, self.batch, task.id)

    def _find_home(self, db: Database) -> Task:
        """Return the task with the import's instances and criteria in it."""
        if self.task is None:
            if tasks_module.get_task(db, self.slug) is not None:
                raise InputError(
                    f"A task “{self.slug}” was created while the file was being read. Nothing was written: "
                    "import the file again to add it to that task."
                )
            imports.name_task(db, self.place.id, self.slug)
            return replace(self.place, slug=self.slug)
        try:
            imports.move_in(db, self.place.id, self.task.id)
        except IntegrityError:
            raise InputError(
                f"The criteria of “{self.slug}” changed while the file was being read. Nothing was "
                "written: import the file again."
            ) from None
        return self.task


@contextmanager
def stage_import(context: Context, person: Person, task: Task) -> Iterator[Staging]:
    """Begin an import into the task with this short name; its rows are removed if it fails.

    A task accepts one import at a time: the next one waits.
    """
    with Hold(context) as hold:
        hold.take(_lease(task.slug), f"An import into “{task.slug}”", wait=True)
        remove_unfinished(context, own=task.slug)
        with context.store.write() as db:
            standing = tasks_module.get_task(db, task.slug)
            batch, place = imports.add_import(db, task, person.name)
        try:
            yield Staging(context, person, hold, batch, standing, place, task.slug)
        except BaseException:
            _take_back(context, batch)
            raise


def remove_unfinished(context: Context, *, own: str = "") -> None:
    """Remove the rows of interrupted imports; ``own`` is the task whose lease this process holds."""
    with context.store.read() as db:
        unfinished = imports.list_unfinished(db)
        stale = [
            (batch, slug)
            for batch, slug in unfinished
            if slug == own or jobs.get_live_lease(db, _lease(slug)) is None
        ]
    for batch, slug in stale:
        _take_back(context, batch)
        if slug != own:
            with context.store.write() as db:
                jobs.remove_dead_lease(db, _lease(slug))


def _take_back(context: Context, batch: int) -> None:
    more = True
    while more:
        with context.store.write() as db:
            until = time.monotonic() + REMOVAL_SECONDS
            more = imports.remove_part(db, batch)
            while more and time.monotonic() < until:
                more = imports.remove_part(db, batch)
        if more:
            time.sleep(REMOVAL_PAUSE)


def _lease(slug: str) -> str:
    return f"import into {slug}"


def portions(items: Iterable[Item], weigh: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Yield lists that each fit into one transaction; ``weigh`` returns the number of characters of an item."""
    portion: list[Item] = []
    characters = 0
    for item in items:
        portion.append(item)
        characters += weigh(item)
        if len(portion) == ROWS_AT_ONCE or characters >= CHARACTERS_AT_ONCE:
            yield portion
            portion, characters = [], 0
    if portion:
        yield portion


# The normal forms of the names in a file.

GiveForm = Callable[[str], str]


def _form(what: str, normalize: GiveForm) -> GiveForm:
    """Return a function for the normal form of a name, which raises an InputError with ``what`` for a bad one."""

    @lru_cache(maxsize=500)
    def give_form(name: str) -> str:
        if not name:
            return ""
        try:
            return normalize(name)
        except InputError as error:
            raise InputError(f"{what} “{name[:80]}” cannot be used. {error}") from None

    return give_form


person_form = _form("The annotator", check_name)
criterion_form = _form("The criterion", normalize_name)
item_form = _form("The name", normalize_name)
"""The form of the name of an instance, a document or a system."""


def normalize_names(source: Source) -> Source:
    """Return the source with all names of people, criteria, instances, documents and systems in normal form."""

    def fix_instance(instance: Instance) -> Instance:
        names = item_form(instance.external_id), item_form(instance.document), item_form(instance.system)
        if names == (instance.external_id, instance.document, instance.system):
            return instance
        return replace(instance, external_id=names[0], document=names[1], system=names[2])

    def fix_draft(labelled: tuple[str, ImportedDraft]) -> tuple[str, ImportedDraft]:
        label, draft = labelled
        names = item_form(draft.instance), criterion_form(draft.criterion)
        if names == (draft.instance, draft.criterion):
            return labelled
        return label, replace(draft, instance=names[0], criterion=names[1])

    def fix_submission(submission: ImportedSubmission) -> ImportedSubmission:
        names = (
            person_form(submission.person),
            item_form(submission.instance),
            criterion_form(submission.criterion),
        )
        if names == (submission.person, submission.instance, submission.criterion):
            return submission
        return replace(submission, person=names[0], instance=names[1], criterion=names[2])

    texts = [criterion_form(criterion.text) for criterion in source.criteria]
    for text in texts:
        if texts.count(text) > 1:
            raise InputError(f"The criterion “{text[:80]}” is in the file twice: remove one of the two.")
    return replace(
        source,
        instances=Rows(lambda: map(fix_instance, source.instances)),
        criteria=tuple(
            criterion if criterion.text == text else replace(criterion, text=text)
            for criterion, text in zip(source.criteria, texts, strict=True)
        ),
        drafts=Rows(lambda: map(fix_draft, source.drafts)),
        submissions=Rows(lambda: map(fix_submission, source.submissions)),
    )
