"""Which language a study's annotators read."""

from __future__ import annotations

from coeval.domain import Person, Role
from coeval.language import SOURCE, choose_language
from coeval.store.queries import tasks
from coeval.study.access import Context


def get_language(context: Context, slug: str, person: Person | None = None) -> str:
    """The language of a task's screens: the owner's choice for annotators and strangers, English for the team."""
    if person is not None and person.role is not Role.ANNOTATOR:
        return SOURCE
    with context.store.read() as db:
        return choose_language(tasks.get_language(db, slug))


def list_in_use(context: Context) -> list[str]:
    """The languages of all tasks that are not archived, for pages that are of no task; English where there is none."""
    with context.store.read() as db:
        return sorted({choose_language(code) for code in tasks.list_languages(db)}) or [SOURCE]
