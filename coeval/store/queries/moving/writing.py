"""A study from a file of its own into the one that people work on: new ids, in the caller's transaction."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from coeval.store.engines.interface import Database
from coeval.store.engines.statements import chunks, continue_ids, get_row, insert, scalar
from coeval.store.queries.moving.reading import Row, Scope, list_rows
from coeval.store.queries.moving.shapes import LEDGER, Schema, Shape
from coeval.store.queries.people import people

AT_ONCE = 2_000

Renumber = Callable[[Row], Row]


def insert_rows(db: Database, shape: Shape, lines: Iterable[Row]) -> int:
    """Insert rows whole, ids and all; gives how many there were."""
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
    """Those keys of a study's submissions that this file holds already, in any task."""
    for table in ("submission", "first_score"):
        for portion in chunks((row["uid"] for row in list_rows(source, schema, table, scope)), 500):
            marks = ", ".join("?" * len(portion))
            known = db.conn.execute(f"SELECT uid FROM {table} WHERE uid IN ({marks})", portion)
            yield from (uid for (uid,) in known)


class PeopleMap:
    """Who of a study is who here: known by the id that a crowd service gave them, or by name, or new.

    ``renamed`` are names of the study that go by another here.
    """

    def __init__(
        self, db: Database, source: Database, schema: Schema, scope: Scope, renamed: Mapping[str, str]
    ):
        self.ids: dict[int, int] = {}
        self.known: list[str] = []
        """Names of people that were here before."""
        self.new: set[int] = set()
        """Ids here of those who came with the study."""
        self.renamed: dict[int, str] = {}
        """New names by the ids in the study."""
        accounts = {row["annotator"]: row for row in list_rows(source, schema, "account", scope)}
        for row in list_rows(source, schema, "annotator", scope):
            account = accounts.get(row["id"])
            name = renamed.get(row["name"], row["name"])
            if name != row["name"]:
                self.renamed[row["id"]] = name
            here = self._find(db, name, account)
            self.ids[row["id"]] = here or self._add(db, row | {"name": name}, account)

    def get_uid(self, row: Row) -> str:
        """The key of a submission here: another for somebody renamed, since two may have judged alike by one name."""
        name = self.renamed.get(row["annotator"])
        return row["uid"] if name is None else str(uuid.uuid5(uuid.NAMESPACE_OID, f"{row['uid']} {name}"))

    def _find(self, db: Database, name: str, account: Row | None) -> int:
        by_account = account and get_row(
            db, "SELECT annotator FROM account WHERE kind = :kind AND subject = :subject", dict(account)
        )
        known = (
            people.get_person_by_id(db, by_account["annotator"])
            if by_account
            else people.get_person(db, name)
        )
        if known:
            self.known.append(known.name)
        return known.id if known else 0

    def _add(self, db: Database, row: Row, account: Row | None) -> int:
        """A new person, who may do no more here than annotate."""
        values = {column: value for column, value in row.items() if column != "id"}
        person = insert(db, "annotator", **values | {"role": "annotator"})
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
    """Write a study as tasks of its own, named as ``slugs`` says (old to new); gives how many rows, by table.

    Ids go on from the last one here by the same step for every row of a table, so that their order stays, and with
    it what is the newest.
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
    """Append calls; an answer or a failure that the ledger holds already is left out."""
    same = "request_hash = :request_hash AND sample = :sample AND endpoint = :endpoint AND error = :error"
    same += " AND (error = '' OR created_at = :created_at)"
    last = get_last_id(db, LEDGER)
    new = (row for row in lines if get_row(db, f"SELECT 1 FROM {LEDGER} WHERE {same}", row) is None)
    return insert_rows(db, shape, (row | {"id": last + n} for n, row in enumerate(new, 1)))
