"""Examine a foreign study in a temporary database, which is created with the study's schema and then
migrated.

Every rule of the schema is checked here, before the live database is touched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from coeval.clock import read_time
from coeval.domain import ColumnRole, JobState, Standing
from coeval.errors import InputError
from coeval.store import Database, IntegrityError, Store
from coeval.store.engines.database import rows, scalar
from coeval.store.engines.sqlite_file import connect
from coeval.store.queries import criteria, crowd_studies, teams
from coeval.store.soundness import examine_file
from coeval.store.steps import create_database

MOST_ID = 10**12
"""The largest accepted id of an imported row, because new ids continue after the largest."""

ENUMERATIONS = {
    ("column_role", "role"): frozenset(ColumnRole),
    ("enrolment", "state"): frozenset(Standing),
    ("job", "state"): frozenset(JobState),
}
"""Columns with a fixed set of values that the schema does not enforce."""

OFF = "s.{0} IS NOT NULL AND NOT s.{0} BETWEEN c.scale_min - 0.000001 AND c.scale_max + 0.000001"
IMPORTED = (
    "SELECT 1 FROM submission i WHERE i.annotator = s.annotator AND i.instance = s.instance"
    " AND i.criterion = s.criterion AND i.import_batch IS NOT NULL"
)
SCORED = {
    "submission": f"s.import_batch IS NULL AND {OFF.format('score')}",
    "first_score": f"{OFF.format('score')} AND NOT EXISTS ({IMPORTED})",
    "draft": f"{OFF.format('score')} AND s.run NOT IN (SELECT id FROM run WHERE protocol = 'imported')",
    "adjudication": OFF.format("score"),
}
"""The condition for a score outside the scale, by table. An import keeps such scores as its file has them."""

INCOMPLETE = {
    "submissions whose revisions have a gap": (
        "SELECT count(*) FROM (SELECT 1 FROM submission GROUP BY annotator, instance, criterion"
        " HAVING max(revision) <> count(*)) gaps"
    ),
    "submissions based on a draft of another instance or criterion": (
        "SELECT count(*) FROM submission s JOIN draft d ON d.id = s.draft"
        " WHERE d.instance <> s.instance OR d.criterion <> s.criterion"
    ),
    "instances whose positions have a gap": (
        "SELECT count(*) FROM (SELECT 1 FROM instance GROUP BY task HAVING max(position) <> count(*)) gaps"
    ),
}
"""The count of what a complete study does not have, by its name."""

Portion = tuple[str, Sequence[str], Iterable[Sequence[Any]]]
"""A table with its columns and its rows."""


def build_scratch(path: Path, steps: Sequence[str], portions: Iterable[Portion]) -> Store:
    """Create a database with the schema of these steps, insert the rows, and migrate it to the current
    schema.

    Raises:
        InputError: a row breaks a rule of the schema, refers to a missing row, or has a value that no screen
        can read.
    """
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute("PRAGMA synchronous=OFF")
        create_database(steps).conn.backup(connection)
        connection.execute("BEGIN")
        for name, columns, lines in portions:
            _fill(connection.executemany, name, columns, lines)
        connection.execute("COMMIT")
    try:
        store = Store(path)
    except IntegrityError as error:
        raise InputError(
            f"The study cannot be updated to this version: {error}. Nothing was written."
        ) from None
    try:
        with store.read() as db:
            _examine(db)
    except BaseException:
        store.close()
        raise
    return store


def _fill(
    write: Callable[[str, Iterable[Sequence[Any]]], object],
    name: str,
    columns: Sequence[str],
    lines: Iterable[Sequence[Any]],
) -> None:
    sql = f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    counted = _Counted(_check_values(name, columns, lines))
    try:
        write(sql, counted)
    except (IntegrityError, OverflowError, UnicodeError) as error:
        raise InputError(
            f"Row {counted.n:,} of the study's {name} cannot be stored ({error}): export the study again. Nothing was "
            "written."
        ) from None


class _Counted:
    """An iterator over rows that counts them."""

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
    """Yield the rows after checks that SQLite does not make: times, JSON, fixed values, ids, NUL."""
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
        wrong += [i for i, allowed in words if line[i] not in allowed]
        wrong += [i for i, value in enumerate(line) if isinstance(value, str) and "\0" in value]
        wrong += [i for i in ids if not (isinstance(line[i], int) and 0 < line[i] <= MOST_ID)]
        if wrong:
            raise InputError(
                f"Row {n:,} of the study's {name} has an invalid {columns[wrong[0]]}: “{str(line[wrong[0]])[:60]}”. "
                "Export the study again. Nothing was written."
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
        return text is None or isinstance(json.loads(text), dict | list)
    except (ValueError, TypeError, RecursionError):
        return False


def _examine(db: Database) -> None:
    """Check CoEval's own rules, and check that the app can read the data."""
    faults = [*examine_file(db).faults]
    faults += [f"{n:,} {name}" for name, sql in INCOMPLETE.items() if (n := scalar(db, sql))]
    if faults:
        raise InputError(f"The study is incomplete: {'; '.join(faults[:5])}. Nothing was written.")
    for table, scored in SCORED.items():
        n = scalar(
            db, f"SELECT count(*) FROM {table} s JOIN criterion c ON c.id = s.criterion WHERE {scored}"
        )
        if n:
            raise InputError(
                f"{n:,} rows of the study's {table} have a score outside the scale of their criterion. Nothing was "
                "written."
            )
    try:
        for row in rows(db, "SELECT task FROM crowd"):
            crowd_studies.get_plan(db, row["task"])
        for row in rows(db, "SELECT id FROM task"):
            crowd_studies.list_keys(db, row["id"])
            teams.list_stopping_rules(db, row["id"])
            criteria.list_run_examples(db, row["id"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f"The study contains a setting that this CoEval cannot read ({error}). Nothing was written."
        ) from None
