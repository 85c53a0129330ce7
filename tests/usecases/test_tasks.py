"""Tasks: what may still be changed, and who may see their further columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coeval.domain import ColumnRole, Criterion, Instance, Person, Scale, Study, Task
from coeval.errors import InputError
from coeval.usecases import tasks
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.design import list_columns, set_columns
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import (
    archive_task,
    list_archived,
    restore_task,
)

TASK = Task("letters", "Letters", "Write a letter.")
WIDER = replace(TASK, scale=Scale(1, 7))


def test_a_scale_can_be_changed_until_something_rests_on_it(context: Context, owner: Person) -> None:
    tasks.add_task(context, owner, TASK)
    assert tasks.update_task(context, owner, WIDER).scale == Scale(1, 7)
    import_study(context, owner, Study(TASK, (), (Criterion("Be clear."),)))
    tasks.update_task(context, owner, replace(WIDER, description="Write a short letter."))
    with pytest.raises(
        InputError, match="stays 1-7: it is used by version 1 of its criteria.*create a new task"
    ):
        tasks.update_task(context, owner, TASK)
    kept = tasks.get_task(context, owner, "letters")
    assert (kept.scale, kept.description) == (Scale(1, 7), "Write a short letter.")


def test_owners_choose_who_sees_a_column(context: Context, owner: Person) -> None:
    instance = Instance("a", "in", "out", context={"topic": "bees", "gold": "4"})
    import_study(context, owner, Study(TASK, (instance,)))
    topic, gold = list_columns(context, owner, "letters")
    assert topic.is_open and gold.is_open
    chosen = {"topic": ColumnRole.PEOPLE, "gold": ColumnRole.HUMAN_SCORE}
    set_columns(context, owner, "letters", chosen)
    assert tasks.get_task(context, owner, "letters").columns == chosen
    assert {column.set_by for column in list_columns(context, owner, "letters")} == {owner.name}
    with pytest.raises(InputError, match="no column “size”; it has topic, gold"):
        set_columns(context, owner, "letters", {"size": ColumnRole.SHOWN})
    with pytest.raises(InputError, match="“topic” cannot be input"):
        set_columns(context, owner, "letters", {"topic": ColumnRole.INPUT})


def test_an_archived_task_is_listed_no_more_and_keeps_everything(context: Context, owner: Person) -> None:
    tasks.add_task(context, owner, TASK)
    with pytest.raises(
        InputError, match=f"“Lettres” is not this task’s name: to archive it, type “{TASK.name}”"
    ):
        archive_task(context, owner, "letters", "Lettres")
    assert [task.slug for task in tasks.list_tasks(context, owner)] == ["letters"]
    archive_task(context, owner, "letters", f" {TASK.name} ")
    assert tasks.list_tasks(context, owner) == []
    assert [task.slug for task in list_archived(context, owner)] == ["letters"]
    assert tasks.get_task(context, owner, "letters").description == TASK.description
    with pytest.raises(InputError, match="archived already"):
        archive_task(context, owner, "letters", "letters")
    with pytest.raises(InputError, match="The task “letters” already exists"):
        tasks.add_task(context, owner, TASK)
    restore_task(context, owner, "letters")
    assert [task.slug for task in tasks.list_tasks(context, owner)] == ["letters"]
    with pytest.raises(InputError, match="is not archived"):
        restore_task(context, owner, "letters")
