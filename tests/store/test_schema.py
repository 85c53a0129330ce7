"""schema.sql is the whole schema, and extensions can add steps of their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

import coeval.store
from coeval.errors import StorageError
from coeval.store import Store, steps
from coeval.store.steps import (
    APPLIED,
    STEPS,
    Step,
    begin_use,
    empty_before_use,
    is_in_use,
    list_newer,
    list_pending,
    list_step_names,
    read_steps,
)

PAGE = Path(coeval.store.__file__).with_name("schema.sql").read_text(encoding="utf-8")


def test_the_page_says_what_each_table_holds() -> None:
    told = set(re.findall(r"^--[^\n]*\nCREATE TABLE (\w+)", PAGE, re.MULTILINE))
    tables = set(re.findall(r"^CREATE TABLE (\w+)", PAGE, re.MULTILINE))
    assert tables - told == set() and len(tables) > 40


def test_each_step_has_a_name_and_a_reason_of_its_own() -> None:
    names, whys = [step.name for step in STEPS], [step.why for step in STEPS]
    assert names[0] == "v1_schema" and STEPS[0].sql == PAGE
    assert len(set(names)) == len(names) and len(set(whys)) == len(whys)


def test_a_step_that_ends_within_a_statement_is_refused() -> None:
    (step,) = read_steps("-- step more: why\nCREATE TABLE a (x); -- so\nCREATE TABLE b (x)\n")
    with pytest.raises(ValueError, match="more ends within a statement"):
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


def test_an_empty_database_has_only_the_tables_of_the_core(tmp_path: Path) -> None:
    """A house of 55 tables: each one more replaces another."""
    with Store(tmp_path / "a.db").read() as db:
        tables = {name for name in db.table_names() if not name.startswith("sqlite_")}
    assert tables == {APPLIED, *re.findall(r"^CREATE TABLE (\w+)", PAGE, re.MULTILINE)}
    assert len(tables) <= 55


def test_an_extension_gets_its_tables_when_it_first_writes(
    notes: Callable[..., None], tmp_path: Path
) -> None:
    @empty_before_use("notes", list)
    def list_notes(db: Any) -> list[str]:
        return [row["text"] for row in db.query("SELECT text FROM notes_note")]

    store = Store(tmp_path / "a.db")
    with store.read() as db:
        assert list_notes(db) == [] and list_pending(db) == []
    with pytest.raises(ZeroDivisionError), store.write() as db:
        begin_use(db, "notes")
        assert 1 / 0
    with store.read() as db:
        assert not is_in_use(db, "notes") and "notes_note" not in db.table_names()
    for text in ("first", "second"):
        with store.write() as db:
            begin_use(db, "notes")
            db.table("notes_note").insert({"text": text})
    with store.read() as db:
        assert list_notes(db) == ["first", "second"]
        (last,) = db.query(f"SELECT * FROM {APPLIED} ORDER BY id DESC LIMIT 1")
    assert (last["migration_set"], last["name"]) == ("notes", "notes_tables")
    assert list_step_names()[-2:] == [STEPS[-1].name, "notes_tables"]


def test_a_database_opens_without_an_extension_and_with_it_again(
    notes: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    with Store(path).write() as db:
        begin_use(db, "notes")
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
