"""Scoring by worked examples, and the files that bring criteria: what they hold, and what is refused."""

from __future__ import annotations

import contextlib
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.datasets import open_source
from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.rubrics import queries
from coeval.extensions.rubrics.queries import COLUMN
from coeval.extensions.rubrics.reviews import count_criteria
from coeval.extensions.rubrics.scoring import Rubric, instance_score, overall_score, read_rubrics
from coeval.store.queries import tasks
from coeval.usecases.access import Context
from coeval.usecases.export import export_as
from coeval.usecases.study_import import import_file
from tests.support.studies.rubrics_study import make_known_rubrics

EXAMPLE = {
    "prompt_id": "p1",
    "prompt": [{"role": "user", "content": "My chest hurts. What do I do?"}],
    "completion": "Call an ambulance.",
    "rubrics": [
        {"criterion": "Sends to a doctor.", "points": 10, "tags": ["level:example", "axis:accuracy"]}
    ],
}


# ---- the score ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judged", "score"),
    [
        ([(10, 1), (5, 1)], 1.0),  # 15 / 15
        ([(10, 1), (5, 0)], 10 / 15),
        ([(10, 1), (5, 0), (-8, 1)], 2 / 15),  # a fault takes points, and is not among those that can be had
        ([(10, 1), (5, 0), (-8, 0)], 10 / 15),  # a fault that is not there costs nothing
        ([(10, 0), (-8, 1)], -0.8),  # below 0: it is clipped in the mean, not here
        ([(-8, 0)], None),  # nothing can be gained
        ([(10, 1), (5, None)], None),
    ],
)
def test_the_score_of_an_instance_is_points_met_over_positive_points(
    judged: Any, score: float | None
) -> None:
    assert instance_score(judged) == (None if score is None else pytest.approx(score))


def test_the_mean_is_clipped_and_not_its_parts() -> None:
    # (1 + 0.5 - 1) / 3 = 1/6; with each clipped first it would be 0.5
    assert overall_score([1.0, 0.5, -1.0]) == pytest.approx(1 / 6)
    assert overall_score([-1.0, 0.2]) == 0.0


# ---- a column, HealthBench's shape, a row for each criterion ----------------------------------------------------


