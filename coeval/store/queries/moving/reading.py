"""A study's rows as they leave: whole, but for what opens doors, and with people under pseudonyms where asked for."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from coeval.store.engines.interface import Database
from coeval.store.engines.statements import rows, scalar
from coeval.store.queries.moving.shapes import LEDGER, Schema, Shape
from coeval.store.queries.people import members

Row = dict[str, Any]
Scope = dict[str, int]
"""The task of a study and that of its exam, as parameters; the task itself where there is no exam."""


def get_scope(db: Database, task: int) -> Scope:
    exam = scalar(db, "SELECT exam FROM crowd WHERE task = ?", [task])
    return {"task": task, "exam": exam or task}


def list_rows(db: Database, schema: Schema, name: str, scope: Scope) -> Iterator[Row]:
    """The rows of a study in one table, in the order in which they were written."""
    shape = schema.get(name)
    order = ", ".join(shape.key)
    yield from rows(
        db,
        f"SELECT {', '.join(shape.columns)} FROM {name} WHERE {schema.where[name]} ORDER BY {order}",
        scope,
    )


def list_people(db: Database, schema: Schema, scope: Scope) -> list[str]:
    """The names of a study's people."""
    return [row["name"] for row in list_rows(db, schema, "annotator", scope)]


def count_others(db: Database, scope: Scope) -> int:
    """Tasks of the file that are not of the study."""
    return int(scalar(db, "SELECT count(*) FROM task WHERE id NOT IN (:task, :exam)", scope))


def names_a_person(column: str) -> bool:
    """Whether a text column says who did something."""
    return column.endswith("_by") or column == "actor"


class Departure:
    """What is changed in the rows of a study that leaves.

    ``pseudonyms``: people go under new names that say nothing, and without the ids that crowd services gave them.
    """

    def __init__(self, db: Database, schema: Schema, *, pseudonyms: bool) -> None:
        self.schema, self.pseudonyms = schema, pseudonyms
        self._groups = members.list_groups(db)
        salt = secrets.token_bytes(16)
        named = rows(db, "SELECT id, name FROM annotator ORDER BY id")
        self._aliases = {row["name"]: _make_alias(salt, row["id"]) for row in named} if pseudonyms else {}
        self._changes: Mapping[str, Callable[[Row], Row]] = {
            "task": lambda row: row | {"seed": ""},
            "annotator": self._change_person,
            "account": lambda row: row | {"secret": ""},
            "import_batch": lambda row: row | {"staging": None},
        }

    def list_tables(self, *, ledger: bool) -> list[Shape]:
        """The tables that go, parents first."""
        left_out = {*([] if ledger else [LEDGER]), *(["account"] if self.pseudonyms else [])}
        return [shape for shape in self.schema.shapes if shape.name not in left_out]

    def change(self, name: str, row: Row) -> Row:
        """A row as it leaves."""
        row = self._changes[name](row) if name in self._changes else row
        return self._hide_names(name, row) if self.pseudonyms else row

    def _change_person(self, row: Row) -> Row:
        """What somebody may do is for the owners of the other file to say; whom they count with stays."""
        return row | {"role": "annotator", "set_group": self._groups[row["id"]]}

    def _hide_names(self, table: str, row: Row) -> Row:
        if table == "annotator":
            return row | {"name": self._aliases[row["name"]]}
        if table == "arrival":
            return row | {"study": "", "session": f"{row['id']}"}
        references = self.schema.get(table).references
        named = {
            column: self._aliases[value]
            for column, value in row.items()
            if names_a_person(column) and column not in references and value in self._aliases
        }
        return row | named


def _make_alias(salt: bytes, person: int) -> str:
    """A name that is nobody else's in any file, and that nobody can trace."""
    return f"person-{hashlib.blake2s(f'{person}'.encode(), key=salt).hexdigest()[:10]}"
