"""The columns of a task's instances beyond input and output: who may see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coeval.domain import CONTEXT_ROLES, Column, ColumnRole, Person, Scale
from coeval.errors import InputError
from coeval.rules.columns.column_roles import guess_column
from coeval.store.queries import tasks
from coeval.study.access import OWNERS, Context, require_task, use_case


@use_case(OWNERS)
def list_columns(context: Context, person: Person, slug: str) -> list[Column]:
    """See which further columns a task has, and who may see them.

    A column whose role nobody chose yet comes with the question that its owner is to answer.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        return [_with_question(column, task.scale) for column in tasks.list_columns(db, task.id)]


@use_case(OWNERS)
def set_columns(context: Context, person: Person, slug: str, roles: Mapping[str, ColumnRole]) -> list[Column]:
    """Choose who may see a task's further columns; what is drafted from now on is asked accordingly.

    Raises:
        InputError: the task has no such column, or the role is one that only a field can have.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        known = {column.name: column for column in tasks.list_columns(db, task.id)}
        for name, role in roles.items():
            if name not in known:
                raise InputError(
                    f"The task has no column “{name[:80]}”; it has {', '.join(known) or 'none'}."
                )
            if role not in CONTEXT_ROLES:
                raise InputError(f"“{name[:80]}” cannot be {role}: choose one of {', '.join(CONTEXT_ROLES)}.")
        chosen = [replace(known[name], role=role, set_by=person.name) for name, role in roles.items()]
        tasks.record_columns(db, task.id, [one for one in chosen if one != known[one.name]])
        return tasks.list_columns(db, task.id)


def _with_question(column: Column, scale: Scale) -> Column:
    if column.set_by or column.role is not ColumnRole.HIDDEN:
        return column
    asked = guess_column(column.name, (), scale).question
    return replace(column, question=asked or f"“{column.name}” is hidden: is it part of what is judged?")
