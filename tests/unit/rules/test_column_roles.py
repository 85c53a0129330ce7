"""Which columns a judge and a person may see before anybody chose."""

from __future__ import annotations

import pytest

from coeval.domain import ColumnRole, Instance, Scale, Task
from coeval.llm.prompting.fencing import render_sample
from coeval.rules.columns.column_roles import guess_column, guess_columns, select_context


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("gold_score", ["x"], ColumnRole.HIDDEN),
        ("HumanRating", ["good"], ColumnRole.HIDDEN),
        ("annotator2", ["Ana"], ColumnRole.HIDDEN),
        ("bleurt", ["-0.2"], ColumnRole.HIDDEN),
        ("model_name", ["m1"], ColumnRole.HIDDEN),
        ("fluency", ["4", "2", ""], ColumnRole.HIDDEN),  # every value is a number on 1-5
        ("fluency", ["4", "smooth"], ColumnRole.SHOWN),
        ("year", ["1994", "2003"], ColumnRole.SHOWN),
        ("topic", ["bees"], ColumnRole.SHOWN),
        ("moderator_note", ["none"], ColumnRole.SHOWN),
        ("notes", ["", ""], ColumnRole.SHOWN),
        ("n", ["nan", "inf"], ColumnRole.SHOWN),
    ],
)
def test_the_role_that_a_column_gets_by_its_name_and_values(
    name: str, values: list[str], role: ColumnRole
) -> None:
    column = guess_column(name, values, Scale())
    assert column.role is role
    assert bool(column.question) is (role is ColumnRole.HIDDEN) and column.set_by == ""


def test_columns_keep_their_order() -> None:
    instances = [
        Instance("a", "", "", context={"b": "x"}),
        Instance("c", "", "", context={"a": "y", "b": "z"}),
    ]
    assert [column.name for column in guess_columns(instances, Scale())] == ["b", "a"]


def test_a_judge_is_shown_what_its_role_says_and_nothing_else() -> None:
    context = {"topic": "bees", "note": "for people", "gold": "5", "unknown": "?", "blank": ""}
    columns = {
        "topic": ColumnRole.SHOWN,
        "note": ColumnRole.PEOPLE,
        "gold": ColumnRole.HUMAN_SCORE,
        "blank": ColumnRole.SHOWN,
    }
    assert select_context(context, columns, judge=True) == {"topic": "bees"}
    assert select_context(context, columns, judge=False) == {"topic": "bees", "note": "for people"}
    sample = render_sample(Task("t", "T", columns=columns), Instance("i", "in", "out", context=context))
    assert (
        "bees" in sample and "gold" not in sample and "for people" not in sample and "unknown" not in sample
    )


def test_a_question_names_the_column_and_why_it_is_hidden() -> None:
    scale = Scale(1, 5)
    why = "“{}” is hidden from judge and people, because {}: is it part of what is judged?"
    for name, values, reason in (
        ("gold", [], "its name is that of a score or a label"),
        ("model", [], "its name is that of a system, which would tell who wrote the output"),
        ("year", ["1", "5", " "], "all its values are numbers on the scale 1-5"),
    ):
        assert guess_column(name, values, scale).question == why.format(name, reason)
    for values in (["0", "3"], ["3", "6"], ["3", "x"], ["3", "nan"], [" "], []):
        assert not guess_column("year", values, scale).question, values
