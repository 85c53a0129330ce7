"""Parquet files: every kind of value as text, memory for one batch, and one sentence for each thing wrong."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from coeval.datasets import load_study, preview
from coeval.datasets.tables import parquet_file
from coeval.datasets.tables.table_files import open_table
from coeval.domain import MAX_TEXT
from coeval.errors import InputError

ODD = ["007", "NA", "null", "", "a\nb\r\nc", "=1+1", "👩‍🔬 é", "שלום עולם", " blank ends ", "x" * MAX_TEXT]


def write(path: Path, **columns: object) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


def test_texts_come_as_they_are(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", input=["q"] * len(ODD), output=["a"] * len(ODD), odd=ODD)
    study = load_study(path, slug="t")
    assert [one.context.get("odd", "") for one in study.instances] == ODD
    plain = path.rename(tmp_path / "no_ending")
    assert preview(plain).format == "parquet", "a file is recognised by its first bytes too"


def test_every_kind_of_value_becomes_text(tmp_path: Path) -> None:
    values = {
        "whole": (pa.array([7, None]), "7"),
        "real": (pa.array([1.5, float("nan")]), "1.5"),
        "truth": (pa.array([True, None]), "true"),
        "time": (pa.array([datetime(2026, 1, 31, 9, 30, tzinfo=UTC), None]), "2026-01-31T09:30:00+00:00"),
        "exact": (pa.array([Decimal("1.10"), None]), "1.10"),
        "picture": (pa.array([{"bytes": b"123", "path": "x.png"}, None]), '{"bytes": "(3 bytes)", "path": "x.png"}'),
        "sound": (pa.array([b"1234", None]), "(4 bytes)"),
        "list": (pa.array([["é", None], None]), '["é", null]'),
        "packed": (pa.array(["one", None]).dictionary_encode(), "one"),
        "long": (pa.array(["one", None], pa.large_string()), "one"),
        "view": (pa.array(["one", None], pa.string_view()), "one"),
    }  # fmt: skip
    path = write(
        tmp_path / "a.parquet", input=["q", "q"], **{name: array for name, (array, _) in values.items()}
    )
    first, second = open_table(path).rows()
    assert first.cells == {"input": "q"} | {name: text for name, (_, text) in values.items()}
    assert set(second.cells.values()) == {"q", ""}
    assert first.nested == {"picture", "list"} and (first.line, second.line) == (1, 2)


def test_a_column_of_turns_is_a_conversation(tmp_path: Path) -> None:
    turns = [[{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]]
    (instance,) = load_study(write(tmp_path / "a.parquet", messages=turns), slug="t").instances
    assert "Why?" in instance.input and instance.output == "So."


def test_what_is_wrong_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = write(tmp_path / "a.parquet", input=["q"], output=["a"]).read_bytes()
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff"))
    for content, said in (
        (b"", "cannot be read as Parquet"),
        (b"PAR1" + b"\0" * 50, "cannot be read as Parquet"),
        (good[:-3], "cannot be read as Parquet"),
        (
            write(tmp_path / "b.parquet", output=broken).read_bytes(),
            "rows 1 to 1: contain text that is not UTF-8",
        ),
        (
            write(tmp_path / "c.parquet", **{"input": ["q"], "input ": ["q"]}).read_bytes(),
            "both named 'input'",
        ),
        (write(tmp_path / "d.parquet", input=["q"], output=["a\0"]).read_bytes(), "NUL byte"),
        (write(tmp_path / "e.parquet", input=pa.array([], pa.string())).read_bytes(), "no rows"),
    ):
        (tmp_path / "bad.parquet").write_bytes(content)
        with pytest.raises(InputError, match=said):
            list(open_table(tmp_path / "bad.parquet").rows())
    monkeypatch.setattr(parquet_file, "MAX_ROWS", 0)
    with pytest.raises(InputError, match="has 1 rows, and the limit is 0"):
        open_table(tmp_path / "a.parquet")
    monkeypatch.setattr(parquet_file, "MAX_ROWS", 9)
    monkeypatch.setattr(parquet_file, "MAX_UNPACKED", 9)
    with pytest.raises(InputError, match="bytes when unpacked, and the limit is 9"):
        open_table(tmp_path / "a.parquet")


def test_without_pyarrow_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.parquet", input=["q"], output=["a"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r'pip install "coeval\[hub\]"'):
        open_table(path)


def test_a_damaged_file_is_refused_and_nothing_else_happens(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", input=["question"] * 50, output=[f"answer {n}" for n in range(50)])
    whole = path.read_bytes()
    for place in range(0, len(whole), 37):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            rows = list(open_table(path).rows())
        except InputError:
            continue
        assert len(rows) <= 50


def test_a_small_file_that_repeats_a_long_text_is_refused(tmp_path: Path) -> None:
    """A dictionary holds the text once: 200 kB on the disk were 640 MB of texts."""
    long = pa.array(["x" * MAX_TEXT, "y"]).dictionary_encode()
    n = parquet_file.MOST_TEXT // MAX_TEXT + 2
    column = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), long.dictionary)
    path = tmp_path / "bomb.parquet"
    parquet.write_table(pa.table({"input": column, "output": ["a"] * n}), path)
    assert path.stat().st_size < 300_000
    with pytest.raises(InputError, match="over 100 times the file"):
        for _ in open_table(path).rows():
            pass
