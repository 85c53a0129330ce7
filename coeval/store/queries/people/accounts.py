"""How people prove who they are: accounts, invitations, and the count of refused sign-ins."""

from __future__ import annotations

from typing import Any

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import Account, Invitation, Role
from coeval.store.engines.statements import get_row, insert, scalar
from coeval.store.queries.people.people import get_person_by_id, person_of

SELECT = "SELECT a.*, p.id, p.name, p.role FROM account a JOIN annotator p ON p.id = a.annotator"


def get_account(db: Database, kind: str, subject: str) -> Account | None:
    row = get_row(db, f"{SELECT} WHERE a.kind = ? AND a.subject = ?", [kind, subject])
    return _account(row) if row else None


def _account(row: dict[str, Any]) -> Account:
    return Account(person_of(row), row["kind"], row["subject"], row["secret"], bool(row["guest"]))


def add_account(db: Database, account: Account) -> None:
    insert(
        db,
        "account",
        annotator=account.person.id,
        kind=account.kind,
        subject=account.subject,
        secret=account.secret,
        guest=account.guest,
        created_at=now(),
    )


def get_account_of(db: Database, person: int) -> Account | None:
    row = get_row(db, f"{SELECT} WHERE a.annotator = ?", [person])
    return _account(row) if row else None


def set_secret(db: Database, person: int, secret: str) -> None:
    db.conn.execute("UPDATE account SET secret = ? WHERE annotator = ?", [secret, person])


def set_guest(db: Database, person: int, guest: bool) -> None:
    db.conn.execute("UPDATE account SET guest = ? WHERE annotator = ?", [int(guest), person])


def is_guest(db: Database, person: int) -> bool:
    return bool(scalar(db, "SELECT guest FROM account WHERE annotator = ?", [person]))


def add_invitation(db: Database, token_hash: str, invitation: Invitation, expires_at: str) -> None:
    insert(
        db,
        "invitation",
        token_hash=token_hash,
        annotator=invitation.person.id if invitation.person else None,
        role=invitation.role,
        created_by=invitation.created_by,
        created_at=now(),
        expires_at=expires_at,
    )


def get_invitation(db: Database, token_hash: str) -> Invitation | None:
    """What an invitation still gives; None where it was used, has run out, or never was."""
    row = get_row(
        db,
        "SELECT * FROM invitation WHERE token_hash = ? AND used_at IS NULL AND expires_at > ?",
        [token_hash, now()],
    )
    if row is None:
        return None
    person = get_person_by_id(db, row["annotator"]) if row["annotator"] else None
    return Invitation(Role(row["role"]), row["created_by"], person)


def use_invitation(db: Database, token_hash: str, person: int) -> None:
    db.conn.execute(
        "UPDATE invitation SET used_at = ?, used_by = ? WHERE token_hash = ? AND used_at IS NULL",
        [now(), person, token_hash],
    )


def add_try(db: Database, key: str) -> int:
    """Count a sign-in by this key, before it is known whether it is refused; gives the row's id."""
    return insert(db, "sign_in_failure", key=key, failed_at=now())


def count_tries(db: Database, key: str, since: str) -> int:
    sql = "SELECT count(*) FROM sign_in_failure WHERE key = ? AND failed_at > ?"
    return int(scalar(db, sql, [key, since]))


def remove_tries(db: Database, ids: list[int]) -> None:
    """Take back those that were let in."""
    db.conn.executemany("DELETE FROM sign_in_failure WHERE id = ?", [(id_,) for id_ in ids])


def prune_tries(db: Database, before: str) -> None:
    db.conn.execute("DELETE FROM sign_in_failure WHERE failed_at <= ?", [before])
