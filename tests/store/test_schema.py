"""schema.sql shows what the steps result in, and extensions can add steps of their own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlite_utils import Database

import coeval.store
from coeval.errors import StorageError
from coeval.store import Store, steps
from coeval.store.steps import (
    APPLIED,
    STEPS,
    Step,
    apply_steps,
    list_newer,
    list_pending,
    list_step_names,
    read_steps,
)

PAGE = Path(coeval.store.__file__).with_name("schema.sql").read_text(encoding="utf-8")

TOKEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\"\w+\"|\w+|\S")


def describe(db: sqlite3.Connection) -> dict[tuple[str, str], list[str]]:
    """Return the statement of every table, index, trigger and view, as words without comments, by kind and name.

    The statement of a table holds its columns, types, defaults, keys and rules, and SQLite keeps it up to date when a
    step changes the table.
    """
    found = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return {(kind, name): split(sql) for kind, name, sql in found}


def split(sql: str) -> list[str]:
    """Return the words of a statement; a renamed table has quotes around its name, and others have none."""
    return [word.strip('"') for word in TOKEN.findall(sql) if not word.startswith("--")]


def test_the_page_shows_the_schema_that_the_steps_of_the_core_result_in() -> None:
    made = Database(memory=True)
    apply_steps(made, [step.name for step in STEPS])
    with sqlite3.connect(":memory:") as shown:
        shown.executescript(PAGE)
    wanted, found = describe(made.conn), describe(shown)
    assert found.keys() == wanted.keys()
    differing = {key: (found[key], wanted[key]) for key in wanted if found[key] != wanted[key]}
    assert not differing and len(wanted) > 150


def test_the_comparison_sees_every_kind_of_difference() -> None:
    one = "CREATE TABLE a (x TEXT DEFAULT 'b c', -- why\n y INTEGER CHECK (y > 0)) STRICT"
    assert split(one) == split("CREATE TABLE \"a\"(x TEXT DEFAULT 'b c',\n  y INTEGER CHECK (y > 0)) STRICT")
    for other in (
        one.replace("b c", "b  c"),
        one.replace("y > 0", "y > 1"),
        one.replace(" STRICT", ""),
        one.replace("INTEGER", "INTEGER NOT NULL"),
    ):
        assert split(other) != split(one)


def test_the_page_says_what_each_table_holds() -> None:
    told = set(re.findall(r"^--[^\n]*\nCREATE TABLE (\w+)", PAGE, re.MULTILINE))
    tables = set(re.findall(r"^CREATE TABLE (\w+)", PAGE, re.MULTILINE))
    assert tables - told == set() and len(tables) > 70


def test_each_step_has_a_name_and_a_reason_of_its_own() -> None:
    names, whys = [step.name for step in STEPS], [step.why for step in STEPS]
    assert len(set(names)) == len(names) and len(set(whys)) == len(whys)
    assert all(re.fullmatch(r"m\d{3}_\w+", name) for name in names)
    assert all(split(step.sql) or step.function for step in STEPS)


def test_a_faulty_text_of_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="without a step: m002_b"):
        read_steps("-- step m001_a: why\nSELECT 1;\n", {"m002_b": lambda db: None})
    (step,) = read_steps("-- step m001_a: why\nCREATE TABLE a (x); -- so\nCREATE TABLE b (x)\n")
    with pytest.raises(ValueError, match="m001_a ends within a statement"):
        step.run(Database(memory=True))


# ---- steps of extensions --------------------------------------------------------------------------------------------

TABLE = "-- step notes_tables: to try\nCREATE TABLE notes_note (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;\n"


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[Step]], None]:
    """Give the extension ``notes`` other steps; it begins with one table."""

    def give(given: list[Step]) -> None:
        monkeypatch.setattr(steps, "load_named_parts", lambda kind: [("notes", given)])

    give(read_steps(TABLE))
    return give


def test_the_steps_of_an_extension_run_after_the_core(notes: Callable[..., None], tmp_path: Path) -> None:
    with Store(tmp_path / "a.db").read() as db:
        assert "notes_note" in db.table_names() and list_pending(db) == []
        (last,) = db.query(f"SELECT * FROM {APPLIED} ORDER BY id DESC LIMIT 1")
    assert (last["migration_set"], last["name"]) == ("notes", "notes_tables")
    assert list_step_names()[-2:] == [STEPS[-1].name, "notes_tables"]


def test_a_database_opens_without_an_extension_and_with_it_again(
    notes: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    with Store(path).write() as db:
        db.table("notes_note").insert({"text": "kept"})
    with pytest.MonkeyPatch.context() as without:
        without.setattr(steps, "load_named_parts", lambda kind: [])
        with Store(path).read() as db:
            assert list_newer(db) == [] and list_pending(db) == []
    notes([*read_steps(TABLE), Step("notes_more", "more", "CREATE TABLE notes_more (x TEXT);")])
    with Store(path).read() as db:
        assert [row["text"] for row in db.query("SELECT text FROM notes_note")] == ["kept"]
        assert "notes_more" in db.table_names()
    notes(read_steps(TABLE))
    with pytest.raises(StorageError, match="newer CoEval .it has notes_more"):
        Store(path)


def test_a_step_of_an_extension_carries_its_name(notes: Callable[..., None]) -> None:
    for name in ("m200_more", "note_more", STEPS[0].name):
        notes([Step(name, "why", "SELECT 1;")])
        with pytest.raises(ValueError, match="begins with notes_"):
            list_step_names()
    notes([Step("notes_twice", "why", "SELECT 1;")] * 2)
    with pytest.raises(ValueError, match="notes_twice"):
        list_step_names()
