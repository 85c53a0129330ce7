"""The tables of a study, derived from the schema itself, so that later tables are not forgotten.

A row belongs to a study where a chain of required references leads from it to the task. The schema is made in memory
by the steps of the core and of the installed extensions, so it is the same on every engine, and the work that an
extension keeps moves with the study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from graphlib import TopologicalSorter

from sqlite_utils import Database

from coeval.store.steps import apply_steps, list_step_names

SHARED = ("annotator", "import_batch", "account")
"""Tables shared by studies; only rows that a study refers to are exported."""

LEDGER = "call"

STAYS = {
    "session": "who is signed in",
    "invitation": "links that let somebody in",
    "sign_in_failure": "the count of refused sign-ins",
    "named_owner": "who owns the server",
    "disabling": "who may not sign in",
    "lease": "which process does what",
    "lineage": "the secret and the history of the file itself",
    "restoration": "the history of the file itself",
    "import_batch_person": "people of imports on their way",
    "prolific_request": "what was asked of Prolific and paid there, by this server",
    "prolific_item": "whom that was about, by their ids at Prolific",
    "prolific_step": "what came of it",
    "return_request": "who asked this server to be let in again",
    "repeated_session": "sessions of a crowd service, as this server saw them",
    "newcomer": "which network brought somebody to this server",
    "withdrawn_work": "what somebody took back, until it is deleted",
    "image_host": "where pages of this server may show images from",
    "settled_mark": "what servers on one database remember by",
    "method_change": "which changes of methods the file itself has met",
    "method_change_read": "who has read of them",
    "shown_figure": "figures that this server showed last",
    "queue_tally": "counted anew from the assignments",
}
"""Tables that no export includes, each with its content."""

ENDED = "state IN ('done', 'cancelled', 'failed')"
FINISHED_IMPORT = (
    "(import_batch IS NULL OR import_batch IN (SELECT id FROM import_batch WHERE finished_at IS NOT NULL))"
)
FURTHER = {"job": ENDED, "submission": FINISHED_IMPORT}
"""Further conditions for exporting a row, because open work and unfinished imports are not part of a study."""

TASKS = "(:task, :exam)"


@dataclass(frozen=True, slots=True)
class Shape:
    """One table: its columns, their references (column to table), and its unique keys."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    references: Mapping[str, str]
    parents: frozenset[str]
    """The tables that it refers to, by one column or by several together."""
    required: frozenset[str]
    unique: tuple[tuple[str, ...], ...]
    """The primary key, unless it is an ``id`` alone, and every unique index over whole columns."""

    @property
    def has_id(self) -> bool:
        return self.key == ("id",)


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of a study, parents before children, as of one step."""

    migrations: tuple[str, ...]
    shapes: tuple[Shape, ...]
    where: Mapping[str, str]
    """The condition for the rows of a study by table, with the parameters ``task`` and ``exam``."""

    def get(self, name: str) -> Shape:
        return next(shape for shape in self.shapes if shape.name == name)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(shape.name for shape in self.shapes)


@lru_cache(maxsize=8)
def get_schema(steps: tuple[str, ...] = ()) -> Schema:
    """Return the schema after these steps, by default after all."""
    db = Database(memory=True)
    names = steps or tuple(list_step_names())
    apply_steps(db, names)
    shapes = {
        name: _read_shape(db, name) for name in db.table_names() if not name.startswith(("_", "sqlite"))
    }
    db.close()
    where = _find_rows(shapes)
    order = TopologicalSorter({name: shapes[name].parents - {name} for name in where})
    moving = [name for name in order.static_order() if name in where]
    return Schema(names, tuple(shapes[name] for name in moving), where)


def _read_shape(db: Database, name: str) -> Shape:
    columns = db.execute(
        'SELECT name, pk, "notnull" FROM pragma_table_info(?) ORDER BY cid', [name]
    ).fetchall()
    key = tuple(column for column, place, _ in sorted(columns, key=lambda row: row[1]) if place)
    pairs: dict[int, list[tuple[str, str]]] = {}
    for number, column, table in db.execute(
        'SELECT id, "from", "table" FROM pragma_foreign_key_list(?) ORDER BY id, seq', [name]
    ):
        pairs.setdefault(number, []).append((column, table))
    # several columns together name a row by its key, in which each id is a reference of its own
    references = dict(found[0] for found in pairs.values() if len(found) == 1)
    parents = frozenset(table for found in pairs.values() for _, table in found)
    indexes = db.execute(
        'SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial ORDER BY seq DESC', [name]
    ).fetchall()
    unique = [
        tuple(
            column
            for (column,) in db.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", [index])
        )
        for (index,) in indexes
    ]
    if key not in (("id",), *unique):
        unique.insert(0, key)
    required = frozenset(column for column, place, full in columns if full or place)
    return Shape(name, tuple(row[0] for row in columns), key, references, parents, required, tuple(unique))


def _find_rows(shapes: Mapping[str, Shape]) -> dict[str, str]:
    """Return the condition for a study's rows by table, from each table's first required reference."""
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
    """Return the ids of a shared table that a study's own rows refer to."""
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
