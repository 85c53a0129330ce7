"""What the file says of itself: its lineage, its term, and each time it came back from a snapshot."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from coeval.domain.hosting import Restoration
from coeval.store.engines.files import connect, translated
from coeval.store.engines.interface import Database
from coeval.store.engines.light import Database as SqliteDatabase
from coeval.store.engines.statements import get_row, insert, rows, scalar


@dataclass(frozen=True, slots=True)
class Lineage:
    """Which line of files one belongs to, and the latest term in which it was served from a place."""

    id: str
    term: int


def get_lineage(db: Database) -> Lineage:
    row = get_row(db, "SELECT id, term FROM lineage")
    assert row is not None
    return Lineage(row["id"], row["term"])


def load_lineage(path: Path) -> Lineage | None:
    """The lineage of a file that nobody has open; None where it was written before there were any.

    Raises:
        StorageError: it cannot be read.
    """
    with translated(path), closing(connect(path, read_only=True)) as connection:
        try:
            return get_lineage(SqliteDatabase(connection))
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise


def set_term(db: Database, term: int) -> None:
    db.conn.execute("UPDATE lineage SET term = ?", [term])


def set_sign_in(db: Database, kind: str) -> str:
    """Note the kind of sign-in; gives the one before, empty for the first."""
    row = get_row(db, "SELECT sign_in FROM lineage")
    assert row is not None
    if row["sign_in"] != kind:
        db.conn.execute("UPDATE lineage SET sign_in = ?", [kind])
    return str(row["sign_in"])


def record_restoration(db: Database, restoration: Restoration) -> None:
    fields = Restoration.__slots__
    insert(db, "restoration", **{name: getattr(restoration, name) for name in fields})


def list_restorations(db: Database) -> list[Restoration]:
    """Every coming back of this file, the latest first."""
    fields = ", ".join(Restoration.__slots__)
    return [Restoration(**row) for row in rows(db, f"SELECT {fields} FROM restoration ORDER BY id DESC")]


def get_last_submission(db: Database) -> int:
    """The highest id of a submission; 0 where there is none."""
    return int(scalar(db, "SELECT coalesce(max(id), 0) FROM submission"))
