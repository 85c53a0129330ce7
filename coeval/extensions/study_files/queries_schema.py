"""The tables of a study, and checks on a foreign study.

The tables are derived from the schema, so that new ones are included automatically. A row belongs to a study if a chain
of required references leads from it to the task. The schema is built in memory from the steps of the core and the
installed extensions. So it is the same on every engine, and an extension's data moves with the study.

A foreign study is examined in a temporary database, which is created with the study's schema and then migrated. Every
rule of the schema is checked there, before the live database is touched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from graphlib import TopologicalSorter
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
from coeval.store.steps import create_database, list_applied, list_step_names

SHARED = ("annotator", "import_batch", "account")
"""Tables that several studies share; only rows that the study refers to are exported."""

LEDGER = "call"

STAYS = {
    "session": "people's sessions",
    "invitation": "invitation links",
    "recent_event": "refused sign-ins, and the network of each visitor",
    "server_setting": "the owner of the server, and the hosts of allowed images",
    "disabling": "people who may not sign in",
    "lease": "the role of each process",
    "lineage": "the secret and the history of this file",
    "restoration": "the history of this file",
    "agents_token": "the tokens of agents",
    "agents_spending": "what agents spent",
    "prolific_request": "this server's requests to Prolific, and payments",
    "prolific_item": "the Prolific ids in those requests",
    "prolific_step": "the results of those requests",
    "return_request": "requests to return to a study",
    "repeated_session": "a crowd service's sessions on this server",
    "withdrawn_work": "withdrawn work, until it is deleted",
}
"""Tables that are never exported, each with its content."""

ENDED = "state IN ('done', 'cancelled', 'failed')"
FINISHED_IMPORT = (
    "(import_batch IS NULL OR import_batch IN (SELECT id FROM import_batch WHERE finished_at IS NOT NULL))"
)
FURTHER = {"job": ENDED, "submission": FINISHED_IMPORT}
"""Additional conditions for exporting a row: open work and unfinished imports are not part of a study."""

TASKS = "(:task, :exam)"


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of one table, their references (column to table), and its unique keys."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    references: Mapping[str, str]
    parents: frozenset[str]
    """The tables to which it refers, each with one or more columns."""
    required: frozenset[str]
    unique: tuple[tuple[str, ...], ...]
    """The primary key, unless it is only ``id``, and every unique index on whole columns."""

    @property
    def has_id(self) -> bool:
        return self.key == ("id",)


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of a study after one schema step, parents before children."""

    migrations: tuple[str, ...]
    shapes: tuple[Shape, ...]
    where: Mapping[str, str]
    """The SQL condition for a study's rows by table, with the parameters ``task`` and ``exam``."""

    def get(self, name: str) -> Shape:
        return next(shape for shape in self.shapes if shape.name == name)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(shape.name for shape in self.shapes)


@lru_cache(maxsize=8)
def get_schema(steps: tuple[str, ...] = ()) -> Schema:
    """Return the schema after these steps (default: after all steps)."""
    names = steps or tuple(list_step_names())
    db = create_database(names)
    shapes = {
        name: _read_shape(db, name) for name in db.table_names() if not name.startswith(("_", "sqlite"))
    }
    db.close()
    where = _find_rows(shapes)
    order = TopologicalSorter({name: shapes[name].parents - {name} for name in where})
    moving = [name for name in order.static_order() if name in where]
    return Schema(names, tuple(shapes[name] for name in moving), where)


def get_schema_of(db: Database) -> Schema:
    """Return the schema of an up-to-date database, without tables of extensions that are not installed."""
    applied = set(list_applied(db))
    return get_schema(tuple(name for name in list_step_names() if name in applied))


def _read_shape(db: Database, name: str) -> Shape:
    columns = db.conn.execute(
        'SELECT name, pk, "notnull" FROM pragma_table_info(?) ORDER BY cid', [name]
    ).fetchall()
    key = tuple(column for column, place, _ in sorted(columns, key=lambda row: row[1]) if place)
    pairs: dict[int, list[tuple[str, str]]] = {}
    for number, column, table in db.conn.execute(
        'SELECT id, "from", "table" FROM pragma_foreign_key_list(?) ORDER BY id, seq', [name]
    ):
        pairs.setdefault(number, []).append((column, table))
    # a reference of several columns: each id in it is also a reference
    references = dict(targets[0] for targets in pairs.values() if len(targets) == 1)
    parents = frozenset(table for targets in pairs.values() for _, table in targets)
    indexes = db.conn.execute(
        'SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial ORDER BY seq DESC', [name]
    ).fetchall()
    unique = [
        tuple(
            column
            for (column,) in db.conn.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", [index])
        )
        for (index,) in indexes
    ]
    if key not in (("id",), *unique):
        unique.insert(0, key)
    required = frozenset(column for column, place, full in columns if full or place)
    return Shape(name, tuple(row[0] for row in columns), key, references, parents, required, tuple(unique))


def _find_rows(shapes: Mapping[str, Shape]) -> dict[str, str]:
    """Return the SQL condition for a study's rows by table, built from each table's first required reference."""
    where = {"task": f"id IN {TASKS}"}
    graph = {name: shape.parents - {name} for name, shape in shapes.items()}
    for name in TopologicalSorter(graph).static_order():
        shape = shapes[name]
        owner = next(
            (c for c in shape.columns if c in shape.required and shape.references.get(c) in where), ""
        )
        if owner and name not in (*STAYS, *SHARED):
            table = shape.references[owner]
            owned = (
                f"{owner} IN {TASKS}"
                if table == "task"
                else f"{owner} IN ({_select('id', table, where[table])})"
            )
            where[name] = f"{owned} AND {FURTHER[name]}" if name in FURTHER else owned
    referring = {target: _refer_to(shapes, where, target) for target in ("import_batch", "annotator")}
    where |= {target: f"id IN ({ids})" for target, ids in referring.items() if target in shapes}
    if "account" in shapes:
        where["account"] = (
            f"guest = 1 AND kind IN ('prolific', 'mturk') AND annotator IN ({referring['annotator']})"
        )
    return where | ({LEDGER: "1 = 1"} if LEDGER in shapes else {})


def _refer_to(shapes: Mapping[str, Shape], where: Mapping[str, str], target: str) -> str:
    """Return the SQL for the ids of a shared table that a study's own rows refer to."""
    referring = (
        _select(column, name, f"{column} IS NOT NULL AND {where[name]}")
        for name, shape in shapes.items()
        if name in where
        for column, table in shape.references.items()
        if table == target
    )
    return " UNION ".join(referring) or "SELECT NULL"


def _select(column: str, table: str, where: str) -> str:
    return f"SELECT {column} FROM {table} WHERE {where}"


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
