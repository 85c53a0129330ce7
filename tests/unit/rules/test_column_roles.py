"""Which columns a judge and a person may see before anybody chose."""

from __future__ import annotations

import pytest

from coeval.domain import Column, ColumnRole, Instance, Task
from coeval.llm.prompting.template_files import render_sample
from coeval.rules.column_roles import guess_column, select_context

GOLD_LIKE = (
    "ground_truth", "expected_output", "target", "solution", "answer_key", "chosen", "rejected", "reward", "passed",
    "is_good", "reviewer", "gold_score", "HumanRating", "model_name", "online", "topic", "notes", "year",
)  # fmt: skip


@pytest.mark.parametrize("name", GOLD_LIKE)
@pytest.mark.parametrize("values", [["4", "2", ""], ["bees"], ["0", "1"], ["", ""], []])
def test_a_column_is_hidden_whatever_its_name_and_values(name: str, values: list[str]) -> None:
    column = guess_column(name, values)
    assert column.role is ColumnRole.HIDDEN and column.is_open


@pytest.mark.parametrize("name", ["BLEU", "rouge_l", "score_bleurt", "BERTScore-F1", "chrF++", "nli"])
def test_numbers_under_the_name_of_a_metric_are_a_metric_that_nobody_sees(name: str) -> None:
    role = guess_column(name, ["0.31", "-1", ""]).role
    assert role is ColumnRole.ASSISTANT_SCORE and not role.people_see and not role.judge_sees
    for values in (["good"], ["0.3", "n/a"], [""], ["nan"]):
        assert guess_column(name, values).role is ColumnRole.HIDDEN


def test_a_column_that_somebody_hid_is_not_asked_about() -> None:
    assert not Column("topic", ColumnRole.HIDDEN, set_by="Ana").is_open
    assert not Column("topic", ColumnRole.SHOWN).is_open


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
