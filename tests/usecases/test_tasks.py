"""Tasks: what may still be changed, and who may see their further columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coeval.domain import ColumnRole, Criterion, Instance, Person, Run, Scale, Study, Task
from coeval.errors import InputError, NotFoundError
from coeval.rules.arms import Design
from coeval.usecases import tasks
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import get_criteria_set
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.scrutiny.design import get_design, list_columns, set_columns, set_design
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import (
    archive_run,
    archive_task,
    copy_setup,
    list_archived,
    list_archived_runs,
    restore_run,
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


def test_a_copied_set_up_has_texts_design_and_criteria_and_no_work(
    context: Context, owner: Person, study: Study
) -> None:
    import_study(context, owner, study)
    set_design(context, owner, "demo", Design(blind_share=0.25, idle_seconds=90))
    new = copy_setup(context, owner, "demo", "Second round")
    stands = tasks.get_task_state(context, owner, "second-round")
    assert (stands.n_instances, stands.version, stands.n_criteria, stands.runs) == (0, 1, 2, ())
    assert get_design(context, owner, new.slug).design == Design(blind_share=0.25, idle_seconds=90)
    # the criteria are the new task's own: what happens to them leaves the first task alone
    before, after = (get_criteria_set(context, owner, slug) for slug in ("demo", new.slug))
    assert before and after and [one.text for one in before.criteria] == [one.text for one in after.criteria]
    assert not {one.id for one in before.criteria} & {one.id for one in after.criteria}
    with pytest.raises(InputError, match="“second-round” is already in use"):
        copy_setup(context, owner, "demo", "Second round")
    with pytest.raises(InputError, match="has no name"):
        copy_setup(context, owner, "demo", " ")


def test_an_archived_run_is_shown_and_counted_no_more(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)
    other = replace(study.runs[0], run=Run("imported", "second-model", "second"))
    import_study(context, owner, replace(study, runs=(other,)))
    assert [label_of(one) for one in tasks.get_task_state(context, owner, "demo").runs] == ["first", "second"]
    assert get_step(context, owner, "demo").draft is not None
    with pytest.raises(NotFoundError, match="no run “third”; its runs are: first, second"):
        archive_run(context, owner, "demo", "third")
    labels = [run["label"] for run in get_report(context, owner, "demo")["alignment"]["runs"]]
    assert labels == ["first", "second"]
    archive_run(context, owner, "demo", " first ")
    assert [label_of(one) for one in tasks.get_task_state(context, owner, "demo").runs] == ["second"]
    assert [run.label for run in list_archived_runs(context, owner, "demo")] == ["first"]
    (counted,) = get_report(context, owner, "demo")["alignment"]["runs"]
    assert counted["label"] == "second"
    with pytest.raises(InputError, match="archived already"):
        archive_run(context, owner, "demo", "first")
    with pytest.raises(InputError, match="“first” is archived: restore it"):
        tasks.show_run(context, owner, "demo", "first")
    tasks.show_run(context, owner, "demo", "second")
    restore_run(context, owner, "demo", "first")
    assert [run["label"] for run in get_report(context, owner, "demo")["alignment"]["runs"]] == labels
    shown = {run.label: run.shown for run, _, _ in tasks.get_task_state(context, owner, "demo").runs}
    assert shown == {"first": False, "second": True}
    with pytest.raises(InputError, match="is not archived"):
        restore_run(context, owner, "demo", "first")


def label_of(counted: tuple[Run, int, int]) -> str:
    return counted[0].label
