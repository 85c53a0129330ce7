"""Queries that export and import a study's rows, with new ids and recognised people, in the caller's
transaction.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from coeval.errors import InputError
from coeval.extensions.study_files.queries_schema import LEDGER, Schema, Shape
from coeval.folded_text import compose
from coeval.store.engines.database import Database, chunks, continue_ids, get_row, insert, rows, scalar
from coeval.store.queries import people

Row = dict[str, Any]
Scope = dict[str, int]
"""The ids of a study's task and its exam, as SQL parameters. Without an exam, both are the task's."""


def get_scope(db: Database, task: int) -> Scope:
    exam = scalar(db, "SELECT exam FROM crowd WHERE task = ?", [task])
    return {"task": task, "exam": exam or task}


def list_rows(db: Database, schema: Schema, name: str, scope: Scope) -> Iterator[Row]:
    """Yield a study's rows of one table, in the order of writing."""
    shape = schema.get(name)
    order = ", ".join(shape.key)
    yield from rows(
        db,
        f"SELECT {', '.join(shape.columns)} FROM {name} WHERE {schema.where[name]} ORDER BY {order}",
        scope,
    )


def list_people(db: Database, schema: Schema, scope: Scope) -> list[str]:
    """Return the names of a study's people."""
    return [row["name"] for row in list_rows(db, schema, "annotator", scope)]


def count_others(db: Database, scope: Scope) -> int:
    """Return the number of tasks in the file that do not belong to the study."""
    return int(scalar(db, "SELECT count(*) FROM task WHERE id NOT IN (:task, :exam)", scope))


def names_a_person(column: str) -> bool:
    """Return whether a text column names the author of a row."""
    return column.endswith("_by") or column == "actor"


class Departure:
    """The changes to rows on export.

    With ``pseudonyms``, people get random names and lose their crowd-service ids.
    """

    def __init__(self, db: Database, schema: Schema, *, pseudonyms: bool) -> None:
        self.schema, self.pseudonyms = schema, pseudonyms
        self._groups = people.list_groups(db)
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
        """Return the exported tables. Parents precede their children."""
        left_out = {*([] if ledger else [LEDGER]), *(["account"] if self.pseudonyms else [])}
        return [shape for shape in self.schema.shapes if shape.name not in left_out]

    def change(self, name: str, row: Row) -> Row:
        """Return a row in its exported form."""
        row = self._changes[name](row) if name in self._changes else row
        return self._hide_names(name, row) if self.pseudonyms else row

    def _change_person(self, row: Row) -> Row:
        """Return a person's row with the group, without the role and the uid, which are valid only in this database."""
        return row | {
            "role": "annotator", "set_group": self._groups[row["id"]], "uid": "", "import_batch": None
        }  # fmt: skip

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
    """Return a unique pseudonym that cannot be traced to a person."""
    return f"person-{hashlib.blake2s(f'{person}'.encode(), key=salt).hexdigest()[:10]}"


AT_ONCE = 2_000

Renumber = Callable[[Row], Row]


def insert_rows(db: Database, shape: Shape, lines: Iterable[Row]) -> int:
    """Insert complete rows, including their ids; return their number."""
    marks = ", ".join(f":{column}" for column in shape.columns)
    sql = f"INSERT INTO {shape.name} ({', '.join(shape.columns)}) VALUES ({marks})"
    n = 0
    for portion in chunks(lines, AT_ONCE):
        db.conn.executemany(sql, portion)
        n += len(portion)
    if n and shape.has_id:
        continue_ids(db, shape.name)
    return n


def get_last_id(db: Database, table: str) -> int:
    return int(scalar(db, f"SELECT coalesce(max(id), 0) FROM {table}"))


def list_known_uids(db: Database, source: Database, schema: Schema, scope: Scope) -> Iterator[str]:
    """Return the study's submission keys that this database already has, in any task."""
    for table in ("submission", "first_score"):
        for portion in chunks((row["uid"] for row in list_rows(source, schema, table, scope)), 500):
            marks = ", ".join("?" * len(portion))
            stored = db.conn.execute(f"SELECT uid FROM {table} WHERE uid IN ({marks})", portion)
            yield from (uid for (uid,) in stored)


