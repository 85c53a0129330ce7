"""Roles of columns are kept with the task: at an import."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coeval.datasets.tables.instances import name_document
from coeval.domain import (
    ColumnRole,
    Instance,
    Person,
    Scale,
    Study,
    Task,
)
from coeval.errors import InputError
from coeval.llm.prompting.template_files import render_sample
from coeval.store.queries import tasks
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import get_criteria_set
from coeval.usecases.scrutiny.design import set_columns
from coeval.usecases.study_import import ImportOptions, import_file, import_study

TASK = Task("demo", "Demo", columns={"gold": ColumnRole.HUMAN_SCORE})
GIVEN = Instance(
    "a", "in", "out", context={"topic": "bees", "gold": "4", "photo": "https://a.example.org/1.png"}
)
LATER = Instance("b", "in", "out", context={"topic": "ants", "year": "1994"})
ARTICLE = "The ferry left the island at noon.\nIt came back at night, and nobody was on it."


def roles(context: Context, slug: str = "demo") -> dict[str, ColumnRole]:
    with context.store.read() as db:
        task = tasks.get_task(db, slug)
    return dict(task.columns)


def test_a_new_column_is_hidden_and_what_was_chosen_is_kept(context: Context, owner: Person) -> None:
    import_study(context, owner, Study(TASK, (GIVEN,), ()))
    first = {
        "topic": ColumnRole.HIDDEN,
        "gold": ColumnRole.HUMAN_SCORE,
        "photo": ColumnRole.IMAGE,
    }
    assert roles(context) == first
    set_columns(context, owner, "demo", {"topic": ColumnRole.PEOPLE})
    import_study(context, owner, Study(replace(TASK, columns={}), (LATER,), ()))
    assert roles(context) == first | {"topic": ColumnRole.PEOPLE, "year": ColumnRole.HIDDEN}


def test_an_import_shows_the_columns_that_it_is_told_to(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("input,output,topic,gold,empty\nWhy?,So.,bees,4,\n", encoding="utf-8")
    import_file(context, owner, path, "shown")
    assert roles(context, "shown") == {"topic": ColumnRole.HIDDEN, "gold": ColumnRole.HIDDEN}
    for again in range(2):  # the same file again, with a choice: nothing but the role changes
        shown = ImportOptions(roles={"topic": ColumnRole.SHOWN, "empty": ColumnRole.SHOWN})
        assert not import_file(context, owner, path, "shown", shown).changed, again
    assert roles(context, "shown") == {"topic": ColumnRole.SHOWN, "gold": ColumnRole.HIDDEN}
    import_file(context, owner, path, "shown")
    assert roles(context, "shown")["topic"] is ColumnRole.SHOWN, "remembered"
    for name, said in (("topik", "no further column “topik”.*topic, gold"), ("input", "“input” is read as")):
        with pytest.raises(InputError, match=said):
            import_file(
                context,
                owner,
                path,
                "shown",
                ImportOptions(roles={"gold": ColumnRole.SHOWN, name: ColumnRole.SHOWN}),
            )
    assert roles(context, "shown")["gold"] is ColumnRole.HIDDEN


def test_a_document_that_holds_the_article_is_shown_and_names_its_group(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    long = "word " * 400  # over 1,000 characters
    path.write_text(
        f'document,input,output,system\n"{ARTICLE}",Sum it up.,A ferry.,a\n"{ARTICLE}",Sum it up.,Night.,b\n'
        f'"{long}",Sum it up.,Words.,a\n,Sum it up.,Nothing.,a\n',
        encoding="utf-8",
    )
    import_file(context, owner, path, "news")
    assert roles(context, "news") == {"document": ColumnRole.SHOWN}
    with context.store.read() as db:
        task = tasks.get_task(db, "news")
        stored = list(tasks.list_instances(db, task.id))
    assert [one.context.get("document", "") for one in stored] == [ARTICLE, ARTICLE, long, ""]
    names = [one.document for one in stored]
    assert names[0] == names[1] == name_document(ARTICLE) and len(set(names)) == 3
    assert ARTICLE in render_sample(task, stored[0])
    assert not import_file(context, owner, path, "news").changed


def test_criteria_that_state_no_scale_have_that_of_the_import(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("input,output\nWhy?,So.\n", encoding="utf-8")
    lines = ("It is right.", "It is kind.\t1-3")
    import_file(context, owner, path, "new", ImportOptions(criteria_lines=lines, scale=Scale(0, 1)))
    current = get_criteria_set(context, owner, "new")
    assert current and [criterion.scale for criterion in current.criteria] == [Scale(0, 1), Scale(1, 3)]
    with context.store.read() as db:
        task = tasks.get_task(db, "new")
    assert task and task.scale == Scale(0, 1), "criteria that are voted on later have it too"
