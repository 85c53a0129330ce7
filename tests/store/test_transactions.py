"""Transactions of the store: all or nothing, also where one is a part of another."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from coeval.store import Database, Storage
from coeval.usecases.access import Context
from tests.conftest import ROOT

ON_BOTH = pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)


def add_note(db: Database, text: str) -> None:
    db.conn.execute("INSERT INTO note (text) VALUES (?)", [text])


def list_notes(store: Storage) -> list[str]:
    with store.read() as db:
        return [text for (text,) in db.conn.execute("SELECT text FROM note ORDER BY id")]


@pytest.fixture
def store(context: Context) -> Storage:
    with context.store.write() as db:
        db.conn.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
    return context.store


@ON_BOTH
def test_a_part_that_fails_is_undone_by_itself(store: Storage) -> None:
    with store.write() as db:
        add_note(db, "before")
        with pytest.raises(ValueError), store.write() as inner:
            add_note(inner, "undone")
            raise ValueError
        add_note(db, "after")
    assert list_notes(store) == ["before", "after"]


@ON_BOTH
def test_a_part_is_kept_only_with_the_whole(store: Storage) -> None:
    with pytest.raises(ValueError), store.write():
        with store.write() as inner:
            add_note(inner, "a part")
        raise ValueError
    assert list_notes(store) == []


@ON_BOTH
def test_ones_own_changes_are_read_before_they_are_kept_and_others_do_not_see_them(store: Storage) -> None:
    seen: list[list[str]] = []
    with store.write() as db:
        add_note(db, "mine")
        assert list_notes(store) == ["mine"]
        with store.write() as inner:
            add_note(inner, "a part")
        assert list_notes(store) == ["mine", "a part"]
        other = threading.Thread(target=lambda: seen.append(list_notes(store)))
        other.start()
        other.join()
    assert seen == [[]]
    assert list_notes(store) == ["mine", "a part"]


WORKER_AND_STOP = """
import sys, threading, time
from pathlib import Path
from coeval.errors import UnreachableError
from coeval.store import Store

store, ends = Store(Path(sys.argv[1])), []
with store.write() as db:
    db.conn.execute("CREATE TABLE note (text TEXT)")

def work():
    try:
        while True:
            with store.write() as db:
                db.conn.executemany("INSERT INTO note VALUES (?)", [["words " * 200]] * 500)
    except Exception as error:
        ends.append(error)

worker = threading.Thread(target=work, daemon=True)
worker.start()
time.sleep(float(sys.argv[2]))
store.close()
worker.join(10)
assert [type(error) for error in ends] == [UnreachableError], ends
assert "is closed" in str(ends[0]), ends
"""


def test_a_worker_that_outlives_the_server_is_refused_and_does_not_end_the_process(tmp_path: Path) -> None:
    for number in range(2):
        args = [sys.executable, "-c", WORKER_AND_STOP, str(tmp_path / f"{number}.db"), f".{number}1"]
        assert subprocess.run(args, cwd=ROOT, timeout=60).returncode == 0
