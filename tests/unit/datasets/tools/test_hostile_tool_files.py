"""Files of other tools that are broken, huge or lying: a study or one clear error, whatever stands where."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.datasets import find_format, load_study, preview
from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.exchange.label_studio_tasks import render_tasks
from coeval.usecases.access import Context
from coeval.usecases.study_import import import_file
from coeval.usecases.tasks import list_tasks
from tests.support.studies.odd_studies import build_odd_study
from tests.unit.datasets.tools.test_every_field import DATA, put, read, write

FILES = {
    "argilla.json": "argilla",
    "deepeval_results.json": "deepeval",
    "doccano/ann.jsonl": "doccano",
    "helm/per_instance_stats.json": "helm",
    "helm/scenario_state.json": "helm",
    "langsmith_feedback.json": "langsmith",
    "langsmith_runs.json": "langsmith",
    "lm_eval/samples_season_2026-11-27T00-56-16.767749.jsonl": "lm-eval",
    "mlflow_traces.json": "mlflow",
    "otel_spans.json": "opentelemetry",
    "label_studio.json": "label-studio",
    "label_studio_min.json": "label-studio-min",
    "langfuse_scores.json": "langfuse",
    "langfuse_traces.json": "langfuse",
    "phoenix_spans.jsonl": "phoenix",
    "potato/annotation_output/ann/user_state.json": "potato",
    "promptfoo.json": "promptfoo",
}
LIES: tuple[Any, ...] = (
    None, True, -1, 1e308, "", "\0", "\ud800", "x" * 200_001, "x" * 1_001, [], [[]], [None], {}, {"a": {}}, [{"a": 1}],
    {"text": 1}, float("nan"), 10**400, "NaN", "[{]", '{"messages": 3}',
)  # fmt: skip
CHANGES = 60
"""Lies put into each file: one at a time, at a place and of a kind that a fixed seed draws."""


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*here, key)
        yield from places(part, (*here, key))


def load_or_refuse(path: Path, format: str) -> None:
    for attempt in (lambda: load_study(path, slug="t", format=format), lambda: preview(path)):
        try:
            attempt()
        except InputError as refusal:
            assert 10 < len(str(refusal)) < 1_000 and path.parent.name not in str(refusal)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "format"), FILES.items())
def test_a_lie_anywhere(tmp_path: Path, name: str, format: str) -> None:
    good, draw = read(DATA / name), random.Random(11)
    ways = list(places(good))
    path = tmp_path / Path(name).name
    for _ in range(CHANGES):
        write(path, put(good, draw.choice(ways), draw.choice(LIES)))
        load_or_refuse(path, format)


@pytest.mark.slow
def test_a_lie_anywhere_in_what_we_wrote(tmp_path: Path, context: Context, owner: Person) -> None:
    """What is let through can be imported, too: the tasks that we wrote go into the file as they say."""
    good, draw = list(render_tasks(build_odd_study(4))), random.Random(12)
    ways, path = list(places(good)), tmp_path / "tasks.json"
    imported = 0
    for number in range(CHANGES):
        write(path, put(good, draw.choice(ways), draw.choice(LIES)))
        before = len(list_tasks(context, owner))
        try:
            import_file(context, owner, path, f"t{number}")
            imported += 1
        except InputError:
            assert len(list_tasks(context, owner)) == before, "nothing is written of a file that is refused"
    assert 0 < imported < CHANGES


@pytest.mark.parametrize("format", sorted({*FILES.values()}))
@pytest.mark.parametrize(
    "value", [[], {}, [[]], [1], "x", None, {"data": 3}, [{}], {"results": {"results": [{}]}}]
)
def test_a_file_of_something_else(tmp_path: Path, format: str, value: object) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError):
        load_study(path, slug="t", format=format)


def test_deep_and_cut_files(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text('[{"data": ' * 50_000 + "1" + "}]" * 50_000, encoding="utf-8")
    with pytest.raises(InputError, match="deep.json"):
        find_format(deep)
    cut = tmp_path / "cut.json"
    cut.write_text((DATA / "label_studio.json").read_text(encoding="utf-8")[:900], encoding="utf-8")
    with pytest.raises(InputError, match="line .*, column .*: is not JSON"):
        load_study(cut, slug="t")


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]", encoding="utf-8")
    for format in sorted({*FILES.values()} | {"inspect"}):
        with pytest.raises(InputError):
            load_study(tmp_path, slug="t", format=format)


@pytest.mark.parametrize("marked", ["text,label\nhello,good\n", 'input,output,label\na,b,"[1]"\n'])
def test_tables_of_ones_own_stay_tables(tmp_path: Path, marked: str) -> None:
    path = tmp_path / "own.csv"
    path.write_text(marked, encoding="utf-8")
    assert find_format(path).name == "csv"
    lines = tmp_path / "own.jsonl"
    lines.write_text('{"input": "a", "output": "b", "text": "c", "label": ["d"]}\n', encoding="utf-8")
    assert find_format(lines).name == "jsonl"
