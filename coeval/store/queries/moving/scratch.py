"""A study from elsewhere in a file of its own: at the schema it was written by, then brought to today's and examined.

Every rule of the schema is held against it here, before the file that people work on is touched.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from coeval.clock import read_time
from coeval.domain import ColumnRole, JobState, Standing
from coeval.errors import InputError
from coeval.store.engines.files import connect
from coeval.store.engines.interface import Database
from coeval.store.engines.light import Database as SqliteDatabase
from coeval.store.engines.sqlite import Store
from coeval.store.engines.statements import rows
from coeval.store.queries.crowd import answer_keys, plans
from coeval.store.queries.moving.shapes import apply_up_to
from coeval.store.soundness import examine_file

MOST_ID = 10**12
"""No file of ours comes near: ids go on from the greatest."""

ENUMERATIONS = {
    ("column_role", "role"): frozenset(ColumnRole),
    ("enrolment", "state"): frozenset(Standing),
    ("job", "state"): frozenset(JobState),
}
"""Columns that a screen reads as one of a few words, where the schema does not say so itself."""

UNFIT = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
"""What SQLite says of a value that breaks a rule, or that is none."""

Portion = tuple[str, Sequence[str], Iterable[Sequence[Any]]]
"""A table with its columns and its rows."""


def build_scratch(path: Path, newest: str, portions: Iterable[Portion]) -> Store:
    """A new file with these rows, brought to the schema of today.

    Raises:
        InputError: a row breaks a rule of the schema, refers to nothing, or holds what no screen can read.
    """
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute("PRAGMA synchronous=OFF")
        db = SqliteDatabase(connection)
        apply_up_to(db, newest)
        connection.execute("BEGIN")
        for name, columns, lines in portions:
            _fill(connection, name, columns, lines)
        connection.execute("COMMIT")
    try:
        store = Store(path)
    except sqlite3.IntegrityError as error:
        raise InputError(
            f"The study cannot be brought to this version: {error}. Nothing was written."
        ) from None
    try:
        with store.read() as db:
            _examine(db)
    except BaseException:
        store.close()
        raise
    return store


def _fill(
    connection: sqlite3.Connection, name: str, columns: Sequence[str], lines: Iterable[Sequence[Any]]
) -> None:
    sql = f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    counted = _Counted(_check_values(name, columns, lines))
    try:
        connection.executemany(sql, counted)
    except (*UNFIT, OverflowError, UnicodeError) as error:
        raise InputError(
            f"Row {counted.n:,} of the study's {name} cannot be stored ({error}): export the study again. Nothing was "
            "written."
        ) from None


class _Counted:
    """Rows, and how many were taken."""

    def __init__(self, lines: Iterable[Sequence[Any]]) -> None:
        self._lines, self.n = iter(lines), 0

    def __iter__(self) -> Iterator[Sequence[Any]]:
        return self

    def __next__(self) -> Sequence[Any]:
        self.n += 1
        return next(self._lines)


def _check_values(
    name: str, columns: Sequence[str], lines: Iterable[Sequence[Any]]
) -> Iterator[Sequence[Any]]:
    """The rows, while what SQLite itself does not look at is checked: times, JSON, words of a few, ids."""
    times = [
        i for i, column in enumerate(columns) if column.endswith("_at") or column in ("at", "reserved_until")
    ]
    json_texts = [i for i, column in enumerate(columns) if column.endswith("_json")]
    words = [
        (i, ENUMERATIONS[name, column]) for i, column in enumerate(columns) if (name, column) in ENUMERATIONS
    ]
    ids = [i for i, column in enumerate(columns) if column == "id"]
    for n, line in enumerate(lines, 1):
        wrong = [i for i in times if not _is_time(line[i])]
        wrong += [i for i in json_texts if not _is_json(line[i])]
        wrong += [i for i, known in words if line[i] not in known]
        wrong += [i for i in ids if not (isinstance(line[i], int) and 0 < line[i] <= MOST_ID)]
        if wrong:
            raise InputError(
                f"Row {n:,} of the study's {name} has a {columns[wrong[0]]} that is none: "
                f"“{str(line[wrong[0]])[:60]}”. Export the study again. Nothing was written."
            )
        yield line


def _is_time(text: Any) -> bool:
    if not text:
        return True
    try:
        return read_time(text).tzinfo is not None
    except (ValueError, TypeError):
        return False


def _is_json(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, TypeError, RecursionError):
        return False


def _examine(db: Database) -> None:
    """What our own rules promise, and that the app can read what it reads by itself."""
    faults = examine_file(db).faults
    if faults:
        raise InputError(f"The study is not whole: {'; '.join(faults[:5])}. Nothing was written.")
    try:
        for row in rows(db, "SELECT task FROM crowd"):
            plans.get_plan(db, row["task"])
        for row in rows(db, "SELECT id FROM task"):
            answer_keys.list_keys(db, row["id"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f"The study holds a plan that this CoEval cannot read ({error}). Nothing was written."
        ) from None
