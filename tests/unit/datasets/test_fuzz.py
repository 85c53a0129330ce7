"""Hostile files: whatever the bytes, an import gives a study or one InputError, and its laws hold."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coeval.datasets import load_study, preview
from coeval.domain import Study
from coeval.errors import InputError

fuzz = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
# what a person may write: no NUL, no lone surrogates, not blank
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30).filter(
    str.strip
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


def load_or_refuse(path: Path, format: str = "auto") -> Study | None:
    try:
        preview(path, format=format)
    except InputError as refusal:
        assert path.parent.name not in str(refusal) and 10 < len(str(refusal)) < 1_000
    try:
        return load_study(path, slug="t", format=format)
    except InputError as refusal:
        assert 10 < len(str(refusal)) < 1_000
        return None


@pytest.mark.slow
@pytest.mark.parametrize("format", ["auto", "csv", "jsonl", "xlsx", "ratings-csv", "coeval-release", "demo"])
@fuzz
@given(content=st.binary(max_size=200))
def test_random_bytes(tmp_path: Path, format: str, content: bytes) -> None:
    (tmp_path / "upload").write_bytes(content)
    load_or_refuse(tmp_path / "upload", format)


@fuzz
@given(records=st.lists(json_values, max_size=4))
def test_any_json_lines(tmp_path: Path, records: list[object]) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    load_or_refuse(tmp_path / "a.jsonl")


@pytest.mark.slow
@fuzz
@given(record=json_values, rows=json_values)
def test_any_json_as_a_release(tmp_path: Path, record: object, rows: object) -> None:
    criteria = {"1. Clear.": {"final_score": record, "start_time": rows, "eval_result": rows}, "2.": record}
    people = {
        "A01": {"1": {"question": "x", "answer": "y", "criteria": criteria, "model": record}, "2": rows}
    }
    (tmp_path / "A01.json").write_text(json.dumps(people), encoding="utf-8")
    (tmp_path / "combine_data.json").write_text(
        json.dumps({"t": record, "u": {"target": rows}}), encoding="utf-8"
    )
    load_or_refuse(tmp_path)


def sheet_bytes() -> bytes:
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    for row in (["input", "output"], ["x", 1], ["y", "=A1"]):
        book.active.append(row)
    book.save(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.xlsx", sheet_bytes),
        ("a.csv", lambda: 'instance,input,output\na,"x, y",z\nb,é,"w\nv"\n'.encode()),
        ("a.jsonl", lambda: '{"input": "x", "output": "é"}\n{"input": "y", "output": "z"}\n'.encode()),
        ("a.json", lambda: b'{"format": "coeval-demo", "instances": [], "documents": {}, "drafts": [1]}'),
    ],
)
def test_flipped_and_cut_files(tmp_path: Path, name: str, make: Callable[[], bytes]) -> None:
    good, chance = make(), random.Random(7)
    for _ in range(150):
        bad = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        (tmp_path / name).write_bytes(bad[: chance.randint(1, len(bad))] if chance.random() < 0.3 else bad)
        load_or_refuse(tmp_path / name)


@fuzz
@given(rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_what_was_written_as_csv_is_read_back(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("input", "output"), *rows])
    study = load_study(tmp_path / "a.csv", slug="t")
    assert [(one.input, one.output) for one in study.instances] == rows
    documents = {(one.input.strip(), one.document) for one in study.instances}
    assert len(documents) == len({one.input.strip() for one in study.instances})
