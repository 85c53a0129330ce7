"""Tasks: what may still be changed, and who may see their further columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coeval.domain import ColumnRole, Criterion, Instance, Person, Scale, Study, Task
from coeval.errors import InputError
from coeval.study import tasks
from coeval.study.access import Context
from coeval.study.importing.columns import list_columns, set_columns
from coeval.study.importing.importing import import_study

TASK = Task("letters", "Letters", "Write a letter.")
WIDER = replace(TASK, scale=Scale(1, 7))


def test_a_scale_can_be_changed_until_something_rests_on_it(context: Context, owner: Person) -> None:
    tasks.add_task(context, owner, TASK)
    assert tasks.update_task(context, owner, WIDER).scale == Scale(1, 7)
    import_study(context, owner, Study(TASK, (), (Criterion("Be clear."),)))
    tasks.update_task(context, owner, replace(WIDER, description="Write a short letter."))
    with pytest.raises(InputError, match="stays 1-7: version 1 of its criteria rest on it.*make a new task"):
        tasks.update_task(context, owner, TASK)
    kept = tasks.get_task(context, owner, "letters")
    assert (kept.scale, kept.description) == (Scale(1, 7), "Write a short letter.")


def test_owners_choose_who_sees_a_column(context: Context, owner: Person) -> None:
    instance = Instance("a", "in", "out", context={"topic": "bees", "gold": "4"})
    import_study(context, owner, Study(TASK, (instance,)))
    topic, gold = list_columns(context, owner, "letters")
    assert topic.role is ColumnRole.SHOWN and not topic.question
    assert gold.role is ColumnRole.HIDDEN and gold.question.startswith("“gold” is hidden")
    chosen = {"topic": ColumnRole.PEOPLE, "gold": ColumnRole.HUMAN_SCORE}
    set_columns(context, owner, "letters", chosen)
    assert tasks.get_task(context, owner, "letters").columns == chosen
    assert {column.set_by for column in list_columns(context, owner, "letters")} == {owner.name}
    with pytest.raises(InputError, match="no column “size”; it has topic, gold"):
        set_columns(context, owner, "letters", {"size": ColumnRole.SHOWN})
    with pytest.raises(InputError, match="“topic” cannot be input"):
        set_columns(context, owner, "letters", {"topic": ColumnRole.INPUT})