class PeopleMap:
    """The mapping from a study's people to people of this database, by crowd-service id or name; others are
    new.

    ``renamed`` maps names in the study to names in this database.
    """

    def __init__(
        self, db: Database, source: Database, schema: Schema, scope: Scope, renamed: Mapping[str, str]
    ):
        self.ids: dict[int, int] = {}
        self.known: list[str] = []
        """Names of people who were already here."""
        self.new: set[int] = set()
        """New ids of people who came with the study."""
        names: dict[int, str] = {}
        accounts = {row["annotator"]: row for row in list_rows(source, schema, "account", scope)}
        for row in list_rows(source, schema, "annotator", scope):
            account = accounts.get(row["id"])
            name = renamed.get(row["name"], row["name"])
            here = self._find(db, name, account)
            if here in names:
                raise InputError(
                    f"“{names[here]}” and “{row['name']}” are two people of the study, and would be one here: "
                    "rename one of them. Nothing was written."
                )
            self.ids[row["id"]] = here = here or self._add(db, row | {"name": compose(name)}, account)
            names[here] = row["name"]

    def _find(self, db: Database, name: str, account: Row | None) -> int:
        by_account = account and get_row(
            db, "SELECT annotator FROM account WHERE kind = :kind AND subject = :subject", dict(account)
        )
        person = (
            people.get_person_by_id(db, by_account["annotator"])
            if by_account
            else people.get_person(db, name)
        )
        if person:
            self.known.append(person.name)
        return person.id if person else 0

    def _add(self, db: Database, row: Row, account: Row | None) -> int:
        """Add a person with the permissions of an annotator; return the id."""
        values = {column: value for column, value in row.items() if column != "id"}
        person = insert(db, "annotator", **values | {"role": "annotator", "uid": "", "import_batch": None})
        if account:
            insert(db, "account", **account | {"annotator": person, "secret": "", "guest": 1})
        self.new.add(person)
        return person


def write_study(
    db: Database,
    source: Database,
    schema: Schema,
    scope: Scope,
    persons: PeopleMap,
    slugs: Mapping[str, str],
    *,
    ledger: bool,
) -> dict[str, int]:
    """Write a study as new tasks, named by ``slugs`` (old to new); return the number of rows by table.

    New ids continue after the largest id here, with one offset per table, so that the order of rows is kept.
    """  # fmt: skip
    steps = {shape.name: get_last_id(db, shape.name) for shape in schema.shapes if shape.has_id}
    written = {}
    for shape in schema.shapes:
        if shape.name in ("annotator", "account"):
            continue
        lines: Iterator[Row] = list_rows(source, schema, shape.name, scope)
        if shape.name == LEDGER:
            if ledger:
                written[LEDGER] = write_ledger(db, shape, lines)
            continue
        renumber = _renumbering(shape, steps, persons.ids)
        moved = (renumber(row) for row in lines)
        if shape.name == "task":
            moved = (row | {"slug": slugs[row["slug"]], "seed": secrets.token_hex(16)} for row in moved)
        written[shape.name] = insert_rows(db, shape, moved)
    return written


def _renumbering(shape: Shape, steps: Mapping[str, int], persons: Mapping[int, int]) -> Renumber:
    references = [(column, table) for column, table in shape.references.items()]

    def renumber(row: Row) -> Row:
        moved: dict[str, Any] = dict(row)
        if shape.has_id:
            moved["id"] += steps[shape.name]
        for column, table in references:
            if moved[column] is not None:
                moved[column] = (
                    persons[moved[column]] if table == "annotator" else moved[column] + steps[table]
                )
        return moved

    return renumber


def write_ledger(db: Database, shape: Shape, lines: Iterable[Row]) -> int:
    """Append calls to the ledger; skip answers and failures that it already has."""
    same = "request_hash = :request_hash AND sample = :sample AND endpoint = :endpoint AND error = :error"
    same += " AND (error = '' OR created_at = :created_at)"
    last = get_last_id(db, LEDGER)
    new = (row for row in lines if get_row(db, f"SELECT 1 FROM {LEDGER} WHERE {same}", row) is None)
    return insert_rows(db, shape, (row | {"id": last + n} for n, row in enumerate(new, 1)))