def write_lines(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def stored(context: Context, slug: str) -> dict[str, list[Rubric]]:
    with context.store.read() as db:
        task = tasks.get_task(db, slug)
        names = {one.id: one.external_id for one in tasks.list_instances(db, task.id)}
        return {
            names[key]: [c.rubric for c in each]
            for key, each in queries.list_task_criteria(db, task.id).items()
        }


def bring(context: Context, owner: Person, path: Path, slug: str = "made") -> dict[str, list[Rubric]]:
    import_file(context, owner, path, slug)
    count_criteria(context, owner, slug)
    return stored(context, slug)


def test_a_column_of_criteria_is_taken_from_jsonl_and_csv(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    rubrics = ["Be short.", {"text": "Guesses.", "points": -2, "axis": "accuracy"}]
    line = {"instance": "1", "input": "Why?", "output": "So.", "rubrics": rubrics}
    wanted = {"1": [Rubric("Be short."), Rubric("Guesses.", -2.0, "accuracy")]}
    assert bring(context, owner, write_lines(tmp_path / "one.jsonl", line), "lines") == wanted
    with (tmp_path / "one.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, line)
        writer.writeheader()
        writer.writerow(line | {"rubrics": json.dumps(rubrics)})
    assert bring(context, owner, tmp_path / "one.csv", "table") == wanted
    # they are taken once, however often somebody looks
    assert count_criteria(context, owner, "table")["criteria"] == 2


def test_healthbench_lines_keep_their_conversation_and_criteria(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    known = make_known_rubrics(documents=2)
    assert open_source(known.write(tmp_path / "hb.jsonl"), slug="s").task.input_field == "Conversation"
    found = bring(context, owner, tmp_path / "hb.jsonl")
    assert set(found) == {"c0s0", "c0s1", "c1s0", "c1s1"}
    assert found["c1s0"][2] == Rubric("States that fact1x2.", -6.0, "accuracy", ("level:example",))
    with context.store.read() as db:
        task = tasks.get_task(db, "made")
        first = next(tasks.list_instances(db, task.id))
    assert first.input.startswith("── user ──\nQuestion 0?") and first.document == "p0"
    assert not task.columns[COLUMN].people_see and not task.columns[COLUMN].judge_sees


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"completion": ""}, "contains no answer to judge"),
        ({"prompt": [{"role": "user"}]}, "has no prompt"),
        ({"rubrics": [{"criterion": "A.", "points": "many"}]}, "has “many”"),
        ({"rubrics": [{"criterion": "A.", "points": 1e9}]}, "write a number from"),
        ({"rubrics": [{"criterion": " ", "points": 1}]}, "has no text"),
        ({"rubrics": [{"criterion": "x" * 10_001, "points": 1}]}, "10,001 characters"),
        ({"rubrics": [{"criterion": "A.", "points": 1, "tags": "axis:a"}]}, "not a list of texts"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_and_nothing_is_written(
    context: Context, owner: Person, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    path = write_lines(tmp_path / "hb.jsonl", EXAMPLE, EXAMPLE | {"prompt_id": "p2"} | change)
    with pytest.raises(InputError, match=said) as refused:
        import_file(context, owner, path, "made")
    assert "line 2" in str(refused.value)
    with context.store.read() as db:
        assert tasks.get_task(db, "made") is None


@pytest.mark.parametrize(
    "cell", ["[", "7", '[{"text": ["a"]}]', "[[]]", json.dumps(["a"] * 201), '["a\\u0000"]']
)
def test_a_cell_that_is_no_list_of_criteria_is_refused(tmp_path: Path, cell: str) -> None:
    with pytest.raises(InputError):
        read_rubrics(cell, "row 1")
    path = tmp_path / "one.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["input", "output", "rubrics"], ["Why?", "So.", cell]])
    with pytest.raises(InputError):
        open_source(path, slug="made", format="rubrics")


@given(st.text(max_size=60))
def test_no_cell_breaks_the_reader(cell: str) -> None:
    with contextlib.suppress(InputError):
        read_rubrics(cell, "row 1")


# ---- round trips ------------------------------------------------------------------------------------------------


def test_a_conversation_without_criteria_and_one_with_the_same_twice_come_back(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    twice = EXAMPLE | {"prompt_id": "p2", "rubrics": EXAMPLE["rubrics"] * 2}
    path = write_lines(tmp_path / "hb.jsonl", EXAMPLE | {"rubrics": []}, twice)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert open_source(path, slug="s").task.input_field == "Conversation"
    assert bring(context, owner, path) == {
        "p2": [Rubric("Sends to a doctor.", 10.0, "accuracy", ("level:example",))] * 2
    }
    export_as(context, owner, "made", "healthbench", tmp_path / "out")
    (line,) = (tmp_path / "out" / "healthbench.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["rubrics"] == twice["rubrics"]


def test_both_exports_bring_the_same_criteria_again(context: Context, owner: Person, tmp_path: Path) -> None:
    known = make_known_rubrics(documents=3)
    known.lines.append(
        EXAMPLE | {"completion_id": "=1+1", "rubrics": [{"criterion": "“נכון”.", "points": -0.5}]}
    )
    before = bring(context, owner, known.write(tmp_path / "hb.jsonl"))
    export_as(context, owner, "made", "healthbench", tmp_path / "out")
    lines = [
        json.loads(line) for line in (tmp_path / "out" / "healthbench.jsonl").read_text("utf-8").splitlines()
    ]
    for line, original in zip(lines, known.lines, strict=True):
        assert {key: line[key] for key in ("prompt", "completion", "prompt_id")} == {
            key: original[key] for key in ("prompt", "completion", "prompt_id")
        }
        assert [(one["criterion"], one["points"]) for one in line["rubrics"]] == [
            (one["criterion"], one["points"]) for one in original["rubrics"]
        ]
    assert bring(context, owner, tmp_path / "out" / "healthbench.jsonl", "again") == before
