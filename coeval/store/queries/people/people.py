"""Annotators and their sessions."""

from __future__ import annotations

from typing import Any

from coeval.clock import now
from coeval.domain import Person, Role
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, insert, scalar


def person_of(row: dict[str, Any]) -> Person:
    """A person from a row with id, name and role."""
    return Person(name=row["name"], role=Role(row["role"]), id=row["id"])


def get_person(db: Database, name: str) -> Person | None:
    row = get_row(db, "SELECT * FROM annotator WHERE name = ?", [name])
    return person_of(row) if row else None


def get_person_by_id(db: Database, person: int) -> Person | None:
    row = get_row(db, "SELECT * FROM annotator WHERE id = ?", [person])
    return person_of(row) if row else None


def list_people(db: Database) -> list[Person]:
    return [person_of(row) for row in db.table("annotator").rows_where(order_by="id")]


def count_owners(db: Database, *, besides: int = 0) -> int:
    """Owners who can sign in, one person left out."""
    sql = (
        "SELECT count(*) FROM annotator a WHERE role = 'owner' AND id <> ? AND NOT EXISTS"
        " (SELECT 1 FROM disabling d WHERE d.annotator = a.id AND d.enabled_at IS NULL)"
    )
    return int(scalar(db, sql, [besides]))


def ensure_person(db: Database, name: str, role: Role = Role.ANNOTATOR) -> Person:
    """The person of that name; made with ``role`` where there is none yet."""
    known = get_person(db, name)
    if known:
        return known
    return Person(name, role, insert(db, "annotator", name=name, role=role, created_at=now()))


def set_role(db: Database, person: int, role: Role) -> None:
    db.table("annotator").update(person, {"role": role})


def add_session(db: Database, token_hash: str, person: int, expires_at: str) -> None:
    insert(db, "session", token_hash=token_hash, annotator=person, created_at=now(), expires_at=expires_at)


def get_session_person(db: Database, token_hash: str) -> Person | None:
    """Who a session belongs to, unless it has expired or was revoked."""
    row = get_row(
        db,
        "SELECT a.* FROM session s JOIN annotator a ON a.id = s.annotator"
        " WHERE s.token_hash = ? AND s.revoked_at IS NULL AND s.expires_at > ?",
        [token_hash, now()],
    )
    return person_of(row) if row else None


def revoke_session(db: Database, token_hash: str) -> None:
    db.conn.execute(
        "UPDATE session SET revoked_at = ? WHERE token_hash = ? AND revoked_at IS NULL", [now(), token_hash]
    )


def revoke_all_sessions(db: Database, person: int) -> int:
    """End every session of a person, and say how many there were."""
    cursor = db.conn.execute(
        "UPDATE session SET revoked_at = ? WHERE annotator = ? AND revoked_at IS NULL AND expires_at > ?",
        [now(), person, now()],
    )
    return max(cursor.rowcount, 0)


def revoke_every_session(db: Database) -> None:
    """End everybody's sessions."""
    db.conn.execute("UPDATE session SET revoked_at = ? WHERE revoked_at IS NULL", [now()])
