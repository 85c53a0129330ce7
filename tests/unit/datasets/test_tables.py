"""CSV, JSONL and Excel imports: what is read, and what is refused with the place and the remedy."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from coeval.datasets import load_study, open_source
from coeval.datasets.tables import text_tables
from coeval.datasets.tables.instances import name_document
from coeval.datasets.tables.table import MAX_HEADER
from coeval.domain import MAX_TEXT, Study
from coeval.errors import InputError

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of the given name and return its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def write_sheet(path: Path, *rows: list[object]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def load(path: Path, **mapping: str) -> Study:
    return load_study(path, slug="t", mapping=mapping)


def test_csv_keeps_known_fields_and_context(write: Write) -> None:
    text = 'instance,Input,output,document,system,reference,topic\nq1,"a, b","line 1\nline 2",d1,s1,r,snow\n'
    (instance,) = load(write("a.csv", text)).instances
    assert (instance.external_id, instance.input, instance.output) == ("q1", "a, b", "line 1\nline 2")
    assert (instance.document, instance.system, instance.reference) == ("d1", "s1", "r")
    assert instance.context == {"topic": "snow"}


def test_rows_without_id_are_numbered_and_blank_lines_do_not_count(write: Write) -> None:
    study = load(write("a.csv", "input,output\nx,1\n\n,\ny,2\nx,3\n"))
    assert [one.external_id for one in study.instances] == ["1", "2", "3"]


def test_same_input_means_same_document(write: Write) -> None:
    study = load(write("a.csv", "input,output\nx,1\ny,2\nx,3\n"))
    first, second, third = (one.document for one in study.instances)
    assert first == third == name_document("x") != second


def test_mapping_reads_other_columns_and_keeps_the_rest(write: Write) -> None:
    path = write("a.csv", "question,answer,input\nx,1,aside\n")
    study = load(path, input="question", output="Answer")
    assert study.instances[0].input == "x" and study.instances[0].context == {"input": "aside"}
    assert (study.task.input_field, study.task.output_field) == ("Question", "Answer")


def test_a_mapped_column_is_not_read_as_another_field_too(write: Write) -> None:
    study = load(write("a.csv", "input,reference\nx,gold\n"), output="reference")
    assert study.instances[0].output == "gold" and study.instances[0].reference == ""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mark.csv", "\ufeffinput,output\nä,ö\n".encode()),
        ("utf16.csv", "input,output\nä,ö\n".encode("utf-16")),
        ("crlf.csv", "input,output\r\nä,ö\r\n".encode()),
        ("a.jsonl", '{"input": "ä", "output": "ö"}\n\n'.encode()),
        ("mark.jsonl", '\ufeff{"input": "\\u00e4", "output": "ö"}'.encode()),
    ],
)
def test_encodings_and_separators(write: Write, name: str, content: bytes) -> None:
    (instance,) = load(write(name, content)).instances
    assert (instance.input, instance.output) == ("ä", "ö")


def test_jsonl_keeps_nested_values_as_json_text(write: Write) -> None:
    lines = [{"input": "x", "output": 2, "turns": [{"a": 1}]}, {"input": "y", "output": "z", "late": None}]
    study = load(write("a.jsonl", "\n".join(map(json.dumps, lines))))
    assert study.instances[0].output == "2" and study.instances[0].context == {"turns": '[{"a": 1}]'}
    assert study.instances[1].context == {}


def test_xlsx_takes_values(tmp_path: Path) -> None:
    path = write_sheet(
        tmp_path / "a.xlsx", ["input", "output", "n"], ["x", "a\nb", 1234567.0], [5, True, None]
    )
    one, two = load(path).instances
    assert (one.output, one.context) == ("a\nb", {"n": "1234567"})
    assert (two.input, two.output, two.context) == ("5", "true", {})


CSV_REFUSALS = [
    # content, what the sentence must say: file or line, column, remedy
    ("", ["a.csv", "empty", "input,output"]),
    ("\n\n", ["a.csv", "empty"]),
    ("input,output\n", ["no rows", "add"]),
    ("input,answer\nx,y\n", ["line 1", "'output'", "'answer'", "--map output=answer"]),
    ("text\nx\n", ["line 1", "'input'", "'text'"]),
    ("input,output\nx,y\n ,y\n", ["line 3", "'input'", "empty", "remove the row"]),
    ("input,output\nx,\n", ["line 2", "'output'", "empty"]),
    ("instance,input,output\na,x,y\nb,x,y\na,x,z\n", ["lines 2 and 4", "'a'", "own"]),
    ("input,output\nx\n", ["line 2", "1 cells", "2", "quotes"]),
    ('input,output\n"x\ny",z\nx,y,z\n', ["line 4", "3 cells"]),
    ('input,output\nx,y\nx,"y\nz,w\n', ["line 3", "never closed"]),
    ('input,output\nx,"y" z\n', ["line 2", "twice"]),
    ("input,output\nx,a\0b\n", ["line 2", "'output'", "NUL", "UTF-8"]),
    (
        f"input,output\nx,{'y' * (MAX_TEXT + 1)}\n",
        ["line 2", "'output'", f"{MAX_TEXT + 1:,}", f"{MAX_TEXT:,}"],
    ),
    ("input,output,input\nx,y,z\n", ["columns 1 and 3", "'input'"]),
    ("input,,output\nx,y,z\n", ["column 2", "no name"]),
    (",".join(f"c{n}" for n in range(MAX_HEADER + 1)), ["2,001 columns", "2,000", "remove"]),
]


@pytest.mark.parametrize(("content", "parts"), CSV_REFUSALS)
def test_broken_csv_is_refused_with_place_and_remedy(write: Write, content: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        load(write("a.csv", content))
    assert all(part in str(refusal.value) for part in parts), str(refusal.value)


def test_undecodable_bytes_name_their_line(write: Write) -> None:
    # the third line holds a Latin-1 e-acute, which is no UTF-8
    with pytest.raises(InputError, match="line 3: is not UTF-8 text; save the file as UTF-8"):
        load(write("a.csv", b"input,output\nx,y\ncaf\xe9,z\n"))


def test_broken_utf16_names_its_line(write: Write) -> None:
    # a high surrogate that ends the file is half a character
    with pytest.raises(InputError, match="line 2: is not UTF-16 text"):
        load(write("a.csv", "input,output\nx,y".encode("utf-16") + b"\x00\xd8"))


JSONL_REFUSALS = [
    ("", ["empty"]),
    ('{"input": "x", "output": "y"}\n{"input": "x", }\n', ["line 2", "not JSON"]),
    ('{"input": "x", "output": "y"}\n["x", "y"]\n', ["line 2", "not a JSON object", "write"]),
    ('{"input": ["x"], "output": "y"}\n', ["line 1", "'input'", "list", "one text"]),
    ('{"input": "x", "output": {"t": "y"}}\n', ["line 1", "'output'", "object"]),
    ('{"input": "x", "output": "y"}\n{"input": "x"}\n', ["line 2", "'output'", "empty"]),
    ('{"input": "x", "answer": "y"}\n', ["'output'", "'answer'"]),
    ('{"instance": "a", "input": "x", "output": "y"}\n' * 2, ["lines 1 and 2", "'a'"]),
    ('{"input": "x", "output": "\\ud800"}\n', ["line 1", "'output'", "surrogate"]),
    ('{"input": "x", "output": "\\u0000"}\n', ["line 1", "'output'", "NUL"]),
    ('{"input": "x", "output": ' + "[" * 100_000 + "}\n", ["line 1", "nested"]),
    ('{"input": "x", "output": ' + "1" * 5_000 + "}\n", ["line 1", "too long"]),
    ('{"input": "x", " input": "y"}\n', ["line 1", "twice"]),
    (json.dumps({f"k{n}": n for n in range(MAX_HEADER + 1)}), ["line 1", "2,000"]),
]


@pytest.mark.parametrize(("content", "parts"), JSONL_REFUSALS)
def test_broken_jsonl_is_refused_with_place_and_remedy(write: Write, content: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        load(write("a.jsonl", content))
    assert all(part in str(refusal.value) for part in parts), str(refusal.value)


def test_a_formula_without_a_value_is_refused(tmp_path: Path) -> None:
    path = write_sheet(tmp_path / "a.xlsx", ["input", "output"], ["x", "y"], ["x", '=A2&"z"'])
    with pytest.raises(InputError, match="row 3, cell B3: contains a formula without a value; open the file"):
        load(path)


@pytest.mark.parametrize(("value", "output"), [(b"<v>xz</v>", "xz"), (b"<v></v>", ""), (b"<v/>", "")])
def test_a_formula_with_a_value_gives_it(tmp_path: Path, value: bytes, output: str) -> None:
    """Also where the value is an empty text, as that of a formula which hides what is not there."""
    path = write_sheet(
        tmp_path / "a.xlsx", ["input", "output", "reference"], ["x", "y", '=IF(A2="x","z","")']
    )
    sheet = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(path) as archive:  # what a spreadsheet program adds when it saves
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[sheet] = parts[sheet].replace(b"<v />", value).replace(b"<v></v>", value)
    parts[sheet] = parts[sheet].replace(b'<c r="C2"', b'<c r="C2" t="str"')
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert load(path).instances[0].reference == output


XLSX_REFUSALS = [
    ([], ["empty"]),
    ([["input", "output"]], ["no rows"]),
    ([["input", "output"], ["x", None]], ["row 2", "'output'", "empty"]),
    ([["input", "output"], ["x", "#DIV/0!"]], ["cell B2", "#DIV/0!"]),
    ([["input", "output"], ["x", "y", "z"]], ["row 2", "3 cells"]),
    ([["input", "output"], ["x"] * (MAX_HEADER + 1)], ["row 2", "column BXY"]),
    ([["instance", "input", "output"], [1.23456789012345e17, "x", "y"]], ["A2", "18 digits", "as text"]),
    ([["instance", "input", "output"], [123456789012345000, "x", "y"]], ["A2", "18 digits", "as text"]),
]


@pytest.mark.parametrize(("rows", "parts"), XLSX_REFUSALS)
def test_broken_xlsx_is_refused(tmp_path: Path, rows: list[list[object]], parts: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        load(write_sheet(tmp_path / "a.xlsx", *rows))
    assert all(part in str(refusal.value) for part in parts), str(refusal.value)


def test_a_zip_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in range(3):
            archive.writestr(f"xl/{part}.xml", b"\0" * 70_000_000)  # 210 MB, 204 kB zipped
    with pytest.raises(InputError, match=r"210,000,000 bytes when unzipped, and the limit is 200,000,000"):
        load(path)


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        (
            "a.xls",
            b"<html><table><tr><td>input</td></tr></table>",
            "is a web page .* save it as .xlsx or CSV",
        ),
        ("a.csv.gz", gzip.compress(b"input,output\nx,y\n", mtime=0)[:-12], "is damaged"),
        ("a.xlsx", b"PK\x05\x06" + b"\0" * 18, "cannot be read as an Excel workbook"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old or password-protected"),
        ("a.json", b"[1, 2]", "entry 1: is not a JSON object"),
        ("a.json", b'{"version": 2, "done": true}', "holds no list of records; write"),
        ("a.json", b'{"input": ', "line 1, column 11: is not JSON"),
    ],
)
def test_other_files_are_refused(write: Write, name: str, content: bytes, part: str) -> None:
    with pytest.raises(InputError, match=part):
        load(write(name, content))


def test_unknown_field_column_format_and_path(write: Write, tmp_path: Path) -> None:
    path = write("a.csv", "question,answer\nx,y\n")
    with pytest.raises(InputError, match="'inptu' is not a field .* instance, input, output, document"):
        load(path, inptu="question")
    with pytest.raises(InputError, match="no column 'q' to map 'input' to; it has 'question', 'answer'"):
        load(path, input="q")
    with pytest.raises(InputError, match="'xml' is not a format; the formats are auto, csv, jsonl"):
        load_study(path, slug="t", format="xml")
    with pytest.raises(InputError, match="no file or folder"):
        load(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="contains neither .*instances.csv .* nor A"):
        load(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        load_study(tmp_path, slug="t", format="csv")


def test_empty_outputs_are_answers_where_the_owner_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("input,output\nx,y\nz, \n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3, column 'output': is empty.*empty outputs are answers too"):
        load_study(path, slug="demo")
    source = open_source(path, slug="demo", empty_outputs=True)
    assert [one.output for one in source.instances] == ["y", ""]
    path.write_text("input,output\nx,y\n,y\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3, column 'input': is empty"):
        open_source(path, slug="demo", empty_outputs=True)


def test_an_empty_column_without_a_name_is_left_out_and_one_with_a_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gap.csv"
    path.write_text("input,,output\nWhy?,,So.\nHow?, ,Thus.\n", encoding="utf-8")
    table = text_tables.open_csv(path)
    assert table.columns == ("input", "output")
    assert [dict(row.cells) for row in table.rows()] == [
        {"input": "Why?", "output": "So."},
        {"input": "How?", "output": "Thus."},
    ]
    path.write_text("input,,output\nWhy?,,So.\nHow?,lost,Thus.\n", encoding="utf-8")
    with pytest.raises(
        InputError, match="gap.csv, line 3: column 2 contains 'lost' but has no name in the header"
    ):
        list(text_tables.open_csv(path).rows())
