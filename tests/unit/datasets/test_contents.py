"""The content of a file decides what it is, whatever its name: JSON, JSON Lines, CSV with its separator and quotes."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import openpyxl
import pytest

from coeval.datasets import find_format, load_study, preview
from coeval.datasets.tables.table import MAX_COLUMNS
from coeval.domain import Study

PAIRS = [("Q1", "A1"), ("Q2", "A2")]
RECORDS = [{"input": question, "output": answer} for question, answer in PAIRS]
LINES = "\n".join(map(json.dumps, RECORDS))
CSV = "input,output\nQ1,A1\nQ2,A2\n"
COLUMNS = {"input": ["Q1", "Q2"], "output": ["A1", "A2"]}


def read(path: Path, **mapping: str) -> list[tuple[str, str]]:
    return [(one.input, one.output) for one in load_study(path, slug="t", mapping=mapping).instances]


def load(tmp_path: Path, name: str, text: str) -> Study:
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return load_study(tmp_path / name, slug="t")


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv", "a.txt", "a.xlsx", "a", "a.data"])
@pytest.mark.parametrize(
    ("text", "format"),
    [
        (json.dumps(RECORDS), "json"),
        (json.dumps(RECORDS, indent=1), "json"),
        (json.dumps({"version": 1, "data": RECORDS}, indent=1), "json"),
        (json.dumps({"rows": RECORDS, "errors": []}, indent=1), "json"),
        (json.dumps(COLUMNS, indent=1), "json"),
        (json.dumps({name: dict(enumerate(cells)) for name, cells in COLUMNS.items()}, indent=1), "json"),
        (json.dumps({"columns": ["input", "output"], "index": [0, 1], "data": PAIRS}, indent=1), "json"),
        (LINES, "jsonl"),
        (CSV, "csv"),
        (CSV.replace(",", ";"), "csv"),
        (CSV.replace(",", "\t"), "csv"),
    ],
)
def test_the_content_decides_and_not_the_name(tmp_path: Path, name: str, text: str, format: str) -> None:
    if name == "a.jsonl" and text.startswith("{\n"):
        pytest.skip("a broken first line of JSON Lines is refused with its place")
    path = tmp_path / name
    path.write_text(text)
    assert find_format(path).name == preview(path).format == format
    assert read(path) == PAIRS
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert read(tmp_path / f"{name}.gz") == PAIRS


def test_a_workbook_is_one_under_any_name(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (("input", "output"), *PAIRS):
        book.active.append(row)
    target = io.BytesIO()
    book.save(target)
    for name in ("a.csv", "a.json", "a"):
        (tmp_path / name).write_bytes(target.getvalue())
        assert find_format(tmp_path / name).name == "xlsx" and read(tmp_path / name) == PAIRS


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("input\toutput\tscore (1-5, higher is better)\nQ1\tA1\t3\nQ2\tA2, and more\t4\n", "\t"),
        ("input;output;score (1-5, higher is better)\nQ1;A1;3\nQ2;A2, and more;4\n", ";"),
        ('input,output,"score; 1-5"\nQ1,A1;,3\nQ2,"A2, and more",4\n', ","),
        ("sep=;\ninput;output\nQ1;A1\nQ2;A2, and more\n", ";"),
        ('"sep=\t"\r\ninput\toutput\r\nQ1\tA1\r\nQ2\tA2, and more\r\n', "\t"),
    ],
)
def test_the_separator_is_that_of_all_rows(tmp_path: Path, text: str, separator: str) -> None:
    first, second = load(tmp_path, "a.csv", text).instances
    assert first.output.strip(";") == "A1" and second.output == "A2, and more", separator


def test_a_quotation_mark_in_a_file_without_quoting_swallows_no_row(tmp_path: Path) -> None:
    head = "instance\tinput\toutput\n"
    study = load(tmp_path, "a.tsv", head + '1\tx\t"To be\n2\ty\tor not"\n3\tz\tplain\n')
    assert [one.output for one in study.instances] == ['"To be', 'or not"', "plain"]
    assert any("Quotation marks are read as a part" in note for note in study.notes)
    study = load(tmp_path, "b.tsv", head + '1\tx\t"never closed\n2\ty\tplain\n')
    assert [one.output for one in study.instances] == ['"never closed', "plain"]
    study = load(tmp_path, "c.tsv", head + '1\tx\t"quoted\nlines"\n2\ty\t"a ""b"" c"\n')
    assert [one.output for one in study.instances] == ["quoted\nlines", 'a "b" c'] and study.notes == ()


def test_the_index_of_pandas_is_left_out(tmp_path: Path) -> None:
    study = load(tmp_path, "a.csv", ",input,output\n0,Q1,A1\n7,Q2,A2\n")
    assert [one.context for one in study.instances] == [{}, {}]
    assert any("first column has no name" in note for note in study.notes)


def test_the_further_headings_of_qualtrics_are_left_out(tmp_path: Path) -> None:
    rows = [
        "ResponseId,Q1",
        'Response ID,"Read it, then answer"',
        '"{""ImportId"":""_recordId""}","{""ImportId"":""QID1_TEXT""}"',
        "R_1,An answer",
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(rows))
    assert read(path, input="ResponseId", output="Q1") == [("R_1", "An answer")]
    assert preview(path, mapping={"input": "ResponseId", "output": "Q1"}).n_rows == 1
    path.write_text("\n".join([rows[0], *rows[3:]]))
    assert read(path, input="ResponseId", output="Q1") == [("R_1", "An answer")]


def test_a_wide_table_keeps_its_fields_and_says_what_is_left_out(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(MAX_COLUMNS + 55)]
    study = load(
        tmp_path, "a.csv", ",".join([*names, "input", "output"]) + "\n" + ",".join([*names, "Q", "A"])
    )
    (instance,) = study.instances
    assert (instance.input, instance.output, len(instance.context)) == ("Q", "A", MAX_COLUMNS - 2)
    assert any("57 are left out, from “c198” to “c254”" in note for note in study.notes)
