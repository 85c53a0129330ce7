"""The tables of a study, derived from the schema so that new tables are included automatically.

A row belongs to a study if a chain of required references leads from it to the task. The schema is built in
memory from the steps of the core and the installed extensions. So it is the same on every engine, and an
extension's data moves with the study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from graphlib import TopologicalSorter

from coeval.store import Database
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
