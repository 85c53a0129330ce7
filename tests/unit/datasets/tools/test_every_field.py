"""Every field of a tool's file reaches the study, or a note of the import counts it: nothing is lost silently."""

from __future__ import annotations

import json
import operator
import re
import shutil
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from coeval.datasets import load_study
from coeval.domain import Study
from coeval.errors import InputError

DATA = Path(__file__).resolve().parents[3] / "data" / "exports"
FILES = {
    "promptfoo": ["promptfoo_eval.json"],
    "deepeval": ["deepeval_results.json"],
    "langfuse": ["langfuse_traces.json", "langfuse_scores.json"],
    "phoenix": ["phoenix_spans.jsonl"],
    "label-studio": ["label_studio.json"],
    "inspect": ["inspect.eval"],
    "label-studio-min": ["label_studio_min.json"],
    "potato": ["potato/annotation_output/ann/user_state.json", "potato/items.jsonl"],
    "argilla": ["argilla.json"],
    "doccano": ["doccano/ann.jsonl"],
    "opentelemetry": ["otel_spans.json"],
    "mlflow": ["mlflow_traces.json"],
    "langsmith": ["langsmith_runs.json", "langsmith_feedback.json"],
    "helm": ["helm/scenario_state.json", "helm/per_instance_stats.json"],
    "lm-eval": ["lm_eval/samples_garden_2026-11-27T00-56-16.767749.jsonl"],
}
VALUE = "a value that nothing else has"
COVERED = {
    "attributes": "Attributes of spans beside the texts",
    "inputs": "Settings, tools and tokens beside the messages",
    "outputs": "Settings, tools and tokens beside the messages",
    "trace_metadata": "Tags and metadata that MLflow set itself",
    "tags": "Tags and metadata that MLflow set itself",
    "metadata": "Metadata that LangSmith set itself",
    "arguments": "Settings of requests",
    "last_update_time": "Times of scores by judges",
    "assertion": "Types and values of assertions",
    **dict.fromkeys(
        ("input", "output", "attachments"), "Inputs, outputs and attachments that the messages repeat"
    ),
    "instance_id_to_behavioral_data": "Interactions that Potato recorded",
    "instance_id_to_span_to_value": "Titles, ids and details of passages",
    "stats": "Measurements of tokens, time and cost",
}
"""Notes that count what is inside a field without its name."""


STRUCTURE = frozenset((
    "id", "trace_id", "span_id", "_server_id",  # say what belongs together
    "start_time", "start_time_unix_nano", "dotted_order",  # order the steps
    "run_type", "source_type", "type", "mlflow.spanType", "dataType", "role", "to_name",  # say of what kind a value is
    "name",  # of a step without a tool
    "schema",  # of a text, which is kept with the first score
    "value", "stringValue",  # the same value as a number and as a text
))  # fmt: skip
"""Fields that order and connect the others. Most changes of them change nothing that a person could read."""


def read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)


def write(path: Path, value: Any) -> None:
    lines = path.suffix == ".jsonl"
    path.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value), encoding="utf-8")


def leaves(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value that has no parts."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        if isinstance(part, dict | list) and part:
            yield from leaves(part, (*here, key))
        else:
            yield (*here, key)


def pick_ways(value: Any) -> list[tuple[list[str], tuple[Any, ...]]]:
    """The names on the way to each field, and the ways to its first value and to one further on."""
    fields: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for way in leaves(value):
        fields.setdefault(tuple(key for key in way if isinstance(key, str)), []).append(way)
    return [(list(names), way) for names, ways in fields.items() for way in {ways[0], ways[len(ways) // 2]}]


def change(value: Any, way: tuple[Any, ...], empty: Any = VALUE) -> Any:
    """The whole with another value in one place; ``empty`` replaces null and an object without fields."""
    old = reduce(operator.getitem, way, value)
    return put(value, way, not old if isinstance(old, bool) else old + 0.5 if isinstance(old, float) else
               old + 1 if isinstance(old, int) else [VALUE] if isinstance(old, list) else
               VALUE if isinstance(old, str) else empty)  # fmt: skip


def put(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    """A copy of the whole with ``new`` in one place."""
    value = json.loads(json.dumps(value))
    reduce(operator.getitem, way[:-1], value)[way[-1]] = new
    return value


def is_counted(study: Study, names: list[str]) -> bool:
    notes = "\n".join(study.notes)
    named = any(re.search(rf"\b{re.escape(name)}\b", notes) for name in names)
    return named or any(COVERED[name] in notes for name in names if name in COVERED)


@pytest.mark.parametrize("format", FILES)
def test_a_value_in_any_field_is_in_the_study_or_in_the_notes(tmp_path: Path, format: str) -> None:
    files = [tmp_path / Path(name).name for name in FILES[format]]
    for name in FILES[format]:
        shutil.copy(DATA / name, tmp_path)
    if format == "inspect":
        files = [tmp_path / "inspect.json"]
        write_eval_log(read_eval_log(DATA / "inspect.eval", exclude_fields={"events", "store"}), files[0])
    path = tmp_path if len(files) > 1 else files[0]
    before = load_study(path, slug="t", format=format)
    lost = []
    for file in files:
        whole = read(file)
        for names, way in pick_ways(whole):
            changed = [change(whole, way, empty) for empty in (VALUE, {"further": VALUE})]
            if names[-1] not in STRUCTURE and not any(
                is_seen(file, value, before, names, path, format) for value in changed
            ):
                lost.append(".".join(names))
        write(file, whole)
    lost = [name for name in lost if (format, name) != ("inspect", "tags")]  # Inspect itself drops them
    assert not lost, ", ".join(lost)


def is_seen(file: Path, value: Any, before: Study, names: list[str], path: Path, format: str) -> bool:
    write(file, value)
    try:
        after = load_study(path, slug="t", format=format)
    except InputError:
        return True  # a refusal is no silence
    return after != before or is_counted(before, names)
