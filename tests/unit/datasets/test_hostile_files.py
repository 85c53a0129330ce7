"""Files that say one thing to a reader and another to a program: each is refused with its place and the remedy."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from coeval.datasets import list_sheets, load_study, on_sheet, preview
from coeval.datasets.tables.xlsx_file import MAX_PARTS
from coeval.errors import InputError

HEADER = ["instance", "input", "output"]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        load_study(path, slug="t", **options)
    return str(caught.value)


def workbook(path: Path, *rows: list[object], change: Any = None) -> Path:
    book = openpyxl.Workbook()
    for row in ([*HEADER], *rows):
        book.active.append(row)
    if change:
        change(book)
    book.save(path)
    return path


@pytest.mark.parametrize("number", ["1_0", "١", "0x10", "1e400", "Infinity", "1,5", "4 5", "--3"])
def test_a_score_is_a_number_as_files_write_it(tmp_path: Path, number: str) -> None:
    path = write(tmp_path / "r.csv", f'instance,criterion,annotator,score\n1,Clear,Ann,"{number}"\n')
    assert "column 'score': contains" in refused(path, format="ratings-csv")


@pytest.mark.parametrize(
    ("number", "score"), [("3", 3.0), ("+2.5", 2.5), (".5", 0.5), ("1e0", 1.0), ("4.", 4.0)]
)
def test_numbers_as_files_write_them(tmp_path: Path, number: str, score: float) -> None:
    path = write(tmp_path / "r.csv", f"instance,criterion,annotator,score\n1,Clear,Ann,{number}\n")
    assert [one.score for one in load_study(path, slug="t").submissions] == [score]


def test_a_person_of_81_characters(tmp_path: Path) -> None:
    rows = "instance,criterion,annotator,score\n1,Clear,{},3\n"
    assert load_study(write(tmp_path / "r.csv", rows.format("a" * 80)), slug="t").submissions
    said = refused(write(tmp_path / "r.csv", rows.format("a" * 81)))
    assert "line 2, column 'annotator': has 81 characters; shorten the person's name to 80" in said
    record = {"eval_result": [], "final_score": 3}
    entry = {"1": {"Question": "Why?", "Answer": "So.", "criteria": {"Clear": record}}}
    for name in ("a" * 81, ""):
        said = refused(write(tmp_path / "A1.json", json.dumps({name: entry})))
        assert "a person's name has 1 to 80" in said


@pytest.mark.parametrize("part", ["person", "instance", "criterion", "answer"])
def test_half_an_emoji_in_a_release(tmp_path: Path, part: str) -> None:
    text = {"person": "Ann", "instance": "1", "criterion": "Clear", "answer": "So."} | {part: "\ud83d"}
    record = {"eval_result": [["text", "", "", "", ""]], "final_score": 3}
    entry = {"Question": "Why?", "Answer": text["answer"], "criteria": {text["criterion"]: record}}
    path = write(tmp_path / "A1.json", json.dumps({text["person"]: {text["instance"]: entry}}))
    assert "half of a character" in refused(path)


def test_an_empty_object_is_no_study(tmp_path: Path) -> None:
    write(tmp_path / "A1.json", "{}")
    assert "is an empty object" in refused(tmp_path)


def test_a_name_given_twice_in_one_object(tmp_path: Path) -> None:
    line = '{"input": "a", "output": "b", "output": "c"}\n'
    assert "line 1: has 'output' twice in one object" in refused(write(tmp_path / "a.jsonl", line))
    nested = '{"input": "a", "output": "b", "meta": {"k": 1, "k": 2}}\n'
    assert "has 'k' twice in one object" in refused(write(tmp_path / "a.jsonl", nested))
    assert "has 'P' twice in one object" in refused(write(tmp_path / "A1.json", '{"P": {}, "P": {}}'))


def test_a_number_that_no_program_holds(tmp_path: Path) -> None:
    line = '{"input": "a", "output": "b", "loss": 1e400}\n'
    assert "line 1: contains the number 1e400, which is too large" in refused(
        write(tmp_path / "a.jsonl", line)
    )


def test_a_hidden_first_sheet_is_not_the_table(tmp_path: Path) -> None:
    def hide(book: openpyxl.Workbook) -> None:
        book.active.sheet_state = "hidden"
        book.create_sheet("Answers")
        for row in (HEADER, ["1", "Why?", "Because."]):
            book["Answers"].append(row)

    path = workbook(tmp_path / "a.xlsx", ["9", "old", "old"], change=hide)
    assert [one.output for one in load_study(path, slug="t").instances] == ["Because."]


def test_the_preview_names_the_sheets_that_are_not_read(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "a.xlsx", ["1", "Why?", "So."], change=lambda book: book.create_sheet("Old answers")
    )
    (note,) = preview(path).notes
    assert "Not read: “Old answers”." in note and "with --sheet" in note
    assert preview(workbook(tmp_path / "b.xlsx", ["1", "Why?", "So."])).notes == ()


@pytest.mark.parametrize("sheet", ["Answers", "Q&A <2> “x”"])
def test_another_sheet_is_read_from_a_copy(tmp_path: Path, sheet: str) -> None:
    def add(book: openpyxl.Workbook) -> None:
        book.create_sheet("Notes").sheet_state = "hidden"
        book.create_sheet(sheet)
        for row in (HEADER, ["2", "Why?", "Because."]):
            book[sheet].append(row)

    path = workbook(tmp_path / "a.xlsx", ["1", "Why?", "So."], change=add)
    before = path.read_bytes()
    assert list_sheets(path) == ("Sheet", sheet)
    for chosen, output in (("", "So."), ("Sheet", "So."), (sheet, "Because.")):
        with on_sheet(path, chosen) as read:
            assert [one.output for one in load_study(read, slug="t").instances] == [output]
    assert path.read_bytes() == before and not read.exists()
    with (
        pytest.raises(InputError, match="has no sheet “Notes”; its sheets are “Sheet”, "),
        on_sheet(path, "Notes"),
    ):
        pass


def test_what_has_no_sheets(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "instance,input,output\n1,Why?,So.\n")
    assert list_sheets(path) == list_sheets(tmp_path) == ()
    with pytest.raises(InputError, match="is not an Excel workbook"), on_sheet(path, "Answers"):
        pass
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    assert list_sheets(tmp_path / "log.eval") == ()
    unnamed = workbook(tmp_path / "c.xlsx", ["1", "Why?", "So."]).rename(tmp_path / "c.dat")
    assert list_sheets(unnamed) == ("Sheet",)
    assert list_sheets(write(tmp_path / "text.xlsx", "instance")) == ()
    broken = write(tmp_path / "b.xlsx", "PK\x05\x06" + "\0" * 18)
    with pytest.raises(InputError, match="b.xlsx"):
        list_sheets(broken)


def test_a_workbook_without_a_visible_sheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", ["1", "Why?", "So."])
    hidden = rewrite(path, "xl/workbook.xml", lambda text: text.replace('state="visible"', 'state="hidden"'))
    assert "has no visible sheet" in refused(hidden)


def test_merged_cells(tmp_path: Path) -> None:
    def merge(book: openpyxl.Workbook) -> None:
        book.active.merge_cells("B2:B3")

    path = workbook(tmp_path / "a.xlsx", ["1", "Why?", "So."], ["2", None, "Because."], change=merge)
    assert "cells B2:B3 are merged; unmerge them" in refused(path)


def rewrite(path: Path, part: str, change: Any) -> Path:
    """The workbook with one of its parts changed."""
    target = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            text = source.read(name)
            archive.writestr(name, change(text.decode()).encode() if name == part else text)
    path.write_bytes(target.getvalue())
    return path


def many_fonts(n: int) -> Any:
    fonts = "".join(f'<font><sz val="{number}"/></font>' for number in range(n))
    return lambda text: re.sub("<fonts.*?</fonts>", f"<fonts>{fonts}</fonts>", text, flags=re.S)


def many_sheets(n: int) -> Any:
    return lambda text: re.sub(
        "<sheets>(.*?)</sheets>", lambda found: f"<sheets>{found[1] * n}</sheets>", text, flags=re.S
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "change"), [("xl/styles.xml", many_fonts(500_000)), ("xl/workbook.xml", many_sheets(500_000))]
)
def test_a_small_workbook_of_very_many_styles_or_sheets(tmp_path: Path, part: str, change: Any) -> None:
    path = rewrite(workbook(tmp_path / "a.xlsx", ["1", "Why?", "So."]), part, change)
    started = time.process_time()
    said = refused(path)
    assert "styles, names and sheets" in said and f"the limit is {MAX_PARTS:,}" in said
    # opening it took minutes; the bound is wide, since what is asserted is the refusal before it is opened
    assert time.process_time() - started < 20
